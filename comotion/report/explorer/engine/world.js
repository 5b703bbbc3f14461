/** One drawn world: a start, a law, and what a visitor changes on the way. */

import { bouncing, makeIntegrator } from "./integrate.js";
import { normalsOf } from "./normal.js";
import { makeNoise, normalsPerObject } from "./process_noise.js";
import { controlsAt, isAlive, timeOf } from "./timeline.js";
import { ofDraw } from "./unpack.js";

/**
 * @typedef {import("./model.js").Model} Model
 *
 * @typedef {object} Edit something done to an object from a frame on, in the data's units
 * @property {number} at frame
 * @property {"move" | "push" | "remove" | "freeze" | "duplicate" | "set" | "cut"} do
 * @property {number} object
 * @property {number[]} [to] position to move to, velocity to push to, or offset of a duplicate
 * @property {number} [property] to set
 * @property {number} [value] to set it to
 * @property {number} [other] whom the object no longer hears or is heard by; none: everyone
 *
 * @typedef {object} Request
 * @property {number} sequence
 * @property {number} origin which of the sequence's origins
 * @property {number} frames how many to follow
 * @property {Edit[]} edits
 *
 * @callback Normals the noise of one interval, object by object
 * @param {number} frame that ends the interval, counted from the origin; 0 is what noise begins with
 * @returns {Float64Array}
 */

/**
 * States at the origin and after every frame, in the model's units: frame × object × state.
 * @param {Model} model
 * @param {number} draw
 * @param {Request} request
 * @param {Normals} [normals]
 * @returns {Float64Array}
 */
export function follow(model, draw, request, normals = usualNormals(model, draw, request)) {
  const { content, layout } = model;
  const world = begin(model, draw, request);
  const { states, scene, sequence, origin, noise } = world;
  const size = states.length;
  const law = model.law(draw);
  const advance = law.contacts
    ? bouncing(content.integrator.steps ?? 1, layout, law.contacts, scene)
    : makeIntegrator(content.integrator, size);
  const all = new Float64Array((request.frames + 1) * size);
  /** @type {import("./unpack.js").Numbers} */ let from;
  /** @type {import("./unpack.js").Numbers} */ let to;

  /** @type {import("./integrate.js").Rates} */
  function rates(states, progress, out) {
    for (let k = 0; k < from.length; k++) scene.controls[k] = from[k] + progress * (to[k] - from[k]);
    world.copies.forEach((copy) => copyRow(scene.controls, copy.of, copy.object, layout.controls));
    law.rates(states, scene, out);
  }

  for (let n = 0; n <= request.frames; n++) {
    const frame = origin + n;
    for (const edit of request.edits) if (edit.at === frame) apply(model, world, edit);
    if (n === 0) noise.begin(states, normals(0));
    all.set(states, n * size);
    if (n === request.frames) break;
    settle(world, frame);
    from = controlsAt(sequence, frame);
    to = controlsAt(sequence, frame + 1);
    const span = timeOf(sequence, content.step, frame + 1) - timeOf(sequence, content.step, frame);
    const length = span / content.units.time;
    const interval = { length, moving: scene.moving, normal: normals(n + 1) };
    noise.advance(() => advance(rates, states, length), states, interval);
  }
  return all;
}

/** Noise that is the same in all worlds that are compared. @param {Model} model @param {number} draw @param {Request} request @returns {Normals} */
function usualNormals({ content, sequences }, draw, request) {
  const width = normalsPerObject(content.noise);
  const count = sequences[request.sequence].objects.length + request.edits.filter((edit) => edit.do === "duplicate").length;
  return normalsOf(count * width, width, content.seed, draw);
}

/**
 * @typedef {object} World
 * @property {import("./model.js").Sequence} sequence
 * @property {number} origin frame
 * @property {number} recorded objects of the recording
 * @property {Float64Array} states
 * @property {import("./field.js").Scene} scene
 * @property {import("./process_noise.js").Noise} noise
 * @property {Uint8Array} hears who hears whom, beside who is there
 * @property {Uint8Array} gone
 * @property {Uint8Array} frozen
 * @property {{ object: number, of: number, edit: Edit }[]} copies
 */

