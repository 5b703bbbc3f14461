"""How likely the frames are under laws of many structures: in closed form, nothing is trained.

A Kalman filter whose noise was learned foretells each frame as if there were no law; what it is
surprised by is white. A law pushes beside: what each function of it would have added to every
surprise is found by the same filter, so surprises are a linear model of the law, and the evidence
of any structure is known. Laws are asked at the filter's states, of which no later frame has a
say; so where there is no law, none gains more than chance.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import solve_triangular

from comotion.backend.processor import RUNS_ONCE
from comotion.data import Trajectories
from comotion.identification.pushes import COLUMNS, Stretches, pushes_of, stretches_of
from comotion.identification.structures import Kind
from comotion.scoring import DampedVelocity, OUAcceleration, Protocol, Wandering, WhiteAcceleration
from comotion.scoring.kalman import AbstractKalman
from comotion.scoring.kalman_filter import Driven, Foretold, Parameters, foretell
from comotion.scoring.tracks import KalmanTracks, TrackUnits, tracks_of_rows

NULLS: Mapping[str, type[AbstractKalman]] = {
    "constant velocity": WhiteAcceleration,
    "damped velocity": DampedVelocity,
    "lasting acceleration": OUAcceleration,
    "wandering": Wandering,
}
"""Motion without a law, with the noise that makes the frames likeliest."""
FIRST_ORDER = "wandering"
"""What is left to noise beside a law of velocities."""
NO_LAW = Kind()
ENOUGH = 10.0
"""Nats that f_s and f_b have to be worth, each: chance gives them once in 20 000."""
ALONE_OF = {2: ("none", "speed", "raw"), 1: ("none", "raw")}
PAIR_OF = {2: ("none", "distance", "radial", "body"), 1: ("none", "distance")}
CALMER = 0.5
MOST_CALMER = 8
"""With a law less is left to noise: it is halved while that helps."""
SCALES = 10.0 ** np.arange(-1.0, 7.5, 0.5)
"""Variance of a law's functions, in units of what all frames together would show by chance."""
SWEEPS = 2
TINY = 1e-300
Part = tuple[str, str]


@dataclass(frozen=True, eq=False)
class EvidenceOfLaws:
    """Log evidence in nats over the likeliest motion without a law."""

    nulls: Mapping[str, float]
    """of motion without a law, by what it is called"""
    filters: Mapping[str, AbstractKalman]
    laws: Mapping[Kind, float]

    @property
    def null(self) -> str:
        return max(self.nulls, key=lambda name: self.nulls[name])

    @property
    def favourite(self) -> Kind:
        """The likeliest, where each part of it has to be worth it."""
        known = {NO_LAW: 0.0, **self.laws}
        return max(known, key=lambda kind: known[kind] - ENOUGH * len(_parts(kind)))

    def is_worth(self, kind: Kind) -> bool:
        """Whether it is likelier than no law, beyond what chance gives."""
        return self.laws.get(kind, 0.0) > ENOUGH * len(_parts(kind))

    def nats(self, kind: Kind | None) -> float | None:
        """None of what was not weighed."""
        return 0.0 if kind == NO_LAW else self.laws.get(kind) if kind else None


def evidence_of(train: Trajectories, protocol: Protocol, nearest: int) -> EvidenceOfLaws:
    """Of every kind of law that these objects might obey, each hearing so many others."""
    stretches = stretches_of(train)
    filters = {name: kind.fit(train, protocol) for name, kind in NULLS.items()}
    listeners = {name: _Listener(stretches, each) for name, each in filters.items()}
    alike = {name: listener.without_law() for name, listener in listeners.items()}
    null = max(alike, key=lambda name: alike[name])
    second = max(alike.keys() - {FIRST_ORDER}, key=lambda name: alike[name])
    laws = listeners[second].of_laws(list(_kinds(2, train)), nearest)
    if not train.velocities_observed:
        # How noisy a recording is does not depend on the law; without its law, wandering has none.
        noise = filters[second].parameters.noise
        wandering = replace(
            filters[FIRST_ORDER], parameters=filters[FIRST_ORDER].parameters._replace(noise=noise)
        )
        laws |= _Listener(stretches, wandering).of_laws(list(_kinds(1, train)), nearest)
    return EvidenceOfLaws(
        {name: value - alike[null] for name, value in alike.items()},
        filters,
        {kind: value - alike[null] for kind, value in laws.items()},
    )


def _kinds(order: int, train: Trajectories) -> Iterator[Kind]:
    for alone in ALONE_OF[order]:
        for pair in PAIR_OF[order] if train.values.shape[2] > 1 else ("none",):
            if (alone, pair) != ("none", "none"):
                yield Kind(alone, pair, order)


def _parts(kind: Kind) -> list[Part]:
    named = (("alone", kind.alone), ("pair", kind.pair))
    return [part for part in named if part[1] != "none"]


