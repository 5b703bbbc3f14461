/** Futures as they are and as they would be: asked of the worker threads, only the newest question counts. */

import { timesOf } from "../engine/forecast.js";
import { stretched } from "./futures.js";

/**
 * @typedef {import("./futures.js").Futures} Futures
 * @typedef {import("../engine/world.js").Request} Request
 * @typedef {"base" | "alt"} Slot as it is, and what if
 *
 * @typedef {object} Answers
 * @property {Record<Slot, Futures | null>} futures
 * @property {(slot: Slot, request: Request, hurried: boolean) => void} ask a hurried question is
 *   answered with as many draws as can be followed before the hand has moved on
 * @property {(slot: Slot) => void} forget
 */

/** Times of the frames since the last one seen. @param {import("../engine/model.js").Model} model @param {Request} request */
function leadsOf(model, request) {
  const times = timesOf(model, request);
  return times.map((time) => time - times[model.sequences[request.sequence].seen - 1]);
}

/** Milliseconds that a hand which drags something may wait, and after which it is taken to rest. */
const PATIENCE = 110;
const AT_REST = 300;
const FEWEST = 5;

/**
 * @param {import("../engine/model.js").Model} model
 * @param {import("./pool.js").Pool} pool
 * @param {(slot: Slot) => void} arrived
 * @returns {Answers}
 */
export function makeAnswers(model, pool, arrived) {
  const all = model.content.draws;
  /** @type {Record<Slot, Futures | null>} */
  const futures = { base: null, alt: null };
  /** @type {Map<Slot, { request: Request, hurried: boolean }>} */
  const next = new Map();
  let timeOfDraw = 0;
  let resting = 0;

  /** @param {Slot} slot @param {Request} request @param {boolean} hurried */
  function ask(slot, request, hurried) {
    if (pool.busy(slot)) {
      next.set(slot, { request, hurried });
      return;
    }
    clearTimeout(resting);
    const count = hurried && timeOfDraw ? Math.min(all, Math.max(FEWEST, Math.floor(PATIENCE / timeOfDraw))) : all;
    const asked = performance.now();
    pool.ask(slot, "forecast", request, count, (draws, complete) => {
      if (complete) timeOfDraw = (performance.now() - asked) / count;
      // Draw by draw the same law: what has come is compared with its own beginning.
      if (complete || !next.has(slot)) {
        const leads = leadsOf(model, request);
        // What has come is asked for again as more comes, and must not be stretched twice.
        const moved = stretched(complete ? draws : draws.map((draw) => draw.slice()), model.content.stretch, leads);
        futures[slot] = { draws: moved, objects: objectsIn(request), frames: request.frames, shown: model.shown, spatial: model.spatial };
        arrived(slot);
      }
      const newer = next.get(slot);
      if (!complete) return;
      if (newer) {
        next.delete(slot);
        ask(slot, newer.request, newer.hurried);
      } else if (count < all) resting = setTimeout(() => ask(slot, request, false), AT_REST);
    });
  }

  /** @param {Request} request */
  const objectsIn = ({ sequence, edits }) => model.sequences[sequence].objects.length + edits.filter((edit) => edit.do === "duplicate").length;

  return {
    futures,
    ask,
    forget(slot) {
      clearTimeout(resting);
      futures[slot] = null;
      next.delete(slot);
      pool.forget(slot);
    },
  };
}
