"""Functions that act on each row of a matrix by itself, made fast under vmap and grad.

Below the objective the code speaks of one sequence; `vmap` over sequences would turn every
matrix product into one with a batch axis, and sum one gradient of the parameters per sequence.
Here rows of all sequences are stacked into one matrix instead, and the backward pass keeps only
the inputs and computes everything else again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

Plain = Callable[[Any, Array], Array]
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

    def plain_backward(parameters, rows, cotangent):
        return jax.vjp(plain, parameters, rows)[1](cotangent)

    forward, backward = custom_vmap(plain), custom_vmap(plain_backward)

    @forward.def_vmap
    def _forward_of_batch(size, batched, parameters, rows):
        parameters_batched, rows_batched = batched
        if _any(parameters_batched) or not rows_batched:
            return _one_by_one(plain, batched)(parameters, rows), True
        out = forward(parameters, _stack(rows))
        return _unstack(out, size), True

    @backward.def_vmap
    def _backward_of_batch(size, batched, parameters, rows, cotangent):
        parameters_batched, rows_batched, cotangent_batched = batched
        summed = _SUMMED.get() and rows_batched and cotangent_batched
        if _any(parameters_batched) or not summed:
            out = _one_by_one(plain_backward, batched)(parameters, rows, cotangent)
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


def _stack(batch: Float[Array, "B N I"]) -> Float[Array, "M I"]:
    return batch.reshape(-1, batch.shape[-1])


def _unstack(rows: Float[Array, "M I"], size: int) -> Float[Array, "B N I"]:
    return rows.reshape(size, -1, rows.shape[-1])


def _any(batched: Any) -> bool:
    return any(jax.tree.leaves(batched))


def _one_by_one(function: Callable, batched: Any) -> Callable:
    axes = jax.tree.map(lambda flag: 0 if flag else None, tuple(batched))
    return jax.vmap(function, in_axes=axes)
