/** What a contact does: how fast things part, by how fast they met; `comotion/contacts/bounce.py` once more. */

import { ofDraw } from "./unpack.js";

/**
 * @typedef {object} Bounce
 * @property {number} loss share of the sliding speed
 * @property {(closing: number, place: Float64Array) => number} restitution
 */

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {Bounce}
 */
export function makeBounce(spec, draw) {
  const speeds = ofDraw(spec.speeds, draw);
  const values = ofDraw(spec.values, draw);
  const scatter = spec.scatter ? makeScatter(spec.scatter, draw) : () => 0;
  return {
    loss: ofDraw(spec.loss, draw)[0],
    restitution(closing, place) {
      let known = values[0] + scatter(place);
      for (let k = 0; k + 1 < speeds.length; k++) {
        const way = (closing - speeds[k]) / (speeds[k + 1] - speeds[k]);
        known += Math.min(Math.max(way, 0), 1) * (values[k + 1] - values[k]);
      }
      return Math.min(Math.max(known, 0), 1);
    },
  };
}

/** A number per event, the same for the same place. @param {any} spec @param {number} draw */
function makeScatter(spec, draw) {
  const sd = ofDraw(spec.sd, draw)[0];
  const frequencies = ofDraw(spec.frequencies, draw);
  const phases = ofDraw(spec.phases, draw);
  return (/** @type {Float64Array} */ place) => {
    let sum = 0;
    for (let f = 0; f < phases.length; f++) {
      let phase = phases[f];
      for (let d = 0; d < place.length; d++) phase += place[d] * frequencies[f * place.length + d];
      sum += Math.cos(phase);
    }
    return sd * Math.sqrt(2 / phases.length) * sum;
  };
}
