"""Laws from rates that are given with the states, moment by moment: nothing is integrated.

Frames may lie as far apart as they like. What nobody said of a law (what it depends on, how smooth
it is) is chosen by evidence, and all of it is solved in closed form.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.config import SystemConfig
from comotion.coordinates.layout import Layout
from comotion.errors import BadInput
from comotion.initialise.functions import adapted
from comotion.initialise.lengthscales import choose_by_evidence
from comotion.initialise.linear_rates import CHUNK, Laws, log_evidence, regress
from comotion.initialise.rates import Paths, given_paths
from comotion.initialise.regression import laws_of
from comotion.systems.build import build_dynamics

CLIMBS = 120
"""Steps: rates that are given have no noise, so lengthscales pay to be found well."""
FEW = 3
"""Chunks of moments, at most, in each step of the climb."""


@dataclass(frozen=True, eq=False)
class LearnedRates:
    """f_s and f_b with the posterior of all the moments, and what it took."""

    config: SystemConfig
    laws: Laws
    log_evidence: float


def learn_from_rates(
    states: Float[Array, "F A D"],
    rates: Float[Array, "F A R"],
    configs: Iterable[SystemConfig],
    *,
    spatial: int,
    properties: Float[Array, "F A C"] | None = None,
    neighbours: Bool[Array, "A A"] | None = None,
    key: Key,
) -> LearnedRates:
    """The config that the rates make most likely, and what is learned with it.

    States are positions, or positions and velocities; rates are the rate of the last of the two.
    """
    key_order, key_law = jax.random.split(key)
    order = np.asarray(jax.random.permutation(key_order, len(states)))
    order = order[: len(order) // CHUNK * CHUNK or None]
    paths = given_paths(states, rates, properties, neighbours).at(order)
    count = 0 if properties is None else properties.shape[-1]
    layout = Layout(spatial, has_velocity=states.shape[-1] > spatial, properties=count)
    found = [_learn(config, layout, paths, key=key_law) for config in configs]
    if not found:
        raise BadInput("there is no config to choose; give at least one")
    return max(found, key=lambda learned: learned.log_evidence)


def _learn(config: SystemConfig, layout: Layout, paths: Paths, *, key: Key) -> LearnedRates:
    key_build, key_adapt = jax.random.split(key)
    objects = paths.known.shape[1]
    dynamics = build_dynamics(config, layout, objects, key=key_build)
    laws = laws_of(adapted(dynamics, paths, key=key_adapt))
    few = paths.at(np.arange(min(len(paths.known), FEW * CHUNK)))
    laws, _ = choose_by_evidence(laws, few, step=0.0, climbs=CLIMBS)
    evidence = float(_evidence(laws, paths))
    alone, pair = regress(laws, paths, marginal=True)
    laws = eqx.tree_at(lambda both: (both.alone, both.pair), laws, (alone, pair))
    return LearnedRates(config, laws, evidence)


_evidence = jax.jit(log_evidence)
