/**
 * The hot loops of a drawn Gaussian process, four numbers at a time: waves, kernels and sums.
 *
 * Numbers have 32 bits, as Python's have there. Where a browser has no such instructions, or a
 * page's policy forbids them, `vectors` gives null and the plain loops are used.
 */

import {
  ABS, ADD, ADD_F32, ADD_I32, ADD_INTEGERS, assemble, FOUR, FOUR_INTEGERS, I32, LANE, LOAD, LOAD_SAME, MAX, MUL, NEAREST, REPEAT, SHIFT_INTEGERS, STORE, STORE_F32, SUB, SUB_I32, TO_INTEGER,
} from "./assembler.js";

/** Numbers that are computed at once. */
export const LANES = 4;
const BYTES = 16;
const PAGE = 65536;
/** sin(2πs)/s in powers of s², on a quarter turn; and 2 to the power of s between ±½. */
const SINE = [-14.3939659, 42.0097792, -76.7042799, 81.6052262, -41.3417021, 6.28318531];
const POWER_OF_TWO = [0.000154614447, 0.00134004282, 0.00961805668, 0.0555032723, 0.240226509, 0.693147207, 1];

/** @typedef {import("./assembler.js").Code} Code @typedef {import("./assembler.js").Routine} Routine */

/** A polynomial, highest power first. @param {number[]} coefficients @param {number[]} x @returns {Code} */
const horner = (coefficients, x) => coefficients.slice(1).reduce((code, c) => [...code, x, MUL, FOUR(c), ADD], /** @type {Code} */ ([FOUR(coefficients[0])]));

/** For every four of `bytes` bytes, at offset `o`. @param {import("./assembler.js").Names} n @param {Code} body @returns {Code} */
const eachFour = ({ get, set, tee }, body) => [
  I32(0), set("o"), ...REPEAT([...body, get("o"), I32(BYTES), ADD_I32, tee("o"), get("bytes"), SUB_I32]),
];

/** Inputs of a function: all of them are written out one after the other, loops would cost more. */
export const MOST_INPUTS = 32;

/**
 * A routine that goes along the columns of a matrix with one row for each input: `term` adds what
 * one input does, from the input (four times) and from `row`, where four numbers of its row are.
 * @param {number} inputs @param {string[]} more parameters @param {(n: import("./assembler.js").Names) => { before: Code, term: (x: number[]) => Code, after: Code }} parts
 * @returns {Pick<Routine, "parameters" | "variables" | "body">}
 */
function rowByRow(inputs, more, parts) {
  const names = Array.from({ length: inputs }, (_, i) => `x${i}`);
  return {
    parameters: Object.fromEntries(["bytes", "x", "matrix", ...more].map((name) => [name, "i32"])),
    variables: {
      o: "i32", row: "i32", sum: "v128", s: "v128", u: "v128",
      ...Object.fromEntries(names.map((name) => [name, /** @type {const} */ ("v128")])),
    },
    body(n) {
      const { get, set, tee } = n;
      const { before, term, after } = parts(n);
      const next = (/** @type {number} */ i) => (i === 0 ? [get("matrix"), get("o"), ADD_I32, set("row")] : [get("row"), get("bytes"), ADD_I32, set("row")]);
      return [
        ...names.flatMap((name, i) => [get("x"), I32(4 * i), ADD_I32, LOAD_SAME, set(name)]),
        I32(0), set("o"),
        ...REPEAT([
          ...before, ...names.flatMap((name, i) => [...next(i), ...term(get(name))]), ...after,
          get("o"), I32(BYTES), ADD_I32, tee("o"), get("bytes"), SUB_I32,
        ]),
      ];
    },
  };
}

/** cos(2π(x·matrix + phases)) @param {number} inputs @returns {Routine} */
const waves = (inputs) => ({
  name: `waves${inputs}`,
  ...rowByRow(inputs, ["phases", "out"], ({ get, set, tee }) => ({
    before: [get("phases"), get("o"), ADD_I32, LOAD, set("sum")],
    term: (x) => [get("row"), LOAD, x, MUL, get("sum"), ADD, set("sum")],
    after: [
      get("out"), get("o"), ADD_I32,
      FOUR(0.25), get("sum"), get("sum"), NEAREST, SUB, ABS, SUB, tee("s"), get("s"), MUL, set("u"),
      ...horner(SINE, get("u")), get("s"), MUL, STORE,
    ],
  })),
});

