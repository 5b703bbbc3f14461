/**
 * The hot loop of a drawn Gaussian process, φ(x)ᵀw + k(x, Z)ν, four features at a time.
 *
 * Numbers have 32 bits, as Python's have there. A routine is assembled for each number of inputs
 * and outputs, so that sums stay in registers: features are weighed as they arise and never stored.
 * Where a browser has no such instructions, or a page's policy forbids them, `routineFor` gives
 * null and the plain loops are used.
 */

import {
  ABS, ADD, ADD_F32, ADD_I32, ADD_INTEGERS, assemble, FOUR, I32, LANE, LARGER, LESS_I32, LOAD, LOAD_SAME, MUL, MULTIPLY_ADD, NEAREST, REPEAT, SHIFT_INTEGERS, SQRT, STORE_F32, SUB,
} from "./assembler.js";

/** Numbers that are computed at once. */
export const LANES = 4;
const BYTES = 16;
const PAGE = 65536;
/** All inputs and outputs have variables of their own. */
const MOST_INPUTS = 32;
const MOST_OUTPUTS = 12;
/** Rows that are handed over at once; a row is what the function sees, then the kernel of it and of its opposite. */
export const MOST_ROWS = 64;
const WIDEST_ROW = 3 * MOST_INPUTS;
/** sin(2πs)/s in powers of s², on a quarter turn; and 2 to the power of s between ±½. */
const SINE = [39.5367055, -76.5497822, 81.6010041, -41.341655, 6.28318516];
const POWER_OF_TWO = [0.00133908634, 0.00967603192, 0.0555035711, 0.240221075, 0.693147188, 1];
/** Added and taken away it rounds; in between, the last bits are the integer. */
const ROUNDING = 1.5 * 2 ** 23;
const SMALLEST_EXPONENT = -126;

/**
 * @typedef {import("./assembler.js").Code} Code
 * @typedef {import("./assembler.js").Names} Names
 *
 * @typedef {object} Shape
 * @property {number} inputs
 * @property {number} chosen inputs that the kernel sees
 * @property {number} outputs
 * @property {keyof typeof FACTORS} correlation
 * @property {boolean} odd whether the kernel is asked on both sides, and the second taken away
 *
 * @callback Routine all by addresses: features and inducing inputs with their weights, from where
 *   to where; then rows, at least one
 * @param {number} waves @param {number} wavesEnd @param {number} inducing @param {number} inducingEnd @param {number} rows @param {number} rowsEnd @param {number} results
 * @returns {void}
 */

/** A polynomial, highest power first. @param {number[]} coefficients @param {Code} x @returns {Code} */
const horner = (coefficients, x) => coefficients.slice(1).reduce((code, c) => MULTIPLY_ADD(code, x, [FOUR(c)]), /** @type {Code} */ ([FOUR(coefficients[0])]));

/** What a correlation is beside its exponential, as a function of the distance `r`. @type {Record<"se" | "matern12" | "matern32" | "matern52", { scale: number, times: (r: Code) => Code }>} */
const FACTORS = {
  se: { scale: 0, times: () => [] },
  matern12: { scale: 1, times: () => [] },
  matern32: { scale: 3, times: (r) => [...r, FOUR(1), ADD, MUL] },
  matern52: { scale: 5, times: (r) => [...MULTIPLY_ADD(MULTIPLY_ADD(r, [FOUR(1 / 3)], [FOUR(1)]), r, [FOUR(1)]), MUL] },
};

const numbered = (/** @type {string} */ name, /** @type {number} */ count) => Array.from({ length: count }, (_, k) => `${name}${k}`);

/** cos(2πs) of the sum on the stack. @param {Names} n @returns {Code} */
const cosine = ({ get, set, tee }) => [
  set("sum"), FOUR(0.25), get("sum"), get("sum"), NEAREST, SUB, ABS, SUB, tee("s"), get("s"), MUL, set("u"),
  ...horner(SINE, [get("u")]), get("s"), MUL,
];

/** A correlation of the squared distance on the stack. @param {Names} n @param {Shape["correlation"]} correlation @returns {Code} */
const correlated = ({ get, set, tee }, correlation) => {
  const { scale, times } = FACTORS[correlation];
  const exponent = scale ? [FOUR(scale), MUL, SQRT, tee("r"), FOUR(-1 / Math.LN2), MUL] : [FOUR(-0.5 / Math.LN2), MUL];
  return [
    ...exponent, FOUR(SMALLEST_EXPONENT), LARGER, tee("s"), FOUR(ROUNDING), ADD, tee("u"), FOUR(ROUNDING), SUB, set("sum"),
    get("s"), get("sum"), SUB, set("s"),
    ...horner(POWER_OF_TWO, [get("s")]), get("u"), I32(23), SHIFT_INTEGERS, ADD_INTEGERS,
    ...times([get("r")]),
  ];
};

/**
 * Goes along blocks of four features, or of four inducing inputs: rows of inputs, then of weights.
 * @param {Names} n @param {string} from @param {string} to @param {number} weightsAt @param {number} outputs @param {Code} feature
 * @returns {Code}
 */
