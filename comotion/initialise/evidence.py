"""What smoothed motion says about simple laws: square forms instead of frames.

The basis of f_s sees one axis at a time, that of f_b the distance of two objects. However long a
sequence is, the misfit of any law in this basis is a square form in its weights.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.coordinates import (
    ALONE,
    PAIR,
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window
from comotion.encode.differences import finite_differences
from comotion.functions import SparseGP
from comotion.gp import KERNELS
from comotion.initialise.linear_rates import basis_rows, whitener
from comotion.initialise.rates import some_rows

CENTRES = 10
"""Of each function: a law simple enough to be solved for in every sequence."""
ROWS = 2000
"""Places that the centres are chosen from."""
KERNEL = "matern32"
"""Rough enough for what changes within a diameter."""
STEEPNESS = 0.5  # lengthscales, as a share of the spread of the inputs
RESIDUAL = 0.3  # of a rate's own size: what so simple a law cannot be expected to explain


class Evidence(eqx.Module):
    """What the rates of each object say about what f_s and each f_b contribute: a square form.

    Over slots of weights: f_s of the object itself, then f_b for every object it may hear.
    """

    gram: Float[Array, "*P A n n"]
    products: Float[Array, "*P A n"]
    squares: Float[Array, "*P A"]
    exists: Bool[Array, "*P A"]


class Basis(eqx.Module):
    """Few functions of one object and of a pair, ready to be evaluated."""

    alone: SparseGP
    pair: SparseGP
    whiten_alone: Float[Array, "M M"]
    whiten_pair: Float[Array, "M M"]
    alone_coordinates: AbstractAloneCoordinates
    pair_coordinates: AbstractPairCoordinates


class Rates(eqx.Module):
    """Mean rates of all objects at the middle of all intervals, and how much each counts."""

    states: Float[Array, "*P J A D"]
    rates: Float[Array, "*P J A R"]
    weights: Float[Array, "*P J A"]
    neighbours: Bool[Array, "*P A A"]
    exists: Bool[Array, "*P A"]


def gather(windows: Window, layout: Layout, *, key: Key) -> Evidence:
    """Of accelerations, where the state has velocities, otherwise of velocities."""
    seen = observed_rates(windows, layout)
    basis = _basis(seen, layout, key=key)
    return _gather(basis, seen)


def slots(layout: Layout, objects: int) -> int:
    """How many weights the square form of one object has."""
    return CENTRES * (layout.spatial + objects)


def observed_rates(windows: Window, layout: Layout) -> Rates:
    """Errors are expected in proportion to a rate's size, and not below those of typical ones."""
    moving = layout.spatial * layout.vectors
    seen = finite_differences(windows, layout)
    rates = seen.rates[..., moving - layout.spatial : moving]
    size = jnp.sqrt(jnp.sum(rates**2, axis=-1))
    typical = jnp.nanmedian(jnp.where(seen.known, size, jnp.nan))
    width = RESIDUAL * jnp.sqrt(typical**2 + size**2)
    return Rates(
        states=(0.5 * (seen.states + seen.after))[..., :moving],
        rates=rates,
        weights=jnp.where(seen.known & (width > 0), 1.0 / jnp.where(width > 0, width, 1.0), 0.0),
        neighbours=windows.neighbours,
        exists=jax.vmap(lambda window: window.exists)(windows),
    )


@eqx.filter_jit
def _gather(basis: Basis, seen: Rates) -> Evidence:
    def of_sequence(seen: Rates) -> Evidence:
        design = _design(basis, seen) * seen.weights[..., None, None]  # (J, A, R, n)
        rates = seen.rates * seen.weights[..., None]
        return Evidence(
            gram=jnp.einsum("jarn,jarm->anm", design, design),
            products=jnp.einsum("jarn,jar->an", design, rates),
            squares=jnp.sum(rates**2, axis=(0, 2)),
            exists=seen.exists,
        )

    return jax.lax.map(of_sequence, seen)


def _design(basis: Basis, seen: Rates) -> Float[Array, "J A R n"]:
    """How the rates of each object depend on the weights of its slots."""
    (J, A, _), R = seen.states.shape, seen.rates.shape[-1]
    own = _actors(seen.states)
    hearing = _actors(seen.states.repeat(A, axis=1))
    heard = _actors(jnp.tile(seen.states, (1, A, 1)))
    alone = basis_rows(basis.alone, basis.alone_coordinates, basis.whiten_alone, own)
    pairs = basis_rows(basis.pair, basis.pair_coordinates, basis.whiten_pair, hearing, heard)
    audible = seen.neighbours[None] & (seen.weights > 0)[:, None, :]  # (J, A, A)
    pairs = jnp.where(audible[..., None, None], pairs.reshape(J, A, A, R, -1), 0.0)
    pairs = jnp.swapaxes(pairs, 2, 3).reshape(J, A, R, -1)
    return jnp.concatenate([alone.reshape(J, A, R, -1), pairs], axis=-1)


def _actors(states: Float[Array, "*b D"]) -> Actor:
    flat = states.reshape(-1, states.shape[-1])
    nothing = jnp.zeros((flat.shape[0], 0), flat.dtype)
    return Actor(flat, nothing, nothing)


def _basis(seen: Rates, layout: Layout, *, key: Key) -> Basis:
    """Centres where the data are."""
    key_rows, key_alone, key_pair = jax.random.split(key, 3)
    alone_coordinates = ALONE["axis"](Layout(layout.spatial, layout.has_velocity), 1)
    pair_coordinates = PAIR["central"](Layout(layout.spatial, has_velocity=False), 1)
    P, J, A, _ = seen.states.shape
    states = seen.states.reshape(P * J, A, -1)
    known = (seen.weights > 0).reshape(P * J, A)
    frames, objects = some_rows(known, ROWS, key=key_rows)
    everyone_else = np.arange(A)[None, :] != objects[:, None]
    rows, others = np.nonzero(np.asarray(known)[frames] & everyone_else)
    if len(rows) == 0:  # nobody ever has company: f_b exists but is never used
        rows, others = np.arange(len(frames)), objects
    own = _actors(states[frames, objects])
    pairs = _actors(states[frames[rows], objects[rows]]), _actors(states[frames[rows], others])
    alone = _process(jax.vmap(alone_coordinates.inputs)(own), layout.spatial, key=key_alone)
    pair = _process(jax.vmap(pair_coordinates.inputs)(*pairs), 1, key=key_pair)
    return Basis(alone, pair, whitener(alone), whitener(pair), alone_coordinates, pair_coordinates)


def _process(inputs: Float[Array, "*b I"], outputs: int, *, key: Key) -> SparseGP:
    x = np.asarray(inputs, np.float64).reshape(-1, inputs.shape[-1])
    kernel = KERNELS[KERNEL](np.full(x.shape[1], STEEPNESS))
    process = SparseGP.init(
        x.shape[1], out_size=outputs, num_inducing=CENTRES, kernel=kernel, key=key
    )
    return process.adapted_to(x, np.ones(outputs), key=key)
