/** What f_b sees, and what its outputs mean: `comotion/coordinates` once more. */

import { copy, heading } from "./coordinates.js";
import { makeFunction } from "./functions.js";

/**
 * @typedef {import("./coordinates.js").Actors} Actors
 * @typedef {import("./coordinates.js").Layout} Layout
 * @typedef {import("./coordinates.js").Pair} Pair
 */

const TINY = 1e-12;
/** Slower sliding is rounding noise: its direction means nothing. */
const HEAD_ON = 1e-4;
const STRAIGHT_AHEAD = 0.02;

/**
 * @param {any} spec
 * @param {Layout} layout
 * @param {number} draw
 * @returns {Pair}
 */
export function makePair(spec, layout, draw) {
  if (spec.kind === "none") return { rates: spec.rates, opposite: false, ask: (_actors, _a, _b, out, at) => void out.fill(0, at, at + spec.rates) };
  if (spec.kind === "distance") return distancePair(spec, layout, draw);
  if (spec.kind === "body") return bodyPair(spec, layout, draw);
  if (spec.kind === "stacked") return stackedPair(spec, layout, draw);
  if (spec.kind === "radial") return radialPair(spec, layout, draw);
  throw new Error(`This page knows no coordinates of kind ${spec.kind}.`);
}

/**
 * Both objects side by side, the first entries of their states subtracted.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair}
 */
function stackedPair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { state, properties } = layout;
  const cut = spec.differenced;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  return {
    rates: f.outSize,
    opposite: false,
    ask(actors, a, b, out, at) {
      const { states } = actors;
      for (let i = 0; i < cut; i++) x[i] = states[a * state + i] - states[b * state + i];
      copy(states, a * state + cut, state - cut, x, cut);
      copy(states, b * state + cut, state - cut, x, state);
      const rest = 2 * state - cut;
      copy(actors.properties, a * properties, properties, x, rest);
      copy(actors.properties, b * properties, properties, x, rest + properties);
      f.evaluate(x, y);
      out.set(y, at);
    },
  };
}

/**
 * Along the line between two objects and across it, of distance, approach and sliding speed.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair}
 */
function radialPair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties } = layout;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const normal = new Float64Array(spatial);
  const tangent = new Float64Array(spatial);

  /** Fills the local frame and its scalars. @param {Actors} actors @param {number} a @param {number} b */
  function look(actors, a, b) {
    const { states } = actors;
    const i = a * state;
    const j = b * state;
    let squared = TINY;
    for (let d = 0; d < spatial; d++) {
      normal[d] = states[i + d] - states[j + d];
      squared += normal[d] * normal[d];
    }
    const distance = Math.sqrt(squared);
    for (let d = 0; d < spatial; d++) normal[d] /= distance;
    x[0] = distance;
    if (layout.velocity) {
      let approach = 0;
      for (let d = 0; d < spatial; d++) {
        tangent[d] = states[i + spatial + d] - states[j + spatial + d];
        approach += tangent[d] * normal[d];
      }
      let slide = TINY;
      for (let d = 0; d < spatial; d++) {
        tangent[d] -= approach * normal[d];
        slide += tangent[d] * tangent[d];
      }
      slide = Math.sqrt(slide);
      for (let d = 0; d < spatial; d++) tangent[d] /= Math.max(slide, HEAD_ON);
      x[1] = approach;
      x[2] = slide;
    }
    const begin = layout.velocity ? 3 : 1;
    for (let c = 0; c < properties; c++) {
      const mine = actors.properties[a * properties + c];
      const theirs = actors.properties[b * properties + c];
      x[begin + c] = mine + theirs;
      x[begin + properties + c] = mine * theirs;
    }
  }

  return {
    rates: spec.vectors * spatial,
    opposite: true,
    ask(actors, a, b, out, at) {
      look(actors, a, b);
      f.evaluate(x, y);
      for (let v = 0; v < spec.vectors; v++) {
        const across = spec.tangential ? y[spec.vectors + v] : 0;
        for (let d = 0; d < spatial; d++) {
          out[at + v * spatial + d] = y[v] * normal[d] + across * tangent[d];
        }
      }
    },
  };
}

/** Of the distance alone, and of who the two are. @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair} */
function distancePair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties } = layout;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const gap = new Float64Array(spatial);
  const aligns = spec.aligning && layout.velocity;
  return {
    rates: spec.vectors * spatial,
    opposite: false,
    ask(actors, a, b, out, at) {
      const { states } = actors;
      let squared = TINY;
      for (let d = 0; d < spatial; d++) {
        gap[d] = states[a * state + d] - states[b * state + d];
        squared += gap[d] * gap[d];
      }
      const distance = Math.sqrt(squared);
      x[0] = spec.logarithmic ? Math.log(distance) : distance;
      copy(actors.properties, a * properties, properties, x, 1);
      copy(actors.properties, b * properties, properties, x, 1 + properties);
      f.evaluate(x, y);
      for (let v = 0; v < spec.vectors; v++) {
        const push = spec.aligning ? y[v] : y[v] / distance;
        for (let d = 0; d < spatial; d++) {
          const k = spatial + d;
          const behind = aligns ? y[spec.vectors + v] * (states[b * state + k] - states[a * state + k]) : 0;
          out[at + v * spatial + d] = push * gap[d] + behind;
        }
      }
    },
  };
}

/**
 * As the one who reacts sees it: ahead and aside of its own heading, fading with distance.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair}
 */
function bodyPair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties } = layout;
  const moving = layout.velocity ? 2 : 1;
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const ahead = new Float64Array(spatial);
  const aside = new Float64Array(spatial);
  return {
    rates: spec.vectors * spatial,
    opposite: false,
    ask(actors, a, b, out, at) {
      const { states } = actors;
      heading(actors, a, layout, ahead);
      let along = 0;
      let distance = 0;
      for (let d = 0; d < spatial; d++) {
        aside[d] = states[b * state + d] - states[a * state + d];
        along += aside[d] * ahead[d];
        distance += aside[d] * aside[d];
      }
      let size = STRAIGHT_AHEAD * STRAIGHT_AHEAD;
      for (let d = 0; d < spatial; d++) {
        aside[d] -= along * ahead[d];
        size += aside[d] * aside[d];
      }
      for (let d = 0; d < spatial; d++) aside[d] /= Math.sqrt(size);
      for (let v = 0; v < moving; v++) {
        x[2 * v] = x[2 * v + 1] = 0;
        for (let d = 0; d < spatial; d++) {
          const gap = states[b * state + v * spatial + d] - states[a * state + v * spatial + d];
          x[2 * v] += gap * ahead[d];
          x[2 * v + 1] += gap * aside[d];
        }
      }
      copy(actors.properties, a * properties, properties, x, 2 * moving);
      copy(actors.properties, b * properties, properties, x, 2 * moving + properties);
      f.evaluate(x, y);
      const fading = Math.exp(-distance / spec.range ** 2);
      for (let v = 0; v < spec.vectors; v++) {
        for (let d = 0; d < spatial; d++) {
          out[at + v * spatial + d] = fading * (y[v] * ahead[d] + y[spec.vectors + v] * aside[d]);
        }
      }
    },
  };
}
