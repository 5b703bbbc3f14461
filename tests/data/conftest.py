from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest

from comotion.data import Trajectories


@pytest.fixture
def random_trajectories() -> Callable[[int], Trajectories]:
    """Everything that is ordinary at once: ragged, irregular, with gaps, entries and exits."""
    return _random_trajectories


@pytest.fixture
def assert_same() -> Callable[[Trajectories, Trajectories], None]:
    return _assert_same


def _random_trajectories(seed: int) -> Trajectories:
    rng = np.random.default_rng(seed)
    d = seed % 3 + 1
    P, N, A = rng.integers(1, 5), rng.integers(4, 12), rng.integers(1, 5)
    features = ["x", "y", "z"][:d] + ["vx", "vy", "vz"][:d] * int(rng.integers(2))
    features += ["heading"] * int(rng.integers(2))
    C, U = rng.integers(0, 3, size=2)
    lengths = np.append(N, rng.integers(2, N + 1, size=P - 1))
    counts = np.append(A, rng.integers(1, A + 1, size=P - 1))
    frame, slot = np.arange(N), np.arange(A)
    values = rng.normal(size=(P, N, A, len(features))) * 10.0 ** rng.integers(-9, 9)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[rng.random((P, N, A)) < 0.1] = np.nan
    enters, leaves = rng.integers(0, 2, size=(P, A)), rng.integers(N - 1, N + 1, size=(P, A))
    values[frame[:, None] < enters[:, None]] = np.nan
    values[frame[:, None] >= leaves[:, None]] = np.nan
    values[0, 1, 0, 0] = 0.1
    controls = rng.normal(size=(P, N, A, U))
    absent = slot >= counts[:, None]
    padding = frame >= lengths[:, None]
    for array in (values, controls):
        array[padding] = np.nan
        array.swapaxes(1, 2)[absent] = np.nan
    static = rng.normal(size=(P, A, C))
    static[absent] = np.nan
    times = np.cumsum(rng.exponential(size=(P, N)) + 1e-3, axis=1)
    times[padding] = np.nan
    return Trajectories.from_arrays(
        values,
        times,
        features=features,
        static=static,
        static_names=["mass", "charge"][:C],
        controls=controls,
        control_names=["push", "a, b"][:U],
        sequence_names=[f"run{p}" for p in range(P)],
        object_names=[["" if a >= k else f"ball{a + 8}" for a in slot] for k in counts],
    )


def _assert_same(one: Trajectories, other: Trajectories) -> None:
    for field in fields(Trajectories):
        if field.name == "frame_kind":  # where they came from is no content
            continue
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, err_msg=field.name)
        else:
            assert a == b, field.name


@pytest.fixture
def with_graph(random_trajectories) -> Callable[[int], Trajectories]:
    """The same with a graph that is given."""

    def make(seed: int) -> Trajectories:
        data = random_trajectories(seed)
        rng = np.random.default_rng(seed)
        return replace(data, graph=data.neighbours & (rng.random(data.neighbours.shape) < 0.5))

    return make
