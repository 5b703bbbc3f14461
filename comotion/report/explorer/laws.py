"""A drawn law in words and arrays, so that something other than Python can follow it.

Every part is described by a dictionary: `kind` says which part it is, the rest are its numbers.
Arrays have a leading axis of draws. What has no description here cannot be run by the page, and
is refused by its name.
"""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from comotion.contacts import Bounce, Contacts, Planes, Scatter, Spheres
from comotion.coordinates.alone import AxisAlone, MirrorAlone, NoAlone, RawAlone, SpeedAlone
from comotion.coordinates.distance import DistancePair, MultiplyingPair
from comotion.coordinates.layout import Layout
from comotion.coordinates.pair import BodyPair, NoPair, RadialPair, StackedPair
from comotion.coordinates.wall import WallAlone
from comotion.dynamics.accumulate import NonlinearRule, SumRule, WeightedRule
from comotion.dynamics.graph import EmptyGraph, GivenGraph, NearestGraph
from comotion.dynamics.interacting import InteractingField
from comotion.dynamics.joint import JointField
from comotion.errors import BadInput
from comotion.functions import Network, SparseGPDraw
from comotion.gp.combine import AnchoredProduct, AnchoredSum
from comotion.gp.kernels import AnchoredRadial, Matern12, Matern32, Matern52, SquaredExponential
from comotion.integrate import BodyNoise, FixedSteps, FrameSteps, StateNoise
from comotion.model import FirstEntries, LearnedDecoder

Description = dict[str, Any]

CORRELATIONS: dict[Any, str] = {
    SquaredExponential.correlation: "se",
    Matern12.correlation: "matern12",
    Matern32.correlation: "matern32",
    Matern52.correlation: "matern52",
}
WITHOUT_NUMBERS = {
    SumRule: "sum",
    GivenGraph: "given",
    EmptyGraph: "empty",
    FrameSteps: "jumps",
}
ALONE_KINDS = {RawAlone: "raw", AxisAlone: "axis", MirrorAlone: "mirror", SpeedAlone: "speed"}


@singledispatch
def describe(part: Any) -> Description:
    if type(part) in WITHOUT_NUMBERS:
        return {"kind": WITHOUT_NUMBERS[type(part)]}
    raise BadInput(
        f"the explorer cannot run a {type(part).__name__}; use one of the parts that "
        "`comotion systems` lists, or describe it in comotion/report/explorer/laws.py"
    )


@describe.register
def _(field: InteractingField) -> Description:
    contacts = field.contact
    alone, pair = field.alone_coordinates, field.pair_coordinates
    silent = contacts is not None and contacts.only
    nothing = {"kind": "none", "rates": field.layout.spatial}
    return {
        "kind": "interacting",
        "order": field.order,
        "alone": nothing if silent else describe(alone) | {"function": describe(field.alone)},
        "pair": nothing if silent else describe(pair) | {"function": describe(field.pair)},
        "accumulation": describe(field.accumulation),
        "graph": describe(field.graph),
        "contacts": None if contacts is None else describe(contacts),
    }


@describe.register
def _(contacts: Contacts) -> Description:
    if contacts.springs is not None:
        raise BadInput("the explorer cannot run soft contacts; use animations and `predict`")
    names = ("radii", "log_masses", "rims", "only")
    parts = {name: describe(getattr(contacts, name)) for name in ("pair", "wall")}
    walls = {name: describe(getattr(contacts, name)) for name in ("planes", "spheres")}
    return {name: getattr(contacts, name) for name in names} | parts | walls


@describe.register
def _(part: Bounce | Scatter | Planes | Spheres) -> Description:
    return {
        name: describe(value) if isinstance(value, Scatter) else value
        for name, value in vars(part).items()
    }


@describe.register
def _(field: JointField) -> Description:
    return {"kind": "joint", "order": field.order, "function": describe(field.function)}


@describe.register
def _(draw: SparseGPDraw) -> Description:
    path = draw.path
    weights = np.asarray(path.inducing_weights)  # L Q M
    used = 1 + int(np.flatnonzero(np.any(weights != 0, axis=(0, 1))).max(initial=0))
    return {
        "kind": "gp",
        "frequencies": path.prior_basis.frequencies,
        "phases": path.prior_basis.phases,
        "prior_weights": path.prior_weights,
        "kernel": _without_padding(describe(path.kernel_at_inducing), used),
        "inducing_weights": weights[:, :, :used],
    }


def _without_padding(kernel: Description, used: int) -> Description:
    """Inducing inputs that were added without weight only fill a processor's vectors."""
    if kernel["kind"] == "radial":
        return kernel | {"inducing": np.asarray(kernel["inducing"])[:, :, :used]}
    return kernel | {"parts": [_without_padding(part, used) for part in kernel["parts"]]}


@describe.register
def _(kernel: AnchoredRadial) -> Description:
    if kernel.correlation not in CORRELATIONS:
        raise BadInput(
            "the explorer knows only the kernels "
            f"{', '.join(CORRELATIONS.values())} and their sums and products, not "
            f"{kernel.correlation.__qualname__}; fit with one of those"
        )
    return {
        "kind": "radial",
        "correlation": CORRELATIONS[kernel.correlation],
        "centre": kernel.centre,
        "scale": kernel.scale,
        "inducing": kernel.scaled,
    }


