/** Taking hold of objects and arrows with a mouse, a pen or a finger. */

import { arrowTip, RADIUS } from "./stage.js";

/**
 * @typedef {import("./view.js").Body} Body
 * @typedef {import("./stage.js").Scenery} Scenery
 *
 * @typedef {object} Panel one picture of a world, and what can be taken hold of in it
 * @property {Pick<Scenery, "camera" | "speed" | "rectangle">} scenery
 * @property {Body[]} bodies
 *
 * @typedef {object} Hands
 * @property {() => Panel[]} panels
 * @property {() => { move: boolean, selected: number }} may
 * @property {(object: number) => void} take
 * @property {(object: number, position: number[]) => void} move
 * @property {(object: number, position: number[], velocity: number[]) => void} push
 * @property {() => void} release
 */

const SLACK = { mouse: 6, pen: 8, touch: 16 };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Hands} hands
 */
export function listenToPointer(canvas, hands) {
  /** @type {{ panel: Panel, body: Body, arrow: boolean, pointer: number } | null} */
  let held = null;

  /** @param {{ clientX: number, clientY: number }} event @returns {[number, number]} */
  const pixelOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** @param {[number, number]} pixel @param {number} slack */
  const find = (pixel, slack) => {
    const panel = hands.panels().find(({ scenery: { rectangle: r } }) => pixel[0] >= r.x && pixel[0] < r.x + r.width);
    if (!panel) return null;
    const { move, selected } = hands.may();
    const { camera } = panel.scenery;
    const chosen = panel.bodies.find((body) => body.object === selected);
    const far = (/** @type {[number, number]} */ [x, y]) => Math.hypot(x - pixel[0], y - pixel[1]);
    if (move && chosen && far(arrowTip(panel.scenery, chosen)) < 6 + slack) {
      const disc = far(camera.project(chosen.position, chosen.object));
      if (disc > RADIUS) return { panel, body: chosen, arrow: true };
    }
    const near = panel.bodies
      .map((body) => ({ body, distance: far(camera.project(body.position, body.object)) }))
      .filter(({ distance }) => distance < RADIUS + slack)
      .sort((a, b) => a.distance - b.distance)[0];
    return near ? { panel, body: near.body, arrow: false } : null;
  };

  canvas.addEventListener("pointerdown", (event) => {
    const slack = SLACK[/** @type {keyof typeof SLACK} */ (event.pointerType)] ?? SLACK.mouse;
    const found = find(pixelOf(event), slack);
    if (!found) return;
    hands.take(found.body.object);
    // Time stands still from here on, at a frame: the object may be elsewhere than a moment ago.
    const which = found.panel.scenery.rectangle.x;
    const panel = hands.panels().find(({ scenery }) => scenery.rectangle.x === which);
    const body = panel?.bodies.find(({ object }) => object === found.body.object);
    if (!panel || !body) return;
    held = { panel, body, arrow: found.arrow, pointer: event.pointerId };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("grabbing");
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.pointer || !hands.may().move) return;
    const [x, y] = pixelOf(event);
    const { camera, speed } = held.panel.scenery;
    const { body } = held;
    if (!held.arrow) {
      hands.move(body.object, camera.place([x, y], body.position));
      return;
    }
    const [fromX, fromY] = camera.project(body.position, body.object);
    const tip = arrowTip(held.panel.scenery, { ...body, velocity: body.velocity.map((_, d) => (d === 0 ? speed : 0)) });
    const [unit] = camera.direction([speed, 0, 0]);
    const factor = Math.abs(unit) / Math.hypot(tip[0] - fromX, tip[1] - fromY);
    const velocity = camera.vector([(x - fromX) * factor, (y - fromY) * factor], body.velocity);
    hands.push(body.object, body.position, velocity);
  });

  const letGo = (/** @type {PointerEvent} */ event) => {
    if (!held || event.pointerId !== held.pointer) return;
    held = null;
    canvas.classList.remove("grabbing");
    hands.release();
  };
  canvas.addEventListener("pointerup", letGo);
  canvas.addEventListener("pointercancel", letGo);
  // A finger on an object drags it; anywhere else it scrolls the page.
  canvas.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length === 1 && find(pixelOf(event.touches[0]), SLACK.touch)) event.preventDefault();
    },
    { passive: false },
  );
}
