import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

from comotion.gp import (
    AbstractKernel,
    KernelProduct,
    KernelSum,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
    fourier_basis,
)

SCALES = np.array([0.7, 1.3, 2.0])
FIVE_SCALES = np.array([0.7, 1.3, 2.0, 0.9, 1.1])


def se(x, y, scales):
    return np.exp(-0.5 * cdist(x / scales, y / scales) ** 2)


def matern(nu):
    """The general Matérn function by its Bessel function."""

    def oracle(x, y, scales):
        r = np.sqrt(2 * nu) * cdist(x / scales, y / scales)
        safe = np.where(r > 0, r, 1.0)
        return np.where(r > 0, 2 ** (1 - nu) / gamma(nu) * safe**nu * kv(nu, safe), 1.0)

    return oracle


def weighted(kernels, weights):
    logits = jnp.log(jnp.asarray(weights, jnp.float32))
    return eqx.tree_at(lambda kernel: kernel.logits, KernelSum(kernels), logits)


def on(kernel, *inputs):
    return kernel.init(SCALES[list(inputs)], inputs=inputs, in_size=3)


def part(x, *inputs):
    return x[:, list(inputs)]


CASES = {
    "se": (SquaredExponential.init(SCALES), lambda x, y: se(x, y, SCALES)),
    "matern12": (Matern12.init(SCALES), lambda x, y: matern(0.5)(x, y, SCALES)),
    "matern32": (Matern32.init(SCALES), lambda x, y: matern(1.5)(x, y, SCALES)),
    "matern52": (Matern52.init(SCALES), lambda x, y: matern(2.5)(x, y, SCALES)),
    "many inputs": (Matern32.init(FIVE_SCALES), lambda x, y: matern(1.5)(x, y, FIVE_SCALES)),
    "chosen inputs": (
        on(Matern52, 2, 0),
        lambda x, y: matern(2.5)(part(x, 2, 0), part(y, 2, 0), SCALES[[2, 0]]),
    ),
    "sum": (
        weighted(
            [SquaredExponential.init(SCALES), Matern12.init(SCALES), on(Matern32, 1)],
            [0.2, 0.3, 0.5],
        ),
        lambda x, y: (
            0.2 * se(x, y, SCALES)
            + 0.3 * matern(0.5)(x, y, SCALES)
            + 0.5 * matern(1.5)(part(x, 1), part(y, 1), SCALES[[1]])
        ),
    ),
    "product": (
        KernelProduct([on(SquaredExponential, 0, 1), on(Matern32, 2)]),
        lambda x, y: (
            se(part(x, 0, 1), part(y, 0, 1), SCALES[:2])
            * matern(1.5)(part(x, 2), part(y, 2), SCALES[[2]])
        ),
    ),
    "product of sums": (
        KernelProduct(
            [
                weighted([on(SquaredExponential, 0), on(Matern12, 0)], [0.8, 0.2]),
                weighted([on(SquaredExponential, 1), on(Matern32, 2)], [0.7, 0.3]),
            ]
        ),
        lambda x, y: (
            (
                0.8 * se(part(x, 0), part(y, 0), SCALES[[0]])
                + 0.2 * matern(0.5)(part(x, 0), part(y, 0), SCALES[[0]])
            )
            * (
                0.7 * se(part(x, 1), part(y, 1), SCALES[[1]])
                + 0.3 * matern(1.5)(part(x, 2), part(y, 2), SCALES[[2]])
            )
        ),
    ),
}
every_kernel = pytest.mark.parametrize("name", CASES)


def inputs(kernel: AbstractKernel, rows: int, *, seed: int):
    # Far from zero on purpose: distances must not suffer from a common offset.
    return 30 + np.random.default_rng(seed).normal(size=(rows, kernel.in_size))


