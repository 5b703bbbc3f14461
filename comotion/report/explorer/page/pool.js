/** Worker threads that share the draws; only the newest request of each slot counts. */

const MOST_WORKERS = 4;
const SHOW_UNFINISHED_AFTER = 250;

/**
 * @callback Arrived called when all draws have come, or some of them if they take long
 * @param {any[]} results by draw, as far as all of them have come
 * @param {boolean} complete
 * @returns {void}
 *
 * @typedef {object} Waiting
 * @property {any[]} results
 * @property {number} left
 * @property {number} since
 * @property {Arrived} arrived
 *
 * @typedef {object} Pool
 * @property {(slot: string, kind: "forecast" | "law", request: any, draws: number, arrived: Arrived) => void} ask
 * @property {(slot: string) => void} forget
 * @property {(slot: string) => boolean} busy
 */

/**
 * @param {string} source of the worker
 * @param {ArrayBuffer} content
 * @param {number} draws
 * @returns {Pool}
 */
export function makePool(source, content, draws) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const count = Math.max(1, Math.min(MOST_WORKERS, draws, navigator.hardwareConcurrency || 2));
  /** @type {Map<string, Waiting & { id: number }>} */
  const waiting = new Map();
  let lastId = 0;

  /** @param {MessageEvent} event */
  function receive({ data }) {
    const task = waiting.get(data.slot);
    if (!task || task.id !== data.id) return;
    task.results[data.draw] = data.result;
    task.left -= 1;
    const late = performance.now() - task.since > SHOW_UNFINISHED_AFTER;
    if (task.left === 0) waiting.delete(data.slot);
    if (task.left > 0 && !late) return;
    task.since = performance.now();
    const missing = Array.from(task.results).findIndex((result) => result === undefined);
    const come = task.results.slice(0, missing < 0 ? undefined : missing);
    if (come.length) task.arrived(come, task.left === 0);
  }

  const workers = Array.from({ length: count }, () => {
    const worker = new Worker(address);
    worker.onmessage = receive;
    worker.postMessage(content);
    return worker;
  });

  return {
    busy: (slot) => waiting.has(slot),
    forget: (slot) => void waiting.delete(slot),
    ask(slot, kind, request, wanted, arrived) {
      const id = ++lastId;
      waiting.set(slot, { id, results: [], left: wanted, since: performance.now(), arrived });
      workers.forEach((worker, w) => {
        const share = Array.from({ length: wanted }, (_, k) => k).filter((k) => k % count === w);
        worker.postMessage({ kind, slot, id, request, draws: share });
      });
    },
  };
}
