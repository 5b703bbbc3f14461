/** Standard normal numbers that depend on nothing but where they are used: the same draw, frame
 * and object get the same noise in every world that is compared. */

/** @param {number} a @param {number} b */
function mix(a, b) {
  let h = Math.imul(a ^ (b + 0x9e3779b9 + (a << 6) + (a >>> 2)), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  return h ^ (h >>> 13);
}

/** @param {number} h */
function uniform(h) {
  let t = Math.imul(h ^ (h >>> 15), 1 | h);
  t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
  return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
}

/**
 * Fills `out` with the noise of one frame, `width` numbers for each object.
 * @param {Float64Array} out
 * @param {number} width
 * @param {number} seed
 * @param {number} draw
 * @param {number} frame
 */
function fillNormal(out, width, seed, draw, frame) {
  const base = mix(mix(mix(0x2545f491, seed), draw), frame);
  for (let k = 0; k < out.length; k++) {
    const h = mix(mix(base, Math.floor(k / width)), k % width);
    const radius = Math.sqrt(-2 * Math.log(uniform(h)));
    out[k] = radius * Math.cos(2 * Math.PI * uniform(mix(h, 1)));
  }
}

/** @type {Map<string, Float64Array[]>} */
const kept = new Map();
const MOST_KEPT = 200;

/**
 * The noise of all frames of a draw; computed once, because a drag asks for it again and again.
 * @param {number} size
 * @param {number} width
 * @param {number} seed
 * @param {number} draw
 * @returns {(frame: number) => Float64Array}
 */
export function normalsOf(size, width, seed, draw) {
  const name = `${size} ${width} ${seed} ${draw}`;
  const frames = kept.get(name) ?? [];
  if (kept.size < MOST_KEPT) kept.set(name, frames);
  return (frame) => {
    if (!frames[frame]) {
      frames[frame] = new Float64Array(size);
      fillNormal(frames[frame], width, seed, draw, frame);
    }
    return frames[frame];
  };
}
