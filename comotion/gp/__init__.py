"""Gaussian-process building blocks: kernels, Fourier features, inducing inputs, pathwise draws."""

from collections.abc import Callable

from comotion.config import parts
from comotion.gp.combine import KernelProduct, KernelSum
from comotion.gp.features import fourier_basis
from comotion.gp.inducing import k_means
from comotion.gp.kernels import (
    AbstractKernel,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)
from comotion.gp.linalg import JITTERS, ConditioningError, safe_cholesky

__all__ = [
    "JITTERS",
    "KERNELS",
    "AbstractKernel",
    "ConditioningError",
    "KernelProduct",
    "KernelSum",
    "Matern12",
    "Matern32",
    "Matern52",
    "SquaredExponential",
    "fourier_basis",
    "k_means",
    "safe_cholesky",
]

KERNELS: dict[str, Callable[..., AbstractKernel]] = parts.KERNELS
KERNELS |= {
    "se": SquaredExponential.init,
    "matern12": Matern12.init,
    "matern32": Matern32.init,
    "matern52": Matern52.init,
}
"""Each makes a kernel from one lengthscale per input."""
