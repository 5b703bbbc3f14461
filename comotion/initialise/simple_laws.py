"""Simple laws: a force along the line between two objects by their distance, one beside it that
the properties of both multiply, and whatever acts on one alone; with hard contacts between.

All of it is solved in closed form on flights from contact to contact. Contacts and forces hide each
other, so they take turns: forces by a robust regression that hardly notices contacts, contacts in
what the forces leave, forces again between these. A simple law is taken only where it explains
nearly all that bends flights beyond noise; a term is part of it only if the evidence says so.
"""

import dataclasses
import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from comotion._types import FAST, Key
from comotion.config import SystemConfig, replace
from comotion.contacts import ContactLaw
from comotion.coordinates.layout import Layout
from comotion.data.windows import Dataset, Window
from comotion.dynamics import InteractingDynamics
from comotion.dynamics.graph import GivenGraph
from comotion.encode.signs import MOST_OBJECTS, SignReader
from comotion.functions import SparseGP
from comotion.initialise.contact_start import can_collide, near, nothing_else_acts, with_noise
from comotion.initialise.denoise import denoised
from comotion.initialise.find_contacts import Finding, find_contacts
from comotion.initialise.find_signs import find_signs, reader_of
from comotion.initialise.flight_laws import (
    Regressed,
    bends_of,
    curves_under,
    regressed,
    stretches_of,
)
from comotion.initialise.linear_rates import Laws, with_posterior
from comotion.initialise.regression import laws_of, rates_are_linear
from comotion.initialise.tracks import (
    NoiseScale,
    Tracks,
    noise_scale,
    share_of_motion,
    tracks_of_windows,
)
from comotion.model import Model
from comotion.systems.build import build_dynamics

PARTS = {
    "alone": "raw",
    "pair": "multiplying",
    "kernel": "se",
    "covariance": "full",
    "inducing_alone": 40,
    "inducing_pair": 18,
    "fourier_features": 64,
    "simplify": False,
}
SHORT, LONG = 8, 20
"""Frames of a stretch, before and after contacts are known."""
MOST_TURNS, SETTLED = 10, 0.01
"""Contacts and forces take turns until hardly any interval, as a share of those with a contact,
changes sides."""
REACH_ALONE = 3.0
"""Lengthscales of f_s in standard deviations of its inputs: it is expected to vary slowly."""
SPACINGS = (1.5, 2.0)
"""Lengthscales of f_b that are tried, in distances between its inducing inputs: with longer ones
the inputs say the same, and digits are lost."""
NEAREST = 1e-3
"""Share of pairs that are nearer than the nearest inducing input."""
EXPLAINED = 0.95
"""Of what bends flights beyond noise, the least share that a simple law explains."""
PROMISING = 0.3
"""The same of the better half of the stretches, before contacts are known."""
MOST = 0.8
"""Share of stretches that must be explained: the others may hold a contact nobody found."""
JUMP, FEWEST_JUMPS = 25.0, 0.005
"""Misfit of a stretch that may hold a contact, and the share of such that must be left of a law
before contacts are looked for: what explains all leaves none."""
SOMETHING = 20.0
"""Log evidence that something acts, without which nothing is looked for."""
MUST_GAIN = 3.0
"""Log evidence that a term is worth at least."""
TURN = 0.5
"""Radians by which the stiffest oscillation turns in a step of the solver."""
MOST_STEPS = 8
FEW_NUMBERS, MOST_NUMBERS = 4_000_000, 12_000_000
"""In the design of a regression: while contacts are looked for, and of the last one."""
NOTHING = 1e-6
MISSED = 2e-3
"""Share of a typical step and speed by which a law misses at least: data may have no noise."""


@dataclass(frozen=True)
class SimpleLaw:
    """The parts of a system and its law, with what was found of contacts."""

    system: SystemConfig
    functions: tuple[SparseGP, SparseGP]
    noise: NoiseScale
    contacts: ContactLaw | None
    explained: float
    """share of what bends flights beyond noise"""
    reader: SignReader | None
    """of the property that is inferred"""


@dataclass(frozen=True)
class _Learned:
    """A law of inducing values of unit scale, and how it explains the stretches."""

    laws: Laws
    fit: Regressed

    def explained(self, share: float) -> float:
        """Of what bends this share of the stretches beyond noise, the best explained ones."""
        kept = np.argsort(self.fit.misfit)[: math.ceil(share * len(self.fit.misfit))]
        both = self.fit.misfit, self.fit.straight
        left, whole = (np.maximum(misfit[kept] - 1, 0).sum() for misfit in both)
        return float(1 - left / whole) if whole > 0 else 0.0


