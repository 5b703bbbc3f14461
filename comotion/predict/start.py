"""Initial states that lead to the frames that were seen.

An encoder believes what calm motion through the first frames would say; a collision among them
makes it wrong. A forecast therefore draws several candidates from the belief, follows each of
them through those frames under the drawn law, and takes one by its importance weight.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, cut
from comotion.dynamics import AbstractField
from comotion.model import Beliefs, Model, Start


@dataclass(frozen=True)
class Search:
    """How many candidates, and through how many frames each is followed."""

    candidates: int
    frames: int

    def draw_start(
        self, model: Model, field: AbstractField, beliefs: Beliefs, excerpt: Excerpt, *, key: Key
    ) -> Start:
        """One of the candidates drawn from the beliefs, chosen for each object.

        Each object chooses by its own frames, with the others as they were in the same candidate:
        exact for objects that do not meet in these frames, and for the others far better than the
        belief alone. An object that enters later keeps its draw: nothing was followed there.
        """
        key_initial, key_properties, key_choice = jax.random.split(key, 3)
        properties = model.draw_properties(beliefs, excerpt, key=key_properties)
        shape = (self.candidates, *beliefs.initial.mean.shape)
        noise = standard_normal(shape, beliefs.initial.mean.dtype, key=key_initial)
        if self.candidates == 1:
            return Start(beliefs.initial.at(noise[0]), properties)
        seen = min(self.frames, excerpt.window.times.shape[0])
        window = cut(excerpt.window, jnp.zeros((), jnp.int32), seen)

        def weigh(noise: Float[Array, "A D"]) -> tuple[Float[Array, "A D"], Float[Array, " A"]]:
            initial = beliefs.initial.at(noise)
            states = model.follow(field, Start(initial, properties), window, window.grid)
            fit = model.observation.log_likelihood_by_object(window.values, window.present, states)
            prior, belief = (-0.5 * jnp.sum(entry**2, axis=1) for entry in (initial, noise))
            return initial, jnp.where(window.entry == 0, fit + prior - belief, 0.0)

        initial, log_weights = jax.vmap(weigh)(noise)
        log_weights = jnp.nan_to_num(log_weights, nan=-jnp.inf)
        chosen = jax.random.categorical(key_choice, log_weights, axis=0)
        picked = jnp.take_along_axis(initial, chosen[None, :, None], axis=0)[0]
        return Start(picked, properties)
