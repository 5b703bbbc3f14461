/** Draws what may come: lines ahead, and where most of them are at the head. */

import { cloudAt, valueAt } from "./futures.js";
import { regions } from "./regions.js";
import { isIn } from "./view.js";

/** @typedef {import("./stage.js").Scenery} Scenery @typedef {import("./view.js").World} World */

const SHARES = [0.9, 0.5];
const STRETCHES = 4;

/**
 * Lines ahead that fade, dots and regions at the head.
 * @param {Scenery} scenery @param {World} world @param {(object: number) => string} colour @param {number} strength
 */
export function drawFutures(scenery, world, colour, strength) {
  const { futures, state } = world;
  if (!futures) return;
  const now = world.model.sequences[state.sequence].seen - 1;
  const alpha = strength * Math.min(0.5, 0.12 + 3 / futures.draws.length);
  for (let a = 0; a < futures.objects; a++) {
    if (!isIn(world, a)) continue;
    const from = Math.max(state.head, now);
    for (const draw of futures.draws) drawAhead(scenery, world, draw, a, from, colour(a), alpha);
    if (state.head >= now) drawCloud(scenery, world, a, colour(a), strength);
  }
}

/** @param {Scenery} scenery @param {World} world @param {Float32Array} draw @param {number} a @param {number} from @param {string} colour @param {number} alpha */
function drawAhead({ context, camera }, world, draw, a, from, colour, alpha) {
  const futures = /** @type {import("./futures.js").Futures} */ (world.futures);
  const end = Math.min(from + world.state.ahead, futures.frames);
  const { x, y } = camera.shares(a);
  context.strokeStyle = colour;
  context.lineWidth = 1;
  /** @param {number} head */
  const go = (head) => {
    let [px, py] = [x[0], y[0]];
    for (let d = 0; d < futures.spatial; d++) {
      const place = valueAt(futures, draw, head, a, d);
      px += x[d + 1] * place;
      py += y[d + 1] * place;
    }
    context.lineTo(px, py);
  };
  for (let stretch = 0; stretch < STRETCHES; stretch++) {
    const begin = from + (stretch * (end - from)) / STRETCHES;
    const stop = from + ((stretch + 1) * (end - from)) / STRETCHES;
    context.globalAlpha = alpha * (1 - stretch / STRETCHES) ** 1.3;
    context.beginPath();
    go(begin);
    for (let frame = Math.floor(begin) + 1; frame < stop; frame++) go(frame);
    go(stop);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** @param {Scenery} scenery @param {World} world @param {number} a @param {string} colour @param {number} strength */
function drawCloud({ context, camera }, world, a, colour, strength) {
  const futures = /** @type {import("./futures.js").Futures} */ (world.futures);
  const points = cloudAt(futures, world.state.head, a)
    .map((position) => camera.project(position, a))
    .filter((point) => point.every(Number.isFinite));
  context.save();
  clipToArena({ context, camera }, world.model.content.outline);
  context.fillStyle = colour;
  context.globalAlpha = 0.13 * strength;
  for (const region of futures.spatial > 1 ? regions(points, SHARES) : []) {
    context.beginPath();
    for (const cell of region.cells) {
      cell.forEach(([x, y], k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
      context.closePath();
    }
    context.fill();
  }
  context.restore();
  context.fillStyle = colour;
  context.globalAlpha = 0.5 * strength;
  for (const [x, y] of points) {
    context.beginPath();
    context.arc(x, y, 1.7, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** A region of draws that are all inside a round wall is not shown beyond it. @param {Pick<Scenery, "context" | "camera">} scenery @param {any} outline */
function clipToArena({ context, camera }, outline) {
  if (outline?.circles.length !== 1 || outline.segments.length) return;
  const [[x, y, radius]] = outline.circles;
  context.beginPath();
  context.arc(...camera.project([x, y], 0), Math.abs(camera.direction([radius, 0])[0]), 0, 2 * Math.PI);
  context.clip();
}
