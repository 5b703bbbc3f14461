"""Stacked rows must change nothing but the speed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.backend import row_batching
from comotion.backend.row_batching import rowwise, summed_gradients


@pytest.fixture(autouse=True, params=[2048, 3], ids=["together", "in parts"])
def at_once(request, monkeypatch):
    """The last of the parts is shorter than the others."""
    monkeypatch.setattr(row_batching, "AT_ONCE", request.param)


def plain(parameters, rows):
    return jnp.tanh(rows @ parameters["weight"]) @ parameters["out"]


def example():
    keys = jax.random.split(jax.random.key(0), 3)
    parameters = {
        "weight": jax.random.normal(keys[0], (3, 5), FAST),
        "out": jax.random.normal(keys[1], (5, 2), FAST),
    }
    return parameters, jax.random.normal(keys[2], (4, 7, 3), FAST)


def gradients(function, parameters, batch):
    def loss(parameters, batch):
        return jnp.sum(jax.vmap(lambda rows: function(parameters, rows))(batch) ** 2)

    with summed_gradients():
        summed = jax.grad(loss, argnums=(0, 1))(parameters, batch)
    assert_close(summed, jax.grad(loss, argnums=(0, 1))(parameters, batch))
    return summed


def assert_close(got, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5), got, wanted)


def test_values_and_gradients_under_vmap_equal_those_of_the_plain_function():
    parameters, batch = example()
    fast = rowwise(plain)
    values = jax.vmap(lambda rows: fast(parameters, rows))(batch)
    assert_close(values, jax.vmap(lambda rows: plain(parameters, rows))(batch))
    assert_close(gradients(fast, parameters, batch), gradients(plain, parameters, batch))


def test_nested_vmap_stacks_all_rows():
    parameters, batch = example()
    fast = rowwise(plain)
    nested = batch.reshape(2, 2, 7, 3)
    values = jax.vmap(jax.vmap(lambda rows: fast(parameters, rows)))(nested)
    assert_close(values.reshape(4, 7, 2), jax.vmap(lambda rows: plain(parameters, rows))(batch))


def test_a_batch_of_parameters_gives_each_its_own_rows_and_gradient():
    parameters, batch = example()
    many = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf, -leaf, leaf + 1]), parameters)

    def loss(function, many, batch):
        return jnp.sum(jax.vmap(function)(many, batch) ** 2)

    fast = jax.grad(lambda m, b: loss(rowwise(plain), m, b), argnums=(0, 1))(many, batch)
    slow = jax.grad(lambda m, b: loss(plain, m, b), argnums=(0, 1))(many, batch)
    assert_close(fast, slow)


def test_a_batch_of_parameters_on_shared_rows_works():
    parameters, batch = example()
    many = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), parameters)

    def loss(function, rows):
        return jnp.sum(jax.vmap(lambda p: function(p, rows))(many) ** 2)

    fast = jax.grad(lambda rows: loss(rowwise(plain), rows))(batch[0])
    assert_close(fast, jax.grad(lambda rows: loss(plain, rows))(batch[0]))


def test_each_element_of_a_batch_gets_the_gradient_of_its_own_loss():
    parameters, batch = example()

    def each(function):
        loss = lambda parameters, rows: jnp.sum(function(parameters, rows) ** 2)
        return jax.vmap(jax.grad(loss), in_axes=(None, 0))(parameters, batch)

    assert_close(each(rowwise(plain)), each(plain))


def test_gradient_without_vmap_works():
    parameters, batch = example()
    fast = jax.grad(lambda p: jnp.sum(rowwise(plain)(p, batch[0])))(parameters)
    assert_close(fast, jax.grad(lambda p: jnp.sum(plain(p, batch[0])))(parameters))
