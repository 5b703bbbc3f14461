import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.functions import AbstractDraw, Diagonal, Full, SparseGP
from comotion.functions.sparse_gp import SparseGPDraw
from comotion.gp import (
    ConditioningError,
    KernelProduct,
    KernelSum,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)

DATA = np.random.default_rng(0).normal(size=(50, 2))
QUERIES = jnp.asarray(np.random.default_rng(1).normal(size=(4, 2)), jnp.float32)
KERNELS = {
    "se": SquaredExponential.init([0.8, 1.2]),
    "matern12": Matern12.init([0.8, 1.2]),
    "matern32": Matern32.init([0.8, 1.2]),
    "matern52": Matern52.init([0.8, 1.2]),
    "chosen input": Matern32.init([0.9], inputs=(1,), in_size=2),
    "sum": KernelSum([SquaredExponential.init([0.5, 1.0]), Matern32.init([1.0, 2.0])]),
    "product": KernelProduct(
        [
            SquaredExponential.init([0.8], inputs=(0,), in_size=2),
            Matern52.init([1.2], inputs=(1,), in_size=2),
        ]
    ),
}


def sparse_gp(kernel="se", covariance="diagonal", *, M=6, Q=2, seed=0):
    """A sparse GP with a posterior that is neither the prior nor certain."""
    keys = jax.random.split(jax.random.key(seed), 3)
    gp = SparseGP.init(
        2,
        out_size=Q,
        num_inducing=M,
        key=keys[0],
        kernel=KERNELS.get(kernel, kernel),
        covariance=covariance,
        num_features=32,
        posterior_sd=0.4,
    )
    scales = jnp.log(jnp.linspace(0.5, 2.0, Q, dtype=jnp.float32))
    shaken = jax.tree.map(
        lambda leaf: leaf + 0.3 * jax.random.normal(keys[1], leaf.shape, leaf.dtype), gp.covariance
    )
    mean = jax.random.normal(keys[2], gp.mean.shape, jnp.float32)
    return eqx.tree_at(
        lambda gp: (gp.mean, gp.covariance, gp.log_output_scale), gp, (mean, shaken, scales)
    )


def as_exact(gp):
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float64), gp)


@eqx.filter_jit
def values_of_draws(gp, x, keys):
    return eqx.filter_vmap(lambda key: gp.draw(key=key)(x))(keys)


@eqx.filter_jit
def draw_of(gp, *, key):
    return gp.draw(key=key)


def assert_moments_equal(values, mean, covariance):
    """values: draws × variables; four standard errors of a mean and of a covariance."""
    L = len(values)
    sd = np.sqrt(np.diagonal(covariance))
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - mean), 4 * sd / np.sqrt(L))
    error_bar = 4 * np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / L)
    np.testing.assert_array_less(np.abs(np.cov(values.T) - covariance), error_bar)


@pytest.mark.parametrize(
    ("kernel", "covariance"),
    [*((kernel, "full") for kernel in KERNELS), ("se", "diagonal"), ("sum", "diagonal")],
)
def test_draws_have_the_moments_of_the_closed_form_posterior(kernel, covariance):
    gp = sparse_gp(kernel, covariance)
    values = values_of_draws(gp, QUERIES, jax.random.split(jax.random.key(7), 3000))
    mean, blocks = gp.posterior(QUERIES)
    joint = jax.scipy.linalg.block_diag(*blocks)  # outputs are independent
    flat = np.asarray(jnp.swapaxes(values, 1, 2).reshape(3000, -1), np.float64)
    assert_moments_equal(flat, np.asarray(mean.T.reshape(-1)), np.asarray(joint))


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_posterior_equals_dense_algebra(covariance):
    gp = as_exact(sparse_gp("matern32", covariance))
    x, Z = QUERIES.astype(jnp.float64), gp.inducing_inputs
    Kzz = np.asarray(gp.kernel(Z, Z)) + 1e-6 * np.eye(len(Z))
    Kxz, Kxx, L = gp.kernel(x, Z), gp.kernel(x, x), np.linalg.cholesky(Kzz)
    mean, cov = gp.posterior(x)
    for d, sigma in enumerate(np.exp(gp.log_output_scale)):
        u_mean, u_cov = sigma * L @ gp.mean[:, d], sigma**2 * L @ gp.covariance.dense()[d] @ L.T
        gain = Kxz @ np.linalg.inv(Kzz)
        np.testing.assert_allclose(mean[:, d], gain @ u_mean, atol=1e-8)
        dense = sigma**2 * (Kxx - gain @ Kxz.T) + gain @ u_cov @ gain.T
        np.testing.assert_allclose(cov[d], dense, atol=1e-8)


