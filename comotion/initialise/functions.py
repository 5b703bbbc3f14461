"""Functions before training: at the inputs that data visit, as large as the rates they show."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.coordinates import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.dynamics import AbstractDynamics, InteractingDynamics, JointDynamics, joint_inputs
from comotion.errors import BadInput
from comotion.initialise.rates import Paths, some_rows
from comotion.model import Model

MOST_ROWS = 10_000
"""Places that k-means and spreads look at."""
MOST_SLOPES = 200
"""Actors whose derivatives are looked at, each by differentiation."""


def with_adapted_functions(model: Model, paths: Paths, *, key: Key) -> Model:
    return dataclasses.replace(model, dynamics=adapted(model.dynamics, paths, key=key))


def adapted(dynamics: AbstractDynamics, paths: Paths, *, key: Key) -> AbstractDynamics:
    sizes = _rate_sizes(paths)
    if isinstance(dynamics, InteractingDynamics):
        return _interacting(dynamics, paths, sizes, key=key)
    if isinstance(dynamics, JointDynamics):
        return _joint(dynamics, paths, sizes, key=key)
    return dynamics


def _rate_sizes(paths: Paths) -> Float[np.ndarray, " R"]:
    """Root mean squares; what is never seen to move (latent entries) is given a typical size."""
    rates = np.asarray(paths.rates, np.float64)[np.asarray(paths.known)]
    sizes = np.sqrt(np.mean(rates**2, axis=0))
    moving = sizes[sizes > 0]
    return np.where(sizes > 0, sizes, moving.mean() if moving.size else 1.0).clip(1e-6)


def _interacting(
    dynamics: InteractingDynamics, paths: Paths, sizes: Float[np.ndarray, " R"], *, key: Key
) -> InteractingDynamics:
    key_rows, key_alone, key_pair, key_accumulation = jax.random.split(key, 4)
    frames, objects = some_rows(paths.known, MOST_ROWS, key=key_rows)
    near = _distance_of_nearest(paths, frames, objects, dynamics.layout.spatial)
    alone, pair = dynamics.alone_among_walls, dynamics.pair_coordinates.reaching(near)
    own = _at(paths.actors, frames, objects)
    actors, others = _pairs(paths, frames, objects)
    return dataclasses.replace(
        dynamics,
        alone=dynamics.alone.adapted_to(
            _rows(jax.jit(jax.vmap(alone.inputs))(own)),
            _output_sizes(alone.rates, alone, sizes, own),
            key=key_alone,
        ),
        pair=dynamics.pair.adapted_to(
            _rows(jax.jit(jax.vmap(pair.inputs))(actors, others)),
            _output_sizes(pair.rates, pair, sizes, actors, others),
            key=key_pair,
        ),
        accumulation=dynamics.accumulation.adapted_to(actors, others, sizes, key=key_accumulation),
        pair_coordinates=pair,
    )


def _joint(
    dynamics: JointDynamics, paths: Paths, sizes: Float[np.ndarray, " R"], *, key: Key
) -> JointDynamics:
    key_rows, key_function = jax.random.split(key)
    complete = jnp.all(paths.known, axis=1, keepdims=True)  # a frame counts as one object
    if not jnp.any(complete):
        raise BadInput(
            "one function of all objects needs frames in which every object is seen, and there "
            "are none; use an interacting system (I-…), which takes objects as they come"
        )
    frames, _ = some_rows(complete, MOST_ROWS, key=key_rows)
    inputs = _rows(jax.vmap(joint_inputs)(jax.tree.map(lambda leaf: leaf[frames], paths.actors)))
    scale = np.tile(sizes, paths.known.shape[1])
    function = dynamics.function.adapted_to(inputs, scale, key=key_function)
    return dataclasses.replace(dynamics, function=function)


def _pairs(paths: Paths, frames: np.ndarray, objects: np.ndarray) -> tuple[Actor, Actor]:
    """Every chosen object with every object it hears, where both are known."""
    neighbours, known = np.asarray(paths.neighbours), np.asarray(paths.known)
    rows, others = np.nonzero(neighbours[frames, objects] & known[frames])
    if len(rows) == 0:  # a single object: the interaction exists but is never used
        rows, others = np.arange(len(frames)), objects
    actors = _at(paths.actors, frames[rows], objects[rows])
    return actors, _at(paths.actors, frames[rows], others)


def _at(actors: Actor, frames: np.ndarray, objects: np.ndarray) -> Actor:
    """By NumPy: how many there are differs from one data set to the next, and JAX would compile."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[frames, objects], actors)


def _distance_of_nearest(
    paths: Paths, frames: np.ndarray, objects: np.ndarray, spatial: int
) -> float:
    """The median over the chosen objects; one unit where nobody hears anybody."""
    places = np.asarray(paths.actors.state, np.float64)[..., :spatial]
    apart = np.linalg.norm(places[frames] - places[frames, objects][:, None], axis=-1)
    heard = np.asarray(paths.neighbours)[frames, objects] & np.asarray(paths.known)[frames]
    nearest = np.where(heard, apart, np.inf).min(axis=1, initial=np.inf)
    nearest = nearest[np.isfinite(nearest) & (nearest > 0)]
    return float(np.median(nearest)) if nearest.size else 1.0


def _output_sizes(
    rates: Callable[..., Array],
    part: AbstractAloneCoordinates | AbstractPairCoordinates,
    sizes: Float[np.ndarray, " R"],
    *actors: Actor,
) -> Float[np.ndarray, " Q"]:
    """Each output is about as large as the rates it contributes to, on average over actors."""
    if part.out_size == 0:
        return np.zeros(0)
    some = tuple(jax.tree.map(lambda leaf: leaf[:MOST_SLOPES], actor) for actor in actors)

    def slopes(*actors: Actor) -> Float[Array, "R *k Q"]:
        inputs = part.inputs(*actors)
        zero = jnp.zeros((*inputs.shape[:-1], part.out_size), inputs.dtype)
        return jax.jacobian(lambda outputs: rates(outputs, *actors))(zero)

    reach = np.abs(np.asarray(jax.jit(jax.vmap(slopes))(*some), np.float64))
    reach = reach.reshape(len(reach), len(sizes), -1, part.out_size).sum(axis=2)
    reach = reach.mean(axis=0) + 1e-12  # (R, Q)
    return np.sqrt((reach * sizes[:, None] ** 2).sum(axis=0) / reach.sum(axis=0))


def _rows(inputs: Array) -> Float[np.ndarray, "N I"]:
    return np.asarray(inputs, np.float64).reshape(-1, inputs.shape[-1])