@describe.register
def _(kernel: AnchoredSum) -> Description:
    parts = [describe(part) for part in kernel.parts]
    return {"kind": "sum", "parts": parts, "weights": kernel.weights}


@describe.register
def _(kernel: AnchoredProduct) -> Description:
    return {"kind": "product", "parts": [describe(part) for part in kernel.parts]}


@describe.register
def _(network: Network) -> Description:
    layers = zip(network.weights, network.biases, strict=True)
    return {
        "kind": "network",
        "activation": network.activation,
        "layers": [{"weights": weights, "biases": biases} for weights, biases in layers],
    }


@describe.register
def _(coordinates: RawAlone | AxisAlone | MirrorAlone | SpeedAlone) -> Description:
    return {"kind": ALONE_KINDS[type(coordinates)], "vectors": coordinates.vectors}


@describe.register
def _(coordinates: WallAlone) -> Description:
    contacts = coordinates.contacts
    walls = None
    if contacts is not None:
        walls = {name: describe(getattr(contacts, name)) for name in ("planes", "spheres")}
    return {"kind": "wall", "vectors": coordinates.vectors, "contacts": walls}


@describe.register
def _(coordinates: NoAlone | NoPair) -> Description:
    layout = coordinates.layout
    return {"kind": "none", "rates": coordinates.vectors * layout.spatial + layout.extra}


@describe.register
def _(coordinates: BodyPair) -> Description:
    reach = np.exp(np.asarray(coordinates.log_range))
    return {"kind": "body", "vectors": coordinates.vectors, "range": reach}


@describe.register
def _(coordinates: DistancePair) -> Description:
    return {
        "kind": "distance",
        "vectors": coordinates.vectors,
        "logarithmic": coordinates.logarithmic,
        "aligning": coordinates.aligning,
    }


@describe.register
def _(coordinates: MultiplyingPair) -> Description:
    return {"kind": "multiplying", "vectors": coordinates.vectors}


@describe.register
def _(coordinates: StackedPair) -> Description:
    return {
        "kind": "stacked",
        "vectors": coordinates.vectors,
        "differenced": coordinates.differenced,
        "opposite": coordinates.opposite,
    }


@describe.register
def _(coordinates: RadialPair) -> Description:
    return {
        "kind": "radial",
        "vectors": coordinates.vectors,
        "tangential": coordinates.tangential,
        "opposite": coordinates.opposite,
    }


@describe.register
def _(rule: NonlinearRule) -> Description:
    return {"kind": "nonlinear", "function": describe(rule.function)}


@describe.register
def _(rule: WeightedRule) -> Description:
    return {"kind": "weighted", "function": describe(rule.function)}


@describe.register
def _(graph: NearestGraph) -> Description:
    radius = graph.radius if np.isfinite(graph.radius) else None
    return {"kind": "nearest", "count": graph.count, "radius": radius}


@describe.register
def _(integrator: FixedSteps) -> Description:
    return {"kind": "rk4", "steps": integrator.steps}


@describe.register
def _(noise: StateNoise) -> Description:
    most = float(noise.most)
    return {
        "kind": "state",
        "share": float(noise.share),
        "steady": float(noise.steady),
        "most": most if np.isfinite(most) else None,
        "first": noise.first,
        "stop": noise.stop,
    }


@describe.register
def _(noise: BodyNoise) -> Description:
    numbers = {name: np.asarray(value) for name, value in vars(noise).items() if name != "spatial"}
    plain = {name: value if value.ndim else float(value) for name, value in numbers.items()}
    return {"kind": "body", "spatial": noise.spatial} | plain


@describe.register
def _(decoder: FirstEntries) -> Description:
    return {"kind": "first", "observed": decoder.observed}


@describe.register
def _(decoder: LearnedDecoder) -> Description:
    layers = [
        {"weights": np.asarray(layer.weight).T[None], "biases": np.asarray(layer.bias)[None]}
        for layer in decoder.network.layers
    ]
    network = {"kind": "network", "activation": "relu", "layers": layers}
    return {"kind": "learned", "entries": list(decoder.entries), "network": network}


@describe.register
def _(layout: Layout) -> Description:
    return {
        "spatial": layout.spatial,
        "velocity": layout.has_velocity,
        "extra": layout.extra,
        "properties": layout.properties,
        "controls": layout.controls,
        "state": layout.state,
    }


def once_where_equal(description: Any) -> Any:
    """Arrays that are the same in every draw are kept once, with one draw."""
    if isinstance(description, Mapping):
        return {name: once_where_equal(value) for name, value in description.items()}
    if isinstance(description, list):
        return [once_where_equal(value) for value in description]
    if not hasattr(description, "shape"):
        return description
    values = np.asarray(description, np.float32)
    return values[:1] if (values == values[:1]).all() else values
