"""Functions that act on each row of a matrix by itself, made fast under vmap and grad.

Below the objective the code speaks of one sequence; `vmap` over sequences would turn every
matrix product into one with a batch axis, and sum one gradient of the parameters per sequence.
Here rows of all sequences are stacked into one matrix instead, and the backward pass keeps only
the inputs and computes everything else again. On a processor very many rows are taken some at a
time, so that what is computed of them stays in a core's own cache.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

Plain = Callable[[Any, Array], Array]
AT_ONCE = 2048
"""Rows: ten times as many together leave the cache, and each takes two to four times as long."""
_SUMMED = ContextVar("summed", default=False)


@contextmanager
def summed_gradients() -> Iterator[None]:
    """Gradients traced inside are of sums over the batch: never those of single elements."""
    before = _SUMMED.set(True)
    try:
        yield
    finally:
        _SUMMED.reset(before)


def rowwise(plain: Plain) -> Plain:
    """`plain(parameters, rows)` with the same values, and a derivative in reverse mode only.

    Shared parameters get a gradient for each element of a batch, as `vmap(grad(…))` asks for.
    Inside `summed_gradients` it is added up over the batch at once, which is all that a gradient
    of a sum, `grad(vmap(…))`, needs.
    """

    def in_parts(parameters, rows):
        return _in_parts(plain, parameters, rows)

    def backward_in_parts(parameters, rows, cotangent):
        return _backward_in_parts(plain, parameters, rows, cotangent)

    forward, backward = custom_vmap(in_parts), custom_vmap(backward_in_parts)

    @forward.def_vmap
    def _forward_of_batch(size, batched, parameters, rows):
        parameters_batched, rows_batched = batched
        if _any(parameters_batched) or not rows_batched:
            return _one_by_one(in_parts, batched)(parameters, rows), True
        out = forward(parameters, _stack(rows))
        return _unstack(out, size), True

    @backward.def_vmap
    def _backward_of_batch(size, batched, parameters, rows, cotangent):
        parameters_batched, rows_batched, cotangent_batched = batched
        summed = _SUMMED.get() and rows_batched and cotangent_batched
        if _any(parameters_batched) or not summed:
            out = _one_by_one(backward_in_parts, batched)(parameters, rows, cotangent)
            return out, jax.tree.map(lambda _: True, out)
        # Already summed over the batch: that is what the caller would do with it.
        to_parameters, to_rows = backward(parameters, _stack(rows), _stack(cotangent))
        everywhere = jax.tree.map(lambda _: False, to_parameters)
        return (to_parameters, _unstack(to_rows, size)), (everywhere, True)

    @jax.custom_vjp
    def function(parameters, rows):
        return forward(parameters, rows)

    function.defvjp(
        lambda parameters, rows: (forward(parameters, rows), (parameters, rows)),
        lambda kept, cotangent: backward(*kept, cotangent),
    )
    return function


def _in_parts(plain: Plain, parameters: Any, rows: Float[Array, "N I"]) -> Float[Array, "N Q"]:
    if not _many(rows):
        return plain(parameters, rows)
    out = jax.lax.map(lambda part: plain(parameters, part), _cut(rows, "edge"))
    return _joined(out, len(rows))


def _backward_in_parts(
    plain: Plain, parameters: Any, rows: Float[Array, "N I"], cotangent: Float[Array, "N Q"]
) -> tuple[Any, Float[Array, "N I"]]:
    def backward(rows: Array, cotangent: Array) -> tuple[Any, Array]:
        return jax.vjp(plain, parameters, rows)[1](cotangent)

    def add(total: Any, part: tuple[Array, Array]) -> tuple[Any, Array]:
        to_parameters, to_rows = backward(*part)
        return jax.tree.map(jnp.add, total, to_parameters), to_rows

    if not _many(rows):
        return backward(rows, cotangent)
    nothing = jax.tree.map(jnp.zeros_like, parameters)
    parts = _cut(rows, "edge"), _cut(cotangent, "constant")
    to_parameters, to_rows = jax.lax.scan(add, nothing, parts)
    return to_parameters, _joined(to_rows, len(rows))


def _many(rows: Float[Array, "N I"]) -> bool:
    """An accelerator wants all of them together."""
    return len(rows) > 2 * AT_ONCE and jax.default_backend() == "cpu"


def _cut(rows: Float[Array, "N I"], filling: Literal["edge", "constant"]) -> Float[Array, "n m I"]:
    """Into equal parts, the last one filled with the last row again, or with zeros."""
    parts = -(-len(rows) // AT_ONCE)
    size = -(-len(rows) // parts)
    filled = jnp.pad(rows, ((0, parts * size - len(rows)), (0, 0)), mode=filling)
    return filled.reshape(parts, size, rows.shape[1])


def _joined(parts: Float[Array, "n m I"], count: int) -> Float[Array, "N I"]:
    return parts.reshape(-1, parts.shape[-1])[:count]


def _stack(batch: Float[Array, "B N I"]) -> Float[Array, "M I"]:
    return batch.reshape(-1, batch.shape[-1])


def _unstack(rows: Float[Array, "M I"], size: int) -> Float[Array, "B N I"]:
    return rows.reshape(size, -1, rows.shape[-1])


def _any(batched: Any) -> bool:
    return any(jax.tree.leaves(batched))


def _one_by_one(function: Callable, batched: Any) -> Callable:
    axes = jax.tree.map(lambda flag: 0 if flag else None, tuple(batched))
    return jax.vmap(function, in_axes=axes)
