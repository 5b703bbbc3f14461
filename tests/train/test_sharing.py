"""The same model, however many devices and processes share the work."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from comotion.predict.checkpoint import read
from comotion.train import step

FIT = """
import sys
import jax
{together}
from comotion.config import Recipe, Stage
from comotion.simulate import bouncing_balls
from comotion.train import fit, step

balls = bouncing_balls(sequences=8, frames=12, noise="low", seed=0)
parts = dict(encoder="smoother", function="mlp", hidden_alone=4, hidden_pair=4, contacts="off")
recipe = Recipe(name="tiny", stages=(Stage(3, 4, 1e-2),), windows=8, draws=2)
mesh = step.mesh_for(recipe.windows)
assert (1 if mesh is None else mesh.size) == {devices}
model = fit(balls, recipe=recipe, seed=1, out=sys.argv[1], **parts)
model.save(sys.argv[1] + f".{{jax.process_index()}}")
"""
TOGETHER = 'jax.distributed.initialize("{address}", num_processes=2, process_id={number})'


def start(out: Path, devices: int, local: int, together: str = "") -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", FIT.format(devices=devices, together=together), str(out)],
        env=os.environ | {"JAX_NUM_CPU_DEVICES": str(local)},
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*processes: subprocess.Popen) -> None:
    try:
        for process in processes:
            _, errors = process.communicate(timeout=250)
            assert process.returncode == 0, errors
    finally:
        for process in processes:
            process.kill()


def weights(file: Path) -> dict[str, np.ndarray]:
    return read(file)[0]


def assert_alike(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    """Sums in another order differ by rounding; Adam's first steps make the most of it."""
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, np.ndarray]:
    """By one device, here."""
    run = tmp_path_factory.mktemp("runs") / "alone"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step, "mesh_for", lambda count: None)
        patch.setattr(sys, "argv", ["", str(run)])
        exec(FIT.format(devices=1, together=""), {})
    return weights(run / "model.safetensors")


def test_four_devices_learn_the_same_as_one(alone, tmp_path):
    finish(start(tmp_path / "run", 4, 4))
    assert_alike(weights(tmp_path / "run" / "model.safetensors"), alone)


def test_two_processes_learn_the_same_as_one_and_write_it_once(alone, tmp_path):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{found.getsockname()[1]}"
    together = [TOGETHER.format(address=address, number=number) for number in (0, 1)]
    finish(*(start(tmp_path / "run", 4, 2, words) for words in together))
    first, second = (weights(tmp_path / f"run.{number}") for number in (0, 1))
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array, err_msg=name)
    assert_alike(first, alone)
    assert (tmp_path / "run" / "model.safetensors").exists()
