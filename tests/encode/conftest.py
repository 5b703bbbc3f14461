from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

from comotion.data.windows import Window


@pytest.fixture(scope="session")
def make_window() -> Callable[..., Window]:
    """A window from values (frame, object, feature) with NaN where missing."""
    return _make_window


def _make_window(values, times=None, neighbours=None) -> Window:
    values = np.asarray(values, float)
    N, A, _ = values.shape
    present = ~np.isnan(values)
    seen = np.any(present, axis=2)
    alive = np.logical_or.accumulate(seen) & np.logical_or.accumulate(seen[::-1])[::-1]
    exists = np.any(alive, axis=0)
    graph = ~np.eye(A, dtype=bool) if neighbours is None else neighbours
    return Window(
        times=jnp.asarray(np.arange(N) if times is None else times, jnp.float32),
        values=jnp.asarray(np.nan_to_num(values), jnp.float32),
        present=jnp.asarray(present),
        alive=jnp.asarray(alive),
        properties=jnp.zeros((A, 0), jnp.float32),
        controls=jnp.zeros((N, A, 0), jnp.float32),
        neighbours=jnp.asarray(graph & exists[:, None] & exists[None, :]),
    )
