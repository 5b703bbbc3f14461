"""Follows docs/extending.md: writes its files, adds its rows, and uses what comes of it."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import gamma, kv
from scipy.stats import ortho_group

from comotion import simulate
from comotion.cli import main
from comotion.config import Recipe, RunConfig, SystemConfig, from_dict
from comotion.coordinates import ALONE, PAIR, Actor
from comotion.coordinates.layout import Layout
from comotion.data import Trajectories, read
from comotion.data.windows import Excerpt
from comotion.dynamics import ACCUMULATIONS, AccumulationSizes, InteractingDynamics
from comotion.dynamics.accumulate import Messages, SumRule
from comotion.errors import BadInput
from comotion.functions import FUNCTIONS, Capacity
from comotion.gp import KERNELS
from comotion.model import evidence_bound
from comotion.predict import load
from comotion.systems import system
from comotion.train.fit import prepare

ROOT = Path(__file__).parent.parent
KEY = jax.random.key(0)
TINY = {"inducing_alone": 6, "inducing_pair": 6, "fourier_features": 8}
NEW_KINDS = {"matern72": "Matern72", "crowd": "Crowd", "linear": "Linear"}
NEW_KINDS |= {"origin": "OriginAlone", "hunt": "HuntPair"}


@dataclass(frozen=True)
class Step:
    """A file of the guide and the row that goes with it."""

    file: Path
    content: str
    home: Path
    imports: str
    row: str

    @property
    def table(self) -> str:
        return self.row.partition("[")[0]

    @property
    def name(self) -> str:
        return self.row.split('"')[1]


def steps() -> list[Step]:
    guide = (ROOT / "docs" / "extending.md").read_text()
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", guide, flags=re.DOTALL)
    assert len(blocks) == guide.count("```python")
    pairs = zip(blocks[::2], blocks[1::2], strict=True)
    return [
        Step(Path(file), content, Path(home), *row.strip().split("\n\n"))
        for (file, content), (home, row) in pairs
    ]


STEPS = steps()


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """The parts of the guide are there while these tests run, and gone afterwards."""
    folder = tmp_path_factory.mktemp("guide")
    with pytest.MonkeyPatch.context() as patch:
        for step in STEPS:
            room = _room(step)
            written = folder / step.file
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(step.content)
            patch.setattr(room, "__path__", [*room.__path__, str(written.parent)])
            # What import and row are about to set, so that it is taken away again.
            module = ".".join(step.file.with_suffix("").parts)
            patch.setitem(sys.modules, module, ModuleType(module))
            patch.setattr(room, step.file.stem, None, raising=False)
            patch.setitem(getattr(room, step.table), step.name, None)
            del sys.modules[module]
            exec(f"{step.imports}\n{step.row}", dict(vars(room)))
        yield
    for step in STEPS:
        assert step.name not in getattr(_room(step), step.table)


def _room(step: Step) -> ModuleType:
    return importlib.import_module(".".join(step.home.parent.parts))


def test_the_guide_shows_one_file_and_one_row_for_every_kind_of_part():
    tables = [step.table for step in STEPS]
    kinds = ["KERNELS", "FUNCTIONS", "ACCUMULATIONS", "ALONE", "PAIR", "SIMULATORS"]
    assert tables == kinds
    for step in STEPS:
        assert step.file.parent == step.home.parent
        assert step.home.name == "__init__.py"
        assert not (ROOT / step.file).exists()
        assert step.row.count("\n") == 0


def test_the_files_and_rows_work_in_their_places_in_the_package(tmp_path):
    """Imports first and rows last, where an import in a circle would show."""
    shutil.copytree(ROOT / "comotion", tmp_path / "comotion")
    for step in STEPS:
        (tmp_path / step.file).write_text(step.content)
        home = tmp_path / step.home
        home.write_text(f"{step.imports}\n{home.read_text()}\n{step.row}\n")
    program = "from comotion.cli import main; main(['systems', '--json']); main(['simulate'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,  # or the package of this folder would be found first
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for step in STEPS:
        assert step.name in done.stdout


def some_data() -> Trajectories:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(2, 1, 3, 4))
    values = start + np.cumsum(0.2 * rng.normal(size=(2, 5, 3, 4)), axis=1)
    charge = rng.choice([-1.0, 1.0], size=(2, 3, 1))
    return Trajectories.from_arrays(
        values, 0.5 * np.arange(5), static=charge, static_names=["charge"]
    )


@eqx.filter_jit
@eqx.filter_grad
def slope_of_bound(model, batch):
    return evidence_bound(model, batch, 2, draws=1, key=KEY).elbo


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(
    "parts",
    [
        {"kernel": "matern72", "accumulation": "crowd", "alone": "origin", "pair": "hunt"},
        {"function": "linear"},
    ],
    ids=" ".join,
)
def test_a_system_with_the_new_parts_can_be_trained_and_kept(parts, tmp_path):
    config = RunConfig(system("I-GPODE-S", encoder="smoother", **TINY, **parts), Recipe())
    fitted, dataset = prepare(some_data(), config, key=KEY)
    law = fitted.model.dynamics
    assert isinstance(law, InteractingDynamics)
    used = (law.alone, law.accumulation, law.alone_coordinates, law.pair_coordinates)
    kinds = {type(part).__name__ for part in (*used, getattr(law.pair, "kernel", None))}
    assert kinds >= {NEW_KINDS[name] for name in parts.values()}

    slopes = slope_of_bound(fitted.model, Excerpt(dataset.windows, dataset.windows)).dynamics
    learned = jax.tree.leaves_with_path(slopes)
    assert len(learned) == len(jax.tree.leaves(eqx.filter(law, eqx.is_inexact_array)))
    for path, leaf in learned:
        assert jnp.all(jnp.isfinite(leaf)), path
        assert jnp.any(leaf != 0), path

    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.config == config
    assert eqx.tree_equal(again.model, fitted.model)


@pytest.mark.usefixtures("guide")
def test_the_new_names_are_choices_and_are_listed_with_the_others(capsys):
    with pytest.raises(BadInput, match=r"run\.toml: pair: 'square' is not one of raw, .*, hunt$"):
        from_dict(SystemConfig, {"pair": "square"}, where="run.toml")
    assert main(["systems", "--json"]) == 0
    listed = capsys.readouterr().out
    for step in STEPS:
        if step.table != "SIMULATORS":
            assert f"| {step.name}" in listed


@pytest.mark.usefixtures("guide")
def test_the_new_kernel_is_the_matern_kernel_of_seven_halves_with_its_spectrum():
    """The features average 20 000 cosines of variance below 1/2: four error bars are 0.02."""
    kernel = KERNELS["matern72"](np.array([0.7, 1.3]))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    r = np.sqrt(7) * np.linalg.norm((x[:, None] - y[None]) / np.array([0.7, 1.3]), axis=2)
    expected = 2**-2.5 / gamma(3.5) * r**3.5 * kv(3.5, r)
    np.testing.assert_allclose(kernel(jnp.asarray(x), jnp.asarray(y)), expected, rtol=1e-6)
    frequencies = np.asarray(kernel.spectrum(key=KEY, features=20_000).frequencies)
    cosines = np.cos((x[:, None] - y[None]) @ frequencies.T).mean(axis=2)
    np.testing.assert_allclose(cosines, expected, atol=0.02)


@pytest.mark.usefixtures("guide")
def test_the_new_function_draws_straight_lines_whose_kl_vanishes_at_the_prior():
    linear = FUNCTIONS["linear"].build(3, 2, Capacity(), key=KEY)
    linear = linear.adapted_to(np.zeros((1, 3)), np.array([2.0, 5.0]), key=KEY)
    first, second = (linear.draw(key=jax.random.key(seed)) for seed in (1, 2))
    x, y = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4, 3)), jnp.float32)
    np.testing.assert_allclose(first(x + y), first(x) + first(y), rtol=1e-4, atol=1e-5)
    assert not np.allclose(first(x), second(x))
    assert linear.kl() > 1
    prior = eqx.tree_at(lambda f: f.log_sd, linear, replace_fn=jnp.zeros_like)
    assert prior.kl() == 0


@pytest.mark.usefixtures("guide")
def test_the_new_accumulation_lies_between_sum_and_mean():
    rng = np.random.default_rng(0)
    states = jnp.asarray(rng.normal(size=(3, 4)), jnp.float32)
    actors = Actor(states, jnp.zeros((3, 0), jnp.float32), jnp.zeros((3, 0), jnp.float32))
    received = jnp.asarray(rng.normal(size=(3, 2, 4)), jnp.float32)
    heard = jnp.asarray([[True, True], [True, False], [False, False]])
    messages = Messages(states, received, heard, actors, actors)
    sizes = AccumulationSizes(5, 4, 2, function=lambda *_: pytest.fail("it needs no function"))
    crowd = ACCUMULATIONS["crowd"].build(sizes, key=KEY)

    def with_power(power):
        changed = eqx.tree_at(lambda c: c.power, crowd, jnp.asarray(power, jnp.float32))
        return changed.draw(key=KEY)(messages)

    np.testing.assert_allclose(with_power(0.0), SumRule()(messages), rtol=1e-6)
    mean = states + jnp.stack([received[0].mean(axis=0), received[1, 0], 0 * received[2, 0]])
    np.testing.assert_allclose(with_power(1.0), mean, rtol=1e-5)


def some_actor(seed: int) -> Actor:
    sizes = (4, 1, 0)
    rng = np.random.default_rng(seed)
    return Actor(*(jnp.asarray(rng.normal(size=size)) for size in sizes))


def turned(vectors, turn):
    return (vectors.reshape(-1, 2) @ turn.T).reshape(-1)


def seen_through(coordinates, *actors):
    """Rates of an arbitrary function of the inputs; the coordinates must not care which."""
    inputs = coordinates.inputs(*actors)
    assert inputs.shape == (coordinates.in_size,)
    outputs = jnp.sin(jnp.arange(1.0, 1 + coordinates.out_size) * jnp.exp(inputs).sum())
    return coordinates.rates(outputs + inputs[-1], *actors)


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(("table", "name", "count"), [(ALONE, "origin", 1), (PAIR, "hunt", 2)])
@pytest.mark.parametrize("vectors", [1, 2])
def test_turning_the_scene_turns_the_rates_of_the_new_coordinates(table, name, count, vectors):
    coordinates = table[name](Layout(2, properties=1), vectors)
    turn = jnp.asarray(ortho_group.rvs(2, random_state=1))
    actors = [some_actor(seed) for seed in range(count)]
    moved = [Actor(turned(a.state, turn), a.properties, a.controls) for a in actors]
    before = seen_through(coordinates, *actors)
    assert before.shape == (2 * vectors,)
    assert jnp.linalg.norm(before) > 0.01
    np.testing.assert_allclose(seen_through(coordinates, *moved), turned(before, turn), atol=1e-9)


@pytest.mark.usefixtures("guide")
def test_the_hunted_need_not_pull_back():
    coordinates = PAIR["hunt"](Layout(2, properties=1), 1)
    hunter, hunted = some_actor(0), some_actor(1)
    there = seen_through(coordinates, hunter, hunted)
    back = seen_through(coordinates, hunted, hunter)
    assert jnp.linalg.norm(there + back) > 0.01


@pytest.mark.usefixtures("guide")
def test_the_new_simulator_is_a_scene_of_the_command_line(tmp_path, capsys):
    assert main(["simulate"]) == 0
    assert "shoal" in capsys.readouterr().out
    out = tmp_path / "shoal.csv"
    words = ["--sequences", "3", "--objects", "4", "--frames", "50", "--step", "0.01"]
    assert main(["simulate", "shoal", *words, "--seed", "2", "--out", str(out)]) == 0
    data = read(out)
    make = simulate.SIMULATORS["shoal"].make
    again = make(sequences=5, objects=4, frames=50, step=0.01, seed=2)
    np.testing.assert_array_equal(data.values, again.values[:3])
    x, v = data.values[..., :2], data.values[..., 2:]
    momentum = v.sum(axis=2)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[:, :1], momentum.shape))
    middle = (v[:, 1:] + v[:, :-1]) / 2
    np.testing.assert_allclose(np.diff(x, axis=1) / 0.01, middle, atol=1e-4)
    swing = x - x.mean(axis=2, keepdims=True)
    pull = np.diff(v, axis=1) / 0.01
    np.testing.assert_allclose(pull, -(swing[:, 1:] + swing[:, :-1]) / 2, atol=1e-4)
