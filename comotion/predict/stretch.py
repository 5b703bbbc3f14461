"""How much wider than drawn a forecast must be to hold what it says it holds.

Sizes of noise that score best over all leads may still be a little too sure at some of them. So
draws are moved away from their mean, or towards it, by a factor for each lead that was found on
held-out frames: the mean stays as it is, and a band of 90 % held 90 % there.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Draws = Float[np.ndarray, "L P T A O"]


@dataclass(frozen=True)
class Stretch:
    """Factors at some leads, in the data's unit of time; without any, draws stay as they are."""

    leads: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()

    def at(self, leads: Float[np.ndarray, "P T"]) -> Float[np.ndarray, "P T"]:
        """Between leads by a straight line, beyond them as at the last one."""
        return np.interp(leads, self.leads, self.factors) if self.leads else np.ones_like(leads)

    def apply(self, draws: Draws, leads: Float[np.ndarray, "P T"]) -> Draws:
        if not self.leads:
            return draws
        mean = draws.mean(axis=0, keepdims=True)
        factors = self.at(leads).astype(draws.dtype)
        return mean + factors[None, :, :, None, None] * (draws - mean)
