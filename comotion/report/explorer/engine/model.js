/** The content of a page as something that can be followed: laws, units, sequences. */

import { makeField } from "./field.js";
import { makeFunction } from "./functions.js";

const SCHEMA = 1;

/**
 * @typedef {import("./unpack.js").NumberArray} NumberArray
 *
 * @typedef {object} Sequence
 * @property {string} name
 * @property {string[]} objects
 * @property {NumberArray} times
 * @property {NumberArray} values frame × object × feature, in the data's units
 * @property {NumberArray} alive frame × object
 * @property {NumberArray} neighbours object × object
 * @property {NumberArray} controls frame × object × control
 * @property {NumberArray} origins frames to forecast from
 * @property {number} seen frames that a forecast has looked at, from its origin on; 1 where it
 *   starts at the last of them
 * @property {NumberArray} starts draw × origin × object × state
 * @property {NumberArray} habits draw × origin × object × what process noise knows of it
 * @property {NumberArray} static draw × object × property
 *
 * @typedef {object} Model
 * @property {any} content all that the page carries
 * @property {import("./coordinates.js").Layout} layout
 * @property {Sequence[]} sequences
 * @property {number} spatial
 * @property {number} shown numbers per object that a picture needs: position, then velocity
 * @property {(draw: number) => import("./field.js").Field} law
 * @property {(states: Float64Array, out: Float32Array, at: number) => void} show states to what is shown
 */

/**
 * @param {any} content
 * @returns {Model}
 */
export function openModel(content) {
  if (content.schema !== SCHEMA) {
    throw new Error(`This page reads version ${SCHEMA} of its content, not ${content.schema}.`);
  }
  const { layout } = content;
  /** @type {import("./field.js").Field[]} */
  const laws = [];
  return {
    content,
    layout,
    sequences: content.sequences,
    spatial: layout.spatial,
    ...shower(content),
    law: (draw) => (laws[draw] ??= makeField(content.field, layout, draw)),
  };
}

/** @param {any} content @returns {Pick<Model, "shown" | "show">} */
function shower(content) {
  const { layout, units, decoder, features } = content;
  const { spatial, state } = layout;
  if (decoder.kind === "first") {
    const shown = spatial * (layout.velocity ? 2 : 1);
    return {
      shown,
      show(states, out, at) {
        const [shift, scale] = [units.state_shift.data, units.state_scale.data];
        for (let row = 0; row < states.length; row += state, at += shown) {
          for (let i = 0; i < shown; i++) out[at + i] = states[row + i] * scale[i] + shift[i];
        }
      },
    };
  }
  const network = makeFunction(decoder.network, 0);
  const shown = spatial * (features.includes("vx") ? 2 : 1);
  const x = new Float64Array(decoder.entries.length);
  const y = new Float64Array(network.outSize);
  return {
    shown,
    show(states, out, at) {
      const [shift, scale] = [units.feature_shift.data, units.feature_scale.data];
      for (let row = 0; row < states.length; row += state, at += shown) {
        decoder.entries.forEach((/** @type {number} */ entry, /** @type {number} */ k) => {
          x[k] = states[row + entry];
        });
        network.evaluate(x, y, 1);
        for (let i = 0; i < shown; i++) out[at + i] = y[i] * scale[i] + shift[i];
      }
    },
  };
}
