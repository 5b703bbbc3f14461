/** What f_b sees, and what its outputs mean: `comotion/coordinates` once more. */

import { copy, heading } from "./coordinates.js";
import { makeFunction, makeRows } from "./functions.js";
import { ofDraw } from "./unpack.js";

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
  if (spec.kind === "none") return { rates: spec.rates, opposite: false, ask: (_actors, _couples, count, out) => void out.fill(0, 0, count * spec.rates) };
  if (spec.kind === "distance") return distancePair(spec, layout, draw);
  if (spec.kind === "multiplying") return multiplyingPair(spec, layout, draw);
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
  const rows = makeRows(f);
  return {
    rates: f.outSize,
    opposite: false,
    ask(actors, couples, count, out) {
      const { states } = actors;
      rows.reach(count);
      for (let k = 0, at = 0; k < count; k++, at += f.inSize) {
        const a = couples[2 * k];
        const b = couples[2 * k + 1];
        for (let i = 0; i < cut; i++) rows.x[at + i] = states[a * state + i] - states[b * state + i];
        copy(states, a * state + cut, state - cut, rows.x, at + cut);
        copy(states, b * state + cut, state - cut, rows.x, at + state);
        const rest = at + 2 * state - cut;
        copy(actors.properties, a * properties, properties, rows.x, rest);
        copy(actors.properties, b * properties, properties, rows.x, rest + properties);
      }
      f.evaluate(rows.x, out, count);
    },
  };
}

/**
 * Along the line between two objects and across it, of distance, approach and sliding speed.
 * @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair}
 */
function radialPair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties, velocity } = layout;
  const { vectors, tangential } = spec;
  const { inSize, outSize } = f;
  const rows = makeRows(f);
  let normals = new Float64Array();
  let tangents = new Float64Array();

  /** Fills a row and its local frame. @param {Actors} actors @param {number} a @param {number} b @param {Float64Array} x @param {number} at @param {number} frame */
  function look({ states, properties: known }, a, b, x, at, frame) {
    const i = a * state;
    const j = b * state;
    let squared = 0;
    for (let d = 0; d < spatial; d++) {
      const gap = states[i + d] - states[j + d];
      normals[frame + d] = gap;
      squared += gap * gap;
    }
    const distance = Math.sqrt(squared + TINY);
    for (let d = 0; d < spatial; d++) normals[frame + d] /= distance;
    x[at] = distance;
    if (velocity) {
      let approach = 0;
      for (let d = 0; d < spatial; d++) {
        const speed = states[i + spatial + d] - states[j + spatial + d];
        tangents[frame + d] = speed;
        approach += speed * normals[frame + d];
      }
      let squaredSlide = 0;
      for (let d = 0; d < spatial; d++) {
        tangents[frame + d] -= approach * normals[frame + d];
        squaredSlide += tangents[frame + d] * tangents[frame + d];
      }
      const slide = Math.sqrt(squaredSlide + TINY);
      for (let d = 0; d < spatial; d++) tangents[frame + d] /= Math.max(slide, HEAD_ON);
      x[at + 1] = approach;
      x[at + 2] = slide;
    }
    const begin = at + (velocity ? 3 : 1);
    for (let c = 0; c < properties; c++) {
      const mine = known[a * properties + c];
      const theirs = known[b * properties + c];
      x[begin + c] = mine + theirs;
      x[begin + properties + c] = mine * theirs;
    }
  }

  return {
    rates: vectors * spatial,
    opposite: true,
    ask(actors, couples, count, out) {
      rows.reach(count);
      const { x, y } = rows;
      if (normals.length < count * spatial) [normals, tangents] = [new Float64Array(count * spatial), new Float64Array(count * spatial)];
      for (let k = 0; k < count; k++) look(actors, couples[2 * k], couples[2 * k + 1], x, k * inSize, k * spatial);
      f.evaluate(x, y, count);
      for (let k = 0; k < count; k++) {
        for (let v = 0; v < vectors; v++) {
          const along = y[k * outSize + v];
          const across = tangential ? y[k * outSize + vectors + v] : 0;
          for (let d = 0; d < spatial; d++) {
            out[(k * vectors + v) * spatial + d] = along * normals[k * spatial + d] + across * tangents[k * spatial + d];
          }
        }
      }
    },
  };
}