def test_draw_interpolates_inducing_values_when_q_is_certain():
    gp = sparse_gp("matern32")
    gp = eqx.tree_at(lambda gp: gp.covariance.log_sd, gp, jnp.full_like(gp.mean, -20.0))
    exact = as_exact(gp)
    Z = exact.inducing_inputs
    L = np.linalg.cholesky(exact.kernel(Z, Z))
    values = L @ np.asarray(exact.mean) * np.exp(exact.log_output_scale)
    draws = values_of_draws(gp, gp.inducing_inputs, jax.random.split(jax.random.key(0), 3))
    for drawn in draws:
        np.testing.assert_allclose(drawn, values, atol=2e-4)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_kl_equals_the_dense_formula_and_monte_carlo(covariance):
    gp = as_exact(sparse_gp(covariance=covariance, M=4))
    S = np.asarray(gp.covariance.dense())
    m = np.asarray(gp.mean).T
    log_determinants = np.linalg.slogdet(S)[1]
    dense = 0.5 * (np.trace(S, axis1=1, axis2=2) + (m**2).sum(1) - 4 - log_determinants)
    np.testing.assert_allclose(gp.kl(), dense.sum(), rtol=1e-10)
    noise = np.random.default_rng(0).normal(size=(20_000, 4, 2))
    v = np.asarray(gp.mean) + np.asarray(jax.vmap(gp.covariance.times)(jnp.asarray(noise)))
    log_ratio = 0.5 * (v**2 - noise**2).sum(axis=(1, 2)) - 0.5 * log_determinants.sum()
    error_bar = 4 * log_ratio.std() / np.sqrt(len(v))
    assert abs(log_ratio.mean() - gp.kl()) < error_bar


def test_kl_of_the_prior_is_zero():
    gp = SparseGP.init(2, out_size=2, num_inducing=5, key=jax.random.key(0), posterior_sd=1.0)
    np.testing.assert_allclose(gp.kl(), 0.0, atol=1e-6)


@pytest.mark.parametrize(("kernel", "covariance"), [("sum", "full"), ("product", "diagonal")])
def test_gradients_of_a_draw_and_kl_equal_finite_differences(kernel, covariance):
    gp = as_exact(sparse_gp(kernel, covariance, M=4))
    leaves, tree = jax.tree.flatten((gp, QUERIES.astype(jnp.float64)))
    keys = jax.random.split(jax.random.key(0), len(leaves))
    directions = [
        jax.random.normal(key, leaf.shape, leaf.dtype)
        for key, leaf in zip(keys, leaves, strict=True)
    ]

    @jax.jit
    def objective(steps):
        moved = [
            leaf + step * way for leaf, step, way in zip(leaves, steps, directions, strict=True)
        ]
        gp, x = jax.tree.unflatten(tree, moved)
        return jnp.sum(jnp.sin(gp.draw(key=jax.random.key(5))(x))) + gp.kl()

    h = 1e-6
    slopes = jax.jit(jax.grad(objective))(jnp.zeros(len(leaves)))
    ahead = np.stack([objective(step) for step in h * np.eye(len(leaves))])
    behind = np.stack([objective(step) for step in -h * np.eye(len(leaves))])
    assert jnp.all(slopes != 0)
    np.testing.assert_allclose(slopes, (ahead - behind) / (2 * h), rtol=1e-4, atol=1e-6)


