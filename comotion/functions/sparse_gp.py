"""A Gaussian process with inducing inputs, one independent process per output."""

import abc
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import EXACT, FAST, Key
from comotion.backend.normal import standard_normal
from comotion.functions.base import AbstractDraw, AbstractRandomFunction, Capacity
from comotion.gp import KERNELS
from comotion.gp.inducing import k_means, spread
from comotion.gp.kernels import AbstractKernel
from comotion.gp.linalg import JITTERS, ConditioningError, safe_cholesky, solve_lower
from comotion.gp.pathwise import PathwiseDraw, draw_pathwise


class AbstractCovariance(eqx.Module):
    """Covariance S_d = F_d F_dᵀ of the whitened inducing values of each output."""

    @abc.abstractmethod
    def times(self, noise: Float[Array, "M Q"]) -> Float[Array, "M Q"]:
        """F_d times the noise of each output."""

    @abc.abstractmethod
    def dense(self) -> Float[Array, "Q M M"]:
        """S_d as matrices."""

    @abc.abstractmethod
    def trace(self) -> Float[Array, ""]:
        """Sum of the variances."""

    @abc.abstractmethod
    def log_determinant(self) -> Float[Array, ""]:
        """Sum over outputs of log det S_d."""


class Diagonal(AbstractCovariance):
    """Independent inducing values."""

    log_sd: Float[Array, "M Q"]

    def times(self, noise: Float[Array, "M Q"]) -> Float[Array, "M Q"]:
        return jnp.exp(self.log_sd) * noise

    def dense(self) -> Float[Array, "Q M M"]:
        return jax.vmap(jnp.diag)(jnp.exp(2 * self.log_sd.T))

    def trace(self) -> Float[Array, ""]:
        return jnp.sum(jnp.exp(2 * self.log_sd))

    def log_determinant(self) -> Float[Array, ""]:
        return 2 * jnp.sum(self.log_sd)


class Full(AbstractCovariance):
    """A lower factor per output, kept with the logarithm of its diagonal."""

    raw: Float[Array, "Q M M"]

    @classmethod
    def from_lower(cls, lower: Float[Array, "Q M M"]) -> "Full":
        """From factors with a positive diagonal."""
        diagonal = jnp.diagonal(lower, axis1=1, axis2=2)
        return cls(jnp.tril(lower, -1) + jax.vmap(jnp.diag)(jnp.log(diagonal)))

    def lower(self) -> Float[Array, "Q M M"]:
        """The factors F_d."""
        return jnp.tril(self.raw, -1) + jax.vmap(jnp.diag)(jnp.exp(self._log_diagonal()))

    def times(self, noise: Float[Array, "M Q"]) -> Float[Array, "M Q"]:
        return jnp.einsum("qmn,nq->mq", self.lower(), noise)

    def dense(self) -> Float[Array, "Q M M"]:
        lower = self.lower()
        return lower @ jnp.swapaxes(lower, 1, 2)

    def trace(self) -> Float[Array, ""]:
        return jnp.sum(self.lower() ** 2)

    def log_determinant(self) -> Float[Array, ""]:
        return 2 * jnp.sum(self._log_diagonal())

    def _log_diagonal(self) -> Float[Array, "Q M"]:
        return jnp.diagonal(self.raw, axis1=1, axis2=2)


