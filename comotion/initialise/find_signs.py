"""Signs of objects found together with the law that multiplies them, before anything is known.

A sign is either right or wrong, so even a rough law tells most of them: any push that falls with
distance, of the size that accelerations have. The law is regressed under these, and reads them
again.
"""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import FAST
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window
from comotion.encode.signs import SignReader, sign_reader
from comotion.functions import SparseGP

SIZES = (0.1, 0.3, 1.0, 3.0)
"""Of a first guess, in units of what typical accelerations at a typical distance ask for."""
ROUNDS = 3
FEW = 30
"""Sequences that the first guess is chosen on."""


def find_signs(
    windows: Window,
    layout: Layout,
    places: Float[np.ndarray, " M"],
    frames: int,
    regress: Callable[[Window], SparseGP],
) -> tuple[Window, SignReader]:
    """`regress` gives the push of a law under properties; `places` are logarithms of distances."""
    blank = sign_reader(layout, places=len(places), frames=frames)
    blank = dataclasses.replace(blank, places=jnp.asarray(places, FAST))
    reader = _first_guess(blank, windows)
    windows = with_signs(reader, windows)
    for _ in range(ROUNDS):
        reader = reader_of(blank, regress(windows), windows)
        windows = with_signs(reader, windows)
    return windows, reader


def with_signs(reader: SignReader, windows: Window) -> Window:
    signs, _ = _read(reader, windows)
    return eqx.tree_at(lambda w: w.properties, windows, signs)


def reader_of(blank: SignReader, push: SparseGP, windows: Window) -> SignReader:
    """The mean push in tables, and what it leaves of changes of velocity under the known signs."""
    tables = push.posterior(blank.places[:, None])[0].T.astype(FAST)
    reader = dataclasses.replace(blank, pushes=tables)
    left = _left(reader, windows)
    size = max(float(jnp.sqrt(jnp.median(left))), 1e-6)
    return dataclasses.replace(reader, log_noise=jnp.asarray(np.log(size), FAST))


def _first_guess(blank: SignReader, windows: Window) -> SignReader:
    """Falling as 1/r², repelling or attracting objects of the same sign."""
    few = windows[:FEW]
    nothing = dataclasses.replace(blank, pushes=jnp.zeros_like(blank.pushes))
    usual = float(jnp.sqrt(jnp.median(_left(nothing, few))))
    steps = np.diff(np.asarray(windows.times))
    middle = float(jnp.median(blank.places))
    falling = np.exp(2 * middle - np.asarray(blank.places)) * usual / np.median(steps[steps > 0])
    noise = jnp.asarray(np.log(usual), FAST)
    guesses = [
        dataclasses.replace(
            blank,
            pushes=jnp.asarray(np.stack([0 * falling, size * falling]), FAST),
            log_noise=noise,
        )
        for size in (*SIZES, *(-s for s in SIZES))
    ]
    return max(guesses, key=lambda guess: float(jnp.sum(_read(guess, few)[1])))


@eqx.filter_jit
def _read(reader: SignReader, windows: Window) -> tuple[Float[Array, "P A 1"], Float[Array, " P"]]:
    """The likeliest signs of each sequence, and how likely they are."""

    def of_sequence(window: Window) -> tuple[Array, Array]:
        belief = reader(window)
        return belief.likeliest, jnp.max(belief.log_weights)

    return jax.lax.map(of_sequence, windows)


@eqx.filter_jit
def _left(reader: SignReader, windows: Window) -> Float[Array, " n"]:
    """Squared changes of velocity for each axis that the law does not explain; NaN if unknown."""

    def of_sequence(window: Window) -> Array:
        left, known = reader.unexplained(window, window.properties[:, 0])
        return jnp.where(known, jnp.mean(left**2, axis=-1), jnp.nan)

    squares = jax.lax.map(of_sequence, windows).reshape(-1)
    return jnp.where(jnp.isnan(squares), jnp.nanmedian(squares), squares)
