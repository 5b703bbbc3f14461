/** The page itself: opens the content, keeps the state, and draws when something has changed. */

import { timesOf } from "../engine/forecast.js";
import { openModel } from "../engine/model.js";
import { read, unpack } from "../engine/unpack.js";
import { makeCamera } from "./camera.js";
import { element, propertyOf, showEdits, showEffects, showObjects, showStatements } from "./cards.js";
import { listenToControls, showControls } from "./controls.js";
import { drawLaw } from "./law_plot.js";
import { digits, readTheme } from "./look.js";
import { listenToPointer } from "./pointer.js";
import { makePool } from "./pool.js";
import { bounds as boundsOf, meetingDistance, typicalSpeed, withWalls } from "./recording.js";
import { arrowTip, drawStage } from "./stage.js";
import { fromHash, toHash, withEdit, withoutEdit } from "./state.js";
import { timeAt } from "./statements.js";
import { bodyOf, frameOf, isIn, objectCount } from "./view.js";

const FRAMES_PER_SECOND = 12;
const PAUSE_AT_END = 1200;
const CARDS_EVERY = 200;
const LAW_EVERY = 120;
const CURVE_POINTS = 60;
const MOST_PAIRS = 15;
const HINT_FOR = 9000;

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./futures.js").Futures} Futures
 * @typedef {import("./view.js").World} World
 */

/**
 * @param {string} packed
 * @param {string} workerSource
 */
