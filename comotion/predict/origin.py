"""States at the first frame that lead to the frames that were seen, by Markov chains.

An encoder believes what calm motion through the first frames would say; a collision among them
makes it wrong. A forecast therefore draws a few candidates, follows each of them through those
frames under the drawn law and takes one by its importance weight. Where the law knows hard
contacts that is not enough: a chain of Metropolis-Hastings moves takes its place. Half of them
propose new states from straight lines through the first 1, 2, … frames, one of which ended before
the collision: of all objects at once, then of one, or of two that are near each other, since a
collision bends the flights of both. The others are small steps.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from comotion._types import EXACT, FAST, Key
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, Window, cut
from comotion.dynamics import AbstractField, InteractingDynamics
from comotion.encode.base import FirstFrames, first_frames
from comotion.integrate import overlaps
from comotion.model import Beliefs, FirstEntries, Model, Start

CANDIDATES = 4
"""Of an initial state, where nothing is hard."""
MOVES, FEW_MOVES = 150, 40
"""Of a start where a collision may be among the frames seen; where forces act as well, which are
followed in every move."""
STEP_SIZES = (1.0, 0.3, 0.1)
TOGETHER = 6
"""One of so many moves, the first ones, proposes all objects anew."""
NEAR = 1e-2
"""Squared distance in units of the scene below which pairs are alike near."""
LOG_NEVER = -1e30
States = Float[Array, "A D"]


class Proposals(eqx.Module):
    """For each object a mixture of Gaussians with equal weights; the last knows all frames."""

    means: Float[Array, "*A n D"]
    factors: Float[Array, "*A n D D"]
    inverses: Float[Array, "*A n D D"]
    log_volumes: Float[Array, "*A n"]

    def at(self, line: Int[Array, ""], noise: Float[Array, " D"]) -> Float[Array, " D"]:
        """Of one object."""
        return self.means[line] + self.factors[line] @ noise

    def log_densities(self, states: Float[Array, "A D"]) -> Float[Array, "A n"]:
        """Of each object under each of its lines, up to a constant."""
        away = states[:, None] - self.means
        # Products written out: a batch of tiny matrix products is slower.
        white = jnp.sum(self.inverses * away[..., None, :], axis=-1)
        return -0.5 * jnp.sum(white**2, axis=-1) - self.log_volumes


class _Chain(eqx.Module):
    states: States
    log_target: Float[Array, ""]
    log_lines: Float[Array, "A n"]
    """of the states, under each line"""


class _Chances(eqx.Module):
    """What moves need that does not depend on where the chain is."""

    who: Bool[Array, "*K A"]
    is_anew: Bool[Array, "*K"]
    anew: Float[Array, "*K A D"]
    shift: Float[Array, "*K A D"]
    log_luck: Float[Array, "*K"]


@dataclass(frozen=True)
class Search:
    """Through how many frames candidates are followed, how many there are, and their moves."""

    candidates: int
    frames: int
    moves: int = 0

    def draw_start(
        self, model: Model, field: AbstractField, beliefs: Beliefs, excerpt: Excerpt, *, key: Key
    ) -> Start:
        """An object that enters later keeps its draw: nothing was followed there."""
        key_initial, key_properties, key_choice = jax.random.split(key, 3)
        properties = model.draw_properties(beliefs, excerpt, key=key_properties)
        if self.candidates == 1 and self.moves == 0:
            return Start(beliefs.initial.draw(key=key_initial), properties)
        seen = min(self.frames, excerpt.window.times.shape[0])
        window = cut(excerpt.window, jnp.zeros((), jnp.int32), seen)
        target = _Target(model, field, properties, window, _usual(model))
        if self.moves == 0:
            return Start(self._candidate(target, beliefs, key_initial, key_choice), properties)
        states = beliefs.initial.draw(key=key_initial)
        proposals = _proposals(model, beliefs, window)
        chances = _chances(proposals, self.moves, key=key_choice)

        def move(chain: _Chain, chance: _Chances) -> tuple[_Chain, None]:
            return _moved(chain, target, proposals, chance), None

        # From where nothing is possible yet, so that the first state that is gets taken.
        nowhere = jnp.full((), 2 * LOG_NEVER, states.dtype)
        first = _Chain(states, nowhere, proposals.log_densities(states))
        chain = jax.lax.scan(move, first, chances)[0]
        return Start(jnp.where(window.entry[:, None] > 0, states, chain.states), properties)

    def _candidate(
        self, target: "_Target", beliefs: Beliefs, key_initial: Key, key_choice: Key
    ) -> States:
        """One of the candidates drawn from the beliefs, chosen for each object.

        Each object chooses by its own frames, with the others as they were in the same candidate:
        exact for objects that do not meet in these frames, and for the others far better than the
        belief alone.
        """
        shape = (self.candidates, *beliefs.initial.mean.shape)
        noise = standard_normal(shape, beliefs.initial.mean.dtype, key=key_initial)
        states = jax.vmap(beliefs.initial.at)(noise)
        late = target.window.entry > 0
        belief = jnp.where(late[None], 0.0, -0.5 * jnp.sum(noise**2, axis=2))
        weights = jax.vmap(target.by_object)(states) - belief
        best = jax.random.categorical(key_choice, weights, axis=0)
        return jnp.take_along_axis(states, best[None, :, None], axis=0)[0]


def _chances(proposals: Proposals, moves: int, *, key: Key) -> _Chances:
    """First all objects are proposed anew, then by turns one anew, one a little, two anew, …"""
    key_who, key_line, key_noise, key_size, key_luck = jax.random.split(key, 5)
    objects, lines, entries = proposals.means.shape
    dtype, order = proposals.means.dtype, jnp.arange(moves)
    together = order < moves // TOGETHER
    who = _groups(proposals.means[:, -1], order, key=key_who) | together[:, None]
    line = jax.random.randint(key_line, (moves,), 0, lines)
    noise = standard_normal((moves, objects, entries), dtype, key=key_noise)
    size = jax.random.choice(key_size, jnp.asarray(STEP_SIZES, dtype), (moves,))
    everyone = jax.vmap(Proposals.at, in_axes=(0, None, 0))
    return _Chances(
        who=who,
        is_anew=together | (order % 2 == 0),
        anew=jax.vmap(everyone, in_axes=(None, 0, 0))(proposals, line, noise),
        shift=jnp.einsum("k,aij,kaj->kai", size, proposals.factors[:, -1], noise),
        log_luck=jnp.log(jax.random.uniform(key_luck, (moves,), dtype)),
    )


def _groups(states: States, order: Int[Array, " K"], *, key: Key) -> Bool[Array, "K A"]:
    """Objects take turns; in every fourth move one that is likely to be near comes along."""
    objects = states.shape[0]
    leader = jax.nn.one_hot((order // 2) % objects, objects, dtype=bool)
    if objects == 1:
        return leader
    square = jnp.sum((states[:, None] - states[None]) ** 2, axis=-1)
    # A speed differs less than a place does, so states may stand for places here.
    nearness = jnp.where(jnp.eye(objects, dtype=bool), -jnp.inf, -jnp.log(square + NEAR))
    partner = jax.random.categorical(key, nearness[(order // 2) % objects], axis=-1)
    joins = (order % 4 == 2)[:, None]
    return leader | (joins & jax.nn.one_hot(partner, objects, dtype=bool))


def _moved(chain: _Chain, target: "_Target", proposals: Proposals, chance: _Chances) -> _Chain:
    """Some states proposed anew or changed a little, and kept if that is likely enough."""
    proposed = jnp.where(chance.is_anew, chance.anew, chain.states + chance.shift)
    states = jnp.where(chance.who[:, None], proposed, chain.states)
    log_lines = proposals.log_densities(states)

    def log_proposal(log_lines: Float[Array, "A n"]) -> Float[Array, ""]:
        """All that move take the same line."""
        return jax.nn.logsumexp(jnp.sum(jnp.where(chance.who[:, None], log_lines, 0.0), axis=0))

    back = log_proposal(log_lines) - log_proposal(chain.log_lines)
    back = jnp.where(chance.is_anew, back, 0.0)
    log_target = target(states)
    taken = chance.log_luck + back < log_target - chain.log_target
    moved = _Chain(states, log_target, log_lines)
    return jax.tree.map(lambda new, old: jnp.where(taken, new, old), moved, chain)


class _Target(eqx.Module):
    """log p(first frames, states), up to a constant."""

    model: Model
    field: AbstractField
    properties: Float[Array, "A C"]
    window: Window
    usual: Float[Array, " D"]

    def by_object(self, states: States) -> Float[Array, " A"]:
        window = self.window
        start = Start(states, self.properties)
        path = self.model.follow(self.field, start, window, window.grid)
        fit = self.model.observation.log_likelihood_by_object(window.values, window.present, path)
        prior = -0.5 * jnp.sum((states / self.usual[None]) ** 2, axis=1)
        total = jnp.where(window.entry == 0, fit + prior, 0.0)
        return jnp.where(jnp.isfinite(total), total, LOG_NEVER)

    def __call__(self, states: States) -> Float[Array, ""]:
        total = jnp.sum(self.by_object(states))
        contact = self.field.contact
        if contact is None or contact.springs is not None:
            return total
        places = states[:, self.model.dynamics.layout.position]
        there = self.window.exists & (self.window.entry == 0)
        inside = overlaps(contact, places, there, self.window.neighbours)
        return jnp.where(inside, LOG_NEVER, total)


def _proposals(model: Model, beliefs: Beliefs, window: Window) -> Proposals:
    """Lines through the first frames where states are seen as they are; the belief otherwise."""
    layout = model.dynamics.layout
    plain = layout.has_velocity and not (layout.hidden or layout.extra)
    if not (plain and isinstance(model.observation.decoder, FirstEntries)):
        return _with_inverses(beliefs.initial.mean[:, None], beliefs.initial.factor[:, None])
    seen = first_frames(window, window.times.shape[0])
    noise = model.observation.noise_variance
    usual = _usual(model)[:: layout.spatial]
    return _with_inverses(*jax.vmap(lambda one: _lines(one, noise, usual, layout.spatial))(seen))


def _usual(model: Model) -> Float[Array, " D"]:
    """How large the entries of a state are: about one, but for velocities that nobody measured."""
    layout, dynamics = model.dynamics.layout, model.dynamics
    ones = jnp.ones(layout.state, FAST)
    if not isinstance(dynamics, InteractingDynamics) or dynamics.contacts is None:
        return ones
    return ones.at[layout.velocity].set(dynamics.contacts.speed)


def _with_inverses(means: Float[Array, "A n D"], factors: Float[Array, "A n D D"]) -> Proposals:
    """Once for all moves; it depends on the frames alone, not on the drawn law."""
    wide = factors.astype(EXACT)
    identity = jnp.broadcast_to(jnp.eye(factors.shape[-1], dtype=EXACT), factors.shape)
    inverses = jax.scipy.linalg.solve_triangular(wide, identity, lower=True)
    volumes = jnp.sum(jnp.log(jnp.diagonal(factors, axis1=-2, axis2=-1)), axis=-1)
    return Proposals(means, factors, inverses.astype(factors.dtype), volumes)


def _lines(
    seen: FirstFrames, noise: Float[Array, " O"], usual: Float[Array, "2"], spatial: int
) -> tuple[Float[Array, "n D"], Float[Array, "n D D"]]:
    """Posteriors of a straight flight given the first 1, 2, … frames, under N(0, usual²)."""
    frames = seen.times.shape[0]
    shape = (frames, -1, spatial)
    times, values = seen.times.astype(EXACT), seen.values.astype(EXACT).reshape(shape)
    present = seen.present.reshape(shape).astype(EXACT)
    known = present / noise.astype(EXACT).reshape(1, -1, spatial)
    one, zero = jnp.ones_like(times), jnp.zeros_like(times)
    rows = jnp.stack([jnp.stack([one, times], 1), jnp.stack([zero, one], 1)], 1)  # (F, 2, 2)
    rows = rows[:, : values.shape[1]]
    precision = jnp.einsum("foi,fos,foj->fsij", rows, known, rows).cumsum(axis=0)
    precision = precision + jnp.diag(1 / usual.astype(EXACT) ** 2)[None, None]
    evidence = jnp.einsum("foi,fos,fos->fsi", rows, known, values).cumsum(axis=0)
    (a, b), (_, d) = jnp.moveaxis(precision, (2, 3), (0, 1))
    determinant = a * d - b * b
    covariance = jnp.stack([jnp.stack([d, -b], -1), jnp.stack([-b, a], -1)], -2)
    covariance = covariance / determinant[..., None, None]
    mean = jnp.einsum("fsij,fsj->fsi", covariance, evidence)
    first = jnp.sqrt(covariance[..., 0, 0])
    cross = covariance[..., 1, 0] / first
    last = jnp.sqrt(jnp.maximum(covariance[..., 1, 1] - cross**2, 1e-30))
    diagonal, nothing = jax.vmap(jnp.diag), jnp.zeros((frames, spatial, spatial), EXACT)
    factors = jnp.concatenate(
        [
            jnp.concatenate([diagonal(first), nothing], axis=2),
            jnp.concatenate([diagonal(cross), diagonal(last)], axis=2),
        ],
        axis=1,
    )
    means = jnp.swapaxes(mean, 1, 2).reshape(frames, -1)
    dtype = seen.values.dtype
    return means.astype(dtype), factors.astype(dtype)
