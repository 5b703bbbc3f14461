/** What a law leaves open, each time anew: `comotion/integrate/process_noise.py` once more. */

/**
 * @typedef {object} Interval
 * @property {number} length
 * @property {Uint8Array} moving who is in the scene and free to move
 * @property {Float64Array} normal standard normal numbers, `normals` for each object
 *
 * @typedef {object} Noise of one drawn world; it remembers what it did in the interval before
 * @property {number} normals how many standard normal numbers an object needs in each interval
 * @property {(states: Float64Array, normal: Float64Array) => void} begin
 * @property {(move: () => void, states: Float64Array, interval: Interval) => void} advance `move`
 *   follows the law to the end of the interval, in place
 * @property {(a: number, states: Float64Array, before: Float64Array) => void} thrown somebody else
 *   than the law has given an object another velocity
 * @property {(from: number, to: number) => void} copy an object has been doubled
 */

const SOFT = 0.05;
const SERIES_BELOW = 0.1;
const TINY = 1e-12;

/**
 * @param {any} spec
 * @param {number} stride entries of one object's state
 * @param {Float64Array} habits of all objects: acceleration, speed, variation, activity
 * @returns {Noise}
 */
export function makeNoise(spec, stride, habits) {
  if (spec.kind === "state") return stateNoise(spec, stride);
  if (spec.kind === "body") return bodyNoise(spec, stride, habits);
  throw new Error(`This page knows no noise of kind ${spec.kind}.`);
}

/** How many normal numbers the noise needs for each object. @param {any} spec */
export function normalsPerObject(spec) {
  return spec.kind === "body" ? 2 + 3 * spec.spatial : 1 + spec.stop - spec.first;
}

/** Multiplicative on the change of velocity, plus Brownian. @param {any} spec @param {number} stride @returns {Noise} */
function stateNoise(spec, stride) {
  const { share, steady, first, stop } = spec;
  const most = spec.most ?? Infinity;
  const normals = normalsPerObject(spec);
  const calm = share === 0 && steady === 0;

  /** @param {Float64Array} before @param {Float64Array} after @param {Interval} interval */
  function disturb(before, after, { length, normal }) {
    for (let row = 0, n = 0; row < after.length; row += stride, n += normals) {
      let moved = false;
      for (let i = 0; i < stride; i++) moved ||= after[row + i] !== before[row + i];
      if (!moved) continue;
      const limit = Math.max(most, sizeOf(after, row + first, stop - first));
      for (let i = first; i < stop; i++) {
        const change = after[row + i] - before[row + i];
        after[row + i] += share * normal[n] * change + steady * Math.sqrt(length) * normal[n + 1 + i - first];
      }
      within(after, row + first, stop - first, limit);
    }
  }

  return {
    normals,
    begin() {},
    thrown() {},
    copy() {},
    advance(move, states, interval) {
      if (calm) return move();
      const before = states.slice();
      move();
      disturb(before, states, interval);
    },
  };
}

/**
 * Speed and turning apart, each with a memory, for states [position, velocity]. Half of the noise
 * acts before the law, half of it after.
 * @param {any} spec @param {number} stride @param {Float64Array} habits @returns {Noise}
 */
