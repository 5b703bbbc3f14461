"""Random functions: what the unknown parts of a model can be."""

from comotion._types import Key
from comotion.functions.base import AbstractDraw, AbstractRandomFunction, FunctionRequest
from comotion.functions.bayesian_mlp import BayesianMLP
from comotion.functions.mlp import ACTIVATIONS, MLP, Network
from comotion.functions.sparse_gp import (
    AbstractCovariance,
    Diagonal,
    Full,
    SparseGP,
    SparseGPDraw,
)

__all__ = [
    "ACTIVATIONS",
    "FUNCTIONS",
    "MLP",
    "AbstractCovariance",
    "AbstractDraw",
    "AbstractRandomFunction",
    "BayesianMLP",
    "Diagonal",
    "Full",
    "FunctionRequest",
    "Network",
    "SparseGP",
    "SparseGPDraw",
    "make_function",
]

FUNCTIONS: dict[str, type[AbstractRandomFunction]] = {
    "gp": SparseGP,
    "mlp": MLP,
    "bnn": BayesianMLP,
}


def make_function(request: FunctionRequest, *, key: Key) -> AbstractRandomFunction:
    """The kind of function the config asks for."""
    return FUNCTIONS[request.config.function].from_request(request, key=key)
