"""Are laws of simulated systems found, with honest bands? `python benchmarks/laws.py --help`

`swarm`: noise and f_b of a swarm seen as noisy positions, against the truth, and its forecasts.
`calibration`: laws drawn from the prior, each fitted to a few noisy paths that follow it; where
among draws from the posterior does the true f_b stand? Uniform ranks are honest bands.
"""

import time
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from rows import append
from scipy.stats import kstest

import comotion as cm
from comotion._types import EXACT, FAST
from comotion.config import Recipe, Stage, SystemConfig
from comotion.config import replace as changed
from comotion.coordinates.layout import Layout
from comotion.data.scaling import identity_scaling
from comotion.data.windows import to_dataset
from comotion.dynamics import InteractingDynamics, Scene
from comotion.functions import SparseGP
from comotion.functions.sparse_gp import Full
from comotion.gp.kernels import AbstractRadial
from comotion.initialise.linear_rates import with_posterior
from comotion.initialise.regression import laws_of
from comotion.initialise.shooting import Shots, shoot
from comotion.integrate import FixedSteps, trajectory
from comotion.scoring import ConstantVelocity, OUAcceleration, Protocol, roll, score_at
from comotion.scoring.finished import at_rows
from comotion.simulate import AGENT_SCENES
from comotion.systems.build import build_dynamics
from comotion.train.fit import prepare, run_config

NOISE = 0.01
PLACES = 500
BAND_95 = 1.96
PARTS = {
    "alone": "speed",
    "pair": "distance",
    "contacts": "off",
    "covariance": "full",
    "inducing_alone": 12,
    "inducing_pair": 40,
}
SHOOTING = Recipe(name="shooting", stages=(Stage(10, 0, 1e-2),), regression=True, shooting=4)
SWARM_PROTOCOL = Protocol(5, 75)


@dataclass(frozen=True)
class Options:
    """Rows of some kinds."""

    kinds: Annotated[tuple[Literal["swarm", "calibration"], ...], tyro.conf.Positional] = (
        "swarm",
        "calibration",
    )
    seeds: int = 1
    """swarms"""
    sequences: int = 60
    """to learn each swarm from; 20 more are forecast"""
    forecasts: bool = False
    """whether forecasts are scored, too"""
    laws: int = 40
    """for calibration"""


def main(options: Options) -> None:
    if "swarm" in options.kinds:
        for seed in range(options.seeds):
            swarm(seed, options.sequences, options.forecasts)
    if "calibration" in options.kinds:
        calibration(options.laws)


def swarm(seed: int, sequences: int, forecasts: bool) -> None:
    """With seed 0 and 60 sequences these are the data of the swarm in `real.py`."""
    total = max(100, sequences + 40)
    clean = cm.simulate.agents("swarm", sequences=total, velocities=False, seed=seed)
    noise = NOISE * np.random.default_rng(seed).standard_normal(clean.values.shape)
    noisy = replace(clean, values=clean.values + noise)
    train, _, test = noisy.split(sequences, total - sequences - 20, 20)
    started = time.perf_counter()
    fitted, _ = prepare(
        train, run_config("comotion", SHOOTING, seed, PARTS), key=jax.random.key(seed)
    )
    scale, unit = float(fitted.scaling.scale[0]), float(fitted.scaling.time)
    sd = np.exp(0.5 * np.asarray(fitted.model.observation.log_noise_variance)) * scale
    about = {
        "what": "swarm",
        "seed": seed,
        "sequences": sequences,
        "noise": [short(value) for value in sd],
        **force_error(fitted, clean.values, scale, scale / unit**2),
        "seconds": round(time.perf_counter() - started, 1),
    }
    append("laws", about | (forecast_scores(fitted, train, test, seed) if forecasts else {}))


def force_error(fitted: cm.FittedModel, x: np.ndarray, length: float, force: float) -> dict:
    """Over the distances that occur: f_b of one agent on another, and its band."""
    gaps = np.linalg.norm(x[:, :, :, None] - x[:, :, None], axis=-1)
    apart = gaps[:, :, ~np.eye(x.shape[2], dtype=bool)].ravel()
    r = np.quantile(apart, (np.arange(PLACES) + 0.5) / PLACES)
    law = AGENT_SCENES["swarm"].law
    truth = -r * np.asarray(law.gap[0, 0](jnp.asarray(r))) / x.shape[2]
    pair = fitted.model.dynamics.functions()["f_b"]
    assert isinstance(pair, SparseGP)
    mean, covariance = pair.posterior(jnp.asarray(r / length)[:, None])
    sd = np.sqrt(np.diagonal(np.asarray(covariance)[0])) * force
    error = np.asarray(mean)[:, 0] * force - truth
    return {
        "L2 error of f_b": short(float(np.sqrt(np.mean(error**2) / np.mean(truth**2)))),
        "95 % band holds": short(float(np.mean(np.abs(error) <= BAND_95 * sd))),
    }


