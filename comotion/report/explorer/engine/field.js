/** One drawn law as a vector field: the rate of change of all states. */

import { makeAlone } from "./coordinates.js";
import { makeContacts } from "./contacts.js";
import { makeFunction } from "./functions.js";
import { makeGraph } from "./graph.js";
import { makePair } from "./pair_coordinates.js";

/**
 * @typedef {import("./coordinates.js").Layout} Layout
 * @typedef {import("./coordinates.js").Actors} Actors
 *
 * @typedef {object} Scene what a field needs to know beside the states
 * @property {number} count
 * @property {Float64Array} properties
 * @property {Float64Array} controls
 * @property {Uint8Array} allowed who may hear whom
 * @property {Uint8Array} moving who moves at all
 * @property {import("./graph.js").Neighbours | null} found whom everyone hears in this interval, once somebody looked
 *
 * @typedef {object} Field
 * @property {(states: Float64Array, scene: Scene, out: Float64Array) => void} rates
 * @property {import("./coordinates.js").Pair | null} pair f_b by itself
 * @property {import("./contacts.js").Contacts | null} contacts what happens where things touch
 */

/**
 * @param {any} spec
 * @param {Layout} layout
 * @param {number} draw
 * @returns {Field}
 */
export function makeField(spec, layout, draw) {
  if (spec.kind === "interacting") return interacting(spec, layout, draw);
  if (spec.kind === "joint") return joint(spec, layout, draw);
  throw new Error(`This page knows no dynamics of kind ${spec.kind}.`);
}

/** @param {any} spec @param {Layout} layout @param {number} draw @returns {Field} */
function interacting(spec, layout, draw) {
  const alone = makeAlone(spec.alone, layout, draw);
  const pair = makePair(spec.pair, layout, draw);
  const graph = makeGraph(spec.graph, layout.spatial);
  const rule = makeRule(spec.accumulation, layout, draw);
  const R = alone.rates;
  let own = new Float64Array();
  let learned = new Float64Array();
  // Couples that are asked for, what they answered, and which answer every message is: 0 is none, -k is k turned round.
  let couples = new Int32Array();
  let asked = 0;
  let answers = new Float64Array();
  let answerOf = new Int32Array();
  let received = new Float64Array();
  let computed = new Int32Array();

  /** @param {number} count @param {number} width */
  function makeRoom(count, width) {
    [own, learned] = [new Float64Array(count * R), new Float64Array(count * R)];
    [answers, received] = [new Float64Array(count * width * R), new Float64Array(count * width * R)];
    [couples, answerOf] = [new Int32Array(2 * count * width), new Int32Array(count * width)];
    computed = new Int32Array(count * count);
  }

  /** Whom to ask for: messages of a pair that always get opposite rates are computed once for both.
   * @param {import("./graph.js").Neighbours} list @param {number} count */
  function plan(list, count) {
    if (answerOf.length !== count * list.width || own.length !== count * R) makeRoom(count, list.width);
    asked = 0;
    computed.fill(0);
    for (let k = 0; k < answerOf.length; k++) {
      const a = Math.floor(k / list.width);
      const b = list.index[k];
      answerOf[k] = list.heard[k] && pair.opposite ? -computed[b * count + a] : 0;
      if (!list.heard[k] || answerOf[k]) continue;
      couples[2 * asked] = a;
      couples[2 * asked + 1] = b;
      answerOf[k] = computed[a * count + b] = ++asked;
    }
  }

  /** @param {Actors} actors */
  function listen(actors) {
    pair.ask(actors, couples, asked, answers);
    for (let k = 0; k < answerOf.length; k++) {
      const answer = answerOf[k];
      const at = (Math.abs(answer) - 1) * R;
      for (let r = 0; r < R; r++) received[k * R + r] = answer === 0 ? 0 : answer > 0 ? answers[at + r] : -answers[at + r];
    }
  }

  return {
    pair,
    contacts: spec.contacts ? makeContacts(spec.contacts, layout, draw) : null,
    rates(states, scene, out) {
      const { count } = scene;
      const actors = { states, properties: scene.properties, controls: scene.controls };
      if (!scene.found) {
        scene.found = graph(states, layout.state, scene.allowed, count);
        plan(scene.found, count);
      }
      alone.ask(actors, count, own);
      listen(actors);
      rule(actors, own, received, scene.found, count, R, learned);
      complete(learned, R, states, scene, layout, spec.order, out);
    },
  };
}

