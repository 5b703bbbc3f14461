"""Assembles a model from its parts, with starting values read off the data."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from comotion._types import FAST, Key
from comotion.config import SystemConfig
from comotion.dynamics import (
    ACCUMULATIONS,
    AbstractDynamics,
    InteractingDynamics,
    JointDynamics,
)
from comotion.dynamics.graph import AbstractGraph, GivenGraph, NearestGraph
from comotion.encode import (
    AbstractInitialStateEncoder,
    PropertyEncoder,
    property_encoder,
    recurrent_encoder,
    smoothing_encoder,
)
from comotion.functions import make_function
from comotion.integrate import AbstractIntegrator, FixedSteps, Jumps, undisturbed
from comotion.layout import Layout
from comotion.model import Model
from comotion.observe import AbstractDecoder, FirstEntries, LearnedDecoder, Observation
from comotion.systems.shape import DataShape, coordinates, state_layout
from comotion.systems.start import Start, blank_start


def build(config: SystemConfig, shape: DataShape, start: Start, *, key: Key) -> Model:
    layout = state_layout(config, shape)
    key_dynamics, key_encoder, key_properties, key_decoder = jax.random.split(key, 4)
    observed = len(shape.features)
    return Model(
        encoder=_encoder(config, shape, layout, start, key=key_encoder),
        property_encoder=_property_encoder(config, layout, observed, key=key_properties),
        dynamics=_dynamics(config, layout, start, key=key_dynamics),
        integrator=_integrator(config),
        disturbance=undisturbed(layout),
        observation=_observation(config, layout, start, key=key_decoder),
        gives_properties=config.properties == "observed",
    )


def blank(config: SystemConfig, shape: DataShape) -> Model:
    """A model to be filled with the arrays of another one."""
    layout = state_layout(config, shape)
    start = blank_start(config, layout, shape.objects, len(shape.features))
    return build(config, shape, start, key=jax.random.key(0))


def _dynamics(config: SystemConfig, layout: Layout, start: Start, *, key: Key) -> AbstractDynamics:
    key_alone, key_pair, key_accumulation = jax.random.split(key, 3)
    if config.who == "joint":
        return JointDynamics(
            function=make_function(start.functions["f"], key=key_alone),
            layout=layout,
            order=config.order,
        )
    accumulation = ACCUMULATIONS[config.accumulation]
    alone_coordinates, pair_coordinates = coordinates(config, layout)
    return InteractingDynamics(
        alone=make_function(start.functions["f_s"], key=key_alone),
        pair=make_function(start.functions["f_b"], key=key_pair),
        accumulation=accumulation.from_requests(start.functions, key=key_accumulation),
        alone_coordinates=alone_coordinates,
        pair_coordinates=pair_coordinates,
        graph=_graph(config),
        layout=layout,
        order=config.order,
    )


def _graph(config: SystemConfig) -> AbstractGraph:
    if config.nearest == 0 and math.isinf(config.radius):
        return GivenGraph()
    return NearestGraph(config.nearest or None, config.radius)


def _integrator(config: SystemConfig) -> AbstractIntegrator:
    return Jumps() if config.time == "discrete" else FixedSteps(config.substeps)


def _encoder(
    config: SystemConfig, shape: DataShape, layout: Layout, start: Start, *, key: Key
) -> AbstractInitialStateEncoder:
    if config.encoder == "smoother":
        return smoothing_encoder(layout, frames=config.encoder_frames)
    return recurrent_encoder(
        layout,
        len(shape.features),
        frames=config.encoder_frames,
        reads_times=shape.irregular,
        glance=start.glance,
        key=key,
    )


def _property_encoder(
    config: SystemConfig, layout: Layout, observed: int, *, key: Key
) -> PropertyEncoder | None:
    if config.properties != "inferred":
        return None
    return property_encoder(
        observed,
        layout,
        reads=config.property_reading,
        size=config.property_encoder,
        activation=config.property_activation,
        frames=config.property_frames,
        key=key,
    )


def _observation(config: SystemConfig, layout: Layout, start: Start, *, key: Key) -> Observation:
    """The noise is that of knowing nothing; a recipe says where it starts."""
    variance = jnp.asarray(start.feature_variance, FAST)
    decoder = _decoder(config, layout, variance.shape[0], key=key)
    return Observation(decoder, jnp.log(variance), jnp.zeros_like(variance))


def _decoder(config: SystemConfig, layout: Layout, observed: int, *, key: Key) -> AbstractDecoder:
    if config.decoder == "identity":
        return FirstEntries(observed)
    seen = layout.shown if layout.hidden else tuple(range(layout.state))
    depth = 0 if config.decoder == "linear" else 2
    network = eqx.nn.MLP(len(seen), observed, config.hidden_decoder, depth, dtype=FAST, key=key)
    return LearnedDecoder(network, seen)
