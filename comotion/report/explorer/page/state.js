/** What a visitor has chosen, and the same in the address of the page. */

/**
 * @typedef {import("../engine/world.js").Edit} Edit
 *
 * @typedef {object} State
 * @property {number} sequence
 * @property {number} origin which of the moments to forecast from
 * @property {number} head frames after the origin
 * @property {boolean} playing
 * @property {number} speed times the usual speed
 * @property {number} past frames of tail
 * @property {number} ahead frames of future
 * @property {"object" | "speed" | "surprise"} colour
 * @property {boolean} split two futures side by side
 * @property {number} selected object
 * @property {Edit[]} edits
 */

const COLOURS = ["object", "speed", "surprise"];
const DOINGS = ["move", "push", "remove", "freeze", "duplicate", "set", "cut"];
const FIELDS = ["at", "do", "object", "to", "property", "value", "other"];
const MOST_EDITS = 50;

/**
 * @param {import("../engine/model.js").Model} model
 * @returns {State}
 */
export function initialState(model) {
  const seen = model.sequences[0].seen;
  return {
    sequence: 0,
    origin: 0,
    head: seen - 1,
    playing: true,
    speed: 1,
    past: 15,
    ahead: Math.min(30, model.content.frames),
    colour: "object",
    split: false,
    selected: 0,
    edits: [],
  };
}

/**
 * @param {State} state
 * @returns {string}
 */
export function toHash(state) {
  const edits = state.edits.map((edit) => ({ ...edit, to: edit.to?.map((x) => Number(x.toPrecision(6))) }));
  const words = new URLSearchParams({
    s: String(state.sequence),
    o: String(state.origin),
    t: String(Number(state.head.toFixed(2))),
    v: String(state.speed),
    past: String(state.past),
    ahead: String(state.ahead),
    c: state.colour,
    x: state.split ? "2" : "1",
    a: String(state.selected),
  });
  if (!state.playing) words.set("pause", "1");
  if (edits.length) words.set("if", JSON.stringify(edits));
  return `#${words}`;
}

/**
 * A state from an address; what makes no sense is left out.
 * @param {string} hash
 * @param {import("../engine/model.js").Model} model
 * @returns {State}
 */
export function fromHash(hash, model) {
  const state = initialState(model);
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  /** @param {string} name @param {number} least @param {number} most @param {number} otherwise */
  const number = (name, least, most, otherwise) => {
    const value = words.has(name) ? Number(words.get(name)) : NaN;
    return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
  };
  /** @param {string} name @param {number} count @param {number} otherwise */
  const index = (name, count, otherwise) => Math.floor(number(name, 0, count - 1, otherwise));
  state.sequence = index("s", model.sequences.length, 0);
  const sequence = model.sequences[state.sequence];
  state.origin = index("o", sequence.origins.data.length, 0);
  state.head = number("t", 0, model.content.frames, sequence.seen - 1);
  state.speed = number("v", 0.1, 8, 1);
  state.past = index("past", 1000, state.past);
  state.ahead = index("ahead", model.content.frames + 1, state.ahead);
  const colour = words.get("c") ?? "";
  if (COLOURS.includes(colour)) state.colour = /** @type {State["colour"]} */ (colour);
  state.split = words.get("x") === "2";
  state.playing = !words.has("pause");
  state.edits = readEdits(words.get("if"), model, sequence);
  const copies = state.edits.filter((edit) => edit.do === "duplicate").length;
  state.selected = index("a", sequence.objects.length + copies, 0);
  return state;
}

/**
 * @param {string | null} text
 * @param {import("../engine/model.js").Model} model
 * @param {import("../engine/model.js").Sequence} sequence
 * @returns {Edit[]}
 */
function readEdits(text, model, sequence) {
  if (!text) return [];
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(given)) return [];
  let objects = sequence.objects.length;
  /** @type {Edit[]} */
  const edits = [];
  for (const edit of given.slice(0, MOST_EDITS)) {
    if (!isEdit(edit, objects, model)) continue;
    const known = Object.entries(edit).filter(([name]) => FIELDS.includes(name));
    edits.push(/** @type {Edit} */ (Object.fromEntries(known)));
    if (edit.do === "duplicate") objects += 1;
  }
  return edits;
}

/** @param {any} edit @param {number} objects @param {import("../engine/model.js").Model} model */
function isEdit(edit, objects, model) {
  /** @param {any} x @param {number} below */
  const whole = (x, below) => Number.isInteger(x) && x >= 0 && x < below;
  if (edit === null || typeof edit !== "object" || !DOINGS.includes(edit.do)) return false;
  if (!whole(edit.at, 1e6) || !whole(edit.object, objects)) return false;
  if (edit.other !== undefined && !whole(edit.other, objects)) return false;
  const placed = ["move", "push", "duplicate"].includes(edit.do);
  if (placed && !(Array.isArray(edit.to) && edit.to.length === model.spatial)) return false;
  if (edit.to !== undefined && !(Array.isArray(edit.to) && edit.to.every(Number.isFinite))) return false;
  if (edit.do !== "set") return true;
  return whole(edit.property, model.layout.properties) && Number.isFinite(edit.value);
}

/**
 * The edits with one more; the same thing done to the same object in the same frame is done anew.
 * @param {Edit[]} edits
 * @param {Edit} edit
 * @returns {Edit[]}
 */
export function withEdit(edits, edit) {
  const same = (/** @type {Edit} */ old) =>
    edit.do !== "duplicate" &&
    old.do === edit.do &&
    old.at === edit.at &&
    old.object === edit.object &&
    old.property === edit.property &&
    old.other === edit.other;
  return [...edits.filter((old) => !same(old)), edit];
}

/**
 * The edits without one of them; without a duplicate, what was done to it goes too.
 * @param {Edit[]} edits
 * @param {number} which
 * @param {number} recorded objects of the recording
 * @returns {Edit[]}
 */
export function withoutEdit(edits, which, recorded) {
  const gone = edits[which];
  const rest = edits.filter((_, k) => k !== which);
  if (gone.do !== "duplicate") return rest;
  const object = recorded + edits.slice(0, which).filter((edit) => edit.do === "duplicate").length;
  /** @param {number | undefined} number */
  const renumbered = (number) => (number !== undefined && number > object ? number - 1 : number);
  return rest
    .filter((edit) => edit.object !== object && edit.other !== object)
    .map((edit) => ({ ...edit, object: renumbered(edit.object) ?? 0, other: renumbered(edit.other) }));
}
