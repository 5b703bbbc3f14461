"""comotion doctor"""

import importlib.metadata
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from comotion.cli.output import as_json

PACKAGES = ("comotion", "jax", "jaxlib", "equinox", "diffrax", "optax", "numpy", "xarray")
PACKAGES += ("pandas", "h5netcdf", "safetensors", "scoringrules", "matplotlib", "tyro", "rich")
PACKAGES += ("pyarrow",)
MISSING = "not installed"


@dataclass(frozen=True)
class Options:
    """Check that this computer has what it takes.

    Prints versions, devices, threads and where compiled programs are kept, draws from a small
    Gaussian process, integrates a known motion, and writes and reads every file format
    (Parquet if pyarrow is installed). The exit code is 0 if all of it works and 1 if not. Put its
    output into a bug report.

    Examples:
      comotion doctor
      comotion doctor --json
    """

    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of text"""


def run(options: Options) -> int:
    facts = {"python": platform.python_version(), "platform": platform.platform()}
    facts |= {name: _version(name) for name in PACKAGES} | _hardware() | _cache()
    failures = {name: _failure(check) for name, check in CHECKS.items()}
    healthy = not any(failures.values())
    if options.json:
        print(as_json({"healthy": healthy, "facts": facts, "failures": failures}))
    else:
        for name, fact in facts.items():
            print(f"{name:<16} {fact}")
        for name, failure in failures.items():
            print(f"{name:<16} {failure or 'works'}")
        print("all is well" if healthy else "something is wrong: see above")
    return 0 if healthy else 1


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return MISSING


def _hardware() -> dict[str, str]:
    import jax

    import comotion._types  # noqa: F401  (makes devices of the cores, as a fit does)

    devices = ", ".join(str(device) for device in jax.devices())
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "devices": f"{devices} (a fit shares its work among them)",
        "threads": str(usable),
        "xla flags": os.environ.get("XLA_FLAGS", "–"),
    }


def _cache() -> dict[str, str]:
    from comotion.backend import cache

    place = cache.folder()
    if place is None:
        return {"compiled": "not kept: the cache is turned off or its folder cannot be written"}
    return {"compiled": f"{place} ({cache.size(place) / 1024**2:.0f} MiB)"}


def _failure(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:  # a doctor reports whatever is wrong
        return f"{type(error).__name__}: {error}"
    return None


def check_gaussian_process() -> None:
    """A certain process passes through its inducing values."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import numpy as np

    from comotion._types import FAST
    from comotion.functions import SparseGP

    key = jax.random.key(0)
    x = np.linspace(-2.0, 2.0, 8)[:, None]
    process = SparseGP.init(1, out_size=1, num_inducing=8, key=key, posterior_sd=1e-6)
    process = process.adapted_to(x, np.ones(1), key=key)
    whitened = jax.random.normal(key, (8, 1), FAST)
    process = eqx.tree_at(lambda p: p.mean, process, whitened)
    places = process.inducing_inputs
    mean, _ = process.posterior(places)
    drawn = process.draw(key=key)(places)
    worst = float(jnp.max(jnp.abs(drawn - mean.astype(FAST))))
    if not worst < 1e-2:
        raise ArithmeticError(f"a draw misses its inducing values by {worst:.2g}")


def check_integration() -> None:
    """A swinging pendulum is back where it was after one period."""
    import jax.numpy as jnp
    import numpy as np

    from comotion._types import FAST
    from comotion.integrate import FixedSteps, trajectory

    def swing(states: Any, _time: Any, _interval: Any) -> Any:
        return jnp.stack([states[:, 1], -states[:, 0]], axis=1)

    times = jnp.asarray(np.linspace(0.0, 2 * np.pi, 101), FAST)
    start = jnp.asarray([[1.0, 0.0]], FAST)
    end = trajectory(FixedSteps(1), swing, start, times, jnp.zeros((100,), FAST))[-1]
    worst = float(jnp.max(jnp.abs(end - start)))
    if not worst < 1e-4:
        raise ArithmeticError(f"a pendulum is off by {worst:.2g} after one period")


def check_files() -> None:
    """What is written is read back."""
    import numpy as np

    from comotion.data import Trajectories, read, write

    endings = (".csv", ".nc") if _version("pyarrow") == MISSING else (".csv", ".nc", ".parquet")
    values = np.random.default_rng(0).normal(size=(2, 5, 3, 4))
    data = Trajectories.from_arrays(values)
    with tempfile.TemporaryDirectory() as folder:
        for ending in endings:
            file = Path(folder) / f"data{ending}"
            write(data, file)
            if not np.array_equal(read(file).values, values):
                raise OSError(f"a {ending} file does not give back what was written")


CHECKS: dict[str, Callable[[], None]] = {
    "Gaussian process": check_gaussian_process,
    "integration": check_integration,
    "files": check_files,
}
