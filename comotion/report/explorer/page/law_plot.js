/** The law beside the scene: what f_b does along the line between two objects. */

import { digits, objectColour, quantile, withUnit } from "./look.js";

/**
 * @typedef {object} LawPicture
 * @property {number[]} distances
 * @property {number} touching distance at which two objects touch; 0 where they never do
 * @property {Float32Array[]} curves one per draw
 * @property {{ a: number, b: number, distance: number, pushes: number[] }[]} pairs
 */

const EDGE = { left: 46, right: 12, top: 10, bottom: 30 };

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {number} height
 * @param {LawPicture} picture
 * @param {import("./look.js").Theme} theme
 * @param {string} unit of distances
 */
export function drawLaw(context, width, height, picture, theme, unit) {
  context.clearRect(0, 0, width, height);
  const { distances, curves, pairs } = picture;
  const bands = distances.map((_, k) => {
    const sorted = curves.map((curve) => curve[k]).sort((a, b) => a - b);
    return [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => quantile(sorted, share));
  });
  const axes = scales(width, height, distances, bands, pairs);
  drawAxes(context, width, height, axes, theme, unit);
  const colour = theme.dark ? "#8ab4d8" : "#31688e";
  const outline = (/** @type {number} */ low, /** @type {number} */ high) => {
    context.beginPath();
    bands.forEach((band, k) => context.lineTo(axes.x(distances[k]), axes.y(band[high])));
    [...bands.keys()].reverse().forEach((k) => context.lineTo(axes.x(distances[k]), axes.y(bands[k][low])));
    context.fill();
  };
  context.fillStyle = colour;
  context.globalAlpha = 0.16;
  outline(0, 4);
  outline(1, 3);
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  context.beginPath();
  bands.forEach((band, k) => context.lineTo(axes.x(distances[k]), axes.y(band[2])));
  context.stroke();
  if (picture.touching) drawTouching(context, axes, withUnit(digits(picture.touching), unit), picture.touching, colour);
  for (const pair of pairs) drawPair(context, axes, pair, theme);
}

/**
 * @typedef {object} Axes
 * @property {(distance: number) => number} x
 * @property {(push: number) => number} y
 * @property {number} farthest
 * @property {number} low
 * @property {number} high
 */

/** @param {number} width @param {number} height @param {number[]} distances @param {number[][]} bands @param {LawPicture["pairs"]} pairs @returns {Axes} */
function scales(width, height, distances, bands, pairs) {
  const pushes = pairs.flatMap((pair) => pair.pushes);
  // The strongest pushes are rare: the middle of the band and what happens now decide the scale.
  const values = [...bands.map((band) => band[2]), ...bands.flat().filter((_, k) => k % 5 !== 2).map((v) => 0.6 * v), ...pushes, 0];
  const finite = values.filter(Number.isFinite);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const room = 0.12 * (most - least || 2);
  const [low, high] = [least - room, most + room];
  const farthest = distances[distances.length - 1];
  const inner = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
  const limit = (/** @type {number} */ y) => Math.min(height, Math.max(-height, y));
  return {
    farthest,
    low,
    high,
    x: (distance) => EDGE.left + (inner.width * distance) / farthest,
    y: (push) => limit(EDGE.top + (inner.height * (high - push)) / (high - low)),
  };
}

/** @param {CanvasRenderingContext2D} context @param {number} width @param {number} height @param {Axes} axes @param {import("./look.js").Theme} theme @param {string} unit */
function drawAxes(context, width, height, axes, theme, unit) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = theme.muted;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  const line = (/** @type {number} */ y) => {
    context.beginPath();
    context.moveTo(EDGE.left, y);
    context.lineTo(width - EDGE.right, y);
    context.stroke();
  };
  const step = nice((axes.high - axes.low) / 4);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let push = Math.ceil(axes.low / step) * step; push <= axes.high; push += step) {
    line(axes.y(push));
    context.fillText(digits(Math.abs(push) < 1e-9 ? 0 : push), EDGE.left - 7, axes.y(push));
  }
  context.strokeStyle = theme.muted;
  line(axes.y(0));
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const stride = nice(axes.farthest / 5);
  for (let d = 0; d <= axes.farthest * 1.001; d += stride) context.fillText(digits(d), axes.x(d), height - 14);
  context.textAlign = "right";
  context.fillText(unit ? `distance (${unit})` : "distance", width - EDGE.right, height - 2);
  context.textAlign = "left";
}

/** Two objects come no nearer than this. @param {CanvasRenderingContext2D} context @param {Axes} axes @param {string} told @param {number} touching @param {string} colour */
function drawTouching(context, axes, told, touching, colour) {
  const [left, right, top, bottom] = [axes.x(0), axes.x(touching), axes.y(axes.high), axes.y(axes.low)];
  context.fillStyle = colour;
  context.globalAlpha = 0.1;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.fillRect(right - 1.5, top, 3, bottom - top);
  context.fillText(`touch at ${told}`, right + 8, top + 12);
}

/** 1, 2 or 5 times a power of ten. @param {number} size */
function nice(size) {
  const power = 10 ** Math.floor(Math.log10(size || 1));
  const lead = size / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

/** @param {CanvasRenderingContext2D} context @param {Axes} axes @param {LawPicture["pairs"][number]} pair @param {import("./look.js").Theme} theme */
function drawPair(context, axes, pair, theme) {
  if (pair.distance > axes.farthest) return;
  const sorted = pair.pushes.filter(Number.isFinite).sort((a, b) => a - b);
  const [x, y] = [axes.x(pair.distance), axes.y(quantile(sorted, 0.5))];
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, axes.y(quantile(sorted, 0.05)));
  context.lineTo(x, axes.y(quantile(sorted, 0.95)));
  context.stroke();
  [pair.a, pair.b].forEach((object, side) => {
    context.beginPath();
    context.arc(x, y, 5, Math.PI / 2 + side * Math.PI, 1.5 * Math.PI + side * Math.PI);
    context.fillStyle = objectColour(object, theme);
    context.fill();
  });
}