const along = ({ get, set, tee }, from, to, weightsAt, outputs, feature) => [
  get(from), get(to), LESS_I32, [0x04, 0x40],
  ...REPEAT([
    ...feature, set("f"),
    ...numbered("y", outputs).flatMap((y, q) => [...MULTIPLY_ADD([get("f")], [get(from), LOAD(weightsAt + BYTES * q)], [get(y)]), set(y)]),
    get(from), I32(weightsAt + BYTES * outputs), ADD_I32, tee(from), get(to), LESS_I32,
  ]),
  [0x0b],
];

/** @param {Shape} shape @returns {import("./assembler.js").Routine} */
function routine({ inputs, chosen, outputs, correlation, odd }) {
  const [xs, zs, opposites, ys] = [numbered("x", inputs), numbered("z", chosen), numbered("o", odd ? chosen : 0), numbered("y", outputs)];
  const vectors = ["f", "r", "s", "u", "sum", "one", ...xs, ...zs, ...opposites, ...ys];
  return {
    name: "evaluate",
    parameters: Object.fromEntries(["waves", "wavesEnd", "inducing", "inducingEnd", "rows", "rowsEnd", "results"].map((name) => [name, "i32"])),
    variables: { wave: "i32", point: "i32", ...Object.fromEntries(vectors.map((name) => [name, /** @type {const} */ ("v128")])) },
    body(n) {
      const { get, set, tee } = n;
      const wave = xs.reduce(
        (sum, x, i) => MULTIPLY_ADD([get("wave"), LOAD(BYTES * i)], [get(x)], sum),
        /** @type {Code} */ ([get("wave"), LOAD(BYTES * inputs)]),
      );
      /** @param {string[]} seen @returns {Code} */
      const kernel = (seen) => [
        ...seen.reduce(
          (sum, z, c) => MULTIPLY_ADD([get(z), get("point"), LOAD(BYTES * c), SUB, tee("u")], [get("u")], sum),
          /** @type {Code} */ ([FOUR(0)]),
        ),
        ...correlated(n, correlation),
      ];
      const both = odd ? [...kernel(zs), set("one"), get("one"), ...kernel(opposites), SUB] : kernel(zs);
      const lanes = (/** @type {string} */ y) => [get(y), LANE(0), ...[1, 2, 3].flatMap((lane) => [get(y), LANE(lane), ADD_F32])];
      const row = [...xs, ...zs, ...opposites];
      return REPEAT([
        ...row.flatMap((name, k) => [get("rows"), LOAD_SAME(4 * k), set(name)]),
        ...ys.flatMap((y) => [FOUR(0), set(y)]),
        get("waves"), set("wave"), ...along(n, "wave", "wavesEnd", BYTES * (inputs + 1), outputs, [...wave, ...cosine(n)]),
        get("inducing"), set("point"), ...along(n, "point", "inducingEnd", BYTES * chosen, outputs, both),
        ...ys.flatMap((y, q) => [get("results"), ...lanes(y), STORE_F32(4 * q)]),
        get("results"), I32(4 * outputs), ADD_I32, set("results"),
        get("rows"), I32(4 * row.length), ADD_I32, tee("rows"), get("rowsEnd"), LESS_I32,
      ]);
    },
  };
}

let plainly = false;
/** One memory for each thread. @type {WebAssembly.Memory | undefined} */
let memory;
/** Rows stand at the beginning, then their results, then what is kept. */
export const RESULTS = 4 * MOST_ROWS * WIDEST_ROW;
let end = RESULTS + 4 * MOST_ROWS * MOST_OUTPUTS;
/** @type {Map<string, Routine | null>} */
const routines = new Map();

/** From now on the plain loops are used. */
export function useNoVectors() {
  plainly = true;
}

/** @param {Shape} shape @returns {Routine | null} */
export function routineFor(shape) {
  if (plainly || shape.inputs > MOST_INPUTS || shape.outputs > MOST_OUTPUTS || !(shape.correlation in FACTORS)) return null;
  const name = JSON.stringify(shape);
  if (!routines.has(name)) routines.set(name, made(shape));
  return routines.get(name) ?? null;
}

/** @param {Shape} shape @returns {Routine | null} */
function made(shape) {
  try {
    memory ??= new WebAssembly.Memory({ initial: 4 });
    const module = new WebAssembly.Module(assemble(routine(shape)));
    return /** @type {any} */ (new WebAssembly.Instance(module, { given: { memory } }).exports).evaluate;
  } catch {
    return null;
  }
}

let numbers = new Float32Array();

/** The whole memory. */
export function allNumbers() {
  return numbers;
}

/** The address of a copy. @param {ArrayLike<number>} values */
export function keep(values) {
  if (!memory) throw new Error("there is no routine yet");
  const begin = end;
  end += Math.ceil((4 * values.length) / BYTES) * BYTES;
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE) + 16);
  if (numbers.buffer !== memory.buffer) numbers = new Float32Array(memory.buffer);
  numbers.set(values, begin / 4);
  return begin;
}
