/** A thread that follows some of the draws, so that a drag never waits. */

import { future } from "./forecast.js";
import { lawOf } from "./law.js";
import { openModel } from "./model.js";
import { read } from "./unpack.js";

/**
 * @typedef {object} Task
 * @property {"forecast" | "law"} kind
 * @property {string} slot a newer task of the same slot makes this one useless
 * @property {number} id
 * @property {any} request
 * @property {number[]} draws
 */

/** Between two looks at what has come in the meantime. */
const PATIENCE = 40;

/**
 * @param {{ postMessage(message: any, transfer?: Transferable[]): void, onmessage: any }} port
 */
export function serve(port) {
  /** @type {import("./model.js").Model} */
  let model;
  /** @type {Map<string, number>} */
  const newest = new Map();

  /** @param {Task} task */
  async function perform(task) {
    let looked = performance.now();
    for (const draw of task.draws) {
      if (performance.now() - looked > PATIENCE) {
        await new Promise((resolve) => setTimeout(resolve));
        looked = performance.now();
      }
      if (newest.get(task.slot) !== task.id) return;
      const result = task.kind === "law" ? lawOf(model, draw, task.request) : future(model, draw, task.request);
      port.postMessage({ slot: task.slot, id: task.id, draw, result }, result instanceof Float32Array ? [result.buffer] : []);
    }
  }

  port.onmessage = (/** @type {MessageEvent} */ event) => {
    if (event.data instanceof ArrayBuffer) {
      model = openModel(read(event.data));
      return;
    }
    newest.set(event.data.slot, event.data.id);
    perform(event.data);
  };
}
