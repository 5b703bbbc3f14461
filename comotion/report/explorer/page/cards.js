/** The cards beside the scene. Names from the data only ever become text. */

import { digits, objectColour, withUnit } from "./look.js";
import { effect, statements } from "./statements.js";
import { bodyOf, frameOf, isIn, nameOf, objectCount } from "./view.js";

/**
 * @typedef {import("./view.js").World} World
 * @typedef {import("./look.js").Theme} Theme
 * @typedef {import("../engine/world.js").Edit} Edit
 *
 * @typedef {object} Doings what the cards can ask for
 * @property {(object: number) => void} select
 * @property {(edit: Omit<Edit, "at">) => void} change
 * @property {(which: number) => void} undo
 */

/** @param {string} id @returns {HTMLElement} */
export function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(string | Node)[]} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A name from the data, which may run in the other direction. @param {string} name */
function nameNode(name) {
  const node = make("bdi", { class: "name" });
  node.textContent = name.slice(0, 200);
  return node;
}

/** A number alone is no name to read in a sentence. @param {string} name @param {string} kind */
const spoken = (name, kind) => (/^\d+′*$/.test(name) ? `${kind} ${name}` : name);

/** @param {World} world @param {Theme} theme @param {Doings} doings */
export function showObjects(world, theme, doings) {
  const chips = Array.from({ length: objectCount(world) }, (_, object) => {
    const dot = make("i");
    dot.style.background = objectColour(object, theme);
    const checked = world.state.selected === object;
    const chip = make("button", { type: "button", class: "chip", role: "radio", "aria-checked": String(checked) }, dot, nameNode(nameOf(world, object)));
    chip.classList.toggle("gone", !isIn(world, object));
    chip.addEventListener("click", () => doings.select(object));
    return chip;
  });
  element("objects").replaceChildren(...chips);
  showActions(world, doings);
  showProperties(world, doings);
}

/** @param {World} world @param {Doings} doings */
function showActions(world, doings) {
  const { can } = world.model.content;
  const object = world.state.selected;
  const there = isIn(world, object);
  /** @param {string} text @param {boolean} possible @param {() => void} act */
  const button = (text, possible, act) => {
    const made = /** @type {HTMLButtonElement} */ (make("button", { type: "button", "data-do": text.toLowerCase() }, text));
    made.disabled = !possible || !there;
    made.addEventListener("click", act);
    return made;
  };
  const aside = bodyOf(world, object)?.position.map((_, d) => (d === 0 ? 0.08 : 0) * extent(world));
  const buttons = [
    button("Freeze", can.move, () => doings.change({ do: "freeze", object })),
    button("Remove", can.remove, () => doings.change({ do: "remove", object })),
    button("Duplicate", can.duplicate && can.move, () => doings.change({ do: "duplicate", object, to: aside })),
  ];
  const cut = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": "Cut the interaction with", "data-do": "cut" }));
  cut.append(new Option("Cut tie with …", ""), new Option("everyone", "all"));
  for (let other = 0; other < objectCount(world); other++) {
    if (other !== object && isIn(world, other)) cut.append(new Option(nameOf(world, other).slice(0, 60), String(other)));
  }
  cut.disabled = !can.cut || !there;
  cut.addEventListener("change", () => {
    if (cut.value === "all") doings.change({ do: "cut", object });
    else if (cut.value) doings.change({ do: "cut", object, other: Number(cut.value) });
  });
  element("actions").replaceChildren(...buttons, cut);
}

/** How wide the recordings are. @param {World} world */
function extent(world) {
  return world.model.content.units.state_scale.data[0] * 3;
}

/** @param {World} world @param {Doings} doings */
function showProperties(world, doings) {
  const { model, state } = world;
  const object = state.selected;
  const rows = model.content.properties.map((/** @type {string} */ name, /** @type {number} */ c) => {
    const value = propertyOf(world, object, c);
    const most = Math.max(2 * model.content.units.properties.data[c], 1.5 * Math.abs(value)) || 1;
    const slider = /** @type {HTMLInputElement} */ (
      make("input", { type: "range", min: String(-most), max: String(most), step: String(most / 100), "data-property": String(c) })
    );
    slider.setAttribute("aria-label", name.slice(0, 200));
    slider.value = String(value);
    const shown = make("output", {}, digits(value));
    slider.addEventListener("input", () => {
      shown.textContent = digits(Number(slider.value));
      doings.change({ do: "set", object, property: c, value: Number(slider.value) });
    });
    const flip = /** @type {HTMLButtonElement} */ (make("button", { type: "button", "data-flip": String(c) }, "flip"));
    flip.setAttribute("aria-label", `Turn the sign of ${name.slice(0, 200)}`);
    flip.addEventListener("click", () => doings.change({ do: "set", object, property: c, value: -Number(slider.value) }));
    return make("div", { class: "property" }, nameNode(name), slider, shown, flip);
  });
  element("properties").replaceChildren(...rows);
}

