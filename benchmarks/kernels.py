"""How well are known interaction kernels found? `python benchmarks/kernels.py --help`

The laws of the literature with its numbers of trajectories, times and noise; derivatives are given
with the data except for continuous opinion. One row per kernel: error in L2(ρ), ρ the distribution
of pair distances over many trajectories, of a piecewise-linear least-squares fit.
"""

import time
from dataclasses import dataclass
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from piecewise import PiecewiseKernels, Term, fit_piecewise
from rows import append

import comotion as cm
from comotion.simulate import AGENT_SCENES, AgentLaw

MANY = 200
MOST_MOMENTS = 2000  # the design of all 101 000 of Lennard-Jones would take 2 GB


@dataclass(frozen=True)
class Noise:
    """Standard deviation, of every number or as a share of it."""

    size: float = 0.0
    multiplicative: bool = False

    def on(self, values: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        scale = np.abs(values) if self.multiplicative else 1.0
        return values + self.size * scale * stream.standard_normal(values.shape)


NOISE = {
    "cucker-smale": Noise(),
    "fish-milling": Noise(0.01),
    "anticipation": Noise(0.1, multiplicative=True),
    "stubborn-opinion": Noise(0.05),
    "lennard-jones": Noise(0.001, multiplicative=True),
    "opinion": Noise(0.1),
    "predator-prey": Noise(),
    "swarm": Noise(0.01),
}


@dataclass(frozen=True)
class Options:
    """Rows for some of the laws."""

    laws: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """names of laws; all of them if none is given"""
    seeds: int = 3


def main(options: Options) -> None:
    for name in options.laws or NOISE:
        for seed in range(options.seeds):
            judge(name, seed)


def judge(name: str, seed: int) -> None:
    scene, noise = AGENT_SCENES[name], NOISE[name]
    data = cm.simulate.agents(name, seed=seed)
    kinds, d = scene.kinds(scene.objects), scene.dimension
    flat = data.values.reshape(-1, *data.values.shape[2:])
    x, v = flat[..., :d], flat[..., d:]
    stream = np.random.default_rng(seed)
    given = v if scene.law.order == 1 else rates(scene.law, x, v, kinds)
    x, v, given = (noise.on(part, stream) for part in (x, v, given))
    if name == "opinion":
        x, v, given = slopes(x.reshape(*data.values.shape[:3], d), scene.step)
    if scene.law.own is not None:
        given = given - np.asarray(scene.law.own(jnp.asarray(v)))
    some = np.linspace(0, len(x) - 1, min(len(x), MOST_MOMENTS)).astype(int)
    x, v, given = x[some], v[some], given[some]
    terms: list[Term] = [("gap", pair) for pair in scene.law.gap]
    terms += [("alignment", pair) for pair in scene.law.alignment]
    started = time.perf_counter()
    found = fit_piecewise(x, v, given, kinds, terms)
    seconds = time.perf_counter() - started
    distances = pair_distances(name)
    for term in terms:
        append("kernels", row(name, seed, term, scene.law, found, distances[term[1]], seconds))


def rates(law: AgentLaw, x: np.ndarray, v: np.ndarray, kinds: tuple[int, ...]) -> np.ndarray:
    return np.asarray(jax.vmap(lambda x, v: law.rate(x, v, kinds))(jnp.asarray(x), jnp.asarray(v)))


def slopes(path: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and their central differences, where derivatives are not given."""
    middle = path[:, 1:-1]
    slope = (path[:, 2:] - path[:, :-2]) / (2 * step)
    shape = (-1, *path.shape[2:])
    return middle.reshape(shape), slope.reshape(shape), slope.reshape(shape)


def pair_distances(name: str) -> dict[tuple[int, int], np.ndarray]:
    """Between an agent of one kind and one of another, over many trajectories never fitted."""
    scene = AGENT_SCENES[name]
    data = cm.simulate.agents(name, sequences=MANY, seed=10_000)
    kind = np.array(scene.kinds(scene.objects))
    x = data.values[..., : scene.dimension]
    r = np.linalg.norm(x[:, :, :, None] - x[:, :, None], axis=-1)
    other = ~np.eye(len(kind), dtype=bool)
    return {
        (k, m): r[:, :, (kind[:, None] == k) & (kind[None] == m) & other].ravel()
        for k in set(kind.tolist())
        for m in set(kind.tolist())
    }


def row(
    name: str,
    seed: int,
    term: Term,
    law: AgentLaw,
    found: PiecewiseKernels,
    r: np.ndarray,
    seconds: float,
) -> dict:
    what, pair = term
    truth = np.asarray(getattr(law, what)[pair](jnp.asarray(r)))
    error = found[term](r) - truth
    low, high = np.quantile(r, [0.01, 0.99])
    usual = (low <= r) & (r <= high)
    return {
        "law": name,
        "kernel": f"{what} {pair[0]}{pair[1]}",
        "fit": "piecewise linear least squares",
        "seed": seed,
        "knots": len(found.knots[term]),
        "L2 error": share((error**2).mean(), (truth**2).mean()),
        "L2 error of r φ": share(((r * error) ** 2).mean(), ((r * truth) ** 2).mean()),
        "Linf error": float(f"{np.abs(error[usual]).max() / np.abs(truth[usual]).max():.3g}"),
        "seconds": round(seconds, 2),
    }


def share(error: float, size: float) -> float:
    return float(f"{np.sqrt(error / size):.3g}")


if __name__ == "__main__":
    main(tyro.cli(Options))
