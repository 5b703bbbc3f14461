"""The fair CRPS of forecasts from the last frame seen, over all leads of windows of the data.

A proper score: it is best in expectation where the forecast's distribution is the data's own. The
fair estimator is unbiased for any number of draws, so a few are enough to follow its gradient.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float

from comotion._types import Key, Keys
from comotion.backend.devices import over_parts
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, Window, cut
from comotion.model.model import Beliefs, Model


class ForecastScore(eqx.Module):
    """Sums over the values that were forecast and are known."""

    total: Float[Array, "*parts"]
    count: Float[Array, "*parts"]

    @property
    def mean(self) -> Float[Array, ""]:
        return self.total / jnp.maximum(self.count, 1.0)


def forecast_score(
    model: Model,
    windows: Window,
    scale: Float[Array, "H O"],
    *,
    draws: int,
    key: Key,
    mesh: Mesh | None = None,
) -> ForecastScore:
    """Of a batch of windows whose last H frames are to be forecast from the frames before.

    Each value's score is divided by `scale` of its lead and feature. The devices of the mesh share
    the windows; chance does not depend on how many they are.
    """
    size = windows.times.shape[0]
    key_laws, key_states = jax.random.split(key)
    laws = jax.random.split(key_laws, draws)
    keys = jax.random.split(key_states, (size, draws))

    def part(shared: tuple[Model, Keys, Array], windows: Window, keys: Keys) -> ForecastScore:
        score = _score(*shared, windows, keys)
        return jax.tree.map(lambda term: term[None], score)

    parts = over_parts(part, mesh, (model, laws, scale), windows, keys)
    return jax.tree.map(jnp.sum, parts)


def _score(
    model: Model, laws: Keys, scale: Float[Array, "H O"], windows: Window, keys: Keys
) -> ForecastScore:
    seen = windows.times.shape[1] - scale.shape[0]
    draws = draw_forecasts(model, windows, seen, laws, keys)
    truth = windows.values[:, seen:]
    scores = fair_crps(draws, truth) / scale[None, :, None, :]
    counts = windows.present[:, seen:] & followed(windows, seen)[:, None, :, None]
    total = jnp.sum(jnp.where(counts, scores, 0.0))
    return ForecastScore(total, jnp.sum(counts).astype(total.dtype))


def draw_forecasts(
    model: Model, windows: Window, seen: int, laws: Keys, keys: Keys
) -> Float[Array, "L P H A O"]:
    """Observations after the frames seen; each law for all windows."""
    past, ahead = jax.vmap(lambda window: _halves(window, seen))(windows)
    excerpts = Excerpt(past, past)
    beliefs = jax.vmap(model.encode)(excerpts)

    def under(pair: tuple[Key, Keys]) -> Float[Array, "P H A O"]:
        field = model.dynamics.draw(key=pair[0])

        def forecast(beliefs: Beliefs, excerpt: Excerpt, ahead: Window, key: Key) -> Array:
            key_start, key_follow, key_noise = jax.random.split(key, 3)
            start = model.draw_start(beliefs, excerpt, key=key_start)
            states, _ = model.follow_noisy(field, start, ahead, ahead.grid, key=key_follow)
            means = model.observation.decoder(states[1:])
            noise = standard_normal(means.shape, means.dtype, key=key_noise)
            return means + noise * jnp.sqrt(beliefs.noise_variance)[None, None]

        return jax.vmap(forecast)(beliefs, excerpts, ahead, pair[1])

    return jax.vmap(under)((laws, keys.T))


def followed(windows: Window, seen: int) -> Bool[Array, "P A"]:
    """Objects that are there in the last frame seen and in one before."""
    there = jnp.all(windows.present[:, :seen], axis=-1)
    return there[:, -1] & (jnp.sum(there, axis=1) > 1)


def fair_crps(draws: Float[Array, "L *b"], truth: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """Mean distance of the draws from the truth, minus half of that between two of them."""
    L = draws.shape[0]
    weights = jnp.arange(1 - L, L, 2, dtype=draws.dtype) / (L * (L - 1))
    between = jnp.tensordot(weights, jnp.sort(draws, axis=0), axes=1)
    return jnp.mean(jnp.abs(draws - truth[None]), axis=0) - between


def _halves(window: Window, seen: int) -> tuple[Window, Window]:
    """The frames seen, and from the last of them on; who was there then stays."""
    frames = window.times.shape[0]
    past = cut(window, jnp.zeros((), jnp.int32), seen)
    ahead = cut(window, jnp.asarray(seen - 1), frames - seen + 1)
    staying = jnp.broadcast_to(past.alive[-1][None], ahead.alive.shape)
    return past, eqx.tree_at(lambda w: w.alive, ahead, staying)
