/** What f_s sees, and what its outputs mean: `comotion/coordinates` once more. */

import { makeFunction, makeRows } from "./functions.js";
import { makeWalls, nearestWall } from "./walls.js";

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
 * @typedef {Asker & { ask(actors: Actors, count: number, out: Float64Array): void }} Alone rates of the first
 *   `count` objects, a row each
 * @typedef {Asker & { opposite: boolean, ask(actors: Actors, couples: Int32Array, count: number, out: Float64Array): void }} Pair
 *   rates of who is pushed by whom: the first `count` of `couples`, a row each
 */

const AT_REST = 0.05;
/** Walls farther away than that are all alike. */
const FAR = 1;
const STRAIGHT_AHEAD = 0.02;

/**
 * @param {any} spec
 * @param {Layout} layout
 * @param {number} draw
 * @returns {Alone}
 */
export function makeAlone(spec, layout, draw) {
  if (spec.kind === "raw") return rawAlone(spec, layout, draw);
  if (spec.kind === "none") return { rates: spec.rates, ask: (_actors, count, out) => void out.fill(0, 0, count * spec.rates) };
  if (spec.kind === "speed") return speedAlone(spec, layout, draw);
  if (spec.kind === "wall") return wallAlone(spec, layout, draw);
  if (spec.kind === "axis" || spec.kind === "mirror") return axisAlone(spec, layout, draw);
  throw new Error(`This page knows no coordinates of kind ${spec.kind}.`);
}

/** The whole state. @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone} */
function rawAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { state, properties, controls } = layout;
  const rows = makeRows(f);
  return {
    rates: f.outSize,
    ask(actors, count, out) {
      rows.reach(count);
      for (let a = 0, at = 0; a < count; a++, at += f.inSize) {
        copy(actors.states, a * state, state, rows.x, at);
        copy(actors.properties, a * properties, properties, rows.x, at + state);
        copy(actors.controls, a * controls, controls, rows.x, at + state + properties);
      }
      f.evaluate(rows.x, out, count);
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
  const rows = makeRows(f);
  const opposite = makeRows(f);
  const mirror = spec.kind === "mirror";
  const width = spec.vectors * spatial;

  /** A row for each object and axis. @param {Actors} actors @param {number} count @param {Float64Array} x @param {number} side */
  function look(actors, count, x, side) {
    for (let k = 0, at = 0; k < count * spatial; k++, at += f.inSize) {
      const a = Math.floor(k / spatial);
      for (let v = 0; v < moving; v++) x[at + v] = side * actors.states[a * state + v * spatial + (k % spatial)];
      copy(actors.properties, a * properties, properties, x, at + moving);
      copy(actors.controls, a * controls, controls, x, at + moving + properties);
    }
  }

  return {
    rates: width,
    ask(actors, count, out) {
      const asked = count * spatial;
      rows.reach(asked);
      look(actors, count, rows.x, 1);
      if (mirror && fixed === 0) f.odd(rows.x, rows.y, asked);
      else f.evaluate(rows.x, rows.y, asked);
      if (mirror && fixed > 0) {
        opposite.reach(asked);
        look(actors, count, opposite.x, -1);
        f.evaluate(opposite.x, opposite.y, asked);
        for (let k = 0; k < asked * f.outSize; k++) rows.y[k] = 0.5 * (rows.y[k] - opposite.y[k]);
      }
      for (let k = 0; k < asked; k++) {
        const a = Math.floor(k / spatial);
        const axis = k % spatial;
        for (let v = 0; v < spec.vectors; v++) {
          out[a * width + v * spatial + axis] = rows.y[k * f.outSize + (mirror ? v : v * spatial + axis)];
        }
      }
    },
  };
}

/** A rate along the heading, by the speed. @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone} */
function speedAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, properties, controls } = layout;
  const rows = makeRows(f);
  const ahead = new Float64Array(spatial);
  return {
    rates: spec.vectors * spatial,
    ask(actors, count, out) {
      rows.reach(count);
      for (let a = 0, at = 0; a < count; a++, at += f.inSize) {
        rows.x[at] = heading(actors, a, layout, ahead);
        copy(actors.properties, a * properties, properties, rows.x, at + 1);
        copy(actors.controls, a * controls, controls, rows.x, at + 1 + properties);
      }
      f.evaluate(rows.x, rows.y, count);
      for (let a = 0; a < count; a++) {
        heading(actors, a, layout, ahead);
        for (let v = 0; v < spec.vectors; v++) {
          for (let d = 0; d < spatial; d++) out[(a * spec.vectors + v) * spatial + d] = rows.y[a * f.outSize + v] * ahead[d];
        }
      }
    },
  };
}

/**
 * Acceleration along the heading and a turn to the left, by the speed and by where the nearest wall is.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Alone}
 */
function wallAlone(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties, controls } = layout;
  const rows = makeRows(f);
  const [ahead, aside, normal] = Array.from({ length: 3 }, () => new Float64Array(spatial));
  const walls = spec.contacts ? makeWalls(spec.contacts, spatial, draw) : [];

  /** Fills `ahead`, `normal` and `aside`, which is to the left in the plane, towards the wall in space. @param {Actors} actors @param {number} a */
  function turn(actors, a) {
    const speed = heading(actors, a, layout, ahead);
    const distance = nearestWall(walls, actors.states, a * state, normal);
    const along = dot(normal, ahead);
    if (spatial === 2) aside.set([-ahead[1], ahead[0]]);
    else {
      let squared = STRAIGHT_AHEAD ** 2;
      for (let d = 0; d < spatial; d++) {
        aside[d] = normal[d] - along * ahead[d];
        squared += aside[d] ** 2;
      }
      for (let d = 0; d < spatial; d++) aside[d] /= Math.sqrt(squared);
    }
    return { speed, along, distance: Math.min(Math.max(distance, 0), FAR) };
  }

  return {
    rates: spec.vectors * spatial,
    ask(actors, count, out) {
      rows.reach(count);
      for (let a = 0, at = 0; a < count; a++, at += f.inSize) {
        const { speed, along, distance } = turn(actors, a);
        const near = 1 - distance / FAR;
        rows.x.set([speed, distance, near * along, near * dot(normal, aside)], at);
        copy(actors.properties, a * properties, properties, rows.x, at + 4);
        copy(actors.controls, a * controls, controls, rows.x, at + 4 + properties);
      }
      f.evaluate(rows.x, rows.y, count);
      for (let a = 0; a < count; a++) {
        const { speed } = turn(actors, a);
        for (let v = 0; v < spec.vectors; v++) {
          const along = rows.y[a * f.outSize + v];
          const left = speed * rows.y[a * f.outSize + spec.vectors + v];
          for (let d = 0; d < spatial; d++) out[(a * spec.vectors + v) * spatial + d] = along * ahead[d] + left * aside[d];
        }
      }
    },
  };
}

/** @param {Float64Array} a @param {Float64Array} b */
function dot(a, b) {
  return a.reduce((sum, value, d) => sum + value * b[d], 0);
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
