/** k(x, Z) for fixed inducing inputs Z: radial kernels, their sums and products. */

import { decay, decayInPlace } from "./fast_math.js";
import { ofDraw } from "./unpack.js";

/**
 * @typedef {object} Kernel
 * @property {number} size number of inducing inputs
 * @property {(x: Float64Array, out: Float64Array, begin: number) => void} evaluate
 */

/** Functions of squared distances, in place. @type {Record<string, (v: Float64Array, begin: number, end: number) => void>} */
const CORRELATIONS = {
  se: (values, begin, end) => decayInPlace(values, begin, end, 0.5),
  matern12: (values, begin, end) => {
    for (let k = begin; k < end; k++) values[k] = decay(Math.sqrt(values[k]));
  },
  matern32: (values, begin, end) => {
    for (let k = begin; k < end; k++) {
      const r = Math.sqrt(3 * values[k]);
      values[k] = (1 + r) * decay(r);
    }
  },
  matern52: (values, begin, end) => {
    for (let k = begin; k < end; k++) {
      const r = Math.sqrt(5 * values[k]);
      values[k] = (1 + r + (r * r) / 3) * decay(r);
    }
  },
};

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {Kernel}
 */
export function makeKernel(spec, draw) {
  if (spec.kind === "radial") return radial(spec, draw);
  const parts = spec.parts.map((/** @type {any} */ part) => makeKernel(part, draw));
  if (spec.kind === "sum") return combined(parts, ofDraw(spec.weights, draw), false);
  if (spec.kind === "product") return combined(parts, new Float64Array(parts.length).fill(1), true);
  throw new Error(`This page knows no kernel of kind ${spec.kind}.`);
}

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {Kernel}
 */
function radial(spec, draw) {
  const [, inputs, chosen] = spec.scale.shape;
  const size = spec.inducing.shape[2];
  const centre = ofDraw(spec.centre, draw);
  const scale = ofDraw(spec.scale, draw); // inputs × chosen
  const inducing = ofDraw(spec.inducing, draw); // chosen × size
  const correlate = CORRELATIONS[spec.correlation];
  return {
    size,
    evaluate(x, out, begin) {
      out.fill(0, begin, begin + size);
      for (let c = 0; c < chosen; c++) {
        let scaled = 0;
        for (let i = 0; i < inputs; i++) scaled += (x[i] - centre[i]) * scale[i * chosen + c];
        for (let m = 0, z = c * size; m < size; m++, z++) {
          const gap = scaled - inducing[z];
          out[begin + m] += gap * gap;
        }
      }
      correlate(out, begin, begin + size);
    },
  };
}

/**
 * A weighted sum of kernels, or their product.
 * @param {Kernel[]} parts
 * @param {Float64Array} weights
 * @param {boolean} multiply
 * @returns {Kernel}
 */
function combined(parts, weights, multiply) {
  const size = parts[0].size;
  const one = new Float64Array(size);
  return {
    size,
    evaluate(x, out, begin) {
      out.fill(multiply ? 1 : 0, begin, begin + size);
      parts.forEach((part, p) => {
        part.evaluate(x, one, 0);
        for (let m = 0; m < size; m++) {
          if (multiply) out[begin + m] *= one[m];
          else out[begin + m] += weights[p] * one[m];
        }
      });
    },
  };
}
