/** Drawn functions: Gaussian processes by Matheron's rule, and networks. */

import { cosineInPlace, sineInPlace, STEPS_PER_RADIAN } from "./fast_math.js";
import { makeKernel } from "./kernels.js";
import { vectorPathwise } from "./pathwise.js";
import { ofDraw } from "./unpack.js";

/**
 * @typedef {object} DrawnFunction rows of inputs to rows of outputs
 * @property {number} inSize
 * @property {number} outSize
 * @property {(x: Float64Array, out: Float64Array, rows: number) => void} evaluate
 * @property {(x: Float64Array, out: Float64Array, rows: number) => void} odd (f(x) - f(-x)) / 2
 *
 * @typedef {object} Rows inputs and outputs of a function, with room for as many rows as were ever asked for
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {(rows: number) => void} reach
 */

/** @param {DrawnFunction} f @returns {Rows} */
export function makeRows({ inSize, outSize }) {
  return {
    x: new Float64Array(),
    y: new Float64Array(),
    reach(rows) {
      if (this.x.length < rows * inSize) this.x = new Float64Array(rows * inSize);
      if (this.y.length < rows * outSize) this.y = new Float64Array(rows * outSize);
    },
  };
}

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {DrawnFunction}
 */
export function makeFunction(spec, draw) {
  if (spec.kind === "gp") return vectorPathwise(spec, draw) ?? pathwise(spec, draw);
  if (spec.kind === "network") return network(spec, draw);
  throw new Error(`This page knows no function of kind ${spec.kind}.`);
}

/**
 * f(x) = φ(x)ᵀw + k(x, Z)ν: all features side by side, then one product with all weights.
 * @param {any} spec
 * @param {number} draw
 * @returns {DrawnFunction}
 */
function pathwise(spec, draw) {
  const [, inSize, waves] = spec.frequencies.shape;
  const outSize = spec.prior_weights.shape[1];
  const kernel = makeKernel(spec.kernel, draw);
  const frequencies = ofDraw(spec.frequencies, draw).map((w) => w * STEPS_PER_RADIAN);
  const phases = ofDraw(spec.phases, draw);
  const steps = phases.map((phase) => phase * STEPS_PER_RADIAN);
  const prior = ofDraw(spec.prior_weights, draw);
  const inducing = ofDraw(spec.inducing_weights, draw);
  // (cos(a + p) - cos(-a + p)) / 2 = -sin(p) sin(a)
  const oddPrior = prior.map((w, k) => -Math.sin(phases[k % waves]) * w);
  const features = new Float64Array(waves + kernel.size);
  const mirrored = new Float64Array(kernel.size);
  const minusX = new Float64Array(inSize);

  /** @param {Float64Array} x one row @param {Float64Array | null} offsets */
  function angles(x, offsets) {
    if (offsets) features.set(offsets);
    else features.fill(0, 0, waves);
    for (let i = 0; i < inSize; i++) {
      const xi = x[i];
      for (let s = 0, k = i * waves; s < waves; s++, k++) features[s] += frequencies[k] * xi;
    }
  }

  /** @param {Float64Array} ofWaves @param {Float64Array} out one row */
  function weigh(ofWaves, out) {
    for (let q = 0; q < outSize; q++) {
      let sum = 0;
      for (let s = 0, k = q * waves; s < waves; s++, k++) sum += ofWaves[k] * features[s];
      for (let m = 0, k = q * kernel.size; m < kernel.size; m++, k++) {
        sum += inducing[k] * features[waves + m];
      }
      out[q] = sum;
    }
  }

  return {
    inSize,
    outSize,
    evaluate: rowByRow(inSize, outSize, (x, out) => {
      angles(x, steps);
      cosineInPlace(features, 0, waves);
      kernel.evaluate(x, features, waves);
      weigh(prior, out);
    }),
    odd: rowByRow(inSize, outSize, (x, out) => {
      angles(x, null);
      sineInPlace(features, 0, waves);
      kernel.evaluate(x, features, waves);
      for (let i = 0; i < inSize; i++) minusX[i] = -x[i];
      kernel.evaluate(minusX, mirrored, 0);
      for (let m = 0; m < kernel.size; m++) {
        features[waves + m] = 0.5 * (features[waves + m] - mirrored[m]);
      }
      weigh(oddPrior, out);
    }),
  };
}

/**
 * @param {number} inSize @param {number} outSize @param {(x: Float64Array, out: Float64Array) => void} one
 * @returns {DrawnFunction["evaluate"]}
 */
function rowByRow(inSize, outSize, one) {
  return (x, out, rows) => {
    for (let r = 0; r < rows; r++) one(x.subarray(r * inSize, (r + 1) * inSize), out.subarray(r * outSize, (r + 1) * outSize));
  };
}

/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = {
  elu: (x) => (x > 0 ? x : Math.expm1(x)),
  relu: (x) => Math.max(x, 0),
  softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  tanh: Math.tanh,
  swish: (x) => x / (1 + Math.exp(-x)),
  "lip-swish": (x) => x / (1 + Math.exp(-x)) / 1.1,
};

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {DrawnFunction}
 */
function network(spec, draw) {
  const layers = spec.layers.map((/** @type {any} */ layer) => ({
    weights: ofDraw(layer.weights, draw),
    biases: ofDraw(layer.biases, draw),
    hidden: new Float64Array(layer.biases.shape[1]),
  }));
  const activation = ACTIVATIONS[spec.activation];
  const inSize = spec.layers[0].weights.shape[1];
  const outSize = spec.layers[spec.layers.length - 1].weights.shape[2];
  const minusX = new Float64Array(inSize);
  const opposite = new Float64Array(outSize);

  /** @param {Float64Array} x @param {Float64Array} out */
  function evaluate(x, out) {
    let before = x;
    let width = inSize;
    layers.forEach((/** @type {any} */ layer, /** @type {number} */ l) => {
      const values = layer.hidden;
      values.set(layer.biases);
      for (let i = 0; i < width; i++) {
        const xi = before[i];
        for (let o = 0, k = i * values.length; o < values.length; o++, k++) {
          values[o] += layer.weights[k] * xi;
        }
      }
      if (l < layers.length - 1) {
        for (let o = 0; o < values.length; o++) values[o] = activation(values[o]);
      }
      before = values;
      width = values.length;
    });
    for (let o = 0; o < outSize; o++) out[o] = before[o];
  }

  return {
    inSize,
    outSize,
    evaluate: rowByRow(inSize, outSize, evaluate),
    odd: rowByRow(inSize, outSize, (x, out) => {
      for (let i = 0; i < inSize; i++) minusX[i] = -x[i];
      evaluate(minusX, opposite);
      evaluate(x, out);
      for (let o = 0; o < outSize; o++) out[o] = 0.5 * (out[o] - opposite[o]);
    }),
  };
}
