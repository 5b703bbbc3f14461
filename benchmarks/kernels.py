"""How well are known interaction kernels found? `python benchmarks/kernels.py --help`

The laws of the literature with its numbers of trajectories, times and noise; derivatives are given
with the data except for continuous opinion. One row per kernel and fit: error in L2(ρ), ρ the
distribution of pair distances over many trajectories, of a piecewise-linear least-squares fit and
of our Gaussian process with its band. Both see the same moments, and what is chosen is chosen by
evidence.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from piecewise import fit_piecewise
from rows import append

import comotion as cm
from comotion.initialise.distance_kernels import Term, learn_kernels
from comotion.simulate import AGENT_SCENES, AgentLaw

MANY = 200
PLACES = 2000
"""Quantiles of the pair distances, at which laws are compared."""
BAND_95 = 1.96
MOST_MOMENTS = 2000  # the least-squares design of all 101 000 of Lennard-Jones would take 2 GB


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


@dataclass(frozen=True, eq=False)
class Moments:
    """What both fits see: T moments of any trajectories, `given` without the agents' own forces."""

    x: np.ndarray
    v: np.ndarray
    given: np.ndarray
    kinds: tuple[int, ...]
    order: int


@dataclass(frozen=True)
class Options:
    """Rows for some of the laws."""

    laws: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """names of laws; all of them if none is given"""
    seeds: int = 3
    fits: tuple[str, ...] = ("least squares", "Gaussian process")


def main(options: Options) -> None:
    for name in options.laws or NOISE:
        for seed in range(options.seeds):
            judge(name, seed, options.fits)


def judge(name: str, seed: int, fits: tuple[str, ...]) -> None:
    scene, seen = AGENT_SCENES[name], moments(name, seed)
    terms = [Term("gap", pair) for pair in scene.law.gap]
    terms += [Term("alignment", pair) for pair in scene.law.alignment]
    distances = pair_distances(name)
    for fit in fits:
        started = time.perf_counter()
        about, found = FITS[fit](seen, terms)
        about |= {"law": name, "seed": seed, "seconds": round(time.perf_counter() - started, 2)}
        for term in terms:
            append("kernels", about | row(term, scene.law, found[term], distances[term.kinds]))


def moments(name: str, seed: int) -> Moments:
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
    return Moments(x[some], v[some], given[some], kinds, scene.law.order)


Kernel = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | None]]
"""φ and its standard deviation, if the fit knows any."""
Found = tuple[dict, dict[Term, Kernel]]


def by_least_squares(seen: Moments, terms: list[Term]) -> Found:
    found = fit_piecewise(seen.x, seen.v, seen.given, seen.kinds, terms)
    kernels: dict[Term, Kernel] = {
        term: lambda r, term=term: (found[term](r), None) for term in terms
    }
    return {"fit": "piecewise linear least squares"}, kernels


def by_gaussian_process(seen: Moments, terms: list[Term]) -> Found:
    """In the literature's convention: the mean over all of a kind."""
    learned = learn_kernels(seen.x, seen.v, seen.given, seen.kinds, terms)

    def kernel_of(term: Term) -> Kernel:
        count = seen.kinds.count(term.kinds[1])

        def kernel(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            mean, sd = learned.at(term, r)
            return count * mean, count * sd

        return kernel

    about = {
        "fit": "Gaussian process",
        "kernel function": f"{learned.smoothness} of {learned.input}",
    }
    return about, {term: kernel_of(term) for term in terms}


FITS = {"least squares": by_least_squares, "Gaussian process": by_gaussian_process}


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


def row(term: Term, law: AgentLaw, found: Kernel, distances: np.ndarray) -> dict:
    what, pair = term
    r = np.quantile(distances, (np.arange(PLACES) + 0.5) / PLACES)
    truth = np.asarray(getattr(law, what)[pair](jnp.asarray(r)))
    mean, sd = found(r)
    error = mean - truth
    usual = slice(PLACES // 100, -PLACES // 100)
    held = None if sd is None else float(np.mean(np.abs(error) <= BAND_95 * sd))
    return {
        "kernel": f"{what} {pair[0]}{pair[1]}",
        "L2 error": share((error**2).mean(), (truth**2).mean()),
        "L2 error of r φ": share(((r * error) ** 2).mean(), ((r * truth) ** 2).mean()),
        "Linf error": float(f"{np.abs(error[usual]).max() / np.abs(truth[usual]).max():.3g}"),
        "95 % band holds": held,
    }


def share(error: float, size: float) -> float:
    return float(f"{np.sqrt(error / size):.3g}")


if __name__ == "__main__":
    main(tyro.cli(Options))