class SparseGP(AbstractRandomFunction):
    """f_d ~ GP(0, σ_d² k), with q(v_d) = N(mean_d, S_d) on whitened values v, f_d(Z) = σ_d L v_d.

    Kernel, inducing inputs and Fourier basis are shared by the outputs.
    """

    kernel: AbstractKernel
    inducing_inputs: Float[Array, "M I"]
    log_output_scale: Float[Array, " Q"]
    mean: Float[Array, "M Q"]
    covariance: AbstractCovariance
    num_features: int = eqx.field(static=True, default=256)

    @classmethod
    def init(
        cls,
        in_size: int,
        *,
        out_size: int,
        num_inducing: int,
        key: Key,
        kernel: str | AbstractKernel = "se",
        covariance: str = "diagonal",
        num_features: int = 256,
        posterior_sd: float = 0.1,
    ) -> "SparseGP":
        """For inputs of mean zero and variance one, with outputs of variance one.

        Rarely needed: `posterior_sd` is that of the whitened inducing values at the start.
        """
        size = (num_inducing, out_size)
        return cls(
            kernel=kernel if isinstance(kernel, AbstractKernel) else _kernel(kernel, in_size),
            inducing_inputs=jax.random.normal(key, (num_inducing, in_size), FAST),
            log_output_scale=jnp.zeros(out_size, FAST),
            mean=jnp.zeros(size, FAST),
            covariance=_covariance(covariance, jnp.full(size, math.log(posterior_sd), FAST)),
            num_features=num_features,
        )

    @classmethod
    def build(cls, in_size: int, out_size: int, capacity: Capacity, *, key: Key) -> "SparseGP":
        return cls.init(
            in_size,
            out_size=out_size,
            num_inducing=capacity.inducing,
            kernel=capacity.kernel,
            covariance=capacity.covariance,
            num_features=capacity.fourier_features,
            key=key,
        )

    @classmethod
    def parameters(cls, in_size: int, out_size: int, capacity: Capacity) -> int:
        """Inducing inputs, means and covariances."""
        M = capacity.inducing
        spreads = M if capacity.covariance == "diagonal" else M * (M + 1) // 2
        return M * (in_size + out_size) + spreads * out_size

    def adapted_to(
        self, inputs: Float[np.ndarray, "N I"], scale: Float[np.ndarray, " Q"], *, key: Key
    ) -> "SparseGP":
        """Inducing inputs and lengthscales from the inputs, output scales as given."""
        centres = k_means(inputs, self.inducing_inputs.shape[0], key=key)
        kernel = self.kernel.stretched(spread(inputs))
        return eqx.tree_at(
            lambda f: (f.inducing_inputs, f.kernel, f.log_output_scale),
            self,
            (jnp.asarray(centres, FAST), kernel, jnp.asarray(np.log(scale), FAST)),
        )

    @property
    def in_size(self) -> int:
        return self.inducing_inputs.shape[1]

    @property
    def out_size(self) -> int:
        return self.mean.shape[1]

    def draw(self, *, key: Key) -> "SparseGPDraw":
        key_inducing, key_path = jax.random.split(key)
        noise = standard_normal(self.mean.shape, EXACT, key=key_inducing).astype(self.mean.dtype)
        path = draw_pathwise(
            self.kernel,
            self.inducing_inputs,
            self.mean + self.covariance.times(noise),
            jnp.exp(self.log_output_scale),
            features=self.num_features,
            key=key_path,
        )
        return SparseGPDraw(path)

    def kl(self) -> Float[Array, ""]:
        trace, log_determinant = self.covariance.trace(), self.covariance.log_determinant()
        return 0.5 * (trace + jnp.sum(self.mean**2) - self.mean.size - log_determinant)

    def whitened_kernel(self, x: Float[Array, "N I"]) -> Float[Array, "N M"]:
        """A = k(x, Z) L⁻ᵀ, which takes whitened values v to the mean of f(x)/σ, in 64 bits."""
        x, Z = x.astype(EXACT), self.inducing_inputs.astype(EXACT)
        return solve_lower(safe_cholesky(self.kernel(Z, Z)), self.kernel(Z, x)).T

    def posterior(
        self, x: Float[Array, "N I"]
    ) -> tuple[Float[Array, "N Q"], Float[Array, "Q N N"]]:
        """Mean and covariance of q(f(x)), Eq. (2) with q(U) put in, in 64 bits."""
        exact_x = x.astype(EXACT)
        sigma = jnp.exp(self.log_output_scale.astype(EXACT))
        A = self.whitened_kernel(x)
        S = self.covariance.dense().astype(EXACT)
        beyond_prior = S - jnp.eye(S.shape[1], dtype=EXACT)[None]
        correlation = self.kernel(exact_x, exact_x)[None] + A[None] @ beyond_prior @ A.T[None]
        return (A @ self.mean.astype(EXACT)) * sigma[None], correlation * sigma[:, None, None] ** 2

    def check_conditioning(self, name: str) -> None:
        """Raise ConditioningError if draws of this function would not be numbers."""
        Z = self.inducing_inputs.astype(EXACT)
        if np.isfinite(np.asarray(safe_cholesky(self.kernel(Z, Z)))).all():
            return
        scales = np.asarray(self.kernel.lengthscales())
        raise ConditioningError(
            f"The kernel matrix of {name} at its {Z.shape[0]} inducing inputs has no Cholesky "
            f"factor even with jitter {JITTERS[-1]:g} (lengthscales "
            f"{', '.join(f'{scale:.3g}' for scale in scales)}): use fewer inducing inputs, or a "
            "smaller learning rate if the lengthscales have run away."
        )


class SparseGPDraw(AbstractDraw):
    """One function drawn from a sparse GP."""

    path: PathwiseDraw

    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        return self.path(x)

    def odd(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        return self.path.odd(x)


def _kernel(name: str, in_size: int) -> AbstractKernel:
    """Distances grow with the root of the number of inputs, and lengthscales with them."""
    if name not in KERNELS:
        raise ValueError(f"There is no kernel {name!r}: choose one of {', '.join(KERNELS)}.")
    return KERNELS[name](jnp.full(in_size, max(1.0, math.sqrt(in_size / 2)), FAST))


def _covariance(name: str, log_sd: Float[Array, "M Q"]) -> AbstractCovariance:
    if name == "diagonal":
        return Diagonal(log_sd)
    if name == "full":
        return Full(jax.vmap(jnp.diag)(log_sd.T))
    raise ValueError(f"There is no covariance {name!r}: choose diagonal or full.")
