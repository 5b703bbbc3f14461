/** Drawn futures of all objects, looked at between frames too. */

/**
 * @typedef {object} Futures
 * @property {Float32Array[]} draws each frame × object × (position, velocity)
 * @property {number} objects
 * @property {number} frames
 * @property {number} shown numbers per object
 * @property {number} spatial
 */

/**
 * An entry of an object's position or velocity at any moment; straight between frames.
 * @param {Futures} futures @param {Float32Array} draw @param {number} head @param {number} object @param {number} entry
 */
export function valueAt(futures, draw, head, object, entry) {
  const frame = Math.min(Math.floor(head), futures.frames);
  const k = (frame * futures.objects + object) * futures.shown + entry;
  const rest = head - frame;
  if (rest <= 0 || frame >= futures.frames) return draw[k];
  return draw[k] + rest * (draw[k + futures.objects * futures.shown] - draw[k]);
}

/**
 * The middle of the draws, entry by entry from `first` up to `end`.
 * @param {Futures} futures @param {number} head @param {number} object @param {number} first @param {number} end
 * @returns {number[]}
 */
export function middleAt(futures, head, object, first, end) {
  return Array.from({ length: end - first }, (_, k) => {
    const values = futures.draws.map((draw) => valueAt(futures, draw, head, object, first + k));
    const sorted = Float64Array.from(values.filter(Number.isFinite)).sort();
    const half = (sorted.length - 1) / 2;
    return 0.5 * (sorted[Math.floor(half)] + sorted[Math.ceil(half)]);
  });
}

/**
 * The position of an object in every draw.
 * @param {Futures} futures @param {number} head @param {number} object
 * @returns {number[][]}
 */
export function cloudAt(futures, head, object) {
  return futures.draws.map((draw) =>
    Array.from({ length: futures.spatial }, (_, d) => valueAt(futures, draw, head, object, d)),
  );
}