/** @param {Model} model @param {number} draw @param {Request} request @returns {World} */
function begin(model, draw, request) {
  const { layout } = model;
  const { noise } = model.content;
  const sequence = model.sequences[request.sequence];
  const recorded = sequence.objects.length;
  const added = request.edits.filter((edit) => edit.do === "duplicate");
  const count = recorded + added.length;
  const copies = added.map((edit, k) => ({ object: recorded + k, of: edit.object, edit }));
  /** @param {import("./unpack.js").NumberArray} array draw × origin × object × … */
  const atOrigin = (array) => {
    const [, origins, , width] = array.shape;
    const each = ofDraw(array, draw).subarray((request.origin * array.data.length) / array.shape[0] / origins);
    return widened(each.subarray(0, recorded * width), count, width);
  };
  const states = atOrigin(sequence.starts);
  const habits = atOrigin(sequence.habits);
  const properties = widened(ofDraw(sequence.static, draw), count, layout.properties);
  const hears = new Uint8Array(count * count);
  for (let a = 0; a < recorded; a++) {
    for (let b = 0; b < recorded; b++) hears[a * count + b] = sequence.neighbours.data[a * recorded + b];
  }
  for (const copy of copies) {
    copyRow(states, copy.of, copy.object, layout.state);
    copyRow(properties, copy.of, copy.object, layout.properties);
    copyRow(habits, copy.of, copy.object, sequence.habits.shape[3]);
    for (let b = 0; b < count; b++) {
      hears[copy.object * count + b] = hears[copy.of * count + b];
      hears[b * count + copy.object] = hears[b * count + copy.of];
    }
    hears[copy.object * count + copy.of] = hears[copy.of * count + copy.object] = 1;
    hears[copy.object * count + copy.object] = 0;
  }
  return {
    sequence,
    origin: sequence.origins.data[request.origin],
    recorded,
    states,
    noise: makeNoise(noise, layout.state, habits),
    hears,
    gone: new Uint8Array(count),
    frozen: new Uint8Array(count),
    copies,
    scene: {
      count,
      properties,
      controls: new Float64Array(count * layout.controls),
      allowed: new Uint8Array(count * count),
      moving: new Uint8Array(count),
      found: null,
    },
  };
}

/** Who is there, moves and hears whom in the interval after a frame. @param {World} world @param {number} frame */
function settle(world, frame) {
  const { sequence, scene, hears, gone, frozen, copies, recorded } = world;
  const { count, allowed, moving } = scene;
  for (let a = 0; a < count; a++) {
    const copy = copies[a - recorded];
    const since = copy ? copy.edit.at : 0;
    const source = sourceOf(world, a);
    const alive = isAlive(sequence, frame, source) && isAlive(sequence, frame + 1, source);
    moving[a] = alive && frame >= since && !gone[a] ? 1 : 0;
  }
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) allowed[a * count + b] = hears[a * count + b] & moving[a] & moving[b];
  }
  for (let a = 0; a < count; a++) if (frozen[a]) moving[a] = 0;
  scene.found = null;
}

/** The recorded object that an object is, or is a copy of. @param {World} world @param {number} a @returns {number} */
function sourceOf(world, a) {
  return a < world.recorded ? a : sourceOf(world, world.copies[a - world.recorded].of);
}

/** @param {Model} model @param {World} world @param {Edit} edit */
function apply(model, world, edit) {
  const { layout, content } = model;
  const { spatial, state } = layout;
  const { states, scene, hears } = world;
  const { count } = scene;
  const row = edit.object * state;
  const shift = content.units.state_shift.data;
  const scale = content.units.state_scale.data;
  /** @param {number} at @param {number} first */
  const put = (at, first) => {
    edit.to?.slice(0, spatial).forEach((value, d) => {
      states[at + first + d] = (value - shift[first + d]) / scale[first + d];
    });
  };
  if (edit.do === "move") put(row, 0);
  else if (edit.do === "push" && layout.velocity) {
    const before = states.slice();
    put(row, spatial);
    world.noise.thrown(edit.object, states, before);
  }
  else if (edit.do === "remove") world.gone[edit.object] = 1;
  else if (edit.do === "freeze") {
    world.frozen[edit.object] = 1;
    if (layout.velocity) states.fill(0, row + spatial, row + 2 * spatial);
  } else if (edit.do === "set") {
    const c = edit.property ?? 0;
    const unit = content.units.properties.data[c];
    scene.properties[edit.object * layout.properties + c] = (edit.value ?? 0) / unit;
  } else if (edit.do === "cut") {
    for (let b = 0; b < count; b++) {
      if (edit.other === undefined || edit.other === b) {
        hears[edit.object * count + b] = hears[b * count + edit.object] = 0;
      }
    }
  } else if (edit.do === "duplicate") {
    const copy = world.copies.find((one) => one.edit === edit);
    if (!copy) return;
    copyRow(states, edit.object, copy.object, state);
    copyRow(scene.properties, edit.object, copy.object, layout.properties);
    world.noise.copy(edit.object, copy.object);
    edit.to?.forEach((offset, d) => {
      states[copy.object * state + d] += offset / scale[d];
    });
  }
}

/** @param {Float64Array} rows @param {number} from @param {number} to @param {number} width */
function copyRow(rows, from, to, width) {
  rows.copyWithin(to * width, from * width, (from + 1) * width);
}

/** @param {Float64Array} rows @param {number} count @param {number} width */
function widened(rows, count, width) {
  const wide = new Float64Array(count * width);
  wide.set(rows);
  return wide;
}
