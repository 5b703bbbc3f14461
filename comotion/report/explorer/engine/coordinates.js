/** What f_s sees, and what its outputs mean: `comotion/coordinates` once more. */

import { makeFunction } from "./functions.js";

/**
 * @typedef {object} Layout where position, velocity and the rest stand in a state
 * @property {number} spatial
 * @property {boolean} velocity
 * @property {number} extra
 * @property {number} properties
 * @property {number} controls
 * @property {number} state
 *
 * @typedef {object} Actors what is known about all objects at one moment, row after row
 * @property {Float64Array} states
 * @property {Float64Array} properties
 * @property {Float64Array} controls
 *
 * @typedef {object} Asker
 * @property {number} rates how many rates are learned
 *
 * @typedef {Asker & { ask(actors: Actors, a: number, out: Float64Array, at: number): void }} Alone
 * @typedef {Asker & { opposite: boolean, ask(actors: Actors, a: number, b: number, out: Float64Array, at: number): void }} Pair
 */

const AT_REST = 0.05;

/**
 * @param {any} spec
 * @param {Layout} layout
 * @param {number} draw
 * @returns {Alone}
 */
export function makeAlone(spec, layout, draw) {
  if (spec.kind === "raw") return rawAlone(spec, layout, draw);
  if (spec.kind === "none") return { rates: spec.rates, ask: (_actors, _a, out, at) => void out.fill(0, at, at + spec.rates) };
  if (spec.kind === "speed") return speedAlone(spec, layout, draw);
  if (spec.kind === "axis" || spec.kind === "mirror") return axisAlone(spec, layout, draw);
  throw new Error(`This page knows no coordinates of kind ${spec.kind}.`);
}

/** The whole state. @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone} */
function rawAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { state, properties, controls } = layout;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  return {
    rates: f.outSize,
    ask(actors, a, out, at) {
      copy(actors.states, a * state, state, x, 0);
      copy(actors.properties, a * properties, properties, x, state);
      copy(actors.controls, a * controls, controls, x, state + properties);
      f.evaluate(x, y);
      out.set(y, at);
    },
  };
}

/**
 * Each axis by itself; "mirror" is one odd law for every axis.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone}
 */
function axisAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties, controls } = layout;
  const moving = layout.velocity ? 2 : 1;
  const fixed = properties + controls;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const opposite = new Float64Array(f.outSize);
  const mirror = spec.kind === "mirror";

  /** Inputs of one axis. @param {Actors} actors @param {number} a @param {number} axis @param {number} side */
  function look(actors, a, axis, side) {
    for (let v = 0; v < moving; v++) x[v] = side * actors.states[a * state + v * spatial + axis];
    copy(actors.properties, a * properties, properties, x, moving);
    copy(actors.controls, a * controls, controls, x, moving + properties);
  }

  return {
    rates: spec.vectors * spatial,
    ask(actors, a, out, at) {
      for (let axis = 0; axis < spatial; axis++) {
        look(actors, a, axis, 1);
        if (!mirror) f.evaluate(x, y);
        else if (fixed === 0) f.odd(x, y);
        else {
          f.evaluate(x, y);
          look(actors, a, axis, -1);
          f.evaluate(x, opposite);
          for (let q = 0; q < y.length; q++) y[q] = 0.5 * (y[q] - opposite[q]);
        }
        for (let v = 0; v < spec.vectors; v++) {
          out[at + v * spatial + axis] = mirror ? y[v] : y[v * spatial + axis];
        }
      }
    },
  };
}

/** A rate along the heading, by the speed. @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone} */
function speedAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, properties, controls } = layout;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const ahead = new Float64Array(spatial);
  return {
    rates: spec.vectors * spatial,
    ask(actors, a, out, at) {
      x[0] = heading(actors, a, layout, ahead);
      copy(actors.properties, a * properties, properties, x, 1);
      copy(actors.controls, a * controls, controls, x, 1 + properties);
      f.evaluate(x, y);
      for (let v = 0; v < spec.vectors; v++) {
        for (let d = 0; d < spatial; d++) out[at + v * spatial + d] = y[v] * ahead[d];
      }
    },
  };
}

/**
 * Speed, and its direction into `out`; an object at rest has none, and a slow one little of it.
 * @param {Actors} actors @param {number} a @param {Layout} layout @param {Float64Array} out
 */
export function heading(actors, a, layout, out) {
  const { spatial, state } = layout;
  let squared = AT_REST * AT_REST;
  for (let d = 0; d < spatial; d++) {
    out[d] = layout.velocity ? actors.states[a * state + spatial + d] : 0;
    squared += out[d] * out[d];
  }
  const speed = Math.sqrt(squared);
  for (let d = 0; d < spatial; d++) out[d] /= speed;
  return speed;
}

/**
 * @param {Float64Array} from @param {number} begin @param {number} count
 * @param {Float64Array} to @param {number} at
 */
export function copy(from, begin, count, to, at) {
  for (let k = 0; k < count; k++) to[at + k] = from[begin + k];
}
