/** Walls that have been drawn: when a straight flight meets them; `comotion/contacts/surfaces.py` once more. */

import { ofDraw } from "./unpack.js";

/** How deep inside a wall of finite length an object is still held by it, by that length. */
const THICKNESS = 0.02;
/** How far the nearest wall is where there is none. */
export const NO_WALL = 1e3;

/**
 * @typedef {object} Wall all by the states of all objects, where one object's begins, and its extent
 * @property {(s: Float64Array, at: number, extent: number) => { wait: number, closing: number }} meets
 * @property {(s: Float64Array, at: number, out: Float64Array) => void} normal to the forbidden side
 * @property {(s: Float64Array, at: number, extent: number) => number} depth beyond the wall
 */

/**
 * @param {any} spec of the whole law of contact
 * @param {number} spatial
 * @param {number} draw
 * @returns {Wall[]}
 */
export function makeWalls(spec, spatial, draw) {
  const [anchors, normals, spans] = ["anchors", "normals", "spans"].map((name) => ofDraw(spec.planes[name], draw));
  const [centres, radii, sides] = ["centres", "radii", "sides"].map((name) => ofDraw(spec.spheres[name], draw));
  const row = (/** @type {Float64Array} */ values, /** @type {number} */ w) => values.subarray(w * spatial, (w + 1) * spatial);
  const flat = Array.from({ length: normals.length / spatial }, (_, w) =>
    plane(row(anchors, w), row(normals, w), spec.planes.endless ? null : spans.subarray(2 * w, 2 * w + 2)),
  );
  const round = Array.from({ length: radii.length }, (_, w) => sphere(row(centres, w), radii[w], sides[w]));
  return [...flat, ...round];
}

/**
 * How far the nearest wall is, and into `out` the direction out of the scene there.
 * @param {Wall[]} walls @param {Float64Array} s @param {number} at @param {Float64Array} out
 */
export function nearestWall(walls, s, at, out) {
  let depth = -NO_WALL;
  /** @type {Wall | null} */ let nearest = null;
  for (const wall of walls) {
    const here = wall.depth(s, at, 0);
    if (here > depth) [depth, nearest] = [here, wall];
  }
  if (nearest) nearest.normal(s, at, out);
  else out.fill(0);
  return -depth;
}

/** @param {Float64Array} anchor @param {Float64Array} normal @param {Float64Array | null} span @returns {Wall} */
function plane(anchor, normal, span) {
  const spatial = normal.length;
  /** @param {Float64Array} s @param {number} at @param {number} extent */
  function beyond(s, at, extent) {
    let sum = extent;
    for (let d = 0; d < spatial; d++) sum += (s[at + d] - anchor[d]) * normal[d];
    return sum;
  }
  /** Whether the wall reaches to where an object is after some time. @param {Float64Array} s @param {number} at @param {number} wait @param {number} depth */
  function holds(s, at, wait, depth) {
    if (!span) return true;
    const [x, y] = [0, 1].map((d) => s[at + d] + (wait && wait * s[at + spatial + d]) - anchor[d]);
    const along = y * normal[0] - x * normal[1];
    return along >= span[0] && along <= span[1] && depth <= THICKNESS * (span[1] - span[0]);
  }
  return {
    meets(s, at, extent) {
      let closing = 0;
      for (let d = 0; d < spatial; d++) closing += s[at + spatial + d] * normal[d];
      const depth = beyond(s, at, extent);
      const wait = Math.max(-depth, 0) / closing;
      return { wait: closing > 0 && holds(s, at, wait, depth) ? wait : Infinity, closing };
    },
    normal: (_s, _at, out) => out.set(normal),
    depth(s, at, extent) {
      const depth = beyond(s, at, extent);
      return holds(s, at, 0, depth) ? depth : -Infinity;
    },
  };
}

/** @param {Float64Array} centre @param {number} radius @param {number} side @returns {Wall} */
function sphere(centre, radius, side) {
  const spatial = centre.length;
  const away = new Float64Array(spatial);
  /** Fills `away`; gives its length. @param {Float64Array} s @param {number} at */
  function look(s, at) {
    for (let d = 0; d < spatial; d++) away[d] = s[at + d] - centre[d];
    return Math.hypot(...away);
  }
  return {
    meets(s, at, extent) {
      const reach = radius - side * extent;
      const distance = look(s, at);
      let [square, outward] = [0, 0];
      for (let d = 0; d < spatial; d++) {
        square += s[at + spatial + d] ** 2;
        outward += away[d] * s[at + spatial + d];
      }
      const room = distance ** 2 - reach ** 2;
      const discriminant = outward ** 2 - square * room;
      const root = Math.sqrt(Math.max(discriminant, 0));
      const late = side > 0 ? outward > 0 && room > 0 : outward < 0 && room < 0;
      if (late) return { wait: 0, closing: Math.abs(outward) / reach };
      const closing = root / reach;
      if (!(discriminant > 0 && (side > 0 ? square > 0 : outward < 0 && room > 0))) return { wait: Infinity, closing };
      if (side < 0) return { wait: room / (root - outward), closing };
      return { wait: outward > 0 ? Math.max(-room, 0) / (outward + root) : (root - outward) / square, closing };
    },
    normal(s, at, out) {
      const distance = look(s, at) || 1;
      for (let d = 0; d < spatial; d++) out[d] = (side * away[d]) / distance;
    },
    depth: (s, at, extent) => side * (look(s, at) - (radius - side * extent)),
  };
}
