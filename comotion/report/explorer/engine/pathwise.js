/** f(x) = φ(x)ᵀw + k(x, Z)ν, four features at a time where the kernel is one that is known. */

import { ofDraw } from "./unpack.js";
import { allNumbers, keep, LANES, routineFor } from "./vectors.js";

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
  const centre = ofDraw(spec.kernel.centre, draw);
  const scale = ofDraw(spec.kernel.scale, draw);
  const x = keep(new Float32Array(inputs + 2 * chosen)) / 4;
  const result = keep(new Float32Array(outputs)) / 4;

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

  /** What the kernel sees of x or of its opposite. @param {Float32Array} numbers @param {Float64Array} given @param {number} side @param {number} at */
  function write(numbers, given, side, at) {
    for (let c = 0; c < chosen; c++) {
      let sum = 0;
      for (let i = 0; i < inputs; i++) sum += (side * given[i] - centre[i]) * scale[i * chosen + c];
      numbers[at + c] = sum;
    }
  }

  /** @param {import("./vectors.js").Routine} routine @param {ReturnType<typeof forPlain>} parts @param {Float64Array} given @param {Float64Array} out @param {boolean} both */
  function ask(routine, parts, given, out, both) {
    const numbers = allNumbers();
    for (let i = 0; i < inputs; i++) numbers[x + i] = given[i];
    write(numbers, given, 1, x + inputs);
    if (both) write(numbers, given, -1, x + inputs + chosen);
    routine(parts.waves.begin, parts.waves.end, parts.inducing.begin, parts.inducing.end, 4 * x, 4 * result);
    for (let q = 0; q < outputs; q++) out[q] = numbers[result + q];
  }

  return {
    inSize: inputs,
    outSize: outputs,
    evaluate: (given, out) => ask(plain, forPlain(), given, out, false),
    odd: (given, out) => ask(odd, forOdd(), given, out, true),
  };
}

/** @template T @param {() => T} make @returns {() => T} */
function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}
