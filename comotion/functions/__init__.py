"""Random functions: what the unknown parts of a model can be."""

from comotion.functions.base import AbstractDraw, AbstractRandomFunction
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
    "MLP",
    "AbstractCovariance",
    "AbstractDraw",
    "AbstractRandomFunction",
    "BayesianMLP",
    "Diagonal",
    "Full",
    "Network",
    "SparseGP",
    "SparseGPDraw",
]
