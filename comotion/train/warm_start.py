"""Start q(U) of f_s and f_b jointly from a regression on the rates the data show."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from comotion._types import FAST, Key
from comotion.config import RunConfig, SystemConfig
from comotion.data.windows import Window
from comotion.dynamics import InteractingDynamics, Sum
from comotion.functions import SparseGP
from comotion.model import Model
from comotion.systems import eventful_rows, observed_moments
from comotion.train.lengthscales import choose_by_evidence
from comotion.train.rate_regression import CHUNK, Laws, Paths, regress

MOST_FRAMES = 10_000
FEWEST_FRAMES = 300
EVIDENCE_WORK = 2_600_000
"""Frames times pairs times unknowns: a second or two."""
START_RESIDUAL = 0.3


def warm_start(model: Model, config: RunConfig, windows: Window, *, key: Key) -> Model:
    """Systems without a closed form come back as they are."""
    laws = laws_of(model)
    if laws is None or not solvable(config.system):
        return model
    paths = _observed_paths(model, config, windows, key=key)
    frames = _frames_for_evidence(laws, paths)
    some = jax.tree.map(lambda leaf: leaf[:frames], paths)
    laws = choose_by_evidence(laws, some, _solver_step(config.system, windows))
    alone, pair = regress(laws, paths)
    return eqx.tree_at(lambda m: (m.dynamics.alone, m.dynamics.pair), model, (alone, pair))


def solvable(system: SystemConfig) -> bool:
    """Whether rates are linear in inducing values: two Gaussian processes, all properties known."""
    return sums_of_processes(system) and system.properties != "inferred"


def sums_of_processes(system: SystemConfig) -> bool:
    """Whether rates are sums of two Gaussian processes."""
    summed = system.who == "interacting" and system.accumulation == "sum"
    return summed and system.function == "gp"


def leaves_nothing(system: SystemConfig) -> bool:
    """Whether functions and initial states both have a closed form."""
    return solvable(system) and system.encoder == "smoother"


def laws_of(model: Model) -> Laws | None:
    """None if the rates are not linear in the inducing values of two sparse GPs."""
    dynamics = model.dynamics
    if not (isinstance(dynamics, InteractingDynamics) and isinstance(dynamics.accumulation, Sum)):
        return None
    if not (isinstance(dynamics.alone, SparseGP) and isinstance(dynamics.pair, SparseGP)):
        return None
    return Laws(
        alone=dynamics.alone,
        pair=dynamics.pair,
        alone_coordinates=dynamics.alone_coordinates,
        pair_coordinates=dynamics.pair_coordinates,
        log_residual=jnp.asarray(math.log(START_RESIDUAL), FAST),
        order=dynamics.order,
    )


def _frames_for_evidence(laws: Laws, paths: Paths) -> int:
    """As many as the work allows: now and then a few hundred of them show so few collisions that
    chance decides whether f_b depends on an input, and a law that does so wrongly cannot be
    followed."""
    pairs, unknowns = paths.known.shape[1] ** 2, laws.alone.mean.size + laws.pair.mean.size
    return max(FEWEST_FRAMES, EVIDENCE_WORK // (pairs * unknowns))


def _solver_step(config: SystemConfig, windows: Window) -> float:
    if config.time == "discrete":
        return 1.0
    steps = np.diff(np.asarray(windows.times), axis=1)
    return float(np.median(steps[steps > 0])) / config.substeps


def _observed_paths(model: Model, config: RunConfig, windows: Window, *, key: Key) -> Paths:
    """A whole number of chunks of frames in random order, half of them eventful."""
    key_properties, key_rows = jax.random.split(key)
    layout = model.dynamics.layout
    moments = observed_moments(config.system, layout, windows, key=key_properties)
    frames, _ = eventful_rows(
        moments.rates, moments.known, config.system.events, MOST_FRAMES, key=key_rows
    )
    frames = np.unique(frames)
    order = np.asarray(jax.random.permutation(key_rows, len(frames)))
    if len(frames) > CHUNK:
        order = order[: len(frames) // CHUNK * CHUNK]
    rows = frames[order]
    return Paths(
        actors=jax.tree.map(lambda leaf: leaf[rows], moments.actors),
        after=moments.after[rows],
        rates=jnp.asarray(moments.rates[rows], FAST),
        known=jnp.asarray(moments.known[rows]),
        neighbours=jnp.asarray(moments.neighbours[rows]),
    )
