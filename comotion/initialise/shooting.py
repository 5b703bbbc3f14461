"""Gauss-Newton through the solver: laws, noise and the states that short windows begin with.

Rates from frame to frame are noisy and, over long frames, wrong; what is observed are positions.
Each window is followed with the mean law from a state of its own, together with the derivative of
every frame to that state and to all inducing values. Start states are eliminated window by window,
so the unknowns of the whole problem are the inducing values alone. The last step's normal equations
are their posterior.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion._types import EXACT, FAST, Key
from comotion.data.windows import Dataset, Window, cut
from comotion.initialise.linear_rates import (
    Laws,
    design_at,
    unknown_scales,
    whitener,
    with_posterior,
)
from comotion.initialise.rates import given_paths
from comotion.initialise.regression import laws_of
from comotion.initialise.shown import Shown
from comotion.integrate import FixedSteps
from comotion.model import FirstEntries, Model

FRAMES = 10
"""Of a window: long enough to average noise, short enough for a linear step."""
MOST_WINDOWS = 200
"""Each adds a chain of Jacobians: some thousand frames say enough."""
VAGUE = 1e-6
"""Precision of a start state that no frame says anything about."""
TINY = 1e-14
"""Noise of data without any."""
LEAST_FREE = 0.05
"""Share of the observations that are left when unknowns have taken theirs."""


Active = Bool[Array, " A"]


class Shots(eqx.Module):
    """Windows as measured, and the states they begin with."""

    windows: Window
    starts: Float[Array, "P A D"]


class Equations(eqx.Module):
    """Normal equations in start states (s) and unknowns (w), by feature until they are weighted."""

    ss: Float[Array, "... s s"]
    sw: Float[Array, "... s w"]
    ww: Float[Array, "... w w"]
    s: Float[Array, "... s"]
    w: Float[Array, "... w"]
    squares: Float[Array, "... O"]


def can_shoot(model: Model) -> bool:
    plain = isinstance(model.observation.decoder, FirstEntries)
    return plain and isinstance(model.integrator, FixedSteps) and model.dynamics.order == 2


class Iterate(eqx.Module):
    """Whitened inducing values of f_s and f_b, outputs first, and the state of each window."""

    weights: Float[Array, " w"]
    starts: Float[Array, "P A D"]


class Shot(eqx.Module):
    """Where the steps ended."""

    fit: Iterate
    precision: Float[Array, "w w"]
    noise: Float[Array, " O"]


def with_shooting(model: Model, shown: Shown, steps: int, *, key: Key) -> Model:
    """The law and the noise, or the model as it was if its law cannot be followed."""
    laws = laws_of(model.dynamics)
    assert isinstance(model.integrator, FixedSteps)
    shots = _shots(shown, laws.alone_coordinates.layout.state, key=key)
    found = shoot(laws, shots, steps, substeps=model.integrator.steps)
    if found is None:
        return model
    alone, pair = with_posterior(laws, found.fit.weights, found.precision, marginal=True)
    return eqx.tree_at(
        lambda m: (m.dynamics.alone, m.dynamics.pair, m.observation.log_noise_variance),
        model,
        (alone, pair, jnp.log(found.noise).astype(FAST)),
    )


def shoot(laws: Laws, shots: Shots, steps: int, *, substeps: int = 1) -> Shot | None:
    """From the means of the laws; each step is halved where it goes too far, so that nothing
    becomes worse. None if not even the start can be followed."""
    counts = jnp.sum(shots.windows.present, axis=(0, 1, 2)).astype(EXACT)
    means = [function.mean.T.reshape(-1) for function in (laws.alone, laws.pair)]
    now = Iterate(jnp.concatenate(means).astype(EXACT), shots.starts)
    best, equations, lowest = now, None, jnp.inf
    for _ in range(steps + 1):
        seen = _equations(laws, shots.windows, now, substeps=substeps)
        cost = _cost(seen, now, counts)
        if cost < lowest:
            best, equations, lowest = now, seen, cost
            now = _moved(seen, now, _noise(seen, now, counts))
        else:
            now = jax.tree.map(lambda new, old: 0.5 * (new + old), now, best)
    if equations is None:
        return None
    noise = _noise(equations, best, counts)
    return Shot(best, _system(equations, noise)[0], noise)


def _shots(shown: Shown, entries: int, *, key: Key) -> Shots:
    """Stretches of `FRAMES` frames one after the other, or some of them if there are many."""
    lengths = np.asarray(shown.measured.lengths)
    frames = min(FRAMES, int(lengths.max()))
    places = [(p, n) for p, N in enumerate(lengths) for n in range(0, N - frames + 1, frames)]
    chosen = np.asarray(jax.random.permutation(key, len(places)))[:MOST_WINDOWS]
    rows, begins = (jnp.asarray(column) for column in np.array(places)[chosen].T)

    def stretches(dataset: Dataset) -> Window:
        of_rows = jax.tree.map(lambda leaf: leaf[rows], dataset.windows)
        return jax.vmap(lambda window, begin: cut(window, begin, frames))(of_rows, begins)

    smooth = stretches(shown.smooth)
    first = jax.vmap(lambda window: window.values[window.entry, jnp.arange(len(window.entry))])
    return Shots(stretches(shown.measured), first(smooth)[..., :entries].astype(EXACT))


@partial(jax.jit, static_argnames="substeps")
def _equations(laws: Laws, windows: Window, now: Iterate, *, substeps: int) -> Equations:
    whiten = whitener(laws.alone), whitener(laws.pair)
    scales = jnp.concatenate([unknown_scales(laws.alone), unknown_scales(laws.pair)])

    def of_window(both: tuple[Window, Array]) -> Equations:
        window, start = both
        states, slopes = _flow(laws, whiten, scales, now.weights, window, start, substeps)
        features = window.values.shape[-1]
        known = window.present.astype(EXACT)
        off = (window.values.astype(EXACT) - states[..., :features]) * known
        slopes = slopes[:, :, :features] * known[..., None]
        split, flat = start.size, slopes.reshape(-1, features, slopes.shape[-1])
        J = jnp.swapaxes(flat, 0, 1)  # (O, rows, s + w)
        gram = jnp.einsum("ork,orl->okl", J, J)
        products = jnp.einsum("ork,or->ok", J, off.reshape(-1, features).T)
        return Equations(
            ss=gram[:, :split, :split],
            sw=gram[:, :split, split:],
            ww=gram[:, split:, split:],
            s=products[:, :split],
            w=products[:, split:],
            squares=jnp.sum(off**2, axis=(0, 1)),
        )

    return jax.lax.map(of_window, (windows, now.starts))


def _flow(
    laws: Laws,
    whiten: tuple[Array, Array],
    scales: Float[Array, " w"],
    weights: Float[Array, " w"],
    window: Window,
    start: Float[Array, "A D"],
    substeps: int,
) -> tuple[Float[Array, "L A D"], Float[Array, "L A D k"]]:
    """States in all frames and their derivatives to the start and the weights: RK4 of both."""
    A, D = start.shape
    layout = laws.alone_coordinates.layout

    def design(state: Float[Array, "A D"], active: Active) -> Float[Array, "A D w"]:
        nothing = jnp.zeros((1, *state.shape), EXACT)
        heard = window.neighbours & active[None, :]
        paths = given_paths(state[None], nothing, _properties(window, layout.properties), heard)
        learned = design_at(laws, paths.actors, paths, *whiten)[0] * scales[None, None]
        return jnp.concatenate([jnp.zeros((A, layout.spatial, scales.size), EXACT), learned], 1)

    def rate(flat: Float[Array, " s"], active: Active) -> tuple:
        state = flat.reshape(A, D)
        moves = active[:, None].astype(EXACT)
        rows = design(state, active) * moves[..., None]
        drift = jnp.zeros_like(state).at[:, layout.position].set(state[:, layout.velocity])
        total = (rows @ weights + drift * moves).reshape(-1)
        return total, (total, rows.reshape(A * D, -1))

    def slope(both: tuple, active: Active) -> tuple:
        flat, sensitivity = both
        F, (total, rows) = jax.jacrev(rate, has_aux=True)(flat, active)
        own = jnp.concatenate([jnp.zeros((A * D, A * D), EXACT), rows], axis=1)
        return total, F @ sensitivity + own

    def to_next(both: tuple, now: tuple[Array, Array]) -> tuple:
        step, active = now[0] / substeps, now[1]

        def substep(_: int | Int[Array, ""], both: tuple) -> tuple:
            def at(share: float, k: tuple[Array, Array]) -> tuple:
                return jax.tree.map(lambda y, dy: y + share * step * dy, both, k)

            a = slope(both, active)
            b = slope(at(0.5, a), active)
            c = slope(at(0.5, b), active)
            d = slope(at(1.0, c), active)
            return jax.tree.map(
                lambda y, a, b, c, d: y + step / 6 * (a + 2 * b + 2 * c + d), both, a, b, c, d
            )

        both = jax.lax.fori_loop(0, substeps, substep, both)
        return both, both

    identity = jnp.eye(A * D, A * D + scales.size, dtype=EXACT)
    first = start.reshape(-1), identity
    steps = jnp.diff(window.times.astype(EXACT))
    _, later = jax.lax.scan(to_next, first, (steps, window.grid.active))
    states, slopes = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, later)
    return states.reshape(-1, A, D), slopes.reshape(-1, A, D, identity.shape[1])


def _properties(window: Window, count: int) -> Float[Array, "1 A C"]:
    return window.properties[None, :, :count].astype(EXACT)


def _noise(seen: Equations, now: Iterate, counts: Float[Array, " O"]) -> Float[Array, " O"]:
    """Variances; start states and weights took away as many degrees of freedom as there are."""
    taken = (now.starts.size + now.weights.size) / jnp.sum(counts)
    return (jnp.sum(seen.squares, axis=0) / counts + TINY) / jnp.maximum(1.0 - taken, LEAST_FREE)


def _cost(seen: Equations, now: Iterate, counts: Float[Array, " O"]) -> Float[Array, ""]:
    """-2 log posterior where the noise is what it seems to be; NaN and too far are both no gain."""
    variances = jnp.sum(seen.squares, axis=0) / counts + TINY
    return jnp.sum(counts * jnp.log(variances)) + jnp.sum(now.weights**2)


def _eliminated(
    seen: Equations, noise: Float[Array, " O"]
) -> tuple[Equations, Float[Array, "P s w"], Float[Array, "P s"]]:
    """Weighted by the noise, with what the start states would be for any weights."""
    weighted = jax.tree.map(lambda leaf: jnp.einsum("po...,o->p...", leaf, 1.0 / noise), seen)
    identity = jnp.eye(weighted.ss.shape[-1], dtype=EXACT)
    factors = jnp.linalg.cholesky(weighted.ss + VAGUE * identity[None])
    solve = jax.vmap(lambda factor, rows: jax.scipy.linalg.cho_solve((factor, True), rows))
    return weighted, solve(factors, weighted.sw), solve(factors, weighted.s)


def _system(
    seen: Equations, noise: Float[Array, " O"]
) -> tuple[Float[Array, "w w"], Float[Array, " w"], Float[Array, "P s w"], Float[Array, "P s"]]:
    """Of the weights alone, in their prior N(0, I)."""
    weighted, by_weights, alone = _eliminated(seen, noise)
    gram = jnp.sum(weighted.ww - jnp.einsum("psw,psv->pwv", weighted.sw, by_weights), axis=0)
    products = jnp.sum(weighted.w - jnp.einsum("psw,ps->pw", weighted.sw, alone), axis=0)
    return jnp.eye(len(gram), dtype=EXACT) + gram, products, by_weights, alone


@jax.jit
def _moved(seen: Equations, now: Iterate, noise: Float[Array, " O"]) -> Iterate:
    precision, products, by_weights, alone = _system(seen, noise)
    step = jnp.linalg.solve(precision, products - now.weights)
    starts = alone - jnp.einsum("psw,w->ps", by_weights, step)
    return Iterate(now.weights + step, now.starts + starts.reshape(now.starts.shape))
