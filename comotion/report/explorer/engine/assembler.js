/**
 * A small assembler of WebAssembly: functions written as lists of instructions, to a module.
 *
 * JavaScript computes one number at a time; WebAssembly can do four at once, and a forecast is
 * tens of millions of cosines and exponentials.
 */

const TYPES = { i32: 0x7f, f32: 0x7d, v128: 0x7b };

/**
 * @typedef {keyof typeof TYPES} Type
 * @typedef {(number | number[])[]} Code instructions, each one or several bytes
 *
 * @typedef {object} Names what a body calls its variables by
 * @property {(name: string) => number[]} get
 * @property {(name: string) => number[]} set
 * @property {(name: string) => number[]} tee
 *
 * @typedef {object} Routine
 * @property {string} name
 * @property {Record<string, Type>} parameters
 * @property {Record<string, Type>} variables
 * @property {(names: Names) => Code} body
 */

/** An integer in as few bytes as it needs. @param {number} value @returns {number[]} */
export function integer(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const done = (value === 0 && !(byte & 0x40)) || (value === -1 && byte & 0x40);
    bytes.push(done ? byte : byte | 0x80);
    if (done) return bytes;
  }
}

/** @param {number} value @returns {number[]} */
function unsigned(value) {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** An instruction on four numbers at once. @param {number} code */
const vector = (code) => [0xfd, ...unsigned(code)];
/** Addresses are multiples of four bytes; `offset` is added to them. @param {number} offset */
const memory = (offset) => [2, ...unsigned(offset)];

export const I32 = (/** @type {number} */ value) => [0x41, ...integer(value)];
export const STORE_F32 = (/** @type {number} */ offset) => [0x38, ...memory(offset)];
export const ADD_I32 = [0x6a];
export const LESS_I32 = [0x49];
export const ADD_F32 = [0x92];
export const LOAD = (/** @type {number} */ offset) => [...vector(0), ...memory(offset)];
export const LOAD_SAME = (/** @type {number} */ offset) => [...vector(9), ...memory(offset)];
export const NEAREST = vector(106);
export const ABS = vector(224);
export const SQRT = vector(227);
export const ADD = vector(228);
export const SUB = vector(229);
export const MUL = vector(230);
export const LARGER = vector(235);
export const ADD_INTEGERS = vector(174);
export const SHIFT_INTEGERS = vector(171);
/** a · b + c in one instruction, where the browser has it. */
const FUSED = vector(0x105);
export const LANE = (/** @type {number} */ lane) => [...vector(31), lane];

/** The same number four times. @param {number} value */
export function FOUR(value) {
  const bytes = [...new Uint8Array(Float32Array.of(value).buffer)];
  return [...vector(12), ...bytes, ...bytes, ...bytes, ...bytes];
}

/** Repeats a body that leaves a number behind, while that is not zero. @param {Code} body @returns {Code} */
export const REPEAT = (body) => [[0x03, 0x40], ...body, [0x0d, 0], [0x0b]];

/** @param {number[][]} items */
const list = (items) => [...unsigned(items.length), ...items.flat()];
/** @param {number} id @param {number[]} content */
const section = (id, content) => [id, ...unsigned(content.length), ...content];

/** a · b + c. @param {Code} a @param {Code} b @param {Code} c @returns {Code} */
export const MULTIPLY_ADD = (a, b, c) => (hasFused() ? [...a, ...b, ...c, FUSED] : [...a, ...b, MUL, ...c, ADD]);

/** @type {boolean | undefined} */
let fused;
function hasFused() {
  if (fused !== undefined) return fused;
  fused = false; // while the probe itself is assembled
  const probe = { name: "probe", parameters: {}, variables: { v: /** @type {const} */ ("v128") }, body: (/** @type {Names} */ { get, set }) => [get("v"), get("v"), get("v"), FUSED, set("v")] };
  return (fused = WebAssembly.validate(assemble(probe)));
}

/**
 * A module with one routine, which it exports by its name and which gives nothing back. Its memory
 * is imported as `given.memory`.
 * @param {Routine} routine
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function assemble(routine) {
  const text = (/** @type {string} */ name) => list([...name].map((letter) => [letter.charCodeAt(0)]));
  const type = [0x60, ...list(Object.values(routine.parameters).map((type) => [TYPES[type]])), 0];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([type])),
    ...section(2, list([[...text("given"), ...text("memory"), 2, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...text(routine.name), 0, 0]])),
    ...section(10, list([bodyOf(routine)])),
  ]);
}

/** @param {Routine} routine @returns {number[]} */
function bodyOf({ parameters, variables, body }) {
  const places = [...Object.keys(parameters), ...Object.keys(variables)];
  const at = (/** @type {string} */ name) => {
    if (!places.includes(name)) throw new Error(`no variable ${name}`);
    return unsigned(places.indexOf(name));
  };
  const code = body({ get: (name) => [0x20, ...at(name)], set: (name) => [0x21, ...at(name)], tee: (name) => [0x22, ...at(name)] });
  const declared = list(Object.values(variables).map((type) => [1, TYPES[type]]));
  const content = [...declared, ...code.flat(), 0x0b];
  return [...unsigned(content.length), ...content];
}