class _Listener:
    """One filter on all stretches."""

    def __init__(self, stretches: Stretches, null: AbstractKalman):
        self.stretches, self.null = stretches, null
        W, F, A, features = stretches.data.values.shape
        self.units = TrackUnits(
            null.units.length / stretches.length, null.units.time / stretches.time
        )
        rows = np.swapaxes(stretches.data.values, 1, 2).reshape(W * A, F, features)
        times = np.repeat(stretches.data.times, A, axis=0)
        seen = stretches.data.velocities_observed
        self.tracks = tracks_of_rows(rows, times, stretches.data.spatial, seen, self.units)

    def without_law(self) -> float:
        """The log-likelihood, with less left to noise if that helps: laws may do with less, too."""
        calms = CALMER ** np.arange(MOST_CALMER)
        return max(float(self._foretold(calm).log_likelihood.sum()) for calm in calms)

    def of_laws(self, kinds: list[Kind], nearest: int) -> dict[Kind, float]:
        order = kinds[0].order
        states = self._states(order)
        names = dict.fromkeys(part for kind in kinds for part in _parts(kind))
        pushes = {
            name: self._as_tracks(pushes_of(self.stretches, states, name, nearest), order)
            for name in names
        }
        best = dict.fromkeys(kinds, -np.inf)
        for halvings in range(MOST_CALMER):
            found = self._evidence(pushes, kinds, CALMER**halvings, order)
            better = {kind: value for kind, value in found.items() if value > best[kind]}
            if not better:
                break
            best |= better
        return best

    def _evidence(
        self, pushes: dict[Part, np.ndarray], kinds: list[Kind], calm: float, order: int
    ) -> dict[Kind, float]:
        foretold = self._foretold(calm)
        surprise = np.asarray(foretold.surprise).reshape(-1)
        added = {part: self._added(columns, calm, order) for part, columns in pushes.items()}
        total = float(foretold.log_likelihood.sum())
        return {
            kind: total + _gain([added[part] for part in _parts(kind)], surprise) for kind in kinds
        }

    def _added(
        self, columns: Float[np.ndarray, "c F n"], calm: float, order: int
    ) -> Float[np.ndarray, "N c"]:
        """What each column adds to what is expected, in units of each surprise's own size."""
        about = self._parameters(calm), self.tracks, self.null.speed
        few = columns.reshape(-1, COLUMNS, *columns.shape[1:])  # one program for all laws
        added = [np.asarray(_responses(*about, each, self.null.driven, order)) for each in few]
        return np.concatenate(added).reshape(len(columns), -1).T

    def _parameters(self, calm: float) -> Parameters:
        parameters = self.null.parameters
        return parameters._replace(push=calm * parameters.push)

    def _foretold(self, calm: float) -> Foretold:
        return _foretell(self._parameters(calm), self.tracks, self.null.speed, self.null.driven)

    def _states(self, order: int) -> Float[np.ndarray, "W F A D"]:
        """After each frame, in the units of the stretches."""
        W, F, A, _ = self.stretches.data.values.shape
        d = self.stretches.data.spatial
        belief = np.asarray(self._foretold(1.0).belief)[:, :order].reshape(F, order, W, A, d)
        sizes = np.array([self.units.length, self.units.length / self.units.time])[:order]
        belief = belief * sizes[:, None, None, None]
        return np.transpose(belief, (2, 0, 3, 1, 4)).reshape(W, F, A, order * d)

    def _as_tracks(
        self, pushes: Float[np.ndarray, "c W F A d"], order: int
    ) -> Float[np.ndarray, "c F n"]:
        """In the tracks' units; what is asked after a frame acts until the next."""
        size = self.units.time**order / self.units.length
        c, _, F, _, _ = pushes.shape
        columns = np.moveaxis(size * pushes, 2, 1).reshape(c, F, -1)
        return np.concatenate([np.zeros_like(columns[:, :1]), columns[:, :-1]], axis=1)


@partial(jax.jit, static_argnames="driven", compiler_options=RUNS_ONCE)
def _foretell(
    parameters: Parameters, tracks: KalmanTracks, speed: Float[Array, ""] | float, driven: Driven
) -> Foretold:
    return foretell(parameters, tracks, speed, driven)


@partial(jax.jit, static_argnames=("driven", "order"), compiler_options=RUNS_ONCE)
def _responses(
    parameters: Parameters,
    tracks: KalmanTracks,
    speed: Float[Array, ""] | float,
    columns: Float[Array, "c F n"],
    driven: Driven,
    order: Literal[1, 2],
) -> Float[Array, "c F m n"]:
    silent = tracks._replace(values=jnp.zeros_like(tracks.values))

    def of_column(pushes: Float[Array, "F n"]) -> Float[Array, "F m n"]:
        return -foretell(parameters, silent, speed, driven, pushes, order).surprise

    return jax.vmap(of_column)(columns)


def _gain(blocks: list[Float[np.ndarray, "N _"]], surprise: Float[np.ndarray, " N"]) -> float:
    """Log evidence of a linear model over none at all, each block with the likeliest variance."""
    X = np.concatenate(
        [block / np.sqrt(np.mean(np.sum(block**2, axis=0)) + TINY) for block in blocks], axis=1
    )
    group = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    gram, products = X.T @ X, X.T @ surprise
    scales, best = np.full(len(blocks), SCALES[0]), -np.inf
    for _ in range(SWEEPS if len(blocks) > 1 else 1):
        for block in range(len(blocks)):
            tried = np.tile(scales, (len(SCALES), 1))
            tried[:, block] = SCALES
            gains = [_log_evidence(gram, products, np.sqrt(each[group])) for each in tried]
            scales, best = tried[int(np.argmax(gains))], max(best, *gains)
    return float(best)


def _log_evidence(
    gram: Float[np.ndarray, "c c"], products: Float[np.ndarray, " c"], sd: Float[np.ndarray, " c"]
) -> float:
    L = np.linalg.cholesky(np.eye(len(sd)) + sd[:, None] * gram * sd[None])
    fitted = solve_triangular(L, sd * products, lower=True)
    return float(0.5 * fitted @ fitted - np.log(np.diagonal(L)).sum())
