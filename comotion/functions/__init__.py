"""Random functions: what the unknown parts of a model can be."""

from comotion.config import parts
from comotion.functions.base import AbstractDraw, AbstractRandomFunction, Capacity, Nothing
from comotion.functions.bayesian_mlp import BayesianMLP
from comotion.functions.mlp import ACTIVATIONS, MLP, Network
from comotion.functions.sparse_gp import (
    Diagonal,
    Full,
    SparseGP,
    SparseGPDraw,
)

__all__ = [
    "ACTIVATIONS",
    "FUNCTIONS",
    "MLP",
    "AbstractDraw",
    "AbstractRandomFunction",
    "BayesianMLP",
    "Capacity",
    "Diagonal",
    "Full",
    "Network",
    "Nothing",
    "SparseGP",
    "SparseGPDraw",
]

FUNCTIONS: dict[str, type[AbstractRandomFunction]] = parts.FUNCTIONS
FUNCTIONS |= {
    "gp": SparseGP,
    "mlp": MLP,
    "bnn": BayesianMLP,
}