/** A property as it is at the head: set, or the mean of its draws. @param {World} world @param {number} object @param {number} c */
export function propertyOf(world, object, c) {
  const frame = frameOf(world);
  const set = world.edits.findLast((edit) => edit.do === "set" && edit.object === object && edit.property === c && edit.at <= frame);
  if (set) return set.value ?? 0;
  const { model, state } = world;
  const { objects, static: drawn } = model.sequences[state.sequence];
  const copies = world.edits.filter((edit) => edit.do === "duplicate");
  if (object >= objects.length) return propertyOf(world, copies[object - objects.length]?.object ?? 0, c);
  const [draws, , width] = drawn.shape;
  let sum = 0;
  for (let k = 0; k < draws; k++) sum += drawn.data[(k * objects.length + object) * width + c];
  return (sum / draws) * model.content.units.properties.data[c];
}

/**
 * @param {World} world @param {[number, number][]} bounds @param {Float64Array} times @param {number} near
 */
export function showStatements(world, bounds, times, near) {
  const list = element("statements");
  list.setAttribute("aria-live", world.state.playing ? "off" : "polite");
  const said = statements(world, world.state.selected, bounds, times, near);
  list.replaceChildren(
    ...said.map(({ subject, text, object, rest }) =>
      make("li", {}, nameNode(spoken(subject, "Object")), text, ...(object === undefined ? [] : [nameNode(spoken(object, "object"))]), rest ?? ""),
    ),
  );
}

/** @param {World} world @param {Float64Array} times @param {Doings} doings */
export function showEdits(world, times, doings) {
  const { edits, model, state } = world;
  const sequence = model.sequences[state.sequence];
  const { time } = model.content.units.names;
  element("no-edits").hidden = edits.length > 0;
  element("reset").hidden = edits.length === 0;
  const rows = edits.map((edit, which) => {
    const frame = edit.at - sequence.origins.data[state.origin];
    const undo = make("button", { type: "button", class: "quiet", "aria-label": "Undo" }, "undo");
    undo.addEventListener("click", () => doings.undo(which));
    const when = ` at ${withUnit(digits(times[Math.min(Math.max(frame, 0), times.length - 1)]), time)}`;
    return make("li", {}, make("span", {}, ...words(world, edit), when), undo);
  });
  element("edits").replaceChildren(...rows);
}

/** @param {World} world @param {Edit} edit @returns {(string | Node)[]} */
function words(world, edit) {
  const name = nameNode(nameOf(world, edit.object));
  if (edit.do === "move") return [name, " put elsewhere"];
  if (edit.do === "push") return [name, ` thrown with speed ${withUnit(digits(Math.hypot(...(edit.to ?? [0]))), world.model.content.units.names.speed)}`];
  if (edit.do === "remove") return [name, " removed"];
  if (edit.do === "freeze") return [name, " frozen"];
  if (edit.do === "duplicate") return [name, " doubled"];
  if (edit.do === "cut" && edit.other !== undefined) return [name, " cut off from ", nameNode(nameOf(world, edit.other))];
  if (edit.do === "cut") return [name, " cut off from everyone"];
  return [name, ": ", nameNode(world.model.content.properties[edit.property ?? 0]), ` set to ${digits(edit.value ?? 0)}`];
}

/** How far every object is from where it would be. @param {World} asIs @param {World} whatIf @param {Theme} theme */
export function showEffects(asIs, whatIf, theme) {
  const table = element("effects");
  const [before, after] = [asIs.futures, whatIf.futures];
  table.hidden = !before || !after || whatIf.edits.length === 0 || before.draws.length !== after.draws.length;
  if (table.hidden || !before || !after) return;
  const rows = [];
  for (let object = 0; object < before.objects; object++) {
    if (!isIn(whatIf, object) || !isIn(asIs, object)) continue;
    const { distance } = effect(before, after, whatIf.state.head, object);
    const dot = make("i");
    dot.style.cssText = `display:inline-block;width:8px;height:8px;border-radius:50%;margin-right:7px;background:${objectColour(object, theme)}`;
    const who = make("th", { scope: "row" }, dot, nameNode(nameOf(asIs, object)));
    rows.push(make("tr", {}, who, make("td", {}, withUnit(`${digits(distance.middle)} (${digits(distance.low)} to ${digits(distance.high)})`, asIs.model.content.units.names.length))));
  }
  table.querySelector("tbody")?.replaceChildren(...rows);
}