def simple_law(
    system: SystemConfig, model: Model, dataset: Dataset, found: Finding | None, *, key: Key
) -> SimpleLaw | None:
    """Where contacts were looked for, the system leaves room for a law, and something else acts."""
    if found is None or not (system.simplify and can_collide(model) and rates_are_linear(model)):
        return None
    if nothing_else_acts(model, found):
        return None
    dynamics = model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    if not isinstance(dynamics.graph, GivenGraph):
        return None
    if model.property_encoder is not None and not _may_have_signs(dynamics.layout, dataset):
        return None
    law = find_simple_law(system, dynamics.layout, dataset, key=key)
    missing = found.required and law is not None and law.contacts is None
    return None if missing else law


def _may_have_signs(layout: Layout, dataset: Dataset) -> bool:
    """All patterns are tried, and velocities are looked at from frame to frame."""
    windows = dataset.windows
    seen = windows.values.shape[-1] >= layout.state
    return seen and layout.properties == 1 and windows.alive.shape[2] <= MOST_OBJECTS


def with_simple_law(model: Model, law: SimpleLaw) -> Model:
    """`model` is built of the parts of the law's system."""
    assert isinstance(model.dynamics, InteractingDynamics)
    names, functions = ("alone", "pair"), {}
    for name, function in zip(names, law.functions, strict=True):
        if getattr(law.system, name) != "none":
            functions[name] = function
    dynamics = dataclasses.replace(model.dynamics, contacts=law.contacts, **functions)
    model = with_noise(dataclasses.replace(model, dynamics=dynamics), law.noise)
    return model if law.reader is None else dataclasses.replace(model, property_encoder=law.reader)


def find_simple_law(
    system: SystemConfig, layout: Layout, dataset: Dataset, *, key: Key
) -> SimpleLaw | None:
    """None where flights are straight, or bent by more than a simple law."""
    key_build, key_places = jax.random.split(key)
    objects = dataset.windows.alive.shape[2]
    parts = replace(system, **PARTS)
    if system.properties == "inferred":
        parts = replace(parts, property_encoder="signs")
    laws = laws_of(build_dynamics(parts, layout, objects, key=key_build))
    windows, tracks = dataset.windows, tracks_of_windows(dataset, layout.spatial)
    states = np.asarray(denoised(windows, layout).values, float)
    moving = np.asarray(windows.alive[:, :-1] & windows.alive[:, 1:])
    laws = _placed(laws, states, windows, key=key_places)
    rough = share_of_motion(tracks, MISSED, MISSED)
    noise = noise_scale(tracks).at_least(rough)

    def learned(
        windows: Window,
        laws: Laws,
        states: np.ndarray,
        calm: np.ndarray,
        longest: int,
        numbers: int = FEW_NUMBERS,
    ) -> _Learned:
        some = slice(_most_sequences(windows, laws, numbers))
        bends = bends_of(laws, states[some], windows[some])
        stretches = stretches_of(bends, tracks[some], noise, calm[some], longest)
        return _Learned(laws, regressed(stretches, _blocks(laws)))

    reader = None
    if system.properties == "inferred":
        nearby = _stretched(laws, SPACINGS[-1])
        places = np.asarray(laws.pair.inducing_inputs[:, 0], float)

        def push(windows: Window) -> SparseGP:
            return _posterior(learned(windows, nearby, states, moving, SHORT))[1]

        windows, reader = find_signs(windows, layout, places, system.property_frames, push)
    tried = [learned(windows, _stretched(laws, s), states, moving, SHORT) for s in SPACINGS]
    best = max(tried, key=lambda one: one.fit.log_evidence)
    if best.fit.gains.max() < SOMETHING or best.explained(0.5) < PROMISING:
        return None
    law: ContactLaw | None = None
    jumps = np.mean(best.fit.misfit > JUMP) > FEWEST_JUMPS
    busy = np.zeros_like(moving)
    for _ in range(MOST_TURNS if jumps else 0):
        curves = curves_under(best.laws, best.fit.mean, states, windows, tracks)
        finding = find_contacts(tracks, curves=curves)
        noise, law = finding.noise.at_least(rough), finding.law
        if finding.noise.position > rough.position:  # otherwise the frames know better
            straight = _states(finding.straight)
            states = np.where(np.isfinite(straight), straight, states)
        before, busy = busy, finding.eventful
        best = learned(windows, best.laws, states, moving & ~near(busy), LONG)
        if (busy != before).sum() <= SETTLED * busy.sum():
            break
    best = learned(windows, best.laws, states, moving & ~near(busy), LONG, MOST_NUMBERS)
    explained = best.explained(MOST)
    if explained < EXPLAINED:
        return None
    step = float(np.median(np.diff(np.asarray(windows.times, float))))
    functions = _posterior(best)
    if reader is not None:
        reader = reader_of(reader, functions[1], windows)
    return SimpleLaw(_resolved(parts, best, step), functions, noise, law, explained, reader)


