/** What there is to see at one moment: where every object of a world is, and who is in it. */

import { middleAt, valueAt } from "./futures.js";
import { isThere, recordedAt } from "./recording.js";

/**
 * @typedef {import("./futures.js").Futures} Futures
 * @typedef {import("./state.js").State} State
 * @typedef {import("../engine/model.js").Model} Model
 * @typedef {import("../engine/world.js").Edit} Edit
 *
 * @typedef {object} Body an object as it is shown
 * @property {number} object
 * @property {number[]} position
 * @property {number[]} velocity
 * @property {boolean} recorded whether this is what was recorded, and not the middle of futures
 * @property {number} surprise distance of what was recorded from the forecast, in standard
 *   deviations; NaN where nothing was recorded
 *
 * @typedef {object} World
 * @property {Model} model
 * @property {State} state
 * @property {Futures | null} futures
 * @property {Edit[]} edits
 */

/** The frame of the recording at the head. @param {World} world */
export function frameOf(world) {
  const sequence = world.model.sequences[world.state.sequence];
  return sequence.origins.data[world.state.origin] + world.state.head;
}

/** How many objects there may be. @param {World} world */
export function objectCount(world) {
  const sequence = world.model.sequences[world.state.sequence];
  return sequence.objects.length + world.edits.filter((edit) => edit.do === "duplicate").length;
}

/** @param {World} world @param {number} object @returns {string} */
export function nameOf(world, object) {
  const { objects } = world.model.sequences[world.state.sequence];
  if (object < objects.length) return objects[object];
  const copies = world.edits.filter((edit) => edit.do === "duplicate");
  const copy = copies[object - objects.length];
  return copy ? `${nameOf(world, copy.object)}′` : "";
}

/** Whether an object is in a world at the head. @param {World} world @param {number} object */
export function isIn(world, object) {
  const frame = frameOf(world);
  const sequence = world.model.sequences[world.state.sequence];
  const copies = world.edits.filter((edit) => edit.do === "duplicate");
  const copy = copies[object - sequence.objects.length];
  if (copy && frame < copy.at) return false;
  if (world.edits.some((edit) => edit.do === "remove" && edit.object === object && edit.at <= frame)) return false;
  return isThere(sequence, frame, object);
}

/**
 * Where an object is: as recorded while nothing was changed, else the middle of its futures.
 * @param {World} world @param {number} object
 * @returns {{ position: number[], recorded: boolean } | null}
 */
export function placeOf(world, object) {
  if (!isIn(world, object)) return null;
  const { model, state, futures } = world;
  const sequence = model.sequences[state.sequence];
  const frame = frameOf(world);
  const seen = Array.from({ length: model.spatial }, (_, d) => recordedAt(sequence, frame, object, d));
  const changed = world.edits.some((edit) => edit.at <= frame);
  if (!changed && seen.every(Number.isFinite)) return { position: seen, recorded: true };
  if (!futures || object >= futures.objects || state.head < 0) return null;
  const position = middleAt(futures, state.head, object, 0, model.spatial);
  return position.every(Number.isFinite) ? { position, recorded: false } : null;
}

/** @param {World} world @param {number} object @returns {Body | null} */
export function bodyOf(world, object) {
  const place = placeOf(world, object);
  if (!place) return null;
  const velocity = velocityOf(world, object, place.recorded);
  const surprise = place.recorded ? surpriseOf(world, object, place.position) : NaN;
  return { object, ...place, velocity, surprise };
}

/** @param {World} world @param {number} object @param {boolean} recorded @returns {number[]} */
function velocityOf(world, object, recorded) {
  const { model, state, futures } = world;
  const { spatial } = model;
  const sequence = model.sequences[state.sequence];
  const first = model.content.features.indexOf("vx");
  const seen = Array.from({ length: spatial }, (_, d) => recordedAt(sequence, frameOf(world), object, first + d));
  if (recorded && first >= 0 && seen.every(Number.isFinite)) return seen;
  if (!futures || object >= futures.objects || futures.shown === spatial || state.head < 0) return seen.fill(0);
  return middleAt(futures, state.head, object, spatial, 2 * spatial).map((v) => (Number.isFinite(v) ? v : 0));
}

/** @param {World} world @param {number} object @param {number[]} seen */
function surpriseOf(world, object, seen) {
  const { futures, state } = world;
  if (!futures || futures.draws.length < 3) return NaN;
  const squares = seen.map((x, d) => {
    const values = futures.draws.map((draw) => valueAt(futures, draw, state.head, object, d));
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - 1);
    return (x - mean) ** 2 / Math.max(variance, 1e-12);
  });
  return Math.sqrt(squares.reduce((a, b) => a + b, 0) / seen.length);
}
