import ctypes
import gc
import importlib
import os
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

# Many tests build a program that an earlier one has built, here, in the other worker or in a
# process that a test started: all share one folder. What is read half written is compiled again.
# Who runs tests again and again may name a folder that is kept.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    COMPILED = tempfile.TemporaryDirectory(prefix="comotion-compiled-", ignore_cleanup_errors=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = COMPILED.name
os.environ |= {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # Most of the time would go into optimising programs that run once.
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    "XLA_FLAGS": "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
    "JAX_TRACEBACK_IN_LOCATIONS_LIMIT": "0",  # or a tenth goes into saying which line made what
    "JAX_NUM_CPU_DEVICES": "2",  # whatever the machine has: devices share the work
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

import jax
import pytest
from jax._src.interpreters import mlir

import comotion._types  # noqa: F401  (turns on 64-bit types before any array is made)

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
folder = os.environ["JAX_COMPILATION_CACHE_DIR"]
assert jax.config.values["jax_compilation_cache_dir"] == folder, "JAX came too early"

# Thousands of traced programs are alive: looking through them often took a tenth of the time.
gc.set_threshold(200_000, 20, 100)

# JAX builds each of its thousands of programs in a context of its own, and filling one takes longer
# than to lower a small program. A thread's programs share one, renewed before it grows.
CONTEXTS = threading.local()
PROGRAMS_PER_CONTEXT = 500
make_context = mlir.make_ir_context


def shared_context():
    CONTEXTS.left = getattr(CONTEXTS, "left", 0) - 1
    if CONTEXTS.left < 0:
        CONTEXTS.left, CONTEXTS.now = PROGRAMS_PER_CONTEXT, make_context()
    return CONTEXTS.now


mlir.make_ir_context = shared_context

MOST_MAPS = 10_000
SLOW = ("test_first_ten_minutes", "test_demo", "contracts", "explorer", "identification", "train")
SLOW += ("cli", "initialise", "jobs", "reproduce", "sweep", "report", "predict")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files and folders first, or one worker would end up waiting for the other; the demo's
    folder is made before both of them want it."""

    def rank(item: pytest.Item) -> int:
        names = {item.path.stem, item.path.parent.name}
        return min((SLOW.index(name) for name in names if name in SLOW), default=len(SLOW))

    items.sort(key=rank)


@pytest.fixture(scope="module", autouse=True)
def few_programs() -> Iterator[None]:
    """Each program costs memory and memory maps, of which Linux allows a process 65530."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_bytes().splitlines()) > MOST_MAPS:
        jax.clear_caches()
        gc.collect()
        if release := getattr(ctypes.CDLL(None), "malloc_trim", None):
            release(0)  # or a worker keeps all the memory it has ever had


@pytest.fixture(scope="session", autouse=True)
def small_programs() -> Iterator[None]:
    """Choosing among several initial states is half of what there is to compile in a forecast,
    sharing the work among devices a quarter, and a law written four times half of a step. All
    have tests of their own."""
    from comotion.integrate import FixedSteps
    from comotion.predict import draws, forecasting
    from comotion.train import calibrate, step

    build = importlib.import_module("comotion.systems.build")

    with pytest.MonkeyPatch.context() as patch:
        for room in (forecasting, calibrate):
            patch.setattr(room, "CANDIDATES", 1)
        patch.setattr(build, "FixedSteps", partial(FixedSteps, looped=True))
        patch.setattr(draws, "mesh_of", lambda devices: None)
        patch.setattr(step, "mesh_for", lambda count: None)
        yield


@pytest.fixture(scope="module")
def shared_by_devices() -> Iterator[None]:
    """Steps and forecasts as they are on several devices."""
    from comotion.backend import devices
    from comotion.predict import draws
    from comotion.train import step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "mesh_of", devices.mesh_of)
        patch.setattr(step, "mesh_for", devices.mesh_for)
        yield


@pytest.fixture
def several_candidates(monkeypatch) -> None:
    """Forecasts as users get them."""
    from comotion.predict import forecasting
    from comotion.predict.origin import CANDIDATES

    monkeypatch.setattr(forecasting, "CANDIDATES", CANDIDATES)


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """The programs that JAX has compiled, or loaded from its cache, since the test began."""
    names: list[str] = []

    def listen(event: str, duration_secs: float, **about) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(str(about["fun_name"]))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    jax.monitoring.unregister_event_duration_listener(listen)
