"""How fast could a step be? Its exp, cos, sin and matrix products, each by the fastest library.

A step of the trainer evaluates both drawn functions four times a frame, and once more backwards
with their derivatives. Here are the same operations in the same sizes and numbers, with nothing
between them: NumPy and JAX, on one core and with the rows shared by all cores.
"""

import functools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from comotion.backend.devices import mesh_of, over_parts
from comotion.backend.fast_math import cosine, decay, sine

STAGES = 4
TOGETHER = 20
REPEATS = 5
Clock = Callable[[], float]


class Function(NamedTuple):
    """A drawn function of one step: how many rows it is asked for, and its sizes."""

    rows: int
    inputs: int
    inducing: int
    features: int
    outputs: int


class Network(NamedTuple):
    """A network of one step: how many rows it is asked for, and the sizes of its layers."""

    rows: int
    sizes: tuple[int, ...]


class Operation(NamedTuple):
    """`exp`, `cos` or `sin` of a matrix, or a `product` of (rows, inner) with (inner, columns)."""

    name: str
    rows: int
    columns: int
    inner: int = 0


def floor(
    functions: Sequence[Function | Network], horizon: int, clock: Clock = time.perf_counter
) -> float:
    """Seconds of all operations of one step with windows of `horizon` frames; of networks, of
    their matrix products."""
    return STAGES * (horizon - 1) * _together((o for f in functions for o in _step(f)), clock)


def forecast_floor(networks: Sequence[Network], frames: int, clock: Clock) -> float:
    """Seconds of the matrix products of following so many frames, without a way back."""
    return STAGES * (frames - 1) * _together((o for f in networks for o in _layers(f)), clock)


def _together(operations: Iterator[Operation], clock: Clock) -> float:
    counts = Counter(operations)
    return sum(count * _fastest(operation, clock) for operation, count in counts.items())


def _layers(f: Network) -> Iterator[Operation]:
    for inputs, outputs in pairwise(f.sizes):
        yield Operation("product", f.rows, outputs, inputs)


def _step(f: Function | Network) -> Iterator[Operation]:
    if isinstance(f, Function):
        yield from _operations(f)
        return
    yield from 2 * [*_layers(f)]  # forwards, and again on the way back
    for inputs, outputs in pairwise(f.sizes):
        yield Operation("product", f.rows, inputs, outputs)  # derivative by the layer's inputs
        yield Operation("product", inputs, outputs, f.rows)  # by its weights


def _operations(f: Function) -> Iterator[Operation]:
    for name, width in (("cos", f.features), ("exp", f.inducing)):
        yield from 2 * [Operation(name, f.rows, width)]  # forwards, and again on the way back
        yield from 2 * [Operation("product", f.rows, width, f.inputs)]
        yield Operation("product", f.rows, f.outputs, width)
        yield Operation("product", f.outputs, width, f.rows)  # derivative by the weights
        yield Operation("product", f.rows, width, f.outputs)  # by the features
        yield Operation("product", f.rows, f.inputs, width)  # by the inputs
        yield Operation("product", f.inputs, width, f.rows)  # by frequencies, inducing inputs
    yield Operation("sin", f.rows, f.features)


@functools.cache
def _fastest(operation: Operation, clock: Clock) -> float:
    return min(_seconds(way, clock) for way in _ways(operation))


def _seconds(way: Callable[[], object], clock: Clock) -> float:
    way()
    best = float("inf")
    for _ in range(REPEATS):
        start = clock()
        way()
        best = min(best, clock() - start)
    return best / TOGETHER


def _ways(operation: Operation) -> Iterator[Callable[[], object]]:
    """Each does the operation `TOGETHER` times, on matrices of their own."""
    random = np.random.default_rng(0)
    product = operation.name == "product"
    width = operation.inner if product else operation.columns
    left = random.normal(size=(TOGETHER, operation.rows, width)).astype(np.float32)
    right = random.normal(size=(operation.inner, operation.columns)).astype(np.float32)
    out = np.empty((TOGETHER, operation.rows, operation.columns), np.float32)
    plain = getattr(np, operation.name, None)

    def numpy(part: slice = slice(None)) -> None:
        for x, y in zip(left[part], out[part], strict=True):
            if plain is None:
                np.matmul(x, right, out=y)
            else:
                plain(x, out=y)

    yield numpy
    pool = ThreadPoolExecutor(cores := os.cpu_count() or 1)
    yield lambda: list(pool.map(numpy, [slice(core, None, cores) for core in range(cores)]))
    fast = {"exp": decay, "cos": cosine, "sin": sine}
    for mesh in (None, mesh_of(jax.devices())):

        @jax.jit
        def every(x: jax.Array, y: jax.Array, mesh=mesh) -> jax.Array:
            def one(x: jax.Array) -> jax.Array:
                return x @ y if product else fast[operation.name](x)

            return over_parts(lambda _, x: jax.lax.map(one, x), mesh, (), x)

        x, y = jnp.asarray(left), jnp.asarray(right)
        yield lambda every=every, x=x, y=y: jax.block_until_ready(every(x, y))
