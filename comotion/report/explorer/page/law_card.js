/** The card of the law between two: asks the worker threads what f_b says now. */

import { element, propertyOf } from "./cards.js";
import { bodyOf, frameOf, isIn, objectCount } from "./view.js";

const EVERY = 120;
const CURVE_POINTS = 60;
const MOST_PAIRS = 15;
const LONGEST_NAME = 40;

/**
 * @typedef {import("./view.js").World} World
 * @typedef {import("./view.js").Body} Body
 *
 * @typedef {object} LawCard
 * @property {import("./law_plot.js").LawPicture | null} picture
 * @property {(world: World, moment: number) => void} ask now and then
 */

/**
 * @param {import("../engine/model.js").Model} model
 * @param {import("./pool.js").Pool} pool
 * @param {[number, number][]} bounds
 * @param {() => void} arrived
 * @returns {LawCard}
 */
export function makeLawCard(model, pool, bounds, arrived) {
  const speaks = model.content.field.kind === "interacting" && model.content.field.graph.kind !== "empty" && !isSilent(model.content.field);
  element("law-card").hidden = !speaks;
  const reach = Math.hypot(...bounds.map(([low, high]) => high - low)) * 0.75;
  const distances = Array.from({ length: CURVE_POINTS }, (_, k) => ((k + 1) / CURVE_POINTS) * reach);
  const touching = 2 * (model.content.outline?.radius ?? 0);
  let lastAsked = -EVERY;
  /** Position and velocity as the law wants them. @param {Body} body */
  const known = (body) => (model.layout.velocity ? [...body.position, ...body.velocity] : body.position);

  /** The nearest pairs of recorded objects. @param {World} world */
  function pairsIn(world) {
    const recorded = model.sequences[world.state.sequence].objects.length;
    const bodies = Array.from({ length: Math.min(objectCount(world), recorded) }, (_, a) => (isIn(world, a) ? bodyOf(world, a) : null)).filter((body) => body !== null);
    const set = Object.fromEntries(
      world.edits.filter((edit) => edit.do === "set" && edit.at <= frameOf(world)).map((edit) => [`${edit.object} ${edit.property}`, propertyOf(world, edit.object, edit.property ?? 0)]),
    );
    return bodies
      .flatMap((one, k) => bodies.slice(k + 1).map((other) => ({ one, other, distance: Math.hypot(...one.position.map((x, d) => x - other.position[d])) })))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, MOST_PAIRS)
      .map(({ one, other, distance }) => ({ distance, couple: { a: one.object, b: other.object, one: known(one), other: known(other), set } }));
  }

  /** @type {LawCard} */
  const card = {
    picture: null,
    ask(world, moment) {
      if (!speaks || moment - lastAsked < EVERY || pool.busy("law")) return;
      lastAsked = moment;
      const pairs = pairsIn(world);
      const { selected, sequence } = world.state;
      const chosen = pairs.find(({ couple }) => couple.a === selected || couple.b === selected) ?? pairs[0];
      if (!chosen) return;
      const request = { sequence, distances, couple: chosen.couple, pairs: pairs.map(({ couple }) => couple) };
      pool.ask("law", "law", request, model.content.draws, (results, complete) => {
        if (!complete) return;
        card.picture = {
          distances,
          touching,
          curves: results.map((result) => result.curve),
          pairs: pairs.map(({ distance, couple }, k) => ({ distance, a: couple.a, b: couple.b, pushes: results.map((result) => result.points[k]) })),
        };
        const [one, other] = [chosen.couple.a, chosen.couple.b].map((a) => model.sequences[sequence].objects[a].slice(0, LONGEST_NAME));
        element("law-note").textContent = explanation(one, other, touching, model.content.field.contacts?.only);
        arrived();
      });
    },
  };
  return card;
}

/** No push at all, and nothing that touches. @param {any} field */
function isSilent({ pair, contacts }) {
  return pair.kind === "none" && !contacts?.radii.data.length;
}

/** @param {string} one @param {string} other @param {number} touching @param {boolean} only */
function explanation(one, other, touching, only) {
  const touch = touching ? "They touch at the upright line, and bounce. " : "";
  if (only) return `${touch}Nothing pushes or pulls before that. Dots: every pair as it is now.`;
  return `${touch}How hard ${one} is pushed away from ${other} at their present velocities; 50 and 90 % bands. Dots: every pair as it is now.`;
}