/** Of the distance alone, and of who the two are. @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair} */
function distancePair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties } = layout;
  const rows = makeRows(f);
  const aligns = spec.aligning && layout.velocity;

  /** @param {Float64Array} states @param {number} a @param {number} b */
  function apart(states, a, b) {
    let squared = TINY;
    for (let d = 0; d < spatial; d++) squared += (states[a * state + d] - states[b * state + d]) ** 2;
    return Math.sqrt(squared);
  }

  return {
    rates: spec.vectors * spatial,
    opposite: false,
    ask(actors, couples, count, out) {
      const { states } = actors;
      rows.reach(count);
      for (let k = 0, at = 0; k < count; k++, at += f.inSize) {
        const a = couples[2 * k];
        const b = couples[2 * k + 1];
        const distance = apart(states, a, b);
        rows.x[at] = spec.logarithmic ? Math.log(distance) : distance;
        copy(actors.properties, a * properties, properties, rows.x, at + 1);
        copy(actors.properties, b * properties, properties, rows.x, at + 1 + properties);
      }
      f.evaluate(rows.x, rows.y, count);
      for (let k = 0; k < count; k++) {
        const i = couples[2 * k] * state;
        const j = couples[2 * k + 1] * state;
        const unit = spec.aligning ? 1 : 1 / apart(states, couples[2 * k], couples[2 * k + 1]);
        for (let v = 0; v < spec.vectors; v++) {
          const push = rows.y[k * f.outSize + v] * unit;
          const pull = aligns ? rows.y[k * f.outSize + spec.vectors + v] : 0;
          for (let d = 0; d < spatial; d++) {
            const behind = aligns ? pull * (states[j + spatial + d] - states[i + spatial + d]) : 0;
            out[(k * spec.vectors + v) * spatial + d] = push * (states[i + d] - states[j + d]) + behind;
          }
        }
      }
    },
  };
}

/** A push by distance, and one more for each property, times both objects' values of it. @param {any} spec @param {Layout} layout @param {number} draw @returns {Pair} */
function multiplyingPair(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const { spatial, state, properties } = layout;
  const rows = makeRows(f);
  let squares = new Float64Array();

  return {
    rates: spec.vectors * spatial,
    opposite: true,
    ask(actors, couples, count, out) {
      const { states } = actors;
      rows.reach(count);
      if (squares.length < count) squares = new Float64Array(count);
      for (let k = 0; k < count; k++) {
        const i = couples[2 * k] * state;
        const j = couples[2 * k + 1] * state;
        squares[k] = TINY;
        for (let d = 0; d < spatial; d++) squares[k] += (states[i + d] - states[j + d]) ** 2;
        rows.x[k] = 0.5 * Math.log(squares[k]);
      }
      f.evaluate(rows.x, rows.y, count);
      for (let k = 0; k < count; k++) {
        const a = couples[2 * k];
        const b = couples[2 * k + 1];
        for (let v = 0; v < spec.vectors; v++) {
          let push = rows.y[k * f.outSize + v];
          for (let c = 0; c < properties; c++) {
            const both = actors.properties[a * properties + c] * actors.properties[b * properties + c];
            push += both * rows.y[k * f.outSize + (1 + c) * spec.vectors + v];
          }
          for (let d = 0; d < spatial; d++) {
            out[(k * spec.vectors + v) * spatial + d] = (push * (states[a * state + d] - states[b * state + d])) / squares[k];
          }
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
  const rows = makeRows(f);
  const ahead = new Float64Array(spatial);
  const aside = new Float64Array(spatial);
  const range = ofDraw(spec.range, draw)[0];

  /** Fills the local frame; gives how much is left of the law so far away. @param {Actors} actors @param {number} a @param {number} b */
  function turn(actors, a, b) {
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
    return Math.exp(-distance / range ** 2);
  }

  /** Fills a row. @param {Actors} actors @param {number} a @param {number} b @param {number} at */
  function look(actors, a, b, at) {
    const { states } = actors;
    const { x } = rows;
    turn(actors, a, b);
    for (let v = 0; v < moving; v++) {
      const k = at + 2 * v;
      x[k] = x[k + 1] = 0;
      for (let d = 0; d < spatial; d++) {
        const gap = states[b * state + v * spatial + d] - states[a * state + v * spatial + d];
        x[k] += gap * ahead[d];
        x[k + 1] += gap * aside[d];
      }
    }
    copy(actors.properties, a * properties, properties, x, at + 2 * moving);
    copy(actors.properties, b * properties, properties, x, at + 2 * moving + properties);
  }

  return {
    rates: spec.vectors * spatial,
    opposite: false,
    ask(actors, couples, count, out) {
      rows.reach(count);
      for (let k = 0; k < count; k++) look(actors, couples[2 * k], couples[2 * k + 1], k * f.inSize);
      f.evaluate(rows.x, rows.y, count);
      const { y } = rows;
      for (let k = 0; k < count; k++) {
        const left = turn(actors, couples[2 * k], couples[2 * k + 1]);
        for (let v = 0; v < spec.vectors; v++) {
          const at = k * f.outSize + v;
          for (let d = 0; d < spatial; d++) {
            out[(k * spec.vectors + v) * spatial + d] = left * (y[at] * ahead[d] + y[at + spec.vectors] * aside[d]);
          }
        }
      }
    },
  };
}
