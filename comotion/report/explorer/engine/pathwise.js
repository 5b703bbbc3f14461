/** f(x) = φ(x)ᵀw + k(x, Z)ν, four features at a time where the kernel is the usual one. */

import { ofDraw } from "./unpack.js";
import { LANES, MOST_INPUTS, vectors } from "./vectors.js";

/** @param {any} spec of a Gaussian process */
export function canBeVectors(spec) {
  const usual = spec.kernel.kind === "radial" && spec.kernel.correlation === "se";
  return usual && spec.frequencies.shape[1] <= MOST_INPUTS && vectors() !== null;
}

/** @param {number} size */
const whole = (size) => Math.ceil(size / LANES) * LANES;

/**
 * Rows of a matrix, each filled up with zeros to a whole number of vectors.
 * @param {Float64Array} matrix @param {number} rows @param {number} columns
 */
function filled(matrix, rows, columns) {
  const wide = new Float64Array(rows * whole(columns));
  for (let r = 0; r < rows; r++) wide.set(matrix.subarray(r * columns, (r + 1) * columns), r * whole(columns));
  return wide;
}

/**
 * Two matrices side by side. @param {Float64Array} left @param {Float64Array} right @param {number} rows
 */
function beside(left, right, rows) {
  const [a, b] = [left.length / rows, right.length / rows];
  const both = new Float64Array(left.length + right.length);
  for (let r = 0; r < rows; r++) {
    both.set(left.subarray(r * a, (r + 1) * a), r * (a + b));
    both.set(right.subarray(r * b, (r + 1) * b), r * (a + b) + a);
  }
  return both;
}

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {import("./functions.js").DrawnFunction}
 */
export function vectorPathwise(spec, draw) {
  const fast = /** @type {import("./vectors.js").Vectors} */ (vectors());
  const [, inSize, waves] = spec.frequencies.shape;
  const [, , chosen] = spec.kernel.scale.shape;
  const outSize = spec.prior_weights.shape[1];
  const inducing = spec.kernel.inducing.shape[2];
  const [wave, kernel] = [fast.waves(inSize), fast.kernel(chosen)];
  const turns = (/** @type {number} */ angle) => angle / (2 * Math.PI);
  const phases = ofDraw(spec.phases, draw);
  const prior = ofDraw(spec.prior_weights, draw);
  // (cos(a + p) - cos(-a + p)) / 2 = -sin(p) sin(a), and a sine is a cosine a quarter turn later.
  const oddPrior = prior.map((w, k) => -Math.sin(phases[k % waves]) * w);
  const nu = filled(ofDraw(spec.inducing_weights, draw), outSize, inducing);
  const centre = ofDraw(spec.kernel.centre, draw);
  const scale = ofDraw(spec.kernel.scale, draw);
  const [waveBytes, kernelBytes] = [4 * whole(waves), 4 * whole(inducing)];
  const at = {
    frequencies: fast.keep(filled(ofDraw(spec.frequencies, draw).map(turns), inSize, waves)),
    phases: fast.keep(filled(phases.map(turns), 1, waves)),
    quarter: fast.keep(new Float64Array(whole(waves)).fill(-0.25)),
    inducing: fast.keep(filled(ofDraw(spec.kernel.inducing, draw), chosen, inducing)),
    weights: fast.keep(beside(filled(prior, outSize, waves), nu, outSize)),
    oddWeights: fast.keep(beside(filled(oddPrior, outSize, waves), nu, outSize)),
    x: fast.keep(new Float64Array(whole(inSize))),
    scaled: fast.keep(new Float64Array(whole(chosen))),
    opposite: fast.keep(new Float64Array(whole(chosen))),
    features: fast.keep(new Float64Array(whole(waves) + whole(inducing))),
    mirrored: fast.keep(new Float64Array(whole(inducing))),
    out: fast.keep(new Float64Array(whole(outSize))),
  };

  /** Writes x, and what the kernel sees of it or of its opposite. @param {Float64Array} x @param {number} side @param {number} place */
  function write(x, side, place) {
    const { numbers } = fast;
    for (let i = 0; i < inSize; i++) numbers[at.x / 4 + i] = x[i];
    for (let c = 0; c < chosen; c++) {
      let sum = 0;
      for (let i = 0; i < inSize; i++) sum += (side * x[i] - centre[i]) * scale[i * chosen + c];
      numbers[place / 4 + c] = sum;
    }
  }

  /** @param {number} weights @param {Float64Array} out */
  function weigh(weights, out) {
    fast.weigh(waveBytes + kernelBytes, outSize, at.features, weights, at.out);
    for (let q = 0; q < outSize; q++) out[q] = fast.numbers[at.out / 4 + q];
  }

  return {
    inSize,
    outSize,
    evaluate(x, out) {
      write(x, 1, at.scaled);
      wave(waveBytes, at.x, at.frequencies, at.phases, at.features);
      kernel(kernelBytes, at.scaled, at.inducing, at.features + waveBytes);
      weigh(at.weights, out);
    },
    odd(x, out) {
      write(x, 1, at.scaled);
      write(x, -1, at.opposite);
      wave(waveBytes, at.x, at.frequencies, at.quarter, at.features);
      kernel(kernelBytes, at.scaled, at.inducing, at.features + waveBytes);
      kernel(kernelBytes, at.opposite, at.inducing, at.mirrored);
      fast.halfDifference(kernelBytes, at.features + waveBytes, at.mirrored);
      weigh(at.oddWeights, out);
    },
  };
}