function bodyNoise(spec, stride, habits) {
  const d = spec.spatial;
  const normals = normalsPerObject(spec);
  const width = d + 3;
  const [typical, isotropic, relaxation, activity] = ["log_typical", "log_isotropic", "log_relaxation", "log_activity"].map((name) => Math.exp(spec[name]));
  const floor = SOFT * typical;
  const most = spec.most ?? Infinity;
  const [alongTime, turnTime] = [0, 1].map((k) => Math.exp(spec.log_memory.data[k]));
  const share = [0, 1].map((k) => 1 / (1 + Math.exp(-spec.carried.data[k])));
  const count = habits.length / width;
  const usual = habits.slice();
  // What is remembered of each object: acceleration along its heading, activity, rate of turning.
  const along = new Float64Array(count);
  const active = new Float64Array(count);
  const turn = new Float64Array(count * d);
  // What the noise does to the velocity of each object in one interval.
  const gain = new Float64Array(count);
  const angle = new Float64Array(count * d);
  const wander = new Float64Array(count * d);
  const heading = new Float64Array(d);
  const later = new Float64Array(d);

  /** Fills a heading; gives the speed. @param {Float64Array} states @param {number} a @param {Float64Array} out */
  function split(states, a, out) {
    const row = a * stride + d;
    let squared = floor * floor;
    for (let i = 0; i < d; i++) squared += states[row + i] ** 2;
    const speed = Math.sqrt(squared);
    for (let i = 0; i < d; i++) out[i] = states[row + i] / speed;
    return speed;
  }

  /** How restless an object is along and across its heading. @param {number} a @param {number} speed */
  function sizes(a, speed) {
    const features = [1, Math.log(speed / typical), usual[a * width + d + 2], Math.log(usual[a * width + d + 1] / typical + SOFT)];
    return [spec.along, spec.turn].map(({ data }) => active[a] * Math.exp(features.reduce((sum, x, k) => sum + x * data[k], 0)));
  }

  /** @param {Float64Array} states @param {number} a @param {number} step @param {Float64Array} normal */
  function draw(states, a, step, normal) {
    const n = a * normals;
    const [pushing, turning] = sizes(a, split(states, a, heading));
    [gain[a], along[a]] = integratedOU(along[a], pushing, step, alongTime, normal[n], normal[n + 1]);
    for (let i = 0; i < d; i++) {
      const k = a * d + i;
      [angle[k], turn[k]] = integratedOU(turn[k], turning, step, turnTime, normal[n + 2 + i], normal[n + 2 + d + i]);
      wander[k] = isotropic * Math.sqrt(step) * active[a] * normal[n + 2 + 2 * d + i];
    }
  }

  /** Half of what was drawn, to a velocity. @param {Float64Array} states @param {number} a @param {number} returned */
  function kick(states, a, returned) {
    const row = a * stride + d;
    const limit = Math.max(most, sizeOf(states, row, d));
    const speed = split(states, a, heading);
    let across = 0;
    for (let i = 0; i < d; i++) across += angle[a * d + i] * heading[i];
    let squared = TINY;
    for (let i = 0; i < d; i++) squared += (angle[a * d + i] - across * heading[i]) ** 2;
    const size = Math.sqrt(squared);
    const after = speed + 0.5 * gain[a] + returned * (usual[a * width + d] - speed);
    const [cosine, sine] = [Math.cos(0.5 * size), Math.sin(0.5 * size) / size];
    for (let i = 0; i < d; i++) {
      const tangent = angle[a * d + i] - across * heading[i];
      states[row + i] = after * (cosine * heading[i] + sine * tangent) + 0.5 * wander[a * d + i];
    }
    within(states, row, d, limit);
  }

  /** The memory of turning, from the heading before to the one after, by the smallest rotation. @param {number} a @param {Float64Array} before @param {Float64Array} after */
  function carry(a, before, after) {
    const [one, other] = [sizeOf(before, 0, d), sizeOf(after, 0, d)];
    let [alongAfter, alike] = [0, 1];
    for (let i = 0; i < d; i++) {
      alongAfter += (turn[a * d + i] * after[i]) / other;
      alike += (before[i] * after[i]) / (one * other);
    }
    const share = alongAfter / Math.max(alike, SOFT);
    for (let i = 0; i < d; i++) turn[a * d + i] -= share * (before[i] / one + after[i] / other);
  }

  return {
    normals,
    begin(states, normal) {
      for (let a = 0; a < count; a++) {
        const speed = split(states, a, heading);
        const n = a * normals;
        active[a] = Math.exp(activity * normal[n]);
        const anew = sizes(a, speed).map((size, k) => size * Math.sqrt(1 - share[k] ** 2));
        let seen = 0;
        for (let i = 0; i < d; i++) seen += usual[a * width + i] * heading[i];
        along[a] = share[0] * seen + anew[0] * normal[n + 1];
        for (let i = 0; i < d; i++) turn[a * d + i] = (share[1] * (usual[a * width + i] - seen * heading[i])) / speed + anew[1] * normal[n + 2 + i];
      }
    },
    advance(move, states, { length, moving, normal }) {
      const before = states.slice();
      const returned = 0.5 * (1 - Math.exp(-relaxation * length));
      for (let a = 0; a < count; a++) {
        draw(states, a, length, normal);
        kick(states, a, returned);
      }
      move();
      for (let a = 0; a < count; a++) {
        kick(states, a, returned);
        if (!moving[a]) states.set(before.subarray(a * stride, (a + 1) * stride), a * stride);
        this.thrown(a, states, before);
      }
    },
    thrown(a, states, before) {
      split(before, a, heading);
      split(states, a, later);
      carry(a, heading, later);
    },
    copy(from, to) {
      usual.copyWithin(to * width, from * width, (from + 1) * width);
      turn.copyWithin(to * d, from * d, (from + 1) * d);
      [along[to], active[to]] = [along[from], active[from]];
    },
  };
}

/**
 * The integral of an Ornstein-Uhlenbeck process over `step`, and its value at the end, from two
 * standard normals by their joint distribution.
 * @param {number} now @param {number} sd @param {number} step @param {number} memory @param {number} first @param {number} second
 * @returns {[number, number]}
 */
function integratedOU(now, sd, step, memory, first, second) {
  const x = step / memory;
  const short = x < SERIES_BELOW;
  const forgotten = Math.exp(-x);
  const variance = short ? x ** 3 * (2 / 3 - x / 2 + (7 * x * x) / 30) : 2 * x - 3 + 4 * forgotten - forgotten ** 2;
  const mean = short ? x * (1 - x / 2 + (x * x) / 6) : 1 - forgotten;
  const ofValue = Math.max(1 - forgotten ** 2, TINY);
  const cross = mean ** 2 / Math.sqrt(ofValue);
  const beyond = Math.sqrt(Math.max(variance - cross ** 2, TINY));
  return [memory * (mean * now + sd * (cross * first + beyond * second)), forgotten * now + sd * Math.sqrt(ofValue) * first];
}

/** @param {Float64Array} values @param {number} begin @param {number} count */
function sizeOf(values, begin, count) {
  let squared = 1e-30;
  for (let i = begin; i < begin + count; i++) squared += values[i] ** 2;
  return Math.sqrt(squared);
}

/** Makes a vector no longer than a limit. @param {Float64Array} values @param {number} begin @param {number} count @param {number} limit */
function within(values, begin, count, limit) {
  const size = sizeOf(values, begin, count);
  if (size > limit) for (let i = begin; i < begin + count; i++) values[i] *= limit / size;
}