def _most_sequences(windows: Window, laws: Laws, numbers: int) -> int:
    """As many as make so many numbers: all would tell little more of a smooth law."""
    (_, N, A, _), unknowns = windows.values.shape, laws.alone.mean.size + laws.pair.mean.size
    return max(numbers // (N * A * unknowns * 2 * laws.alone_coordinates.layout.spatial), 1)


def _placed(laws: Laws, states: Float[np.ndarray, "P N A D"], windows: Window, *, key: Key) -> Laws:
    """Inducing inputs where objects and pairs were, evenly in the logarithm of distance."""
    alive, layout = np.asarray(windows.alive), laws.alone_coordinates.layout
    given = np.asarray(windows.properties, float)[:, None, :, : layout.properties]
    given = np.broadcast_to(given, (*alive.shape, layout.properties))
    inputs = np.concatenate([states, given], axis=-1)[alive]
    alone = laws.alone.adapted_to(inputs, np.ones(laws.alone.out_size), key=key)
    slow = np.full(alone.in_size, REACH_ALONE)
    alone = eqx.tree_at(lambda f: f.kernel, alone, alone.kernel.stretched(slow))
    nearest, farthest = _distances(states[..., layout.position], alive)
    places = np.linspace(np.log(nearest), np.log(farthest), len(laws.pair.mean))[:, None]
    pair = eqx.tree_at(lambda f: f.inducing_inputs, laws.pair, jnp.asarray(places, FAST))
    return eqx.tree_at(lambda both: (both.alone, both.pair), laws, (alone, pair))


def _distances(
    places: Float[np.ndarray, "P N A d"], alive: Bool[np.ndarray, "P N A"]
) -> tuple[float, float]:
    """The nearest and the farthest that pairs come."""
    first, second = np.triu_indices(places.shape[2], k=1)
    apart = np.linalg.norm(places[:, :, first] - places[:, :, second], axis=-1)
    apart = apart[alive[:, :, first] & alive[:, :, second]]
    if not apart.size:
        return 1.0, 2.0
    nearest = max(float(np.quantile(apart, NEAREST)), NOTHING)
    return nearest, max(float(apart.max()), 1.01 * nearest)


def _stretched(laws: Laws, spacings: float) -> Laws:
    places = np.asarray(laws.pair.inducing_inputs)
    reach = spacings * (places[-1] - places[0]) / (len(places) - 1)
    kernel = laws.pair.kernel.stretched(reach / np.asarray(laws.pair.kernel.lengthscales()))
    return eqx.tree_at(lambda both: both.pair.kernel, laws, kernel)


def _blocks(laws: Laws) -> Int[np.ndarray, " n"]:
    """f_s has one scale, and each term of f_b its own."""
    terms = np.repeat(1 + np.arange(laws.pair.out_size), len(laws.pair.mean))
    return np.concatenate([np.zeros(laws.alone.mean.size, int), terms])


def _states(tracks: Tracks) -> Float[np.ndarray, "P N A D"]:
    assert tracks.velocities is not None
    return np.concatenate([tracks.positions, tracks.velocities], axis=-1)


def _resolved(parts: SystemConfig, best: _Learned, step: float) -> SystemConfig:
    """Terms without evidence are no part of the system."""
    gains = best.fit.gains
    none = {"alone": gains[0] < MUST_GAIN, "pair": gains[1:].max() < MUST_GAIN}
    names = {name: "none" for name, is_none in none.items() if is_none}
    return replace(parts, substeps=_steps(best, step), **names)


def _posterior(best: _Learned) -> tuple[SparseGP, SparseGP]:
    fit = best.fit
    laws = _scaled(best.laws, fit.scales)
    return with_posterior(laws, jnp.asarray(fit.white), jnp.asarray(fit.precision), marginal=True)


def _scaled(laws: Laws, scales: Float[np.ndarray, " k"]) -> Laws:
    logs = jnp.log(jnp.asarray(scales, FAST))
    alone = jnp.full(laws.alone.out_size, logs[0])
    return eqx.tree_at(
        lambda both: (both.alone.log_output_scale, both.pair.log_output_scale),
        laws,
        (alone, logs[1:]),
    )


def _steps(best: _Learned, step: float) -> int:
    """So many to a frame that the stiffest oscillation of a pair turns by little in each."""
    laws, alone = best.laws, best.laws.alone.mean.size
    r = np.exp(np.asarray(laws.pair.inducing_inputs, float)[:, 0])
    terms = best.fit.mean[alone:].reshape(laws.pair.out_size, -1)
    push = np.asarray(laws.pair.whitened_kernel(laws.pair.inducing_inputs), float) @ terms.T
    stiffness = 2 * np.abs(np.gradient(push / r[:, None], r, axis=0)).sum(axis=1)
    steps = step * math.sqrt(float(stiffness.max())) / TURN
    return int(np.clip(math.ceil(steps), 1, MOST_STEPS))
