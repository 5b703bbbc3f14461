/** From a state and a law to the state one interval later: `comotion/integrate` once more. */

/**
 * @callback Rates
 * @param {Float64Array} states
 * @param {number} progress 0 at the start of the interval, 1 at its end
 * @param {Float64Array} out
 * @returns {void}
 *
 * @callback Advance changes the states in place
 * @param {Rates} rates
 * @param {Float64Array} states
 * @param {number} length of the interval
 * @returns {void}
 */

/**
 * @param {any} spec
 * @param {number} size how many numbers the states are
 * @returns {Advance}
 */
export function makeIntegrator(spec, size) {
  if (spec.kind === "rk4") return rk4(spec.steps, size);
  if (spec.kind === "jumps") return jumps(size);
  throw new Error(`This page knows no integrator of kind ${spec.kind}.`);
}

/** Classic RK4 with the same number of steps in every interval. @param {number} steps @param {number} size @returns {Advance} */
function rk4(steps, size) {
  const [first, second, third, fourth, probe] = Array.from({ length: 5 }, () => new Float64Array(size));
  return (rates, states, length) => {
    const h = length / steps;
    for (let step = 0; step < steps; step++) {
      const [start, middle, end] = [step / steps, (step + 0.5) / steps, (step + 1) / steps];
      rates(states, start, first);
      for (let k = 0; k < size; k++) probe[k] = states[k] + 0.5 * h * first[k];
      rates(probe, middle, second);
      for (let k = 0; k < size; k++) probe[k] = states[k] + 0.5 * h * second[k];
      rates(probe, middle, third);
      for (let k = 0; k < size; k++) probe[k] = states[k] + h * third[k];
      rates(probe, end, fourth);
      for (let k = 0; k < size; k++) {
        states[k] += (h / 6) * (first[k] + 2 * second[k] + 2 * third[k] + fourth[k]);
      }
    }
  };
}

/**
 * Kick, drift that bounces exactly, kick: everything but positions changes in a kick.
 * @param {number} steps @param {import("./coordinates.js").Layout} layout
 * @param {import("./contacts.js").Contacts} contacts @param {import("./field.js").Scene} scene @returns {Advance}
 */
export function bouncing(steps, layout, contacts, scene) {
  const { spatial, state } = layout;
  const size = scene.count * state;
  const [change, middle] = [new Float64Array(size), new Float64Array(size)];
  /** @param {Rates} rates @param {Float64Array} states @param {number} progress @param {number} length */
  function kick(rates, states, progress, length) {
    if (contacts.only) return;
    rates(states, progress, change);
    for (let k = 0; k < size; k++) middle[k] = states[k] + (k % state < spatial ? 0 : 0.5 * length * change[k]);
    rates(middle, progress, change);
    for (let k = 0; k < size; k++) if (k % state >= spatial) states[k] += length * change[k];
  }
  return (rates, states, length) => {
    const h = length / steps;
    for (let step = 0; step < steps; step++) {
      kick(rates, states, step / steps, h / 2);
      contacts.drift(states, scene, h);
      kick(rates, states, (step + 1) / steps, h / 2);
    }
  };
}

/** The law gives the change from one frame to the next. @param {number} size @returns {Advance} */
function jumps(size) {
  const change = new Float64Array(size);
  return (rates, states, length) => {
    if (length <= 0) return;
    rates(states, 0, change);
    for (let k = 0; k < size; k++) states[k] += change[k];
  };
}
