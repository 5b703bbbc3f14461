import ctypes
import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Many tests build a program that an earlier one has built, here or in a process it started. One
# folder for each worker: a program that another one is just writing cannot be read.
COMPILED = tempfile.TemporaryDirectory(prefix="comotion-compiled-", ignore_cleanup_errors=True)
os.environ |= {
    "JAX_COMPILATION_CACHE_DIR": COMPILED.name,
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # Most of the time would go into optimising programs that run once.
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    "XLA_FLAGS": "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
    "JAX_NUM_CPU_DEVICES": "2",  # whatever the machine has: devices share the work
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

import jax  # noqa: E402
import pytest  # noqa: E402

import comotion._types  # noqa: E402, F401  (turns on 64-bit types before any array is made)

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
assert jax.config.values["jax_compilation_cache_dir"] == COMPILED.name, "JAX came too early"

# Thousands of traced programs are alive: looking through them often took a tenth of the time.
gc.set_threshold(200_000, 20, 100)

MOST_MAPS = 10_000
SLOW = ("train", "cli", "explorer", "initialise", "identification")
SLOW += ("jobs", "reproduce", "sweep", "contracts")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Folders of long tests first, or one worker would end up waiting for the other."""

    def rank(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return SLOW.index(folder) if folder in SLOW else len(SLOW)

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