/** exp(-|x - matrix|²/2) @param {number} inputs @returns {Routine} */
const kernel = (inputs) => ({
  name: `kernel${inputs}`,
  ...rowByRow(inputs, ["out"], ({ get, set, tee }) => ({
    before: [FOUR(0), set("sum")],
    term: (x) => [x, get("row"), LOAD, SUB, tee("u"), get("u"), MUL, get("sum"), ADD, set("sum")],
    after: [
      get("out"), get("o"), ADD_I32,
      get("sum"), FOUR(-0.5 / Math.LN2), MUL, FOUR(-126), MAX, tee("s"), get("s"), NEAREST, tee("sum"), SUB, set("u"),
      ...horner(POWER_OF_TWO, get("u")),
      get("sum"), TO_INTEGER, I32(23), SHIFT_INTEGERS, FOUR_INTEGERS(0x3f800000), ADD_INTEGERS, MUL, STORE,
    ],
  })),
});

/** values = (values - others) / 2 @type {Routine} */
const HALF_DIFFERENCE = {
  name: "halfDifference",
  parameters: { bytes: "i32", values: "i32", others: "i32" },
  variables: { o: "i32" },
  body(n) {
    const { get } = n;
    return eachFour(n, [
      get("values"), get("o"), ADD_I32,
      get("values"), get("o"), ADD_I32, LOAD, get("others"), get("o"), ADD_I32, LOAD, SUB, FOUR(0.5), MUL, STORE,
    ]);
  },
};

/** out = matrix · x, for `count` rows of the matrix @type {Routine} */
const WEIGH = {
  name: "weigh",
  parameters: { bytes: "i32", count: "i32", x: "i32", matrix: "i32", out: "i32" },
  variables: { o: "i32", sum: "v128" },
  body(n) {
    const { get, set, tee } = n;
    const lanes = [1, 2, 3].flatMap((lane) => [get("sum"), LANE(lane), ADD_F32]);
    return REPEAT([
      FOUR(0), set("sum"),
      ...eachFour(n, [get("x"), get("o"), ADD_I32, LOAD, get("matrix"), get("o"), ADD_I32, LOAD, MUL, get("sum"), ADD, set("sum")]),
      get("out"), get("sum"), LANE(0), ...lanes, STORE_F32,
      get("matrix"), get("bytes"), ADD_I32, set("matrix"), get("out"), I32(4), ADD_I32, set("out"),
      get("count"), I32(1), SUB_I32, tee("count"),
    ]);
  },
};

/**
 * @typedef {object} Vectors
 * @property {(inputs: number) => (bytes: number, x: number, matrix: number, phases: number, out: number) => void} waves
 * @property {(inputs: number) => (bytes: number, x: number, matrix: number, out: number) => void} kernel
 * @property {(bytes: number, values: number, others: number) => void} halfDifference
 * @property {(bytes: number, count: number, x: number, matrix: number, out: number) => void} weigh
 * @property {Float32Array} numbers the whole memory
 * @property {(values: ArrayLike<number>) => number} keep the address of a copy
 */

/** @type {Vectors | null | undefined} */
let instance;

/** One memory for each thread. @returns {Vectors | null} */
export function vectors() {
  if (instance === undefined) instance = makeVectors();
  return instance;
}

/** From now on the plain loops are used. */
export function useNoVectors() {
  instance = null;
}

/** @returns {Vectors | null} */
function makeVectors() {
  let exports;
  try {
    const sizes = Array.from({ length: MOST_INPUTS }, (_, k) => k + 1);
    const routines = [...sizes.map(waves), ...sizes.map(kernel), HALF_DIFFERENCE, WEIGH];
    const module = new WebAssembly.Module(assemble(routines, 4));
    exports = /** @type {any} */ (new WebAssembly.Instance(module).exports);
  } catch {
    return null;
  }
  let end = 0;
  return {
    halfDifference: exports.halfDifference,
    weigh: exports.weigh,
    waves: (inputs) => exports[`waves${inputs}`],
    kernel: (inputs) => exports[`kernel${inputs}`],
    numbers: new Float32Array(exports.memory.buffer),
    keep(values) {
      const begin = end;
      end += Math.ceil((4 * values.length) / BYTES) * BYTES;
      const missing = end - exports.memory.buffer.byteLength;
      if (missing > 0) {
        exports.memory.grow(Math.ceil(missing / PAGE) + 16);
        this.numbers = new Float32Array(exports.memory.buffer);
      }
      this.numbers.set(values, begin / 4);
      return begin;
    },
  };
}