@every_kernel
@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-7), (jnp.float32, 2e-5)])
def test_kernel_matrix_equals_its_closed_form(name, dtype, tolerance):
    kernel, oracle = CASES[name]
    x, y = inputs(kernel, 6, seed=0), inputs(kernel, 4, seed=1)
    K = eqx.filter_jit(kernel)(jnp.asarray(x, dtype), jnp.asarray(y, dtype))
    assert K.dtype == dtype
    np.testing.assert_allclose(K, oracle(x, y), atol=tolerance)


@every_kernel
def test_kernel_is_one_at_no_distance_and_its_gradient_is_a_number(name):
    kernel, _ = CASES[name]
    x = jnp.asarray(inputs(kernel, 3, seed=0))

    def total(kernel_and_x):
        kernel, x = kernel_and_x
        K = kernel(x, x)
        return jnp.sum(K), jnp.diagonal(K)

    slope = eqx.filter_jit(eqx.filter_grad(total, has_aux=True))
    slopes, diagonal = slope((kernel, x))
    np.testing.assert_allclose(diagonal, 1.0, atol=1e-6)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes))


@every_kernel
def test_fourier_features_multiply_to_the_kernel(name):
    kernel, oracle = CASES[name]
    S = 60_000
    x = inputs(kernel, 5, seed=2) - 30

    @eqx.filter_jit
    def approximate(x, *, key):
        key_spectrum, key_phases = jax.random.split(key)
        spectrum = kernel.spectrum(key=key_spectrum, features=S)
        basis, amplitudes = fourier_basis(spectrum, key=key_phases)
        phi = basis(x) * amplitudes[None]
        return phi @ phi.T, jnp.max(spectrum.weights**2)

    K, heaviest = approximate(jnp.asarray(x), key=jax.random.key(3))
    np.testing.assert_allclose(K, oracle(x, x), atol=4 * float(heaviest) / np.sqrt(S))


def test_weights_of_a_sum_are_learned_through_its_features():
    kernel = KernelSum([SquaredExponential.init(SCALES), SquaredExponential.init(3 * SCALES)])

    def covariance_by_features(kernel):
        weights = kernel.spectrum(key=jax.random.key(0), features=7).weights
        return weights[:4] @ weights[:4] - weights[4:] @ weights[4:]

    slope = eqx.filter_jit(eqx.filter_grad(covariance_by_features))(kernel).logits
    np.testing.assert_allclose(slope, [3.5, -3.5], rtol=1e-5)  # 7 · d(w₁ - w₂)/d logits


def test_radial_kernel_refuses_lengthscales_that_do_not_match_its_inputs():
    with pytest.raises(ValueError, match=r"inputs \(0, 3\) of 3 was given 2 lengthscales"):
        SquaredExponential.init([1.0, 1.0], inputs=(0, 3), in_size=3)


def test_combined_kernels_must_share_their_number_of_inputs():
    with pytest.raises(ValueError, match=r"have \[1, 2\] inputs: give each the same `in_size`"):
        KernelProduct([SquaredExponential.init([1.0]), SquaredExponential.init([1.0, 1.0])])


def test_lengthscales_are_listed_for_all_parts():
    kernel = KernelSum(
        [SquaredExponential.init(SCALES), KernelProduct([on(Matern12, 0), on(Matern32, 1)])]
    )
    np.testing.assert_allclose(kernel.lengthscales(), [0.7, 1.3, 2.0, 0.7, 1.3], rtol=1e-6)


def test_lengthscales_are_lifted_input_by_input_in_every_part():
    parts = [
        SquaredExponential.init([0.5, 4.0], inputs=(0, 2), in_size=3),
        Matern32.init([0.1], inputs=(1,), in_size=3),
    ]
    shortest = jnp.array([1.0, 2.0, 3.0], jnp.float32)
    for combined in (KernelSum(parts), KernelProduct(parts)):
        lifted = combined.at_least(shortest)
        np.testing.assert_allclose(lifted.lengthscales(), [1.0, 4.0, 2.0], rtol=1e-6)
        assert type(lifted) is type(combined)
