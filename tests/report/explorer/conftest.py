import dataclasses
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import comotion.report.explorer as explorer
from comotion.config import Recipe, RunConfig
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.report.explorer.pack import pack
from comotion.systems import system
from comotion.train.fit import untrained

ENGINE = Path(explorer.__file__).parent / "engine"
TINY = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 16}
TINY |= {"hidden_alone": 8, "hidden_pair": 8}


def walks(
    *,
    objects: int = 3,
    spatial: int = 2,
    velocities: bool = True,
    controls: int = 0,
    step: float = 0.02,
    frames: int = 51,
) -> Trajectories:
    """Slow random walks of charged objects; one object enters late."""
    rng = np.random.default_rng(objects + spatial)
    width = spatial * (2 if velocities else 1)
    start = 1.5 * rng.normal(size=(2, 1, objects, width))
    values = start + np.cumsum(0.05 * rng.normal(size=(2, frames, objects, width)), axis=1)
    values[0, :2, 1] = np.nan
    names = [*"xyz"[:spatial], *(f"v{axis}" for axis in "xyz"[:spatial])][:width]
    return Trajectories.from_arrays(
        values,
        3.0 + step * np.arange(frames),
        features=names,
        static=rng.choice([-1.0, 1.0], size=(2, objects, 1)),
        static_names=["charge"],
        controls=rng.normal(size=(2, frames, objects, controls)) if controls else None,
    )


def tiny_model(
    data: Trajectories, name: str = "comotion", *, wild: float = 0.4, **parts
) -> FittedModel:
    """Not trained: its laws are any laws, the wilder the farther from those of a start."""
    config = RunConfig(system(name, **TINY, **parts), Recipe())
    fitted = untrained(data, config, key=jax.random.key(0))[0]
    rng = np.random.default_rng(0)

    def shaken(leaf):
        return leaf + jnp.asarray(wild * rng.normal(size=leaf.shape), leaf.dtype)

    numbers, rest = eqx.partition(fitted.model.dynamics, eqx.is_inexact_array)
    dynamics = eqx.combine(jax.tree.map(shaken, numbers), rest)
    if config.system.time == "discrete":  # a jump is the way of one frame
        sizes = lambda d: (d.alone.log_output_scale, d.pair.log_output_scale)
        dynamics = eqx.tree_at(sizes, dynamics, replace_fn=lambda log: log - 4.0)
    return dataclasses.replace(fitted, model=dataclasses.replace(fitted.model, dynamics=dynamics))


@pytest.fixture
def run_engine(tmp_path) -> Callable[..., list[np.ndarray]]:
    """The page's engine under node, on content that was packed as for a page."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")

    def run(content: dict, questions: list[dict], plainly: bool = False) -> list[np.ndarray]:
        (tmp_path / "packed").write_text(pack(content))
        (tmp_path / "questions").write_text(json.dumps(questions))
        words = ["node", str(Path(__file__).parent / "follow.mjs"), str(ENGINE)]
        done = subprocess.run(
            [*words, str(tmp_path / "packed"), str(tmp_path / "questions"), *["plainly"] * plainly],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [np.array(answer, float) for answer in json.loads(done.stdout)]

    return run
