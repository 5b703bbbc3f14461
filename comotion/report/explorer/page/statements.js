/** How sure the forecast is, in sentences with counts. */

import { cloudAt } from "./futures.js";
import { digits, interval, withUnit } from "./look.js";
import { distanceToWall } from "./recording.js";
import { isIn, nameOf, objectCount } from "./view.js";

/**
 * @typedef {import("./view.js").World} World
 * @typedef {import("./futures.js").Futures} Futures
 * @typedef {{ subject: string, text: string, object?: string, rest?: string }} Statement `subject`
 *   and `object` are names from the data
 * @typedef {{ now: number, unit: string }} Clock what time it is, and what times are measured in
 */

const SIDES = [["left", "right"], ["lower", "upper"], ["near", "far"]];
const EDGE_SHARE = 0.03;
const AT_WALL_SHARE = 0.02;

/**
 * About one object, from the head on.
 * @param {World} world
 * @param {number} object
 * @param {[number, number][]} bounds
 * @param {Float64Array} times of the frames of the futures
 * @param {number} near the distance at which two objects have met
 * @returns {Statement[]}
 */
export function statements(world, object, bounds, times, near) {
  const { futures, state } = world;
  if (!futures || object >= futures.objects || !isIn(world, object)) return [];
  const begin = Math.ceil(Math.max(state.head, world.model.sequences[state.sequence].seen - 1));
  const subject = nameOf(world, object);
  const { length, time: unit } = world.model.content.units.names;
  const clock = { now: timeAt(times, state.head), unit };
  const place = cloudAt(futures, state.head, object);
  const where = bounds
    .map((_, d) => {
      const { low, high } = interval(place.map((position) => position[d]));
      return `${"xyz"[d]} ${withUnit(`${digits(low)} to ${digits(high)}`, length)}`;
    })
    .join(", ");
  const { outline } = world.model.content;
  const hasWalls = outline && outline.circles.length + outline.segments.length > 0;
  const reached = hasWalls ? walls(futures, object, outline, bounds, begin, times, clock) : edges(futures, object, bounds, begin, times, clock);
  return [
    ...reached.map((text) => ({ subject, text })),
    ...meetings(world, object, near, begin, times, clock),
    { subject, text: ` is now at ${where} (90 %)` },
  ];
}

/** When a learned wall is reached. @param {Futures} futures @param {number} object @param {any} outline @param {[number, number][]} bounds @param {number} begin @param {Float64Array} times @param {Clock} clock */
function walls(futures, object, outline, bounds, begin, times, clock) {
  const touching = (outline.radius ?? 0) + AT_WALL_SHARE * (bounds[0][1] - bounds[0][0]);
  const when = firstTimes(futures, begin, times, (draw, frame) => {
    const at = (frame * futures.objects + object) * futures.shown;
    return distanceToWall(outline, draw[at], draw[at + 1]) <= touching;
  });
  return when.length ? [` reaches the wall ${span(when, clock)}${count(when, futures)}`] : [" reaches no wall in any of the futures"];
}

/** Which edges of the recorded region are reached, the likeliest first. @param {Futures} futures @param {number} object @param {[number, number][]} bounds @param {number} begin @param {Float64Array} times @param {Clock} clock */
function edges(futures, object, bounds, begin, times, clock) {
  const found = bounds.flatMap(([low, high], d) =>
    [low + EDGE_SHARE * (high - low), high - EDGE_SHARE * (high - low)].map((edge, side) => {
      const when = firstTimes(futures, begin, times, (draw, frame) => {
        const x = draw[(frame * futures.objects + object) * futures.shown + d];
        return side === 0 ? x <= edge : x >= edge;
      });
      return { name: SIDES[d][side], when };
    }),
  );
  return found
    .filter(({ when }) => when.length > 0.2 * futures.draws.length)
    .sort((a, b) => b.when.length - a.when.length)
    .slice(0, 2)
    .map(({ name, when }) => ` reaches the ${name} edge ${span(when, clock)}${count(when, futures)}`);
}

/** @param {World} world @param {number} object @param {number} near @param {number} begin @param {Float64Array} times @param {Clock} clock @returns {Statement[]} */
function meetings(world, object, near, begin, times, clock) {
  const futures = /** @type {Futures} */ (world.futures);
  const found = [];
  for (let other = 0; other < objectCount(world); other++) {
    if (other === object || other >= futures.objects || !isIn(world, other)) continue;
    const when = firstTimes(futures, begin, times, (draw, frame) => {
      const [i, j] = [object, other].map((a) => (frame * futures.objects + a) * futures.shown);
      let squared = 0;
      for (let d = 0; d < futures.spatial; d++) squared += (draw[i + d] - draw[j + d]) ** 2;
      return squared <= near * near;
    });
    if (when.length > 0.1 * futures.draws.length) found.push({ other, when });
  }
  return found
    .sort((a, b) => b.when.length - a.when.length)
    .slice(0, 2)
    .map(({ other, when }) => ({
      subject: nameOf(world, object),
      object: nameOf(world, other),
      text: ` comes within ${withUnit(digits(near), world.model.content.units.names.length)} of `,
      rest: ` ${span(when, clock)}${count(when, futures)}`,
    }));
}

/** When each draw first does something. @param {Futures} futures @param {number} begin @param {Float64Array} times @param {(draw: Float32Array, frame: number) => boolean} does */
function firstTimes(futures, begin, times, does) {
  /** @type {number[]} */
  const found = [];
  for (const draw of futures.draws) {
    for (let frame = begin; frame <= futures.frames; frame++) {
      if (!does(draw, frame)) continue;
      found.push(times[frame]);
      break;
    }
  }
  return found;
}

/** @param {number[]} when @param {Clock} clock */
function span(when, { now, unit }) {
  const { low, high } = interval(when.map((time) => Math.max(0, time - now)));
  return `in ${withUnit(digits(low) === digits(high) ? digits(low) : `${digits(low)} to ${digits(high)}`, unit)}`;
}

/** @param {number[]} when @param {Futures} futures */
function count(when, futures) {
  const all = futures.draws.length;
  return when.length === all ? ` (90 % of ${all} futures)` : ` (90 %), in ${when.length} of ${all} futures`;
}

/** @param {Float64Array} times @param {number} head */
export function timeAt(times, head) {
  const frame = Math.min(Math.max(Math.floor(head), 0), times.length - 1);
  const next = Math.min(frame + 1, times.length - 1);
  return times[frame] + (head - frame) * (times[next] - times[frame]);
}

/**
 * How far an object is from where it would be, draw by draw.
 * @param {Futures} asIs
 * @param {Futures} whatIf
 * @param {number} head
 * @param {number} object
 */
export function effect(asIs, whatIf, head, object) {
  const [before, after] = [cloudAt(asIs, head, object), cloudAt(whatIf, head, object)];
  const pairs = Math.min(before.length, after.length);
  const gaps = Array.from({ length: pairs }, (_, k) => after[k].map((x, d) => x - before[k][d]));
  return {
    distance: interval(gaps.map((gap) => Math.hypot(...gap))),
    axes: Array.from({ length: asIs.spatial }, (_, d) => interval(gaps.map((gap) => gap[d]))),
  };
}
