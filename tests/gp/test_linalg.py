import jax
import jax.numpy as jnp
import numpy as np

from comotion.gp import JITTERS, safe_cholesky


def with_eigenvalues(values):
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(len(values), len(values))))
    return rotation @ np.diag(values) @ rotation.T


def test_smallest_jitter_is_used_when_it_works():
    K = with_eigenvalues([1.0, 2.0, 3.0])
    L = np.asarray(safe_cholesky(jnp.asarray(K)))
    np.testing.assert_allclose(L @ L.T, K + JITTERS[0] * 2.0 * np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(np.triu(L, 1), 0)


def test_jitter_grows_until_the_factor_exists():
    K = with_eigenvalues([-5e-5, 1.5, 1.5])
    L = np.asarray(jax.jit(safe_cholesky)(jnp.asarray(K)))
    jitter = (L @ L.T - K)[0, 0] / K.trace() * 3
    np.testing.assert_allclose(jitter, 1e-4, rtol=1e-6)


def test_factor_is_nan_when_no_jitter_is_enough():
    assert jnp.isnan(safe_cholesky(jnp.asarray(with_eigenvalues([-0.1, 1.0])))).any()


def test_gradient_passes_through_the_retry():
    K = jnp.asarray(with_eigenvalues([-5e-5, 1.0, 2.0]))
    direction = jnp.asarray(with_eigenvalues([0.3, -0.2, 0.1]))

    def total(step):
        return jnp.sum(safe_cholesky(K + step * direction))

    h = 1e-8
    slope = (total(h) - total(-h)) / (2 * h)
    np.testing.assert_allclose(jax.grad(total)(0.0), slope, rtol=1e-4)


def test_each_matrix_of_a_batch_gets_its_own_jitter():
    matrices = jnp.stack([jnp.asarray(with_eigenvalues([v, 1.0])) for v in (1.0, -5e-5, -0.1)])
    L = jax.vmap(safe_cholesky)(matrices)
    np.testing.assert_allclose(L[0], safe_cholesky(matrices[0]))
    np.testing.assert_allclose(L[1], safe_cholesky(matrices[1]))
    assert jnp.isnan(L[2]).any()
