"""Start q(U) of f_s and f_b jointly from a regression on the rates the data show."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from comotion._types import FAST, Key
from comotion.data.windows import Window
from comotion.dynamics import AbstractDynamics, InteractingDynamics, Sum
from comotion.functions import SparseGP
from comotion.initialise.lengthscales import choose_by_evidence
from comotion.initialise.linear_rates import CHUNK, Laws, regress
from comotion.initialise.rates import Paths, heard_by, some_rows
from comotion.initialise.shown import Shown
from comotion.model import Model

MOST_FRAMES = 10_000
"""Of the posterior: what a design of a few hundred unknowns takes of memory."""
FEWEST_FRAMES = 300
"""Of the evidence, however many unknowns: collisions are one or two frames in a hundred."""
EVIDENCE_WORK = 2_600_000
"""Frames times pairs times unknowns: a second or two."""
START_RESIDUAL = 0.3
"""Of a rate's size: what midpoints leave over; the evidence moves it."""


def rates_are_linear(model: Model) -> bool:
    """Whether rates are linear in the inducing values of two sparse GPs."""
    dynamics = model.dynamics
    if not (isinstance(dynamics, InteractingDynamics) and isinstance(dynamics.accumulation, Sum)):
        return False
    return isinstance(dynamics.alone, SparseGP) and isinstance(dynamics.pair, SparseGP)


def with_regression(model: Model, shown: Shown, *, key: Key) -> Model:
    """Kernels by the evidence of some of the rates, q(U) by all of them."""
    dynamics = model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    laws, paths = laws_of(dynamics), some_paths(shown.paths, key=key)
    paths = heard_by(dynamics.graph, paths, dynamics.layout.spatial, key=key)
    if laws.alone.mean.size + laws.pair.mean.size == 0:
        return model
    few = paths.at(np.arange(min(_frames_for_evidence(laws, paths), paths.known.shape[0])))
    step = model.integrator.step(_frame_length(shown.smooth.windows))
    chosen, _ = choose_by_evidence(laws, few, step)
    alone, pair = regress(chosen, paths)
    return eqx.tree_at(lambda m: (m.dynamics.alone, m.dynamics.pair), model, (alone, pair))


def laws_of(dynamics: AbstractDynamics) -> Laws:
    """Where rates are linear."""
    assert isinstance(dynamics, InteractingDynamics)
    assert isinstance(dynamics.alone, SparseGP)
    assert isinstance(dynamics.pair, SparseGP)
    return Laws(
        alone=dynamics.alone,
        pair=dynamics.pair,
        alone_coordinates=dynamics.alone_among_walls,
        pair_coordinates=dynamics.pair_coordinates,
        log_residual=jnp.asarray(math.log(START_RESIDUAL), FAST),
        order=dynamics.order,
    )


def some_paths(paths: Paths, *, key: Key) -> Paths:
    """A whole number of chunks of intervals in random order."""
    key_rows, key_order = jax.random.split(key)
    frames, _ = some_rows(paths.known, MOST_FRAMES, key=key_rows)
    frames = np.unique(frames)
    order = np.asarray(jax.random.permutation(key_order, len(frames)))
    if len(frames) > CHUNK:
        order = order[: len(frames) // CHUNK * CHUNK]
    return paths.at(frames[order])


def _frames_for_evidence(laws: Laws, paths: Paths) -> int:
    """As many as the work allows: now and then a few hundred of them show so few collisions that
    chance decides whether f_b depends on an input, and a law that does so wrongly cannot be
    followed."""
    pairs, unknowns = paths.known.shape[1] ** 2, laws.alone.mean.size + laws.pair.mean.size
    return max(FEWEST_FRAMES, EVIDENCE_WORK // (pairs * unknowns))


def _frame_length(windows: Window) -> float:
    steps = np.diff(np.asarray(windows.times), axis=1)
    return float(np.median(steps[steps > 0]))
