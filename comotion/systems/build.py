"""Assembles a model from its parts; no data are looked at."""

import dataclasses
import math
from bisect import bisect_right
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from comotion._types import FAST, Key
from comotion.config import SystemConfig
from comotion.coordinates.layout import Layout
from comotion.dynamics import (
    ACCUMULATIONS,
    AbstractDynamics,
    AccumulationSizes,
    InteractingDynamics,
    JointDynamics,
)
from comotion.dynamics.graph import AbstractGraph, EmptyGraph, GivenGraph, NearestGraph
from comotion.encode import (
    AbstractInitialStateEncoder,
    PropertyEncoder,
    SignReader,
    origin_filter,
    property_encoder,
    recurrent_encoder,
    sign_reader,
    smoothing_encoder,
)
from comotion.functions import FUNCTIONS, AbstractRandomFunction, Capacity
from comotion.integrate import (
    AbstractIntegrator,
    AbstractProcessNoise,
    FixedSteps,
    FrameSteps,
    body_noise,
    no_noise,
)
from comotion.model import AbstractDecoder, FirstEntries, LearnedDecoder, Model, Observation
from comotion.systems.shape import DataShape, coordinates, state_layout


def build(config: SystemConfig, shape: DataShape, *, key: Key) -> Model:
    """The model before any data are seen, for values of mean zero and variance one.

    Pure: `eqx.filter_eval_shape` gives a template without any numbers.
    """
    layout = state_layout(config, shape)
    key_dynamics, key_encoder, key_properties, key_decoder = jax.random.split(key, 4)
    observed = len(shape.features)
    return Model(
        encoder=_encoder(config, shape, layout, key=key_encoder),
        property_encoder=_property_encoder(config, layout, observed, key=key_properties),
        dynamics=build_dynamics(config, layout, shape.objects, key=key_dynamics),
        integrator=_integrator(config),
        process_noise=_process_noise(config, layout),
        observation=_observation(config, layout, observed, key=key_decoder),
        gives_properties=config.properties == "observed",
    )


def build_dynamics(
    config: SystemConfig, layout: Layout, objects: int, *, key: Key
) -> AbstractDynamics:
    """The law alone, for states of this layout."""
    if config.who == "joint":
        return JointDynamics(
            function=_joint_function(config, layout, objects, key=key),
            layout=layout,
            order=config.order,
        )
    key_alone, key_pair, key_accumulation = jax.random.split(key, 3)
    kind = FUNCTIONS[config.function]
    alone_capacity, pair_capacity = _capacities(config, layout)
    alone, pair = coordinates(config, layout)

    def like_pair(in_size: int, out_size: int, key: Key) -> AbstractRandomFunction:
        return kind.build(in_size, out_size, pair_capacity, key=key)

    everyone_else = objects - 1
    sizes = AccumulationSizes(
        actor=layout.state + layout.properties,
        rates=layout.learned(config.order),
        most_heard=min(config.nearest or everyone_else, everyone_else),
        function=like_pair,
    )
    return InteractingDynamics(
        alone=kind.build(
            alone.in_size, alone.out_size, _needed(alone_capacity, alone.out_size), key=key_alone
        ),
        pair=kind.build(
            pair.in_size, pair.out_size, _needed(pair_capacity, pair.out_size), key=key_pair
        ),
        accumulation=ACCUMULATIONS[config.accumulation].build(sizes, key=key_accumulation),
        alone_coordinates=alone,
        pair_coordinates=pair,
        graph=_graph(config),
        layout=layout,
        order=config.order,
    )


def _needed(capacity: Capacity, outputs: int) -> Capacity:
    """A function that says nothing needs next to nothing."""
    small = dataclasses.replace(capacity, inducing=1, hidden=1, fourier_features=1)
    return capacity if outputs else small


def _joint_function(
    config: SystemConfig, layout: Layout, objects: int, *, key: Key
) -> AbstractRandomFunction:
    """With as many parameters as the f_s and f_b it stands for have together."""
    kind, capacities = FUNCTIONS[config.function], _capacities(config, layout)
    parts = zip(coordinates(config, layout), capacities, strict=True)
    budget = sum(kind.parameters(part.in_size, part.out_size, size) for part, size in parts)
    in_size = objects * (layout.state + layout.properties + layout.controls)
    out_size = objects * layout.learned(config.order)
    sized = partial(dataclasses.replace, capacities[0])
    size = 1 + bisect_right(
        range(2, 1 + budget),
        budget,
        key=lambda n: kind.parameters(in_size, out_size, sized(inducing=n, hidden=n)),
    )
    return kind.build(in_size, out_size, sized(inducing=size, hidden=size), key=key)


def _capacities(config: SystemConfig, layout: Layout) -> tuple[Capacity, Capacity]:
    """Of f_s and of f_b."""
    sized = partial(
        Capacity,
        kernel=config.kernel,
        covariance=config.covariance,
        fourier_features=config.fourier_features,
        activation=config.activation,
        kl_scale_dim=layout.state,
    )
    return (
        sized(inducing=config.inducing_alone, hidden=config.hidden_alone),
        sized(inducing=config.inducing_pair, hidden=config.hidden_pair),
    )


def _graph(config: SystemConfig) -> AbstractGraph:
    if config.pair == "none":
        return EmptyGraph()
    if config.nearest == 0 and math.isinf(config.radius):
        return GivenGraph()
    return NearestGraph(config.nearest or None, config.radius)


def _integrator(config: SystemConfig) -> AbstractIntegrator:
    return FrameSteps() if config.time == "discrete" else FixedSteps(config.substeps)


def _process_noise(config: SystemConfig, layout: Layout) -> AbstractProcessNoise:
    return body_noise(layout.spatial) if config.process_noise == "body" else no_noise(layout)


def _encoder(
    config: SystemConfig, shape: DataShape, layout: Layout, *, key: Key
) -> AbstractInitialStateEncoder:
    if config.encoder == "smoother":
        return smoothing_encoder(layout, frames=config.encoder_frames)
    if config.encoder == "filter":
        return origin_filter(layout.spatial, frames=config.encoder_frames)
    return recurrent_encoder(
        layout,
        len(shape.features),
        frames=config.encoder_frames,
        reads_times=shape.irregular,
        key=key,
    )


def _property_encoder(
    config: SystemConfig, layout: Layout, observed: int, *, key: Key
) -> PropertyEncoder | SignReader | None:
    if config.properties != "inferred":
        return None
    if config.property_encoder == "signs":
        return sign_reader(layout, places=config.inducing_pair, frames=config.property_frames)
    return property_encoder(
        observed,
        layout,
        reads=config.property_reading,
        size=config.property_encoder,
        activation=config.property_activation,
        frames=config.property_frames,
        key=key,
    )


def _observation(config: SystemConfig, layout: Layout, observed: int, *, key: Key) -> Observation:
    """The noise is that of knowing nothing; a recipe says where it starts."""
    decoder = _decoder(config, layout, observed, key=key)
    return Observation(decoder, jnp.zeros(observed, FAST), jnp.zeros(observed, FAST))


def _decoder(config: SystemConfig, layout: Layout, observed: int, *, key: Key) -> AbstractDecoder:
    if config.decoder == "identity":
        return FirstEntries(observed)
    seen = layout.shown if layout.hidden else tuple(range(layout.state))
    depth = 0 if config.decoder == "linear" else 2
    network = eqx.nn.MLP(len(seen), observed, config.hidden_decoder, depth, dtype=FAST, key=key)
    return LearnedDecoder(network, seen)
