/** What was recorded, looked at between frames too. */

import { isAlive } from "../engine/timeline.js";

/** @typedef {import("../engine/model.js").Sequence} Sequence */

/**
 * A feature of an object at a frame that need not be whole; NaN where it is not known.
 * @param {Sequence} sequence @param {number} frame @param {number} object @param {number} feature
 */
export function recordedAt(sequence, frame, object, feature) {
  const [frames, objects, features] = sequence.values.shape;
  const before = Math.floor(frame);
  if (before < 0 || frame > frames - 1 || object >= objects || feature >= features) return NaN;
  const k = (before * objects + object) * features + feature;
  const rest = frame - before;
  const value = sequence.values.data[k];
  if (rest === 0) return value;
  return value + rest * (sequence.values.data[k + objects * features] - value);
}

/** @param {Sequence} sequence @param {number} frame @param {number} object */
export function isThere(sequence, frame, object) {
  return object >= sequence.objects.length || isAlive(sequence, Math.floor(frame), object);
}

/**
 * Smallest and largest recorded value of each position axis, over all sequences.
 * @param {Sequence[]} sequences @param {number} spatial
 * @returns {[number, number][]}
 */
export function bounds(sequences, spatial) {
  return Array.from({ length: spatial }, (_, d) => {
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of sequences) {
      for (let k = d; k < values.data.length; k += values.shape[2]) {
        if (values.data[k] < low) low = values.data[k];
        if (values.data[k] > high) high = values.data[k];
      }
    }
    return high > low ? [low, high] : [(low || 0) - 1, (low || 0) + 1];
  });
}

/** Root mean square of the change per unit of time. @param {import("../engine/model.js").Model} model */
export function typicalSpeed(model) {
  let [sum, count] = [0, 0];
  for (const sequence of model.sequences) {
    const [frames, objects, features] = sequence.values.shape;
    const { data } = sequence.values;
    for (let n = 1; n < frames; n++) {
      const span = sequence.times.data[n] - sequence.times.data[n - 1];
      for (let a = 0; a < objects; a++) {
        let squared = 0;
        for (let d = 0; d < model.spatial; d++) {
          const k = (n * objects + a) * features + d;
          squared += ((data[k] - data[k - objects * features]) / span) ** 2;
        }
        if (Number.isFinite(squared)) [sum, count] = [sum + squared, count + 1];
      }
    }
  }
  return count && sum ? Math.sqrt(sum / count) : 1;
}

/** How near two objects come at their nearest: the smallest recorded distances, but for a few. @param {import("../engine/model.js").Model} model */
export function meetingDistance(model) {
  /** @type {number[]} */
  const distances = [];
  for (const { values } of model.sequences) {
    const [frames, objects, features] = values.shape;
    const stride = Math.max(1, Math.floor((frames * objects * objects) / 4000));
    for (let n = 0; n < frames; n += stride) {
      for (let a = 0; a < objects; a++) {
        for (let b = 0; b < a; b++) {
          let squared = 0;
          for (let d = 0; d < model.spatial; d++) {
            const k = n * objects * features + d;
            squared += (values.data[k + a * features] - values.data[k + b * features]) ** 2;
          }
          if (Number.isFinite(squared)) distances.push(Math.sqrt(squared));
        }
      }
    }
  }
  distances.sort((a, b) => a - b);
  return distances.length ? 1.1 * distances[Math.floor(0.02 * distances.length)] : 0;
}

/**
 * How far a place is from the nearest learned wall.
 * @param {any} outline
 * @param {number} x @param {number} y
 */
export function distanceToWall(outline, x, y) {
  let nearest = Infinity;
  for (const [cx, cy, radius] of outline.circles) nearest = Math.min(nearest, Math.abs(Math.hypot(x - cx, y - cy) - radius));
  for (const { data } of outline.segments) {
    const [ax, ay, dx, dy] = [data[0], data[1], data[2] - data[0], data[3] - data[1]];
    const share = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    nearest = Math.min(nearest, Math.hypot(x - ax - share * dx, y - ay - share * dy));
  }
  return nearest;
}

/**
 * Room for learned walls, but not for the far ends of open ones.
 * @param {[number, number][]} bounds
 * @param {any} outline
 * @returns {[number, number][]}
 */
export function withWalls(bounds, outline) {
  if (!outline) return bounds;
  const ends = outline.segments.flatMap((/** @type {any} */ { data }) => [[data[0], data[1]], [data[2], data[3]]]);
  const sides = outline.circles.flatMap((/** @type {number[]} */ [x, y, r]) => [[x - r, y - r], [x + r, y + r]]);
  return bounds.map(([low, high], d) => {
    const reach = 0.6 * (high - low);
    const near = [...ends, ...sides].map((place) => place[d]).filter((x) => x > low - reach && x < high + reach);
    return [Math.min(low, ...near), Math.max(high, ...near)];
  });
}
