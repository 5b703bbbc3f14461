/** Hard contacts: kick, drift that bounces exactly, kick; `comotion/integrate/bouncing.py` once more. */

import { makeBounce } from "./bounce.js";
import { makeWalls } from "./walls.js";
import { ofDraw } from "./unpack.js";

/** Slower closing than this share of the speed is sliding along: no event. */
const GRAZING = 1e-5;
/** Up to this slope a slide follows a curved wall without losing speed. */
const SHALLOW = 0.3;

/**
 * @typedef {import("./field.js").Scene} Scene
 *
 * @typedef {object} Contacts
 * @property {boolean} only whether nothing else acts
 * @property {(states: Float64Array, scene: Scene, length: number) => void} drift in place
 *
 * @typedef {object} Event the next contact of any object
 * @property {number} wait
 * @property {number} a
 * @property {number} b the other object, or -1
 * @property {import("./walls.js").Wall | null} wall
 */

/**
 * @param {any} spec
 * @param {import("./coordinates.js").Layout} layout
 * @param {number} draw
 * @returns {Contacts}
 */
export function makeContacts(spec, layout, draw) {
  const { spatial, state } = layout;
  const radii = ofDraw(spec.radii, draw);
  const logMasses = ofDraw(spec.log_masses, draw);
  const walls = makeWalls(spec, spatial, draw);
  const bounceOfPair = makeBounce(spec.pair, draw);
  const bounceOfWall = makeBounce(spec.wall, draw);
  const radius = (/** @type {number} */ a) => radii[radii.length === 1 ? 0 : a];
  const extent = (/** @type {number} */ a) => (spec.rims ? radius(a) : 0);
  const mass = (/** @type {number} */ a) => Math.exp(logMasses[logMasses.length === 1 ? 0 : a]);
  const [gap, sliding, normal, place] = Array.from({ length: 4 }, () => new Float64Array(spatial));

  /** How much of what happens to a pair its first object gets; who is held fast gets nothing.
   * @param {Scene} scene @param {number} a @param {number} b */
  function shareOf(scene, a, b) {
    if (!scene.moving[a]) return 0;
    return scene.moving[b] ? mass(b) / (mass(a) + mass(b)) : 1;
  }

  /** @param {Scene} scene @param {number} a @param {number} b */
  const canMeet = ({ allowed, count }, a, b) => radii.length > 0 && !!(allowed[a * count + b] | allowed[b * count + a]);

  /** Fills `gap` and `sliding` with the difference of places and of velocities.
   * @param {Float64Array} s @param {number} a @param {number} b */
  function differ(s, a, b) {
    for (let d = 0; d < spatial; d++) {
      gap[d] = s[a * state + d] - s[b * state + d];
      sliding[d] = s[a * state + spatial + d] - s[b * state + spatial + d];
    }
  }

  /** @param {Float64Array} s @param {number} a @param {number} b */
  function pairWait(s, a, b) {
    differ(s, a, b);
    const approach = -dot(gap, sliding);
    const distance = radius(a) + radius(b);
    const room = dot(gap, gap) - distance ** 2;
    const square = dot(sliding, sliding);
    const grazing = GRAZING * distance * Math.sqrt(square);
    const discriminant = approach ** 2 - square * room;
    if (!(approach > grazing && discriminant > 0)) return Infinity;
    const root = Math.sqrt(discriminant);
    return room < 0 || root > grazing ? Math.max(room, 0) / (approach + root) : Infinity;
  }

  /** @param {Float64Array} s @param {Scene} scene @returns {Event} */
  function next(s, scene) {
    /** @type {Event} */
    let found = { wait: Infinity, a: -1, b: -1, wall: null };
    for (let a = 0; a < scene.count; a++) {
      if (!scene.moving[a]) continue;
      const at = a * state;
      const speed = lengthOf(s, at + spatial, spatial);
      for (const wall of walls) {
        const { wait, closing } = wall.meets(s, at, extent(a));
        if (wait < found.wait && closing > GRAZING * speed) found = { wait, a, b: -1, wall };
      }
    }
    for (let a = 0; a < scene.count; a++) {
      for (let b = a + 1; b < scene.count; b++) {
        const wait = canMeet(scene, a, b) ? pairWait(s, a, b) : Infinity;
        if (wait < found.wait) found = { wait, a, b, wall: null };
      }
    }
    return found;
  }

  /** @param {Float64Array} s @param {number} a @param {import("./walls.js").Wall} wall */
  function bounceOff(s, a, wall) {
    const at = a * state;
    wall.normal(s, at, normal);
    for (let d = 0; d < spatial; d++) [place[d], sliding[d]] = [s[at + d], s[at + spatial + d]];
    const closing = dot(normal, sliding);
    const back = (1 + bounceOfWall.restitution(closing, place)) * closing;
    for (let d = 0; d < spatial; d++) {
      s[at + spatial + d] -= back * normal[d] + bounceOfWall.loss * (sliding[d] - closing * normal[d]);
    }
  }

  /** @param {Float64Array} s @param {Scene} scene @param {number} a @param {number} b */
  function bounceApart(s, scene, a, b) {
    differ(s, a, b);
    const apart = Math.sqrt(dot(gap, gap)) || 1;
    for (let d = 0; d < spatial; d++) {
      normal[d] = gap[d] / apart;
      place[d] = 0.5 * (s[a * state + d] + s[b * state + d]);
    }
    const parting = dot(normal, sliding);
    const back = (1 + bounceOfPair.restitution(-parting, place)) * parting;
    const own = shareOf(scene, a, b);
    for (let d = 0; d < spatial; d++) {
      const change = back * normal[d] + bounceOfPair.loss * (sliding[d] - parting * normal[d]);
      s[a * state + spatial + d] -= own * change;
      s[b * state + spatial + d] += (1 - own) * change;
    }
  }

  /** Pairs inside each other that still approach: back to their distance, approaching no more.
   * @param {Float64Array} s @param {Scene} scene */
  function holdApart(s, scene) {
    const before = s.slice();
    for (let a = 0; a < scene.count; a++) {
      for (let b = a + 1; b < scene.count; b++) {
        if (!canMeet(scene, a, b)) continue;
        differ(before, a, b);
        const apart = Math.sqrt(dot(gap, gap)) || 1;
        const depth = radius(a) + radius(b) - apart;
        const parting = dot(gap, sliding) / apart;
        if (!(depth > 0 && parting < 0)) continue;
        const own = shareOf(scene, a, b);
        for (let d = 0; d < spatial; d++) {
          const n = gap[d] / apart;
          s[a * state + d] += own * depth * n;
          s[b * state + d] -= (1 - own) * depth * n;
          s[a * state + spatial + d] -= own * parting * n;
          s[b * state + spatial + d] += (1 - own) * parting * n;
        }
      }
    }
  }

  /** What went straight on beyond a wall: back onto it, and along it. @param {Float64Array} s @param {number} a */
  function slide(s, a) {
    const at = a * state;
    for (const wall of walls) {
      const depth = wall.depth(s, at, extent(a));
      wall.normal(s, at, normal);
      let outward = 0;
      for (let d = 0; d < spatial; d++) outward += s[at + spatial + d] * normal[d];
      if (!(depth > 0 && outward > 0)) continue;
      const whole = lengthOf(s, at + spatial, spatial);
      for (let d = 0; d < spatial; d++) {
        s[at + d] -= depth * normal[d];
        s[at + spatial + d] -= outward * normal[d];
      }
      const speed = lengthOf(s, at + spatial, spatial);
      if (outward < SHALLOW * speed) for (let d = 0; d < spatial; d++) s[at + spatial + d] *= whole / speed;
    }
  }

  /** @param {Float64Array} s @param {Scene} scene @param {number} time */
  function fly(s, scene, time) {
    for (let a = 0; a < scene.count; a++) {
      if (scene.moving[a]) for (let d = 0; d < spatial; d++) s[a * state + d] += time * s[a * state + spatial + d];
    }
  }

  return {
    only: spec.only,
    drift(s, scene, length) {
      // Who does not move is no one's bat: others meet it as something at rest.
      const kept = s.slice();
      for (let a = 0; a < scene.count; a++) if (!scene.moving[a]) s.fill(0, a * state + spatial, a * state + 2 * spatial);
      let left = length;
      for (let round = 0; round < 8 + 4 * scene.count; round++) {
        const { wait, a, b, wall } = next(s, scene);
        if (!(wait < left)) break;
        fly(s, scene, wait);
        left -= wait;
        if (wall) bounceOff(s, a, wall);
        else bounceApart(s, scene, a, b);
      }
      fly(s, scene, left);
      holdApart(s, scene);
      for (let a = 0; a < scene.count; a++) {
        if (scene.moving[a]) slide(s, a);
        else s.set(kept.subarray(a * state, (a + 1) * state), a * state);
      }
    },
  };
}

/** @param {Float64Array} u @param {Float64Array} v */
function dot(u, v) {
  let sum = 0;
  for (let d = 0; d < u.length; d++) sum += u[d] * v[d];
  return sum;
}

/** @param {Float64Array} s @param {number} at @param {number} spatial */
function lengthOf(s, at, spatial) {
  let sum = 0;
  for (let d = 0; d < spatial; d++) sum += s[at + d] ** 2;
  return Math.sqrt(sum);
}
