"""Assembles a model from its parts, with starting values read off the data."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from comotion._types import FAST, Key
from comotion.config import SystemConfig
from comotion.dynamics import (
    AbstractAccumulation,
    AbstractDynamics,
    InteractingDynamics,
    JointDynamics,
    Nonlinear,
    Sum,
    Weighted,
)
from comotion.encode import (
    AbstractInitialStateEncoder,
    PropertyEncoder,
    property_encoder,
    recurrent_encoder,
    smoothing_encoder,
)
from comotion.functions import MLP, AbstractRandomFunction, BayesianMLP, SparseGP
from comotion.graph import AbstractGraph, GivenGraph, NearestGraph
from comotion.integrate import AbstractIntegrator, FixedSteps, Jumps
from comotion.layout import Layout
from comotion.model import Model
from comotion.observe import AbstractDecoder, FirstEntries, LearnedDecoder, Observation
from comotion.systems.shape import DataShape, state_layout
from comotion.systems.start import FunctionStart, Start, coordinates

START_NOISE = 0.1


def build(config: SystemConfig, shape: DataShape, start: Start, *, key: Key) -> Model:
    layout = state_layout(config, shape)
    key_dynamics, key_encoder, key_properties, key_decoder = jax.random.split(key, 4)
    observed = len(shape.features)
    return Model(
        encoder=_encoder(config, shape, layout, start, key=key_encoder),
        property_encoder=_property_encoder(config, observed, key=key_properties),
        dynamics=_dynamics(config, layout, start, key=key_dynamics),
        integrator=_integrator(config),
        observation=_observation(config, layout, start, key=key_decoder),
        gives_properties=config.properties == "observed",
    )


def _dynamics(config: SystemConfig, layout: Layout, start: Start, *, key: Key) -> AbstractDynamics:
    key_alone, key_pair, key_accumulation = jax.random.split(key, 3)
    if config.who == "joint":
        return JointDynamics(
            function=_function(config, start.functions["f"], "alone", layout, key=key_alone),
            layout=layout,
            order=config.order,
        )
    alone_coordinates, pair_coordinates = coordinates(config, layout)
    return InteractingDynamics(
        alone=_function(config, start.functions["f_s"], "alone", layout, key=key_alone),
        pair=_function(config, start.functions["f_b"], "pair", layout, key=key_pair),
        accumulation=_accumulation(config, layout, start, key=key_accumulation),
        alone_coordinates=alone_coordinates,
        pair_coordinates=pair_coordinates,
        graph=_graph(config),
        layout=layout,
        order=config.order,
    )


def _function(
    config: SystemConfig, start: FunctionStart, role: str, layout: Layout, *, key: Key
) -> AbstractRandomFunction:
    """`role` says whose size it takes: that of f_s ("alone") or of f_b ("pair")."""
    if config.function == "gp":
        return SparseGP.init(
            start.inputs,
            out_size=len(start.scale),
            num_inducing=config.inducing_alone if role == "alone" else config.inducing_pair,
            kernel=config.kernel,
            covariance=config.covariance,
            num_features=config.fourier_features,
            output_scale=start.scale,
            key=key,
        )
    sizes = {
        "in_size": start.inputs.shape[1],
        "out_size": len(start.scale),
        "hidden": config.hidden_alone if role == "alone" else config.hidden_pair,
    }
    if config.function == "mlp":
        return MLP.init(**sizes, activation=config.activation, key=key)
    return BayesianMLP.init(
        **sizes, activation=config.activation, kl_scale_dim=layout.state, key=key
    )


def _accumulation(
    config: SystemConfig, layout: Layout, start: Start, *, key: Key
) -> AbstractAccumulation:
    if config.accumulation == "nonlinear":
        return Nonlinear(_function(config, start.functions["f_c"], "pair", layout, key=key))
    if config.accumulation == "weighted":
        return Weighted(_function(config, start.functions["f_w"], "pair", layout, key=key))
    return Sum()


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


def _property_encoder(config: SystemConfig, observed: int, *, key: Key) -> PropertyEncoder | None:
    if config.properties != "inferred":
        return None
    return property_encoder(
        observed,
        config.property_count,
        size=config.property_encoder,
        activation=config.property_activation,
        frames=config.property_frames,
        key=key,
    )


def _observation(config: SystemConfig, layout: Layout, start: Start, *, key: Key) -> Observation:
    """The noise starts at a tenth of each feature's spread; at all of it for hidden states."""
    share = 1.0 if layout.hidden else START_NOISE
    variance = jnp.asarray(start.feature_variance * share**2, FAST)
    decoder = _decoder(config, layout, variance.shape[0], key=key)
    return Observation(decoder, jnp.log(variance), jnp.zeros_like(variance))


def _decoder(config: SystemConfig, layout: Layout, observed: int, *, key: Key) -> AbstractDecoder:
    if config.decoder == "identity":
        return FirstEntries(observed)
    seen = layout.shown if layout.hidden else tuple(range(layout.state))
    depth = 0 if config.decoder == "linear" else 2
    network = eqx.nn.MLP(len(seen), observed, config.hidden_decoder, depth, dtype=FAST, key=key)
    return LearnedDecoder(network, seen)
