"""f_s of each object plus messages f_b from the objects it hears (Eq. 4 of the paper)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.contacts import ContactLaw, Contacts
from comotion.coordinates import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.coordinates.layout import Layout
from comotion.dynamics.accumulate import AbstractAccumulation, AbstractRule, Messages
from comotion.dynamics.base import AbstractDynamics, AbstractField, Scene, complete_rates
from comotion.dynamics.graph import AbstractGraph, Neighbours, from_both_sides
from comotion.functions import AbstractDraw, AbstractRandomFunction, Nothing

CONTACTS = 3
"""The draw of contacts has its own number beside those of the functions."""


class InteractingDynamics(AbstractDynamics):
    """For any number of objects: nothing here knows how many there are."""

    alone: AbstractRandomFunction
    pair: AbstractRandomFunction
    accumulation: AbstractAccumulation
    alone_coordinates: AbstractAloneCoordinates
    pair_coordinates: AbstractPairCoordinates
    graph: AbstractGraph
    layout: Layout = eqx.field(static=True)
    order: int = eqx.field(static=True)
    contacts: ContactLaw | None = None

    def draw(self, *, key: Key) -> "InteractingField":
        key_alone, key_pair, key_accumulation = jax.random.split(key, 3)
        contacts = self._draw_contacts(jax.random.fold_in(key, CONTACTS))
        alone = self.alone_coordinates
        return InteractingField(
            alone=self._draw_function(self.alone, key_alone),
            pair=self._draw_function(self.pair, key_pair),
            accumulation=self.accumulation.draw(key=key_accumulation),
            alone_coordinates=alone if contacts is None else alone.among(contacts),
            pair_coordinates=self.pair_coordinates,
            graph=self.graph,
            layout=self.layout,
            order=self.order,
            contacts=contacts,
        )

    def _draw_function(self, function: AbstractRandomFunction, key: Key) -> AbstractDraw:
        """Where nothing but contacts acts, f_s and f_b have learned nothing, and are nothing."""
        silent = self.contacts is not None and self.contacts.only
        return Nothing(function.out_size) if silent else function.draw(key=key)

    def _draw_contacts(self, key: Key) -> Contacts | None:
        """No gradient: where things touch was found, and is not trained."""
        return None if self.contacts is None else jax.lax.stop_gradient(self.contacts.draw(key=key))

    @property
    def alone_among_walls(self) -> AbstractAloneCoordinates:
        """Coordinates of f_s that know walls about as they are."""
        alone, contacts = self.alone_coordinates, self._draw_contacts(jax.random.key(0))
        return alone if contacts is None else alone.among(contacts)

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {"f_s": self.alone, "f_b": self.pair, **self.accumulation.functions()}


class InteractingField(AbstractField):
    """One draw of f_s and f_b; the two can be taken apart and used on their own."""

    alone: AbstractDraw
    pair: AbstractDraw
    accumulation: AbstractRule
    alone_coordinates: AbstractAloneCoordinates
    pair_coordinates: AbstractPairCoordinates
    graph: AbstractGraph
    layout: Layout = eqx.field(static=True)
    order: int = eqx.field(static=True)
    contacts: Contacts | None = None

    @property
    def contact(self) -> Contacts | None:
        return self.contacts

    def __call__(self, states: Float[Array, "A D"], scene: Scene) -> Float[Array, "A D"]:
        if self._only_contacts:
            nothing = jnp.zeros_like(states[:, self.layout.velocity])
            return complete_rates(nothing, states, scene.active, self.layout, self.order)
        actors = scene.actors(states)
        neighbours = self.neighbours(states, scene) if scene.found is None else scene.found
        own = self.independent(actors)
        learned = self.accumulation(self._messages(own, actors, neighbours))
        return complete_rates(learned, states, scene.active, self.layout, self.order)

    @property
    def searches(self) -> bool:
        return self.graph.by_place and not self._only_contacts

    def neighbours(self, states: Float[Array, "A D"], scene: Scene) -> Neighbours:
        return self.graph(states[:, self.layout.position], scene.neighbours, scene.active)

    @property
    def _only_contacts(self) -> bool:
        return self.contacts is not None and self.contacts.only

    def independent(self, actors: Actor) -> Float[Array, "A R"]:
        """The rates f_s gives each object by itself."""
        return self.alone_coordinates.ask(self.alone, actors)

    def interaction(self, actors: Actor, others: Actor) -> Float[Array, "B R"]:
        """The rates f_b gives each actor for the other beside it."""
        inputs = jax.vmap(self.pair_coordinates.inputs)(actors, others)
        return jax.vmap(self.pair_coordinates.rates)(self.pair(inputs), actors, others)

    def _messages(
        self, own: Float[Array, "A R"], actors: Actor, neighbours: Neighbours
    ) -> Messages:
        count, heard = neighbours.index.shape
        halved = self.graph.in_turn and self.pair_coordinates.opposite
        asked = count // 2 if halved else heard
        others = jax.tree.map(lambda leaf: leaf[neighbours.index], actors)  # (A, K, …)
        received = self.interaction(
            jax.tree.map(lambda leaf: leaf.repeat(asked, axis=0), actors),
            jax.tree.map(
                lambda leaf: leaf[:, :asked].reshape(count * asked, leaf.shape[2]), others
            ),
        ).reshape(count, asked, own.shape[1])
        return Messages(
            own=own,
            received=from_both_sides(received) if halved else received,
            heard=neighbours.heard,
            actors=actors,
            others=others,
        )
