"""A real Ray on this machine, one of whose workers is killed in the middle of its work."""

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from comotion.errors import BadInput
from comotion.jobs.engine import engine
from comotion.jobs.on_ray import RayEngine
from comotion.jobs.rows import RunRows
from comotion.reproduce.drive import drive
from comotion.reproduce.runs import Run, Truth
from comotion.reproduce.scenes import PaperScene

ray = pytest.importorskip("ray")
# Ray forks to start its own programs at once, which does JAX no harm.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork")
LONGER = PaperScene(noise="low", train=20, valid=1, test=20, frames=30)
PATIENCE = 120.0


@pytest.fixture(scope="module")
def on_ray():
    """Of our own, though the surroundings speak of another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", "127.0.0.1:1")
        started = engine("ray", workers=1)
    yield started
    ray.shutdown()


def kill_the_worker_of(run: Run, folder: Path, killed: list[int]) -> None:
    """As soon as someone signs that they work on the run."""
    sign, deadline = folder / run.id / "worker.json", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if sign.exists() and (text := sign.read_text()):
            worker = json.loads(text)
            assert worker["host"] == platform.node()
            killed.append(worker["pid"])
            os.kill(worker["pid"], signal.SIGKILL)
            return
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_run_of_a_killed_worker_is_made_by_another_and_counted_once(on_ray, tmp_path):
    runs = [Run(Truth(), LONGER, seed, "smoke", draws=20) for seed in range(2)]
    rows, said, killed = RunRows(tmp_path / "rows.jsonl"), [], list[int]()
    killer = threading.Thread(target=kill_the_worker_of, args=(runs[0], tmp_path, killed))
    killer.start()
    assert drive(runs, rows, on_ray, folder=tmp_path, say=said.append) == {}
    killer.join(PATIENCE)
    assert killed
    assert killed[0] != os.getpid()
    lines = rows.path.read_text().splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(run.id for run in runs)
    assert json.loads((tmp_path / runs[0].id / "worker.json").read_text())["pid"] != killed[0]
    assert said[-1].endswith("all done")


def test_a_task_has_as_many_devices_as_it_was_given_cores(on_ray):
    one = RayEngine(workers=1, cores=1.0)
    name = "JAX_NUM_CPU_DEVICES"
    assert list(one.map(os.getenv, [name])) == [(name, "1")]


def test_a_ray_that_is_running_is_used_at_its_address(on_ray):
    """Another process asks it for work."""
    address = ray.get_runtime_context().gcs_address
    program = (
        "import operator\n"
        "from comotion.jobs.engine import engine\n"
        f"print(list(engine('ray', {address!r}, 1).map(operator.neg, [3])))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip().endswith("[(3, -3)]"), done.stderr


def test_a_cluster_that_is_not_there_is_told_in_one_sentence():
    ray.shutdown()
    with pytest.raises(BadInput, match="there is no Ray to connect to"):
        engine("ray", "127.0.0.1:1")