export async function start(packed, workerSource) {
  const content = await unpack(packed);
  const model = openModel(read(content));
  const pool = makePool(workerSource, content, model.content.draws);
  const stage = /** @type {HTMLCanvasElement} */ (element("stage"));
  const law = /** @type {HTMLCanvasElement} */ (element("law"));
  const bounds = withWalls(boundsOf(model.sequences, model.spatial), model.content.outline);
  const speed = typicalSpeed(model);
  const near = meetingDistance(model);
  let theme = readTheme();
  /** @type {State} */
  let state = fromHash(location.hash, model);
  /** @type {{ base: Futures | null, alt: Futures | null }} */
  const futures = { base: null, alt: null };
  /** @type {import("./law_plot.js").LawPicture | null} */
  let lawPicture = null;
  let times = new Float64Array();
  let held = false;
  let stale = true;
  let cardsAt = 0;
  let lawAt = 0;
  let arrivedAtEnd = 0;
  let started = 0;

  /** @returns {World} */
  const asIs = () => ({ model, state, futures: futures.base, edits: [] });
  /** @returns {World} */
  const whatIf = () => ({ model, state, futures: futures.alt, edits: state.edits });
  const changed = () => state.edits.length > 0;
  const shownWorld = () => (changed() && futures.alt ? whatIf() : asIs());
  const now = () => model.sequences[state.sequence].seen - 1;

  /** @type {Record<string, boolean>} */
  const again = {};

  /** Asks for futures; while an answer is on its way, only the newest question waits. @param {"base" | "alt"} slot */
  function ask(slot) {
    if (pool.busy(slot)) {
      again[slot] = true;
      return;
    }
    const edits = slot === "base" ? [] : state.edits;
    const request = { sequence: state.sequence, origin: state.origin, frames: model.content.frames, edits };
    const objects = model.sequences[state.sequence].objects.length + edits.filter((edit) => edit.do === "duplicate").length;
    pool.ask(slot, "forecast", request, (draws, complete) => {
      if (!again[slot] || complete) {
        futures[slot] = { draws, objects, frames: request.frames, shown: model.shown, spatial: model.spatial };
        stale = true;
        document.documentElement.dataset[slot] = String(Number(document.documentElement.dataset[slot] ?? 0) + 1);
      }
      if (complete && again[slot]) {
        again[slot] = false;
        ask(slot);
      }
    });
  }

  /** @param {Partial<State>} changes */
  function update(changes) {
    const other = changes.sequence !== undefined || changes.origin !== undefined;
    state = { ...state, ...changes };
    const request = { sequence: state.sequence, origin: state.origin, frames: model.content.frames, edits: [] };
    times = timesOf(model, request);
    if (other) {
      futures.base = futures.alt = null;
      again.base = again.alt = false;
      ask("base");
    }
    if (changed() && (other || changes.edits)) ask("alt");
    if (!changed()) futures.alt = null;
    stale = true;
    cardsAt = 0;
    showControls(state, model, held);
    if (changes.selected !== undefined || changes.edits || other) showObjectsUnlessTouched();
    remember();
  }

  let remembering = 0;
  function remember() {
    clearTimeout(remembering);
    remembering = setTimeout(() => {
      try {
        history.replaceState(null, "", toHash(state));
      } catch {
        // A page inside another one may have no address of its own.
      }
    }, 250);
  }

  /** Redrawing a slider that is being dragged would take it out of the visitor's hand. */
  function showObjectsUnlessTouched() {
    if (document.activeElement?.hasAttribute("data-property") && held) return;
    showObjects({ ...whatIf(), futures: futures.alt ?? futures.base }, theme, doings);
  }

  const doings = {
    select: (/** @type {number} */ object) => update({ selected: object }),
    change(/** @type {Omit<import("../engine/world.js").Edit, "at">} */ edit) {
      const at = Math.round(frameOf(asIs()));
      const edits = withEdit(state.edits, { at, ...edit });
      const selected = edit.do === "duplicate" ? model.sequences[state.sequence].objects.length + edits.filter((one) => one.do === "duplicate").length - 1 : edit.object;
      held = edit.do === "set";
      update({ edits, selected, head: at - model.sequences[state.sequence].origins.data[state.origin] });
      held = false;
    },
    undo(/** @type {number} */ which) {
      const recorded = model.sequences[state.sequence].objects.length;
      update({ edits: withoutEdit(state.edits, which, recorded), selected: Math.min(state.selected, recorded - 1) });
    },
  };

  let wasPlaying = false;
  listenToPointer(stage, {
    panels,
    may: () => ({ move: model.content.can.move, selected: state.selected }),
    take(object) {
      wasPlaying = state.playing;
      held = true;
      const head = Math.min(Math.round(state.head), model.content.frames - 1);
      update({ selected: object, playing: false, head });
    },
    move: (object, to) => doings.change({ do: "move", object, to }),
    push(object, position, to) {
      // Thrown from where it is seen, which need not be where the futures thought it would be.
      doings.change({ do: "move", object, to: position });
      doings.change({ do: "push", object, to });
    },
    release() {
      held = false;
      update({ playing: wasPlaying });
    },
  });

  listenToControls({
    model,
    state: () => state,
    update,
    world: () => shownWorld(),
    stage,
    doings,
    reset: () => update({ edits: [], selected: Math.min(state.selected, model.sequences[state.sequence].objects.length - 1), head: Math.max(now(), 0) }),
    themeChanged() {
      theme = readTheme();
      showObjectsUnlessTouched();
      stale = true;
      lawAt = 0;
    },
  });

  /** @returns {{ world: World, ghost: World | null, caption: string }[]} */
  function pictures() {
    const ahead = timeAt(times, state.head) - timeAt(times, now());
    const moment = `t = ${digits(timeAt(times, state.head))}`;
    const caption = ahead > 0 ? `${moment}  ·  ${digits(ahead)} ahead` : `${moment}  ·  seen`;
    if (!changed() || !futures.alt) return [{ world: asIs(), ghost: null, caption }];
    const what = { world: whatIf(), ghost: state.split ? null : asIs(), caption: `${caption}  ·  what if` };
    return state.split ? [{ world: asIs(), ghost: null, caption: `${caption}  ·  as it is` }, what] : [what];
  }

  /** @param {number} count @returns {import("./camera.js").Rectangle[]} */
  function rectangles(count) {
    const { clientWidth: width, clientHeight: height } = stage;
    const gap = count > 1 ? 2 : 0;
    const each = (width - gap * (count - 1)) / count;
    return Array.from({ length: count }, (_, k) => ({ x: k * (each + gap), y: 0, width: each, height }));
  }

  /** @returns {import("./pointer.js").Panel[]} */
  function panels() {
    const shown = pictures();
    return rectangles(shown.length).map((rectangle, k) => {
      const { world } = shown[k];
      const bodies = Array.from({ length: objectCount(world) }, (_, a) => bodyOf(world, a)).filter((body) => body !== null);
      return { bodies, scenery: { camera: makeCamera(bounds, rectangle, objectCount(world)), speed, rectangle } };
    });
  }

  /** @param {HTMLCanvasElement} canvas */
  function fitted(canvas) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  function draw() {
    const context = fitted(stage);
    context.fillStyle = theme.line;
    context.fillRect(0, 0, stage.clientWidth, stage.clientHeight);
    const shown = pictures();
    rectangles(shown.length).forEach((rectangle, k) => {
      const { world, ghost, caption } = shown[k];
      const camera = makeCamera(bounds, rectangle, objectCount(world));
      const handles = model.content.can.move && model.layout.velocity;
      drawStage({ context, rectangle, camera, theme, bounds, speed, caption, handles }, world, ghost);
    });
    if (lawPicture) drawLaw(fitted(law), law.clientWidth, law.clientHeight, lawPicture, theme);
  }

  function askLaw() {
    if (model.content.field.kind !== "interacting" || pool.busy("law")) return;
    const world = shownWorld();
    const bodies = Array.from({ length: objectCount(world) }, (_, a) => (isIn(world, a) ? bodyOf(world, a) : null)).filter((body) => body !== null);
    const set = Object.fromEntries(
      state.edits.filter((edit) => edit.do === "set" && edit.at <= frameOf(world)).map((edit) => [`${edit.object} ${edit.property}`, propertyOf(world, edit.object, edit.property ?? 0)]),
    );
    const recorded = model.sequences[state.sequence].objects.length;
    const pairs = bodies
      .flatMap((one, k) => bodies.slice(k + 1).map((other) => ({ one, other, distance: Math.hypot(...one.position.map((x, d) => x - other.position[d])) })))
      .filter(({ one, other }) => one.object < recorded && other.object < recorded)
      .sort((a, b) => a.distance - b.distance)
      .slice(0, MOST_PAIRS)
      .map(({ one, other, distance }) => ({
        distance,
        couple: { a: one.object, b: other.object, one: known(one), other: known(other), set },
      }));
    const reach = Math.hypot(...bounds.map(([low, high]) => high - low)) * 0.75;
    const distances = Array.from({ length: CURVE_POINTS }, (_, k) => ((k + 1) / CURVE_POINTS) * reach);
    const chosen = pairs.find(({ couple }) => couple.a === state.selected || couple.b === state.selected) ?? pairs[0];
    const request = { sequence: state.sequence, distances, couple: chosen?.couple ?? null, pairs: pairs.map(({ couple }) => couple) };
    pool.ask("law", "law", request, (results, complete) => {
      if (!complete || !chosen) return;
      lawPicture = {
        distances,
        curves: results.map((result) => result.curve),
        pairs: pairs.map(({ distance, couple }, k) => ({ distance, a: couple.a, b: couple.b, pushes: results.map((result) => result.points[k]) })),
      };
      const names = model.sequences[state.sequence].objects;
      element("law-note").textContent = `How hard ${names[chosen.couple.a].slice(0, 40)} is pushed away from ${names[chosen.couple.b].slice(0, 40)} at their present velocities; 50 and 90 % bands. Dots: every pair as it is now.`;
      stale = true;
    });
  }

  /** Position and velocity as the law wants them. @param {import("./view.js").Body} body */
  const known = (body) => (model.layout.velocity ? [...body.position, ...body.velocity] : body.position);

  /** @param {number} moment */
  function tick(moment) {
    const passed = Math.min(moment - started, 100);
    started = moment;
    if (state.playing && futures.base) advance(passed, moment);
    if (state.playing || stale) {
      stale = false;
      draw();
    }
    if (moment - cardsAt > CARDS_EVERY) {
      cardsAt = moment;
      showStatements(shownWorld(), bounds, times, near);
      showEffects(asIs(), whatIf(), theme);
      showEdits(whatIf(), times, doings);
      element("clock").textContent = `t = ${digits(timeAt(times, state.head))}`;
    }
    if (moment - lawAt > LAW_EVERY && futures.base) {
      lawAt = moment;
      askLaw();
    }
    requestAnimationFrame(tick);
  }

  /** @param {number} passed @param {number} moment */
  function advance(passed, moment) {
    const end = model.content.frames;
    if (state.head >= end) {
      arrivedAtEnd ||= moment;
      if (moment - arrivedAtEnd < PAUSE_AT_END) return;
      arrivedAtEnd = 0;
      state.head = Math.max(now(), 0);
    } else state.head = Math.min(end, state.head + (passed / 1000) * FRAMES_PER_SECOND * state.speed);
    showControls(state, model, true);
    remember();
  }

  /** @param {number} object */
  const bodyShown = (object) => {
    const [panel] = panels().slice(-1);
    const body = panel.bodies.find((one) => one.object === object);
    return body && { scenery: panel.scenery, body };
  };
  // For the browser's console, and for tests: what is chosen, and which pixel everything is at.
  Object.assign(window, {
    comotion: {
      model,
      state: () => state,
      panels: () => panels().map(({ scenery }) => scenery.rectangle),
      placeOf(/** @type {number} */ object) {
        const shown = bodyShown(object);
        return shown && shown.scenery.camera.project(shown.body.position, object);
      },
      tipOf(/** @type {number} */ object) {
        const shown = bodyShown(object);
        return shown && arrowTip(shown.scenery, shown.body);
      },
    },
  });

  element("title").textContent = model.content.title;
  document.title = model.content.title.slice(0, 100);
  element("subtitle").textContent = `${model.content.draws} futures, each by its own law drawn from ${model.content.system}`;
  element("law-card").hidden = model.content.field.kind !== "interacting";
  element("hint").textContent = model.content.can.move ? "Drag an object, or throw it by the tip of its arrow" : "The state of this system is hidden: watch, remove or cut, but not drag";
  setTimeout(() => (element("hint").style.opacity = "0"), HINT_FOR);
  new ResizeObserver(() => (stale = true)).observe(stage);
  window.addEventListener("hashchange", () => {
    const { playing, ...rest } = fromHash(location.hash, model);
    update({ ...rest, playing });
  });
  update({ ...state });
  requestAnimationFrame(tick);
}
