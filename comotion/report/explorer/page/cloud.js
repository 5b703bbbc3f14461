/** Draws what may come: lines ahead, and where most of them are at the head. */

import { cloudAt, valueAt } from "./futures.js";
import { regions } from "./regions.js";
import { isIn } from "./view.js";

/** @typedef {import("./stage.js").Scenery} Scenery @typedef {import("./view.js").World} World */

const SHARES = [0.9, 0.5];
const WALLS_OF_A_BOX = 4;
const STRETCHES = 4;
/** More lines than these are a blur that takes long to paint: of a crowd, some draws have none. */
const MOST_LINES = 400;
const FEWEST_LINES = 3;
/** Cells of the grid that regions are found on, for a few objects and for many. */
const [FINE, COARSE, MANY] = [30, 16, 12];

/**
 * Lines ahead that fade, dots and regions at the head.
 * @param {Scenery} scenery @param {World} world @param {(object: number) => string} colour @param {number} strength
 */
export function drawFutures(scenery, world, colour, strength) {
  const { futures, state } = world;
  if (!futures) return;
  const now = world.model.sequences[state.sequence].seen - 1;
  const lines = futures.draws.slice(0, Math.max(FEWEST_LINES, Math.floor(MOST_LINES / futures.objects)));
  const alpha = strength * Math.min(0.5, 0.12 + 3 / lines.length);
  for (let a = 0; a < futures.objects; a++) {
    if (!isIn(world, a)) continue;
    const from = Math.max(state.head, now);
    for (const draw of lines) drawAhead(scenery, world, draw, a, from, colour(a), alpha);
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
  for (const region of futures.spatial > 1 ? regions(points, SHARES, futures.objects > MANY ? COARSE : FINE) : []) {
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

/** A region of draws that are all inside round walls, or inside a box, is not shown beyond them. @param {Pick<Scenery, "context" | "camera">} scenery @param {any} outline */
function clipToArena({ context, camera }, outline) {
  const { circles, segments } = outline ?? { circles: [], segments: [] };
  context.beginPath();
  if (circles.length === 1 && !segments.length) {
    const [[x, y, radius]] = circles;
    context.arc(...camera.project([x, y], 0), Math.abs(camera.direction([radius, 0])[0]), 0, 2 * Math.PI);
  } else if (!circles.length && segments.length >= WALLS_OF_A_BOX) {
    const corners = segments.flatMap((/** @type {any} */ { data: [x, y, toX, toY] }) => [camera.project([x, y], 0), camera.project([toX, toY], 0)]);
    const [left, top, right, bottom] = [Math.min, Math.max].flatMap((most) => [0, 1].map((d) => most(...corners.map((/** @type {number[]} */ corner) => corner[d]))));
    context.rect(left, top, right - left, bottom - top);
  } else return;
  context.clip();
}
