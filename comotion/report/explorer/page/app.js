/** The page itself: opens the content, keeps the state, and draws when something has changed. */

import { timesOf } from "../engine/forecast.js";
import { openModel } from "../engine/model.js";
import { read, unpack } from "../engine/unpack.js";
import { makeCamera } from "./camera.js";
import { makeAnswers } from "./answers.js";
import { element, showEdits, showEffects, showObjects, showStatements } from "./cards.js";
import { listenToControls, showControls } from "./controls.js";
import { makeLawCard } from "./law_card.js";
import { drawLaw } from "./law_plot.js";
import { digits, readTheme, withUnit } from "./look.js";
import { listenToPointer } from "./pointer.js";
import { makePool } from "./pool.js";
import { bounds as boundsOf, meetingDistance, typicalSpeed, withWalls } from "./recording.js";
import { arrowTip, drawStage } from "./stage.js";
import { fromHash, toHash, withEdit, withoutEdit } from "./state.js";
import { timeAt } from "./statements.js";
import { bodyOf, frameOf, objectCount } from "./view.js";

const FRAMES_PER_SECOND = 12;
const PAUSE_AT_END = 1200;
const CARDS_EVERY = 200;

/**
 * @typedef {import("./state.js").State} State
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
  const answers = makeAnswers(model, pool, (slot) => {
    stale = true;
    const { dataset } = document.documentElement;
    dataset[slot] = String(Number(dataset[slot] ?? 0) + 1);
    dataset[`${slot}Draws`] = String(Number(dataset[`${slot}Draws`] ?? 0) + (futures[slot]?.draws.length ?? 0));
  });
  const { futures } = answers;
  const units = model.content.units.names;
  const lawCard = makeLawCard(model, pool, bounds, () => (stale = true));
  let times = new Float64Array();
  let held = false;
  let stale = true;
  let cardsAt = 0;
  let arrivedAtEnd = 0;
  let started = 0;

  /** @returns {World} */
  const asIs = () => ({ model, state, futures: futures.base, edits: [] });
  /** @returns {World} */
  const whatIf = () => ({ model, state, futures: futures.alt, edits: state.edits });
  const changed = () => state.edits.length > 0;
  const shownWorld = () => (changed() && futures.alt ? whatIf() : asIs());
  const clock = () => `t = ${withUnit(digits(timeAt(times, state.head)), units.time)}`;
  const now = () => model.sequences[state.sequence].seen - 1;

  /** @param {import("../engine/world.js").Edit[]} edits @returns {import("../engine/world.js").Request} */
  const requestOf = (edits) => ({ sequence: state.sequence, origin: state.origin, frames: model.content.frames, edits });

  /** @param {Partial<State>} changes */
  function update(changes) {
    const other = changes.sequence !== undefined || changes.origin !== undefined;
    state = { ...state, ...changes };
    times = timesOf(model, requestOf([]));
    if (other) {
      answers.forget("base");
      answers.forget("alt");
      answers.ask("base", requestOf([]), false);
    }
    if (changed() && (other || changes.edits)) answers.ask("alt", requestOf(state.edits), held);
    if (!changed()) answers.forget("alt");
    if (held && changes.edits && futures.alt) return remember(); // a picture when the answer comes is soon enough
    stale = true;
    cardsAt = 0;
    showControls(state, model, held);
    if (changed()) element("hint").style.opacity = "0"; // it has been understood
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
      const before = held;
      held ||= edit.do === "set" && document.activeElement?.hasAttribute("data-property") === true;
      update({ edits, selected, head: at - model.sequences[state.sequence].origins.data[state.origin] });
      held = before;
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
      update({ playing: wasPlaying, edits: state.edits });
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
    },
  });

  /** @returns {{ world: World, ghost: World | null, caption: string }[]} */
  function pictures() {
    const ahead = timeAt(times, state.head) - timeAt(times, now());
    const caption = `${clock()}  ·  ${ahead > 0 ? `${withUnit(digits(ahead), units.time)} ahead` : "seen"}`;
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
    if (lawCard.picture) drawLaw(fitted(law), law.clientWidth, law.clientHeight, lawCard.picture, theme, units.length);
  }

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
      element("clock").textContent = clock();
    }
    if (futures.base) lawCard.ask(shownWorld(), moment);
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
  const { draws, can } = model.content;
  element("subtitle").textContent = `A model learned from recordings how these move. The lines are futures it holds possible${can.move ? ": change something, and see" : ""}.`;
  element("legend-futures").textContent = draws === 1 ? "a possible future" : `${draws} possible futures`;
  element("hint").textContent = can.move ? "Drag a disc, or throw it by the tip of its arrow" : "Remove one, or cut a tie: see what changes";
  new ResizeObserver(() => (stale = true)).observe(stage);
  window.addEventListener("hashchange", () => {
    const { playing, ...rest } = fromHash(location.hash, model);
    update({ ...rest, playing });
  });
  update({ ...state });
  requestAnimationFrame(tick);
}
