"""docs/security.md: nothing is fetched, nothing in a file is executed, and the bill is whole."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

WATCHED = """
import sys
FORBIDDEN = {"socket.connect", "socket.getaddrinfo", "socket.bind", "urllib.Request"}
FORBIDDEN |= {"pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "os.startfile"}
armed = []
def watch(event, about):
    if armed and event in FORBIDDEN:
        raise SystemExit(f"{event} {about}")
sys.addaudithook(watch)
"""
IMPORTS = """
armed.append(1)
import importlib, pkgutil
import comotion
for module in pkgutil.walk_packages(comotion.__path__, "comotion."):
    if module.name not in ("comotion.jobs.on_ray",) and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
MODEL = """
import equinox as eqx
import jax
import jax.numpy as jnp
from pathlib import Path
import comotion as cm
from comotion.config import Recipe, Stage
from comotion.data.scaling import identity_scaling
from comotion.data.summary import summarise
from comotion.predict import FittedModel
from comotion.systems import build, data_shape
from comotion.train.fit import run_config
import numpy as np
place = Path(sys.argv[1])
data = cm.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(2, 5, 2, 2)))
small = {"hidden_alone": 4, "hidden_pair": 4}
config = run_config("I-NODE-S", Recipe(stages=(Stage(3, 2, 1e-2),)), 0, small)
shape = data_shape(data)
sizes = eqx.filter_eval_shape(build, config.system, shape, key=jax.random.key(0))
numbers, rest = eqx.partition(sizes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
model = eqx.combine(jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), numbers), rest)
FittedModel(model, identity_scaling(2, 0), summarise(data), shape, config).save(
    place / "model.safetensors"
)
"""
USE = """
for ending in (".nc", ".csv", ".parquet"):
    cm.write(data, place / f"data{ending}")
np.savez(place / "data.npz", trajectories=data.values[0])
armed.append(1)
for ending in (".nc", ".csv", ".parquet", ".npz"):
    cm.read(place / f"data{ending}", quiet=True)
assert cm.load(place / "model.safetensors").system
"""


def run(program: str, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED + program, *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_importing_every_room_reaches_for_no_network():
    run(IMPORTS)


def test_reading_files_executes_nothing_in_them_and_reaches_for_no_network(tmp_path):
    run(MODEL + USE, str(tmp_path))


def test_the_bill_of_materials_names_all_that_is_asked_for_and_no_tools():
    script = ROOT / "release" / "sbom.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "comotion")
    names = [component["name"] for component in bill["components"]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    assert asked <= set(names)
    assert len(set(names)) == len(names)
    assert not {"pytest", "ruff", "pyright", "ray"} & set(names)
    known = {component["bom-ref"] for component in bill["components"]}
    assert all(set(entry["dependsOn"]) <= known for entry in bill["dependencies"])


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-3.13.txt"])
def test_every_version_that_is_tested_with_is_pinned_exactly(name):
    lines = (ROOT / name).read_text().splitlines()
    pinned = [line for line in lines if line.strip() and not line.startswith("#")]
    assert all("==" in line and "@" not in line for line in pinned)
