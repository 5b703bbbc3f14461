/** f(x) = φ(x)ᵀw + k(x, Z)ν, four features at a time where the kernel is one that is known. */

import { ofDraw } from "./unpack.js";
import { allNumbers, keep, LANES, MOST_ROWS, RESULTS, routineFor } from "./vectors.js";

/**
 * Rows of several matrices in blocks of four columns: the first four of every row, the next four …
 * @param {Float64Array[]} matrices @param {number} columns of each of them
 */
function inBlocks(matrices, columns) {
  const rows = matrices.flatMap((matrix) => Array.from({ length: matrix.length / columns }, (_, r) => matrix.subarray(r * columns, (r + 1) * columns)));
  const blocks = Math.ceil(columns / LANES);
  const all = new Float32Array(blocks * rows.length * LANES);
  rows.forEach((row, r) => {
    row.forEach((value, k) => (all[(Math.floor(k / LANES) * rows.length + r) * LANES + (k % LANES)] = value));
  });
  return all;
}

/** Where blocks begin and end. @param {Float64Array[]} matrices @param {number} columns */
function kept(matrices, columns) {
  const blocks = inBlocks(matrices, columns);
  const begin = keep(blocks);
  return { begin, end: begin + 4 * blocks.length };
}

/**
 * @param {any} spec
 * @param {number} draw
 * @returns {import("./functions.js").DrawnFunction | null} null where plain loops have to do
 */
export function vectorPathwise(spec, draw) {
  if (spec.kernel.kind !== "radial") return null;
  const [, inputs, waves] = spec.frequencies.shape;
  const [, , chosen] = spec.kernel.scale.shape;
  const outputs = spec.prior_weights.shape[1];
  const size = spec.kernel.inducing.shape[2];
  const shape = { inputs, chosen, outputs, correlation: spec.kernel.correlation };
  const [plain, odd] = [routineFor({ ...shape, odd: false }), routineFor({ ...shape, odd: true })];
  if (!plain || !odd) return null;

  const turns = (/** @type {number} */ angle) => angle / (2 * Math.PI);
  const frequencies = ofDraw(spec.frequencies, draw).map(turns);
  const phases = ofDraw(spec.phases, draw);
  const prior = ofDraw(spec.prior_weights, draw);
  const nu = ofDraw(spec.inducing_weights, draw);
  const inducing = ofDraw(spec.kernel.inducing, draw);
  const sees = makeSight(ofDraw(spec.kernel.scale, draw), ofDraw(spec.kernel.centre, draw), chosen);

  // Only what is asked for takes room.
  const forPlain = once(() => ({
    waves: kept([frequencies, phases.map(turns), prior], waves),
    inducing: kept([inducing, nu], size),
  }));
  // (cos(a + p) - cos(-a + p)) / 2 = -sin(p) sin(a), and a sine is a cosine a quarter turn later.
  const forOdd = once(() => ({
    waves: kept([frequencies, new Float64Array(waves).fill(-0.25), prior.map((w, k) => -Math.sin(phases[k % waves]) * w)], waves),
    inducing: kept([inducing, nu.map((w) => 0.5 * w)], size),
  }));

  /** @param {import("./vectors.js").Routine} routine @param {ReturnType<typeof forPlain>} parts @param {Float64Array} x @param {Float64Array} out @param {number} rows @param {boolean} both */
  function ask(routine, parts, x, out, rows, both) {
    const numbers = allNumbers();
    const width = inputs + chosen * (both ? 2 : 1);
    for (let begin = 0; begin < rows; begin += MOST_ROWS) {
      const some = Math.min(MOST_ROWS, rows - begin);
      for (let r = 0; r < some; r++) {
        const from = (begin + r) * inputs;
        const at = r * width;
        for (let i = 0; i < inputs; i++) numbers[at + i] = x[from + i];
        sees(x, from, 1, numbers, at + inputs);
        if (both) sees(x, from, -1, numbers, at + inputs + chosen);
      }
      routine(parts.waves.begin, parts.waves.end, parts.inducing.begin, parts.inducing.end, 0, 4 * some * width, RESULTS);
      const results = RESULTS / 4;
      for (let k = 0; k < some * outputs; k++) out[begin * outputs + k] = numbers[results + k];
    }
  }

  return {
    inSize: inputs,
    outSize: outputs,
    evaluate: (x, out, rows) => ask(plain, forPlain(), x, out, rows, false),
    odd: (x, out, rows) => ask(odd, forOdd(), x, out, rows, true),
  };
}

/**
 * What a kernel sees of a row of inputs, or of its opposite: nearly always each number by itself.
 * @param {Float64Array} scale inputs × chosen @param {Float64Array} centre @param {number} chosen
 * @returns {(x: Float64Array, from: number, side: number, out: Float32Array, at: number) => void}
 */
function makeSight(scale, centre, chosen) {
  const used = Array.from(scale.keys()).filter((k) => scale[k] !== 0);
  used.sort((k, l) => (k % chosen) - (l % chosen));
  const input = Int32Array.from(used, (k) => Math.floor(k / chosen));
  const factor = Float64Array.from(used, (k) => scale[k]);
  const end = Int32Array.from({ length: chosen }, (_, c) => used.filter((k) => k % chosen <= c).length);
  const offset = Float64Array.from({ length: chosen }, (_, c) => -used.filter((k) => k % chosen === c).reduce((sum, k) => sum + centre[Math.floor(k / chosen)] * scale[k], 0));
  return (x, from, side, out, at) => {
    for (let c = 0, e = 0; c < chosen; c++) {
      let sum = offset[c];
      for (; e < end[c]; e++) sum += side * x[from + input[e]] * factor[e];
      out[at + c] = sum;
    }
  };
}

/** @template T @param {() => T} make @returns {() => T} */
function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}