/** @param {any} spec @param {Layout} layout @param {number} draw @returns {Field} */
function joint(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  const { state, properties, controls } = layout;
  const width = state + properties + controls;
  return {
    pair: null,
    contacts: null,
    rates(states, scene, out) {
      for (let a = 0; a < scene.count; a++) {
        for (let i = 0; i < state; i++) x[a * width + i] = states[a * state + i];
        for (let i = 0; i < properties; i++) {
          x[a * width + state + i] = scene.properties[a * properties + i];
        }
        for (let i = 0; i < controls; i++) {
          x[a * width + state + properties + i] = scene.controls[a * controls + i];
        }
      }
      f.evaluate(x, y, 1);
      complete(y, y.length / scene.count, states, scene, layout, spec.order, out);
    },
  };
}

/**
 * Rates of the whole state from the learned part; who is not in the scene stands still.
 * @param {Float64Array} learned @param {number} R @param {Float64Array} states
 * @param {Scene} scene @param {Layout} layout @param {number} order @param {Float64Array} out
 */
function complete(learned, R, states, scene, layout, order, out) {
  const { state, spatial } = layout;
  const given = order === 2 ? spatial : 0;
  for (let a = 0; a < scene.count; a++) {
    const row = a * state;
    if (!scene.moving[a]) {
      out.fill(0, row, row + state);
      continue;
    }
    for (let d = 0; d < given; d++) out[row + d] = states[row + spatial + d];
    for (let r = 0; r < R; r++) out[row + given + r] = learned[a * R + r];
  }
}

/**
 * @callback Rule how the messages an object receives become one rate
 * @param {Actors} actors
 * @param {Float64Array} own
 * @param {Float64Array} received
 * @param {import("./graph.js").Neighbours} list
 * @param {number} count
 * @param {number} R
 * @param {Float64Array} out
 * @returns {void}
 */

/** @param {any} spec @param {Layout} layout @param {number} draw @returns {Rule} */
function makeRule(spec, layout, draw) {
  if (spec.kind === "sum") return sum;
  if (spec.kind === "nonlinear") return nonlinear(spec, draw);
  if (spec.kind === "weighted") return weighted(spec, layout, draw);
  throw new Error(`This page knows no accumulation of kind ${spec.kind}.`);
}

/** f_s + Σ f_b; who is not heard has sent zeros. @type {Rule} */
function sum(_actors, own, received, list, count, R, out) {
  for (let a = 0; a < count; a++) {
    for (let r = 0; r < R; r++) {
      let total = own[a * R + r];
      for (let k = a * list.width; k < (a + 1) * list.width; k++) total += received[k * R + r];
      out[a * R + r] = total;
    }
  }
}

/** f_c of all messages side by side. @param {any} spec @param {number} draw @returns {Rule} */
function nonlinear(spec, draw) {
  const f = makeFunction(spec.function, draw);
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(f.outSize);
  return (_actors, own, received, list, count, R, out) => {
    const messages = list.width * R;
    for (let a = 0; a < count; a++) {
      x.set(own.subarray(a * R, (a + 1) * R));
      x.set(received.subarray(a * messages, (a + 1) * messages), R);
      f.evaluate(x, y, 1);
      out.set(y, a * R);
    }
  };
}

/** A softmax of f_w over the object itself and those it hears. @param {any} spec @param {Layout} layout @param {number} draw @returns {Rule} */
function weighted(spec, layout, draw) {
  const f = makeFunction(spec.function, draw);
  const x = new Float64Array(f.inSize);
  const y = new Float64Array(1);
  const { state, properties } = layout;

  /** @param {Actors} actors @param {number} a @param {number} b */
  function logit(actors, a, b) {
    x.set(actors.states.subarray(a * state, (a + 1) * state));
    x.set(actors.states.subarray(b * state, (b + 1) * state), state);
    x.set(actors.properties.subarray(a * properties, (a + 1) * properties), 2 * state);
    x.set(actors.properties.subarray(b * properties, (b + 1) * properties), 2 * state + properties);
    f.evaluate(x, y, 1);
    return y[0];
  }

  return (actors, own, received, list, count, R, out) => {
    const logits = new Float64Array(1 + list.width);
    for (let a = 0; a < count; a++) {
      logits[0] = logit(actors, a, a);
      for (let n = 0; n < list.width; n++) {
        const k = a * list.width + n;
        logits[1 + n] = list.heard[k] ? logit(actors, a, list.index[k]) : -Infinity;
      }
      const most = Math.max(...logits);
      let total = 0;
      for (let n = 0; n <= list.width; n++) total += logits[n] = Math.exp(logits[n] - most);
      for (let r = 0; r < R; r++) {
        let rate = logits[0] * own[a * R + r];
        for (let n = 0; n < list.width; n++) {
          rate += logits[1 + n] * received[(a * list.width + n) * R + r];
        }
        out[a * R + r] = rate / total;
      }
    }
  };
}
