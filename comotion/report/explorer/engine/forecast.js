/** Futures as a picture needs them: where and how fast, in the data's units. */

import { timeOf } from "./timeline.js";
import { follow } from "./world.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./world.js").Request} Request
 */

/**
 * One drawn future: frame × object × (position, velocity).
 * @param {Model} model
 * @param {number} draw
 * @param {Request} request
 * @returns {Float32Array}
 */
export function future(model, draw, request) {
  const states = follow(model, draw, request);
  const rows = states.length / model.layout.state;
  const shown = new Float32Array(rows * model.shown);
  model.show(states, shown, 0);
  return shown;
}

/**
 * Times of the frames of a request, the origin's first.
 * @param {Model} model
 * @param {Request} request
 */
export function timesOf(model, request) {
  const sequence = model.sequences[request.sequence];
  const origin = sequence.origins.data[request.origin];
  return Float64Array.from({ length: request.frames + 1 }, (_, n) =>
    timeOf(sequence, model.content.step, origin + n),
  );
}
