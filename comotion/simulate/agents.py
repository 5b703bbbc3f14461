"""Agents that follow a law of the literature, or swarm: ground truth for learned kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import EXACT
from comotion.data import BadInput, Trajectories
from comotion.simulate import agent_laws
from comotion.simulate.agent_laws import AgentLaw
from comotion.simulate.noise import generators
from comotion.simulate.recording import (
    Motion,
    Times,
    check_scene,
    frame_times,
    record,
    times_per_sequence,
)

INNER_STEP = 0.01


@dataclass(frozen=True, eq=False)
class AgentScene:
    """A law, where agents begin, and how much of it the literature looks at.

    Places are uniform in a square, velocities Gaussian. The last share `others` of the agents is
    of the second kind.
    """

    about: str
    law: AgentLaw
    half_width: float
    speed: float
    sequences: int
    objects: int
    frames: int
    step: float
    dimension: int = 2
    others: float = 0.0
    inner_step: float = INNER_STEP

    @property
    def sizes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("sequences", "objects", "frames", "step")}

    def kinds(self, objects: int) -> tuple[int, ...]:
        second = round(self.others * objects)
        return (0,) * (objects - second) + (1,) * second


SCENES = {
    "swarm": AgentScene(
        "self-propelled agents that attract from afar and repel nearby",
        agent_laws.SWARM,
        half_width=3.0,
        speed=0.5,
        sequences=100,
        objects=10,
        frames=80,
        step=0.1,
    ),
    "cucker-smale": AgentScene(
        "a flock that aligns its velocities, the nearer the more",
        agent_laws.CUCKER_SMALE,
        half_width=5.0,
        speed=1.0,
        sequences=3,
        objects=20,
        frames=5,
        step=2.5,
    ),
    "fish-milling": AgentScene(
        "fish that swim in circles: self-propulsion and Morse forces",
        agent_laws.MILLING,
        half_width=0.5,
        speed=1.0,
        sequences=3,
        objects=20,
        frames=6,
        step=1.0,
    ),
    "anticipation": AgentScene(
        "agents that draw together and align, looking ahead",
        agent_laws.ANTICIPATION,
        half_width=2.5,
        speed=2.5,
        sequences=2,
        objects=10,
        frames=5,
        step=2.5,
    ),
    "opinion": AgentScene(
        "opinions on a line, moved by those that are near: an influence with jumps",
        agent_laws.OPINION,
        half_width=4.0,
        speed=0.0,
        sequences=50,
        objects=10,
        frames=200,
        step=0.05,
        dimension=1,
    ),
    "stubborn-opinion": AgentScene(
        "opinions of which the last three in ten hear nobody",
        agent_laws.STUBBORN_OPINION,
        half_width=2.0,
        speed=0.0,
        sequences=3,
        objects=10,
        frames=4,
        step=5.0,
        dimension=1,
        others=0.3,
    ),
    "lennard-jones": AgentScene(
        "particles without inertia that sink into each other's potential",
        agent_laws.LENNARD_JONES,
        half_width=1.5,
        speed=0.0,
        sequences=1000,
        objects=7,
        frames=101,
        step=1e-4,
        inner_step=1e-4,
    ),
    "predator-prey": AgentScene(
        "prey that keeps together and flees from a predator that hunts it",
        agent_laws.PREDATOR_PREY,
        half_width=1.5,
        speed=0.0,
        sequences=50,
        objects=10,
        frames=200,
        step=0.025,
        others=0.1,
        inner_step=0.0025,
    ),
}
"""Agents by the name of their law; `SCENES[name].law` has the true kernels."""


def agents(
    scene: str,
    *,
    sequences: int | None = None,
    objects: int | None = None,
    frames: int | None = None,
    step: float | None = None,
    noise: str | float = "none",
    velocities: bool = True,
    seed: int = 0,
) -> Trajectories:
    """Simulate agents that follow one of the laws in `SCENES`; sizes are the literature's.

    Of a first-order law, velocities are its rates. Kinds are the static property "kind".
    """
    if scene not in SCENES:
        raise BadInput(f"there are no agents {scene!r}: choose one of {', '.join(SCENES)}")
    chosen = SCENES[scene]
    P = chosen.sequences if sequences is None else sequences
    A = chosen.objects if objects is None else objects
    N = chosen.frames if frames is None else frames
    dt = chosen.step if step is None else step
    check_scene(noise=noise, sequences=P, objects=A, frames=N, step=dt)
    starts = [_start(chosen, stream, A) for stream in generators(seed, P)]
    x, v = (np.stack(part) for part in zip(*starts, strict=True))
    kinds, times = chosen.kinds(A), frame_times(N, dt)
    motion = advance(chosen.law, x, v, kinds, times, inner_step=chosen.inner_step)
    static = {"static": np.array(kinds, float)[:, None], "static_names": ("kind",)}
    shown = static if chosen.others else {}
    return record(motion, times, noise=noise, velocities=velocities, seed=seed, **shown)


def advance(
    law: AgentLaw,
    positions: Float[np.ndarray, "P A d"],
    velocities: Float[np.ndarray, "P A d"],
    kinds: tuple[int, ...],
    times: Times,
    *,
    inner_step: float = INNER_STEP,
) -> Motion:
    """Carry the states at time 0 to the given times; of a first-order law, velocities are rates."""
    rows = times_per_sequence(times, len(positions))
    gaps = np.diff(rows, axis=1, prepend=0.0)
    most = int(np.ceil(gaps.max() / inner_step * (1 - 1e-9)).clip(min=1))
    start = jnp.asarray(positions, EXACT), jnp.asarray(velocities, EXACT)
    x, v = _follow(law, kinds, most, start, jnp.asarray(gaps))
    return np.asarray(x), np.asarray(v)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _follow(
    law: AgentLaw,
    kinds: tuple[int, ...],
    inner_steps: int,
    start: tuple[Float[Array, "P A d"], Float[Array, "P A d"]],
    gaps: Float[Array, "P N"],
) -> tuple[Float[Array, "P N A d"], Float[Array, "P N A d"]]:
    def slope(state: Float[Array, "2 A d"]) -> Float[Array, "2 A d"]:
        x, v = state
        if law.order == 1:
            return jnp.stack([law.rate(x, jnp.zeros_like(v), kinds), jnp.zeros_like(v)])
        return jnp.stack([v, law.rate(x, v, kinds)])

    def one_sequence(state: Float[Array, "2 A d"], gaps: Float[Array, " N"]) -> Array:
        def to_next_frame(state: Array, gap: Array) -> tuple[Array, Array]:
            h = gap / inner_steps
            state = jax.lax.fori_loop(0, inner_steps, lambda _, s: _rk4(slope, s, h), state)
            rate = slope(state)[0] if law.order == 1 else state[1]
            return state, jnp.stack([state[0], rate])

        return jax.lax.scan(to_next_frame, state, gaps)[1]

    paths = jax.vmap(one_sequence)(jnp.stack(start, axis=1), gaps)  # P N 2 A d
    return paths[:, :, 0], paths[:, :, 1]


def _rk4(slope: Callable[[Array], Array], state: Array, h: Array) -> Array:
    a = slope(state)
    b = slope(state + 0.5 * h * a)
    c = slope(state + 0.5 * h * b)
    d = slope(state + h * c)
    return state + h / 6 * (a + 2 * b + 2 * c + d)


def _start(
    scene: AgentScene, stream: np.random.Generator, objects: int
) -> tuple[Float[np.ndarray, "A d"], Float[np.ndarray, "A d"]]:
    size = (objects, scene.dimension)
    places = stream.uniform(-scene.half_width, scene.half_width, size=size)
    return places, scene.speed * stream.normal(size=size)
