/** Play, scrub, settings, keyboard, and what can be saved. */

import { element } from "./cards.js";
import { copyLink, recordFilm, savePicture } from "./media.js";
import { toHash } from "./state.js";
import { bodyOf } from "./view.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("../engine/model.js").Model} Model
 *
 * @typedef {object} Desk
 * @property {Model} model
 * @property {() => State} state
 * @property {(changes: Partial<State>) => void} update
 * @property {() => import("./view.js").World} world
 * @property {HTMLCanvasElement} stage
 * @property {import("./cards.js").Doings} doings
 * @property {() => void} reset
 * @property {() => void} themeChanged
 */

const NUDGE = 0.02;
const NUMBERS = /** @type {const} */ (["head", "origin", "past", "ahead", "speed"]);

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (element(id));

/**
 * @param {State} state
 * @param {Model} model
 * @param {boolean} quick only what changes while it plays
 */
export function showControls(state, model, quick) {
  input("head").value = String(state.head);
  const play = element("play");
  play.classList.toggle("playing", state.playing);
  play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  if (quick) return;
  const sequence = model.sequences[state.sequence];
  input("head").max = input("ahead").max = String(model.content.frames);
  input("origin").max = String(sequence.origins.data.length - 1);
  for (const name of NUMBERS) input(name).value = String(state[name]);
  /** @type {HTMLSelectElement} */ (element("colour")).value = state.colour;
  /** @type {HTMLSelectElement} */ (element("sequence")).value = String(state.sequence);
  input("split").checked = state.split;
  /** @type {HTMLElement} */ (input("split").parentElement).hidden = state.edits.length === 0;
  element("legend-truth").hidden = state.edits.length === 0;
}

/** @param {Desk} desk */
export function listenToControls(desk) {
  const { model, update, state } = desk;
  const sequences = /** @type {HTMLSelectElement} */ (element("sequence"));
  model.sequences.forEach(({ name }, p) => sequences.append(new Option(name.slice(0, 80), String(p))));
  element("sequence-field").hidden = model.sequences.length === 1;
  sequences.addEventListener("change", () => {
    const sequence = Number(sequences.value);
    update({ sequence, origin: 0, edits: [], selected: 0, head: model.sequences[sequence].seen - 1 });
  });
  element("play").addEventListener("click", () => playOrPause(desk));
  input("head").addEventListener("input", () => update({ head: Number(input("head").value), playing: false }));
  input("origin").addEventListener("input", () => {
    const head = model.sequences[state().sequence].seen - 1;
    update({ origin: Number(input("origin").value), edits: [], head });
  });
  for (const name of /** @type {const} */ (["past", "ahead", "speed"])) {
    input(name).addEventListener("input", () => update({ [name]: Number(input(name).value) }));
  }
  const colour = /** @type {HTMLSelectElement} */ (element("colour"));
  colour.addEventListener("change", () => update({ colour: /** @type {State["colour"]} */ (colour.value) }));
  input("split").addEventListener("change", () => update({ split: input("split").checked }));
  element("reset").addEventListener("click", desk.reset);
  listenToMedia(desk);
  listenToTheme(desk);
  listenToKeys(desk);
}

/** @param {Desk} desk */
function playOrPause({ state, update, model }) {
  const ended = state().head >= model.content.frames;
  const head = ended ? model.sequences[state().sequence].seen - 1 : state().head;
  update({ playing: !state().playing, head });
}

/** @param {Desk} desk */
function listenToMedia({ stage, state }) {
  element("png").addEventListener("click", () => savePicture(stage));
  element("link").addEventListener("click", async () => {
    const address = `${location.href.split("#")[0]}${toHash({ ...state(), playing: false })}`;
    const copied = await copyLink(address);
    say(element("link"), copied ? "Copied" : "In the address bar");
    if (!copied) location.hash = toHash({ ...state(), playing: false });
  });
  /** @type {(() => void) | null} */
  let stop = null;
  const film = element("webm");
  film.addEventListener("click", () => {
    if (stop) {
      stop();
      stop = null;
    } else {
      stop = recordFilm(stage);
      if (!stop) say(film, "Not in this browser");
    }
    film.classList.toggle("on", stop !== null);
    if (stop) film.textContent = "Stop";
    else if (film.textContent === "Stop") film.textContent = "Film";
  });
}

/** Tells what has happened where it was asked for. @param {HTMLElement} button @param {string} text */
function say(button, text) {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = before), 1500);
}

/** @param {Desk} desk */
function listenToTheme({ themeChanged }) {
  element("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    themeChanged();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
}

/** @type {Record<string, number[]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** @param {Desk} desk */
function listenToKeys(desk) {
  const { state, update, doings, model, world } = desk;
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target instanceof HTMLElement && event.target.matches("button");
    const object = state().selected;
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey && model.content.can.move) {
      const body = bodyOf(world(), object);
      const size = NUDGE * model.content.units.state_scale.data[0] * 3;
      if (body) doings.change({ do: "move", object, to: body.position.map((x, d) => x + (arrow[d] ?? 0) * size) });
    } else if (event.key === " " && !onButton) playOrPause(desk);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const head = Math.round(state().head) + arrow[0];
      update({ head: Math.min(model.content.frames, Math.max(0, head)), playing: false });
    } else if (event.key === "Home") update({ head: model.sequences[state().sequence].seen - 1 });
    else if (event.key === "Delete" && model.content.can.remove) doings.change({ do: "remove", object });
    else if (event.key === "z" && state().edits.length) doings.undo(state().edits.length - 1);
    else return;
    event.preventDefault();
  });
}
