/** Where most of a cloud is: the densest parts of the plane that hold a share of its points. */

/**
 * @typedef {[number, number]} Point
 * @typedef {{ share: number, cells: Point[][] }} Region polygons side by side
 */

/**
 * The densest parts that hold the given shares of the points.
 * @param {Point[]} points
 * @param {number[]} shares
 * @param {number} size of the grid they are found on
 * @returns {Region[]}
 */
export function regions(points, shares, size) {
  if (points.length < 3) return [];
  const density = kernelDensity(points, size);
  const own = points.map((point) => density.at(point)).sort((a, b) => b - a);
  return shares.map((share) => {
    const level = own[Math.min(own.length - 1, Math.ceil(share * own.length) - 1)] * 0.98;
    return { share, cells: above(density, level) };
  });
}

/**
 * @typedef {object} Density values on a grid, and anywhere
 * @property {Float64Array} values
 * @property {number} size
 * @property {Point} low
 * @property {Point} step
 * @property {(point: Point) => number} at
 */

/** @param {Point[]} points @param {number} size @returns {Density} */
function kernelDensity(points, size) {
  const axes = [0, 1].map((d) => points.map((point) => point[d]));
  const widths = axes.map(bandwidth);
  // A point of its own width even where all draws agree in one direction.
  const most = Math.max(...widths) || 1e-9;
  const [hx, hy] = widths.map((width) => Math.max(width, 0.15 * most));
  const low = /** @type {Point} */ (axes.map((axis, d) => Math.min(...axis) - 3 * [hx, hy][d]));
  const high = axes.map((axis, d) => Math.max(...axis) + 3 * [hx, hy][d]);
  const step = /** @type {Point} */ (low.map((from, d) => (high[d] - from) / (size - 1)));
  const at = (/** @type {Point} */ [x, y]) =>
    points.reduce((sum, [px, py]) => {
      const distance = ((x - px) / hx) ** 2 + ((y - py) / hy) ** 2;
      return distance > 18 ? sum : sum + Math.exp(-0.5 * distance);
    }, 0);
  const values = new Float64Array(size * size);
  for (const [px, py] of points) {
    const from = Math.max(0, Math.floor((py - 4.2 * hy - low[1]) / step[1]));
    const to = Math.min(size - 1, Math.ceil((py + 4.2 * hy - low[1]) / step[1]));
    for (let j = from; j <= to; j++) {
      const dy = ((low[1] + j * step[1] - py) / hy) ** 2;
      for (let i = 0; i < size; i++) {
        const distance = ((low[0] + i * step[0] - px) / hx) ** 2 + dy;
        if (distance <= 18) values[j * size + i] += Math.exp(-0.5 * distance);
      }
    }
  }
  return { values, size, low, step, at };
}

/** Silverman's rule with the smaller of two spreads. @param {number[]} values */
function bandwidth(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const mean = sorted.reduce((a, b) => a + b, 0) / n;
  const sd = Math.sqrt(sorted.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n);
  const quartiles = (sorted[Math.floor(0.75 * (n - 1))] - sorted[Math.floor(0.25 * (n - 1))]) / 1.349;
  return 1.06 * (quartiles > 0 ? Math.min(sd, quartiles) : sd) * n ** (-1 / 6);
}

/** The parts of all cells where the density is above `level`; whole cells in a row as one. @param {Density} density @param {number} level @returns {Point[][]} */
function above(density, level) {
  const { values, size, low, step } = density;
  /** @type {Point[][]} */
  const cells = [];
  const add = (/** @type {Point[]} */ outline, /** @type {number} */ i, /** @type {number} */ j) =>
    void cells.push(outline.map(([x, y]) => [low[0] + (i + x) * step[0], low[1] + (j + y) * step[1]]));
  for (let j = 0; j < size - 1; j++) {
    let whole = 0; // cells on the left of this one that are above the level with all their corners
    for (let i = 0; i < size; i++) {
      const k = j * size + i;
      const corners = i < size - 1 ? [values[k], values[k + 1], values[k + size + 1], values[k + size]] : [];
      const over = corners.reduce((count, value) => count + (value >= level ? 1 : 0), 0);
      if (over === 4) {
        whole += 1;
        continue;
      }
      if (whole) add([[-whole, 0], [0, 0], [0, 1], [-whole, 1]], i, j);
      whole = 0;
      if (over) add(inside(corners, level), i, j);
    }
  }
  return cells;
}

const CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]];

/** Marching squares: the part of a cell of size one above the level. @param {number[]} corners @param {number} level @returns {Point[]} */
function inside(corners, level) {
  /** @type {Point[]} */
  const outline = [];
  for (let e = 0; e < 4; e++) {
    const [a, b] = [corners[e], corners[(e + 1) % 4]];
    const [[x, y], [nextX, nextY]] = [CORNERS[e], CORNERS[(e + 1) % 4]];
    if (a >= level) outline.push([x, y]);
    if (a >= level === b >= level) continue;
    const share = (level - a) / (b - a);
    outline.push([x + share * (nextX - x), y + share * (nextY - y)]);
  }
  return outline;
}
