"""Settings JAX reads before its first computation: the one place that changes them.

64-bit types are on, because Cholesky factors need them; the hot path stays in 32 bits since every
array there has an explicit dtype. Each core becomes a device (`devices`), unless
`JAX_NUM_CPU_DEVICES` says how many; vectors are as wide as the processor has them, unless
`XLA_FLAGS` say how wide. XLA would use half of the width, which costs a third of the speed of our
exponentials and cosines.
"""

import os
from contextlib import suppress
from pathlib import Path

import jax

MOST_CORES = 8
WIDTH = "--xla_cpu_prefer_vector_width"
RUNS_ONCE = {"xla_cpu_use_fusion_emitters": False}
"""How to compile what runs once: in half of the time, into something up to three times slower."""


def prepare() -> None:
    jax.config.update("jax_enable_x64", True)
    if WIDTH not in os.environ.get("XLA_FLAGS", "") and _has_wide_vectors():
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {WIDTH}=512".strip()
    if "JAX_NUM_CPU_DEVICES" not in os.environ:
        with suppress(RuntimeError):  # JAX has computed something, and stays with what it has
            jax.config.update("jax_num_cpu_devices", min(_cores(), MOST_CORES))


def _has_wide_vectors() -> bool:
    information = Path("/proc/cpuinfo")
    return information.is_file() and "avx512f" in information.read_text(errors="replace")


def _cores() -> int:
    """Those this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
