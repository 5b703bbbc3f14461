/** Draws the scene: recording, futures, regions, objects. */

import { drawFutures } from "./cloud.js";
import { labelOf, objectColour, scaleColour } from "./look.js";
import { recordedAt } from "./recording.js";
import { bodyOf, frameOf, isIn, nameOf, objectCount, placeOf } from "./view.js";

/**
 * @typedef {import("./view.js").World} World
 * @typedef {import("./view.js").Body} Body
 * @typedef {import("./camera.js").Camera} Camera
 * @typedef {import("./camera.js").Rectangle} Rectangle
 * @typedef {import("./look.js").Theme} Theme
 *
 * @typedef {object} Scenery
 * @property {CanvasRenderingContext2D} context
 * @property {Rectangle} rectangle
 * @property {Camera} camera
 * @property {Theme} theme
 * @property {[number, number][]} bounds
 * @property {number} speed the usual one
 * @property {string} caption
 * @property {boolean} handles whether arrows can be taken hold of
 */

export const RADIUS = 9;
/** Pixels of an arrow at the usual speed. */
export const ARROW = 46;

/**
 * @param {Scenery} scenery
 * @param {World} world
 * @param {World | null} ghost another world, drawn faintly behind
 */
export function drawStage(scenery, world, ghost) {
  const { context, rectangle, theme } = scenery;
  context.save();
  context.beginPath();
  context.rect(rectangle.x, rectangle.y, rectangle.width, rectangle.height);
  context.clip();
  context.fillStyle = theme.paper;
  context.fillRect(rectangle.x, rectangle.y, rectangle.width, rectangle.height);
  drawGround(scenery);
  drawWalls(scenery, world.model.content.outline);
  if (ghost) drawFutures(scenery, ghost, () => theme.muted, 0.5);
  const bodies = Array.from({ length: objectCount(world) }, (_, a) => bodyOf(world, a));
  const colour = (/** @type {number} */ a) => bodyColour(scenery, world, bodies[a], a);
  drawFutures(scenery, world, colour, 1);
  bodies.forEach((_, a) => drawTail(scenery, world, a, objectColour(a, theme)));
  if (ghost) drawTruth(scenery, ghost);
  for (const body of bodies) if (body) drawBody(scenery, world, body, colour(body.object));
  drawCaption(scenery, world);
  context.restore();
}

/** @param {Scenery} scenery @param {World} world @param {Body | null} body @param {number} a */
function bodyColour(scenery, world, body, a) {
  const { theme, speed } = scenery;
  if (world.state.colour === "speed" && body) return scaleColour(Math.hypot(...body.velocity) / (2 * speed), theme);
  if (world.state.colour === "surprise" && body) {
    return Number.isFinite(body.surprise) ? scaleColour(body.surprise / 4, theme) : theme.muted;
  }
  return objectColour(a, theme);
}

