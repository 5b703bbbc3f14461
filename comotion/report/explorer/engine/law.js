/** What f_b says along the line between two objects. */

import { ofDraw } from "./unpack.js";

/**
 * @typedef {import("./model.js").Model} Model
 *
 * @typedef {object} Couple two objects, in the data's units
 * @property {number} a
 * @property {number} b
 * @property {number[]} one position and velocity of the object that is pushed
 * @property {number[]} other those of the object that pushes
 * @property {Record<string, number>} [set] properties that a visitor has set, by "object property"
 *
 * @typedef {object} LawRequest
 * @property {number} sequence
 * @property {number[]} distances where the curve is wanted
 * @property {Couple | null} couple whose curve it is: its line, velocities and properties
 * @property {Couple[]} pairs what it says about these pairs as they are
 */

/**
 * The part of f_b along the line between two objects, away from the other, in the data's units.
 * @param {Model} model
 * @param {number} draw
 * @param {LawRequest} request
 * @returns {{ curve: Float32Array, points: Float32Array } | null} null where there is no f_b
 */
export function lawOf(model, draw, request) {
  const { pair } = model.law(draw);
  if (!pair) return null;
  const ask = asker(model, pair, ofDraw(model.sequences[request.sequence].static, draw));
  const { couple } = request;
  const curve = couple ? request.distances.map((distance) => ask(apart(couple, distance, model.spatial))) : [];
  return { curve: Float32Array.from(curve), points: Float32Array.from(request.pairs.map(ask)) };
}

/**
 * The same two objects at another distance on the same line.
 * @param {Couple} couple @param {number} distance @param {number} spatial @returns {Couple}
 */
function apart(couple, distance, spatial) {
  const { one, other } = couple;
  const now = Math.hypot(...one.slice(0, spatial).map((x, d) => x - other[d])) || 1;
  const moved = one.map((x, d) => (d < spatial ? other[d] + ((x - other[d]) * distance) / now : x));
  return { ...couple, one: moved };
}

/**
 * @param {Model} model
 * @param {import("./coordinates.js").Pair} pair
 * @param {Float64Array} drawn properties of all objects
 * @returns {(couple: Couple) => number}
 */
function asker(model, pair, drawn) {
  const { layout, content } = model;
  const { spatial, state, properties } = layout;
  const shift = content.units.state_shift.data;
  const scale = content.units.state_scale.data;
  const actors = {
    states: new Float64Array(2 * state),
    properties: new Float64Array(2 * properties),
    controls: new Float64Array(2 * layout.controls),
  };
  const out = new Float64Array(pair.rates);
  const couples = Int32Array.of(0, 1);
  // First-order laws give velocities before accelerations: the push is the last vector.
  const first = content.field.order === 1 && layout.velocity ? spatial : 0;
  const entry = content.field.order === 2 ? spatial : first;
  return (couple) => {
    [couple.one, couple.other].forEach((shown, who) => {
      shown.forEach((value, i) => {
        actors.states[who * state + i] = (value - shift[i]) / scale[i];
      });
    });
    [couple.a, couple.b].forEach((object, who) => {
      for (let c = 0; c < properties; c++) {
        const set = couple.set?.[`${object} ${c}`];
        const unit = content.units.properties.data[c];
        actors.properties[who * properties + c] =
          set === undefined ? drawn[object * properties + c] : set / unit;
      }
    });
    pair.ask(actors, couples, 1, out);
    let along = 0;
    let length = 0;
    for (let d = 0; d < spatial; d++) {
      const gap = couple.one[d] - couple.other[d];
      along += gap * out[first + d] * (scale[entry + d] / content.units.time);
      length += gap * gap;
    }
    return along / Math.sqrt(length + 1e-30);
  };
}
