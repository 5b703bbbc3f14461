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
 * Moves draws away from their mean, or towards it, as held-out frames asked for: `comotion/predict/stretch.py`
 * once more. They are changed in place.
 * @param {Float32Array[]} draws
 * @param {{ leads: number[], factors: number[] }} stretch
 * @param {ArrayLike<number>} leads of the frames
 */
export function stretched(draws, stretch, leads) {
  if (!stretch.leads.length) return draws;
  const size = draws[0].length / leads.length;
  for (let n = 0; n < leads.length; n++) {
    const factor = between(stretch.leads, stretch.factors, leads[n]);
    for (let k = n * size; k < (n + 1) * size; k++) {
      const mean = draws.reduce((sum, draw) => sum + draw[k], 0) / draws.length;
      for (const draw of draws) draw[k] = mean + factor * (draw[k] - mean);
    }
  }
  return draws;
}

/** A straight line between points; as the first before them, as the last beyond. @param {number[]} xs @param {number[]} ys @param {number} x */
function between(xs, ys, x) {
  if (x <= xs[0]) return ys[0];
  for (let k = 1; k < xs.length; k++) {
    if (x < xs[k]) return ys[k - 1] + ((x - xs[k - 1]) / (xs[k] - xs[k - 1])) * (ys[k] - ys[k - 1]);
  }
  return ys[ys.length - 1];
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