/** The region of the recordings. @param {Scenery} scenery */
function drawGround({ context, camera, theme, bounds }) {
  if (bounds.length < 2) return;
  const corners = bounds.length === 2 ? [[0, 0], [1, 0], [1, 1], [0, 1]] : [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]];
  context.beginPath();
  corners.forEach((corner, k) => {
    const [x, y] = camera.project(corner.map((side, d) => bounds[d][side]), 0);
    if (k === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.closePath();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.setLineDash([2, 5]);
  context.stroke();
  context.setLineDash([]);
}

/** Walls that were learned. @param {Scenery} scenery @param {any} outline */
function drawWalls({ context, camera, theme, bounds }, outline) {
  if (!outline) return;
  const project = (/** @type {number} */ x, /** @type {number} */ y) => camera.project(bounds.length === 3 ? [x, y, bounds[2][0]] : [x, y], 0);
  context.strokeStyle = theme.muted;
  context.lineWidth = 2;
  for (const { data } of outline.segments) {
    context.beginPath();
    context.moveTo(...project(data[0], data[1]));
    context.lineTo(...project(data[2], data[3]));
    context.stroke();
  }
  for (const [x, y, radius] of outline.circles) {
    context.beginPath();
    context.arc(...project(x, y), Math.abs(camera.direction([radius, 0, 0])[0]), 0, 2 * Math.PI);
    context.stroke();
  }
}

/** Where an object came from: recorded, or the middle of its futures. @param {Scenery} scenery @param {World} world @param {number} a @param {string} colour */
function drawTail({ context, camera }, world, a, colour) {
  const { state, model } = world;
  if (!isIn(world, a)) return;
  const begin = Math.max(state.head - state.past, -model.sequences[state.sequence].origins.data[state.origin]);
  context.strokeStyle = colour;
  context.lineCap = "round";
  /** @type {[number, number] | null} */
  let last = null;
  for (let k = 0; k <= 24; k++) {
    const head = begin + (k / 24) * (state.head - begin);
    const place = placeOf({ ...world, state: { ...state, head } }, a);
    const next = place ? camera.project(place.position, a) : null;
    if (last && next) {
      context.globalAlpha = 0.15 + (0.75 * k) / 24;
      context.lineWidth = 1 + (2 * k) / 24;
      context.beginPath();
      context.moveTo(...last);
      context.lineTo(...next);
      context.stroke();
    }
    last = next;
  }
  context.globalAlpha = 1;
}

/** What was recorded, as rings, where another world is shown. @param {Scenery} scenery @param {World} world */
function drawTruth({ context, camera, theme }, world) {
  const sequence = world.model.sequences[world.state.sequence];
  sequence.objects.forEach((_, a) => {
    const seen = Array.from({ length: world.model.spatial }, (_, d) => recordedAt(sequence, frameOf(world), a, d));
    if (!seen.every(Number.isFinite)) return;
    context.beginPath();
    context.arc(...camera.project(seen, a), RADIUS - 2, 0, 2 * Math.PI);
    context.strokeStyle = theme.muted;
    context.lineWidth = 1.2;
    context.stroke();
  });
}

/** @param {Scenery} scenery @param {World} world @param {Body} body @param {string} colour */
function drawBody(scenery, world, body, colour) {
  const { context, camera, theme } = scenery;
  const [x, y] = camera.project(body.position, body.object);
  const selected = world.state.selected === body.object;
  const frame = frameOf(world);
  const frozen = world.edits.some((edit) => edit.do === "freeze" && edit.object === body.object && edit.at <= frame);
  drawSize(scenery, world.model.content.outline?.radius, [x, y], colour);
  drawArrow(scenery, body, [x, y], colour, selected);
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = frozen ? theme.ink : theme.paper;
  context.stroke();
  if (selected) {
    context.beginPath();
    context.arc(x, y, RADIUS + 5, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
  }
  if (selected || objectCount(world) <= 8) {
    context.font = "500 12px system-ui, sans-serif";
    context.fillStyle = selected ? theme.ink : theme.muted;
    context.fillText(labelOf(nameOf(world, body.object)), x + RADIUS + 7, y - RADIUS);
  }
}

/** As large as it was learned to be. @param {Scenery} scenery @param {number | undefined} radius @param {[number, number]} place @param {string} colour */
function drawSize({ context, camera }, radius, [x, y], colour) {
  if (!radius) return;
  context.beginPath();
  context.arc(x, y, Math.abs(camera.direction([radius, 0, 0])[0]), 0, 2 * Math.PI);
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.globalAlpha = 0.13;
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
}

/** The tip of an object's velocity arrow. @param {Pick<Scenery, "camera" | "speed">} scenery @param {Body} body @returns {[number, number]} */
export function arrowTip({ camera, speed }, body) {
  const [x, y] = camera.project(body.position, body.object);
  const [right, down] = camera.direction(body.velocity);
  const [unit] = camera.direction([speed, 0, 0]);
  const factor = ARROW / Math.max(Math.abs(unit), 1e-9);
  return [x + factor * right, y + factor * down];
}

/** @param {Scenery} scenery @param {Body} body @param {[number, number]} from @param {string} colour @param {boolean} selected */
function drawArrow(scenery, body, [x, y], colour, selected) {
  const { context, theme, handles } = scenery;
  const [tipX, tipY] = arrowTip(scenery, body);
  const length = Math.hypot(tipX - x, tipY - y);
  if (length < RADIUS && !selected) return;
  context.strokeStyle = colour;
  context.globalAlpha = selected ? 1 : 0.55;
  context.lineWidth = selected ? 2 : 1.4;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(tipX, tipY);
  context.stroke();
  context.globalAlpha = 1;
  if (!selected || !handles) return;
  context.beginPath();
  context.arc(tipX, tipY, 5, 0, 2 * Math.PI);
  context.fillStyle = theme.paper;
  context.fill();
  context.stroke();
}

/** @param {Scenery} scenery @param {World} world */
function drawCaption({ context, rectangle, theme, caption }, world) {
  context.font = "500 13px system-ui, sans-serif";
  context.fillStyle = theme.ink;
  context.fillText(caption, rectangle.x + 16, rectangle.y + 26);
  if (world.state.colour === "object") return;
  const [low, high] = world.state.colour === "speed" ? ["still", "fast"] : ["expected", "surprising"];
  const [x, y] = [rectangle.x + 16, rectangle.y + rectangle.height - 20];
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = theme.muted;
  context.fillText(low, x, y + 9);
  const begin = x + context.measureText(low).width + 8;
  for (let k = 0; k < 60; k++) {
    context.fillStyle = scaleColour(k / 59, theme);
    context.fillRect(begin + k, y + 1, 1.5, 8);
  }
  context.fillStyle = theme.muted;
  context.fillText(high, begin + 70, y + 9);
}