def test_draw_is_the_same_function_each_call_and_keys_differ():
    gp = sparse_gp()
    draw, again, other = (draw_of(gp, key=jax.random.key(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(draw(QUERIES), draw(QUERIES))
    np.testing.assert_array_equal(draw(QUERIES), again(QUERIES))
    assert jnp.abs(draw(QUERIES) - other(QUERIES)).min() > 1e-4


def test_draws_from_different_keys_are_independent():
    gp = sparse_gp()
    values = values_of_draws(gp, QUERIES[:1], jax.random.split(jax.random.key(2), 4000))
    first, second = np.asarray(values[::2, 0, 0]), np.asarray(values[1::2, 0, 0])
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(2000)


def test_many_draws_at_once_equal_single_draws():
    gp = sparse_gp()
    keys = jax.random.split(jax.random.key(3), 5)
    draws = eqx.filter_jit(eqx.filter_vmap(lambda key: gp.draw(key=key)))(keys)
    together = eqx.filter_vmap(lambda draw: draw(QUERIES))(draws)
    single = np.stack([draw_of(gp, key=key)(QUERIES) for key in keys])
    np.testing.assert_allclose(together, single, rtol=1e-4, atol=1e-4)


def test_draw_takes_any_batch_shape_also_under_vmap_checkpoint_and_grad():
    gp = sparse_gp("matern52")
    draw = draw_of(gp, key=jax.random.key(0))
    x = jnp.asarray(np.random.default_rng(2).normal(size=(3, 4, 2)), jnp.float32)
    rows = draw(x.reshape(12, 2))
    np.testing.assert_allclose(draw(x), rows.reshape(3, 4, 2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(draw(x[0, 0]), rows[0], rtol=1e-5, atol=1e-5)

    def energy(draw, x):
        return jnp.sum(jax.vmap(eqx.filter_checkpoint(draw))(x) ** 2)

    slope = eqx.filter_jit(eqx.filter_grad(energy))(draw, x)
    plain = eqx.filter_jit(eqx.filter_grad(lambda draw: jnp.sum(draw(x) ** 2)))(draw)
    for left, right in zip(jax.tree.leaves(slope), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", ["se", "matern12"])
def test_draw_computes_in_32_bits_throughout_and_agrees_with_64_bits(kernel):
    gp = sparse_gp(kernel, M=20)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(gp))
    draw = draw_of(gp, key=jax.random.key(0))
    assert "f64" not in str(jax.make_jaxpr(draw)(QUERIES))
    exact = draw_of(as_exact(gp), key=jax.random.key(0))(QUERIES.astype(jnp.float64))
    assert exact.dtype == jnp.float64
    np.testing.assert_allclose(draw(QUERIES), exact, atol=1e-3)


def test_draw_refuses_inputs_of_another_dtype():
    draw = draw_of(sparse_gp(), key=jax.random.key(0))
    with pytest.raises(TypeError, match="drawn in float32 was called with inputs in float64"):
        draw(QUERIES.astype(jnp.float64))


def test_summed_interactions_have_the_induced_double_sum_kernel():
    objects = np.random.default_rng(4).normal(size=(3, 1))
    pairs = np.array([[(a, b) for b in range(3) if b != a] for a in range(3)])
    x = jnp.asarray(objects[pairs][..., 0].reshape(6, 2), jnp.float32)  # (h_p, h_p') in rows
    gp = SparseGP.init(
        2, out_size=1, num_inducing=6, key=jax.random.key(0), posterior_sd=1.0, num_features=32
    )
    messages = values_of_draws(gp, x, jax.random.split(jax.random.key(5), 4000))
    summed = np.asarray(messages[..., 0].reshape(4000, 3, 2).sum(axis=2), np.float64)
    exact_x = x.astype(jnp.float64)
    induced = np.asarray(gp.kernel(exact_x, exact_x)).reshape(3, 2, 3, 2).sum(axis=(1, 3))
    assert_moments_equal(summed, np.zeros(3), induced)


def test_lengthscales_inducing_inputs_and_output_scales_are_taken_from_data():
    x = np.random.default_rng(0).normal(size=(300, 8)) * np.arange(1, 9) + 5
    x[:, 3] = 2.0
    key = jax.random.key(0)
    gp = SparseGP.init(8, out_size=3, num_inducing=10, key=key, kernel="matern32")
    gp = gp.adapted_to(x, np.array([1.0, 2.0, 3.0]), key=key)
    np.testing.assert_allclose(jnp.exp(gp.log_output_scale), [1.0, 2.0, 3.0], rtol=1e-6)
    expected = 2 * np.where(np.arange(8) == 3, 1.0, x.std(axis=0))
    np.testing.assert_allclose(gp.kernel.lengthscales(), expected, rtol=1e-5)
    assert (gp.in_size, gp.out_size, gp.inducing_inputs.shape) == (8, 3, (10, 8))
    assert (np.asarray(gp.inducing_inputs).min(axis=0) >= x.min(axis=0) - 1e-5).all()


def test_full_covariance_keeps_the_factor_it_is_given():
    lower = jnp.asarray(np.tril(np.random.default_rng(0).uniform(0.1, 1, size=(2, 3, 3))))
    full = Full.from_lower(lower)
    np.testing.assert_allclose(full.lower(), lower, rtol=1e-12)
    np.testing.assert_allclose(full.dense(), lower @ lower.mT, rtol=1e-12)


def test_full_and_diagonal_covariance_start_alike():
    log_sd = jnp.log(jnp.asarray(np.random.default_rng(0).uniform(0.1, 1, size=(3, 2))))
    full = Full(jax.vmap(jnp.diag)(log_sd.T))
    np.testing.assert_allclose(full.dense(), Diagonal(log_sd).dense(), rtol=1e-12)


def test_conditioning_error_names_the_function_and_what_to_do():
    gp = sparse_gp()
    gp.check_conditioning("f_b")
    broken = eqx.tree_at(
        lambda gp: gp.kernel.log_lengthscales, gp, jnp.asarray([jnp.nan, 0.0], jnp.float32)
    )
    with pytest.raises(ConditioningError) as error:
        broken.check_conditioning("f_b")
    assert str(error.value) == (
        "The kernel matrix of f_b at its 6 inducing inputs has no Cholesky factor even with "
        "jitter 0.001 (lengthscales nan, 1): use fewer inducing inputs, or a smaller learning "
        "rate if the lengthscales have run away."
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"kernel": "rbf"}, "no kernel 'rbf': choose one of se, matern12, matern32, matern52"),
        ({"covariance": "banded"}, "no covariance 'banded': choose diagonal or full"),
    ],
)
def test_unknown_names_are_refused_with_the_choices(choice, message):
    with pytest.raises(ValueError, match=message):
        SparseGP.init(2, out_size=1, num_inducing=3, key=jax.random.key(0), **choice)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_odd_part_of_a_draw_is_half_the_difference_of_its_two_sides(kernel):
    draw = as_exact(sparse_gp(kernel)).draw(key=jax.random.key(3))
    x = QUERIES.astype(jnp.float64)
    expected, differentiated = AbstractDraw.odd(draw, x), jax.grad(_summed, argnums=1)
    np.testing.assert_allclose(draw.odd(x), expected, rtol=1e-10)
    share = jnp.abs(expected).max(axis=0) / jnp.abs(draw(x)).max(axis=0)
    assert share.min() > 0.1, "an even function would compare nothing with nothing"
    slopes = [differentiated(odd, draw, x) for odd in (AbstractDraw.odd, SparseGPDraw.odd)]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9), *slopes)


def _summed(odd, draw, x):
    return jnp.sum(odd(draw, x) ** 2)
