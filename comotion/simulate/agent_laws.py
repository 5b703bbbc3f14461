"""Laws of the interaction-kernel literature and of a swarm, with their kernels φ as functions.

An agent feels the mean over all agents of a kind: φ(r) times the gap to each of them, and in
second-order laws also times the difference of velocities; and a force of its own. First-order
laws give velocities, second-order laws accelerations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

Kernel = Callable[[Array], Array]
"""φ of the distance: above zero it attracts, or aligns."""
OwnForce = Callable[[Array], Array]
Pair = tuple[int, int]  # the kind that feels, the kind that is felt


@dataclass(frozen=True, eq=False)
class AgentLaw:
    """`gap[k, l](r)` weighs the gap from an agent of kind k to one of kind l, `alignment` the
    difference of their velocities; kinds that are not listed do not feel each other."""

    order: Literal[1, 2]
    gap: Mapping[Pair, Kernel]
    alignment: Mapping[Pair, Kernel] = field(default_factory=dict)
    own: OwnForce | None = None

    def rate(
        self, x: Float[Array, "A d"], v: Float[Array, "A d"], kinds: tuple[int, ...]
    ) -> Float[Array, "A d"]:
        """Velocities of a first-order law (which looks at no `v`), accelerations of a second."""
        gaps = x[None] - x[:, None]  # A A d: from the one who feels to the other
        square = (gaps**2).sum(axis=-1)
        r = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        total = self._mean(self.gap, r, kinds, gaps)
        if self.alignment:
            total = total + self._mean(self.alignment, r, kinds, v[None] - v[:, None])
        return total if self.own is None else total + self.own(v)

    def _mean(
        self,
        kernels: Mapping[Pair, Kernel],
        r: Float[Array, "A A"],
        kinds: tuple[int, ...],
        differences: Float[Array, "A A d"],
    ) -> Float[Array, "A d"]:
        kind = jnp.asarray(kinds)
        weights = jnp.zeros_like(r)
        for (feels, felt), kernel in kernels.items():
            pairs = (kind[:, None] == feels) & (kind[None] == felt)
            weights = jnp.where(pairs, kernel(r) / max(1, kinds.count(felt)), weights)
        return (weights[..., None] * differences).sum(axis=1)


def held_below(cut: float, kernel: Kernel) -> Kernel:
    """The same kernel, constant below `cut`: a force that stays finite."""
    return lambda r: kernel(jnp.maximum(r, cut))


def morse(
    r: Array, attraction: float, reach: float, repulsion: float, core: float
) -> Float[Array, "..."]:
    """The slope of a Morse potential divided by the distance."""
    pull = attraction / reach * jnp.exp(-r / reach)
    push = repulsion / core * jnp.exp(-r / core)
    return (pull - push) / r


def lennard_jones(r: Array, depth: float = 10.0, rest: float = 1.0) -> Float[Array, "..."]:
    """The slope of ε [(r_m/r)¹² − 2 (r_m/r)⁶] divided by the distance."""
    ratio = (rest / r) ** 6
    return 12 * depth * (ratio - ratio**2) / r**2


def influence(r: Array) -> Float[Array, "..."]:
    """Near opinions count fully, others a tenth, far ones not at all."""
    near, far = 1 / 2**0.5, 1.0
    return jnp.where(r < near, 1.0, jnp.where(r < far, 0.1, 0.0))


def relax(v: Array, thrust: float, drag: float) -> Float[Array, "..."]:
    """Self-propulsion towards the speed √(thrust / drag)."""
    return (thrust - drag * (v**2).sum(axis=-1, keepdims=True)) * v


EVERYONE: Pair = (0, 0)
SWARM = AgentLaw(
    order=2,
    gap={
        EVERYONE: held_below(
            0.05, partial(morse, attraction=10.0, reach=3.0, repulsion=20.0, core=0.5)
        )
    },
    own=partial(relax, thrust=1.0, drag=1.0),
)
CUCKER_SMALE = AgentLaw(
    order=2,
    gap={},
    alignment={EVERYONE: lambda r: (1 + r**2) ** -0.25},
    own=partial(relax, thrust=1.0, drag=1.0),
)
MILLING = AgentLaw(
    order=2,
    gap={
        EVERYONE: held_below(
            0.05, partial(morse, attraction=4.0, reach=4.0, repulsion=0.5, core=0.5)
        )
    },
    own=partial(relax, thrust=1.5, drag=0.5),
)
ANTICIPATION = AgentLaw(
    order=2,
    gap={EVERYONE: lambda r: 0.1 * (1 + r) ** -2.5 + (1 + r) ** -0.5},
    alignment={EVERYONE: lambda r: 0.1 * (1 + r**2) ** -0.5},
)
OPINION = AgentLaw(order=1, gap={EVERYONE: influence})
# Kind 1 is stubborn: heard by the others, and hearing nobody.
STUBBORN_OPINION = AgentLaw(order=1, gap={EVERYONE: influence, (0, 1): influence})
LENNARD_JONES = AgentLaw(order=1, gap={EVERYONE: held_below(0.95, lennard_jones)})
# Kind 0 is prey, kind 1 the predator, which feels no predator.
PREDATOR_PREY = AgentLaw(
    order=1,
    gap={
        EVERYONE: held_below(0.25, lambda r: 1 - r**-2),
        (0, 1): held_below(0.25, lambda r: -2 * r**-2),
        (1, 0): held_below(0.25, lambda r: 3.5 * r**-3),
    },
)