def forecast_scores(
    fitted: cm.FittedModel, train: cm.Trajectories, test: cm.Trajectories, seed: int
) -> dict:
    """Beside constant velocity and a Kalman filter, on frames that were not seen."""
    origins = roll(test, SWARM_PROTOCOL)
    ahead = origins.windows.times[:, origins.seen :]
    forecast = fitted.predict(
        origins.seen_windows(), times=ahead, origin="last", draws=50, seed=seed, moves=100
    )
    found = {"model": at_rows(forecast.dataset, origins)}
    for title, kind in {"constant velocity": ConstantVelocity, "Kalman": OUAcceleration}.items():
        found[title] = kind.fit(train, SWARM_PROTOCOL).forecast(origins)
    scores = {title: score_at(predicted, origins) for title, predicted in found.items()}
    held = scores["model"].by_lead("coverage_90")
    return {
        **{
            f"CRPS, {title}": short(float(np.mean(each.by_lead("crps"))))
            for title, each in scores.items()
        },
        "coverage_90 first, middle, last": [short(held[h]) for h in (0, len(held) // 2, -1)],
    }


def short(value: float) -> float:
    return float(f"{value:.4g}")


OBJECTS, FRAMES, SEQUENCES, STEP = 4, 10, 6, 0.1
REACH, LENGTHSCALE, INDUCING, DRAWS = 4.0, 0.8, 12, 99
PLACES_OF_RANKS = (0.75, 1.5, 2.25)


def calibration(laws: int) -> None:
    """The prior is what the fit believes, hyperparameters included: any bias is the fit's own."""
    dynamics = prior_dynamics()
    started = time.perf_counter()
    ranks = np.array([rank_of(dynamics, seed) for seed in range(laws)])  # (laws, places)
    row = {"what": "calibration", "laws": laws, "draws": DRAWS, "distances": PLACES_OF_RANKS}
    row["ranks"] = ranks.tolist()
    shares = (ranks + 0.5) / (DRAWS + 1)
    row["p-value of uniform ranks, by distance"] = [
        short(kstest(column, "uniform").pvalue) for column in shares.T
    ]
    row["90 % band holds"] = short(float(np.mean(np.abs(shares - 0.5) < 0.45)))
    append("laws", row | {"seconds": round(time.perf_counter() - started, 1)})


def prior_dynamics() -> InteractingDynamics:
    """f_b of distance with the prior as its posterior; draws of it are draws of the prior."""
    config = changed(
        SystemConfig(),
        alone="none",
        pair="distance",
        order=2,
        covariance="full",
        inducing_pair=INDUCING,
    )
    dynamics = build_dynamics(config, Layout(2), OBJECTS, key=jax.random.key(0))
    assert isinstance(dynamics, InteractingDynamics)
    assert isinstance(dynamics.pair, SparseGP)
    places = jnp.linspace(0.0, REACH, INDUCING, dtype=FAST)[:, None]
    pair = replace(
        dynamics.pair,
        inducing_inputs=places,
        covariance=Full(jnp.zeros((1, INDUCING, INDUCING), FAST)),
    )
    assert isinstance(pair.kernel, AbstractRadial)
    by = np.exp(-np.asarray(pair.kernel.log_lengthscales)) * LENGTHSCALE
    return replace(dynamics, pair=replace(pair, kernel=pair.kernel.stretched(by)))


def rank_of(dynamics: InteractingDynamics, seed: int) -> list[int]:
    """Of the true f_b among draws from its posterior, at each of the distances."""
    truth, states = follow(dynamics, jax.random.key(seed))
    stream = np.random.default_rng(seed)
    seen = np.asarray(states)[..., :2] + NOISE * stream.standard_normal((*states.shape[:-1], 2))
    data = cm.Trajectories.from_arrays(seen, np.tile(STEP * np.arange(FRAMES), (SEQUENCES, 1)))
    windows = to_dataset(data, identity_scaling(2, 0)).windows
    velocity = (seen[:, 2] - seen[:, 0]) / (2 * STEP)
    starts = jnp.asarray(np.concatenate([seen[:, 0], velocity], axis=-1), EXACT)
    laws = laws_of(dynamics)
    found = shoot(laws, Shots(windows, starts), steps=5)
    assert found is not None
    _, pair = with_posterior(laws, found.fit.weights, found.precision, marginal=True)
    mean, covariance = pair.posterior(jnp.asarray(PLACES_OF_RANKS)[:, None])
    drawn = stream.multivariate_normal(
        np.asarray(mean)[:, 0], np.asarray(covariance)[0], size=DRAWS
    )
    return [int(rank) for rank in (drawn < np.asarray(truth)).sum(axis=0)]


@jax.jit
def follow(dynamics: InteractingDynamics, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """f_b of a law from the prior at the distances, and paths that obey it."""
    key_law, key_starts = jax.random.split(key)
    field = dynamics.draw(key=key_law)
    truth = field.pair(jnp.asarray(PLACES_OF_RANKS, FAST)[:, None])[:, 0]
    spread = jnp.asarray([1.0, 1.0, 0.5, 0.5], FAST)
    starts = jax.random.normal(key_starts, (SEQUENCES, OBJECTS, 4), FAST) * spread
    nothing = jnp.zeros((OBJECTS, 0), FAST)
    there = jnp.ones(OBJECTS, bool)
    scene = Scene(nothing, nothing, ~jnp.eye(OBJECTS, dtype=bool), there)

    def rates(states: jax.Array, *_: object) -> jax.Array:
        return field(states, scene)

    def path(start: jax.Array) -> jax.Array:
        times = STEP * jnp.arange(FRAMES, dtype=FAST)
        return trajectory(FixedSteps(4), rates, start, times, jnp.zeros(FRAMES - 1))

    return truth, jax.vmap(path)(starts)


if __name__ == "__main__":
    main(tyro.cli(Options))
