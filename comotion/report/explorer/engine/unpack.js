/** Words and arrays out of the text that `pack.py` makes. */

/**
 * @typedef {Float32Array | Float64Array | Int32Array | Uint8Array} Numbers
 * @typedef {{ data: Numbers, shape: number[] }} NumberArray an array with its sizes
 */

const KINDS = { float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array };
const ALIGNMENT = 8;

/**
 * The bytes behind the text.
 * @param {string} text
 * @returns {Promise<ArrayBuffer>}
 */
export async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/**
 * What the bytes say, with every array in its place.
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function read(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const words = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = Math.ceil((4 + length) / ALIGNMENT) * ALIGNMENT;
  return withArrays(words, buffer, begin);
}

/**
 * @param {any} value
 * @param {ArrayBuffer} buffer
 * @param {number} begin
 * @returns {any}
 */
function withArrays(value, buffer, begin) {
  if (Array.isArray(value)) return value.map((part) => withArrays(part, buffer, begin));
  if (value === null || typeof value !== "object") return value;
  if ("array" in value) {
    const kind = KINDS[/** @type {keyof typeof KINDS} */ (value.array)];
    const size = value.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    return { data: new kind(buffer, begin + value.at, size), shape: value.shape };
  }
  const parts = Object.entries(value).map(([name, part]) => [name, withArrays(part, buffer, begin)]);
  return Object.fromEntries(parts);
}

/**
 * The numbers of one draw; arrays that are the same in all draws are kept once.
 * @param {NumberArray} array with a leading axis of draws
 * @param {number} draw
 * @returns {Float64Array}
 */
export function ofDraw(array, draw) {
  const size = array.data.length / array.shape[0];
  const begin = array.shape[0] === 1 ? 0 : draw * size;
  return Float64Array.from(array.data.subarray(begin, begin + size));
}
