"""A fit is reproducible, resumable, and keeps what was learned."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest

import comotion
from comotion.backend.devices import everywhere
from comotion.config import Stage, read_toml
from comotion.data.windows import sample_excerpts, to_dataset
from comotion.errors import BadInput
from comotion.integrate import StateNoise
from comotion.model import evidence_bound
from comotion.train import fit, phases
from comotion.train import loop as loop_module
from comotion.train.fit import prepare, run_config
from comotion.train.loop import TrainingDivergedError
from comotion.train.step import held_out_figure, step_plan

TINY_PARTS = {
    "inducing_alone": 8,
    "inducing_pair": 8,
    "fourier_features": 16,
    "scaling": "units",
    "contacts": "off",
}


def same_bytes(a: Path, b: Path) -> bool:
    return (a / "model.safetensors").read_bytes() == (b / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def finished(balls, tiny_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    fitted = fit(balls, recipe=tiny_recipe, out=folder, valid=balls[:4], **TINY_PARTS)
    return fitted, folder


def test_the_same_run_twice_gives_the_same_file(finished, balls, tiny_recipe, tmp_path):
    fit(balls, recipe=tiny_recipe, out=tmp_path / "again", valid=balls[:4], **TINY_PARTS)
    assert same_bytes(finished[1], tmp_path / "again")


def test_the_folder_holds_config_metrics_checkpoint_and_model(finished):
    _, folder = finished
    config = read_toml(folder / "config.toml")
    assert config.system.inducing_pair == 8
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["iteration"] == 20
    terms = rows[0]
    parts = terms["log_likelihood"] - terms["kl_initial"] - terms["kl_properties"]
    assert terms["elbo"] == pytest.approx(parts - terms["kl_f_s"] - terms["kl_f_b"], abs=1e-4)
    assert "valid_log_likelihood" in rows[0]
    assert (folder / "checkpoint" / "state.safetensors").exists()


def test_training_makes_the_data_likelier(finished, balls):
    """The same windows under the same draws: single steps differ by which they see."""
    after, _ = finished
    before, _ = prepare(balls, after.config, key=jax.random.key(0))
    dataset = to_dataset(balls[:4], after.scaling)
    stage, layout = after.config.recipe.stages[-1], after.model.dynamics.layout
    plan = step_plan(after.config, stage, dataset, layout)
    first, last = (
        held_out_figure(*everywhere((one.model, dataset), plan.mesh), jax.random.key(2), plan)
        for one in (before, after)
    )
    assert last > first


def test_a_reloaded_model_predicts_the_same_numbers(finished, balls):
    fitted, folder = finished
    loaded = comotion.load(folder / "model.safetensors")
    before, after = (m.predict(balls[:2], draws=2, seed=3) for m in (fitted, loaded))
    np.testing.assert_array_equal(before.observation.values, after.observation.values)
    assert loaded.config == fitted.config
    assert eqx.tree_equal(loaded.model.process_noise, fitted.model.process_noise)
    assert isinstance(loaded.model.process_noise, StateNoise)
    assert np.isfinite(loaded.model.process_noise.most), "calibrated at the end"


def test_an_interrupted_run_keeps_what_it_learned_and_resumes_to_the_same_file(
    finished, balls, tiny_recipe, tmp_path, monkeypatch
):
    steps = 0
    real = loop_module.train_step

    def interrupted(*arguments):
        nonlocal steps
        steps += 1
        if steps == 15:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(loop_module, "train_step", interrupted)
    folder = tmp_path / "run"
    early = fit(balls, recipe=tiny_recipe, out=folder, valid=balls[:4], **TINY_PARTS)
    assert (folder / "model.safetensors").exists()
    assert not same_bytes(finished[1], folder)
    assert early.config.recipe == tiny_recipe
    monkeypatch.undo()
    fit(balls, recipe=tiny_recipe, out=folder, valid=balls[:4], resume=True, **TINY_PARTS)
    assert same_bytes(finished[1], folder)
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    times = [json.loads(line)["iteration"] for line in lines]
    assert times == sorted(set(times))


def test_a_run_that_has_started_does_not_look_for_a_start_again(
    finished, balls, tiny_recipe, tmp_path, monkeypatch
):
    folder = tmp_path / "run"

    def interrupted(*arguments):
        raise SystemExit

    monkeypatch.setattr(loop_module, "train_step", interrupted)
    with pytest.raises(SystemExit):
        fit(balls, recipe=tiny_recipe, out=folder, valid=balls[:4], **TINY_PARTS)
    monkeypatch.undo()
    monkeypatch.setattr(phases, "initialise", interrupted)
    fit(balls, recipe=tiny_recipe, out=folder, valid=balls[:4], resume=True, **TINY_PARTS)
    assert same_bytes(finished[1], folder)


KILLED = """
import comotion, sys
from comotion.config import Recipe, Stage
from comotion.train import fit, loop
loop.CHECKPOINT_SECONDS = 0.0
data = comotion.read(sys.argv[1])
stages = (Stage(5, 80, 1e-2, "cosine"),)
recipe = Recipe(name="kill", stages=stages, windows=12, clip=1.0)
for folder in sys.argv[2:]:
    fit(data, recipe=recipe, out=folder, resume=True, progress=False, contacts="off",
        order=2, encoder="smoother", function="mlp", hidden_alone=4, hidden_pair=4)
"""


def test_kill_dash_nine_and_resume_give_the_same_file_as_an_uninterrupted_run(balls, tmp_path):
    comotion.write(balls, tmp_path / "balls.nc")
    script = [sys.executable, "-c", KILLED, str(tmp_path / "balls.nc")]
    # A program that is half written when its writer is killed must not reach the other tests.
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.Popen([*script, str(tmp_path / "killed")], env=environment)
    metrics = tmp_path / "killed" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not metrics.exists():
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.2)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert not (tmp_path / "killed" / "model.safetensors").exists(), "killed too late to matter"
    folders = [str(tmp_path / name) for name in ("killed", "whole")]
    subprocess.run([*script, *folders], check=True, env=environment)
    assert same_bytes(tmp_path / "killed", tmp_path / "whole")


def test_no_step_is_taken_after_the_time_limit(balls, tiny_recipe, tmp_path):
    fit(balls, recipe=tiny_recipe, out=tmp_path, hold_out=0.0, time_limit=0.0, **TINY_PARTS)
    assert not (tmp_path / "metrics.jsonl").exists()
    assert comotion.load(tmp_path).config.recipe == tiny_recipe


def test_resuming_with_another_config_or_other_data_is_refused(finished, balls, tiny_recipe):
    with pytest.raises(BadInput, match="another config"):
        fit(balls, recipe=tiny_recipe, out=finished[1], resume=True, seed=5, **TINY_PARTS)
    with pytest.raises(BadInput, match="started with other data"):
        fit(balls[:6], recipe=tiny_recipe, out=finished[1], resume=True, **TINY_PARTS)


def test_training_that_cannot_be_saved_says_what_to_do(balls, tiny_recipe):
    reckless = dataclasses.replace(tiny_recipe, stages=(Stage(5, 200, 1e6),))
    with pytest.raises((TrainingDivergedError, ArithmeticError), match=r"smaller learning rate"):
        fit(balls, recipe=reckless, valid=balls[:4], **TINY_PARTS)


def test_a_fit_compiles_once_per_horizon(balls, tiny_recipe, compiled):
    """Ahead of training, while a start is looked for; training then compiles nothing more."""
    stages = (Stage(5, 3, 1e-2), Stage(6, 3, 1e-2), Stage(5, 3, 1e-2))
    recipe = dataclasses.replace(tiny_recipe, windows=7, stages=stages, calibration=0)
    fit(balls, recipe=recipe, function="mlp", hidden_alone=4, hidden_pair=4, contacts="off")
    assert compiled.count("jit(_step)") == 2


def test_the_seed_decides_the_model(balls, tiny_recipe, finished):
    other = fit(balls, recipe=tiny_recipe, seed=1, valid=balls[:4], **TINY_PARTS)
    mean = other.model.observation.log_noise_variance
    assert not np.array_equal(mean, finished[0].model.observation.log_noise_variance)
    assert jax.tree.structure(other.model) == jax.tree.structure(finished[0].model)


def test_noise_and_tolerance_are_shares_of_each_features_variance(balls, tiny_recipe):
    shares = {"start_noise": 0.2, "tolerance": 0.05, "velocity_tolerance": 0.3}
    recipe = dataclasses.replace(tiny_recipe, **shares)
    config = run_config("I-GPODE", recipe, 0, TINY_PARTS | {"scaling": "none"})
    observation = prepare(balls, config, key=jax.random.key(0))[0].model.observation
    variance = balls.values.var(axis=(0, 1, 2))
    np.testing.assert_allclose(observation.noise_variance, 0.2 * variance, rtol=1e-3)
    expected = np.array([0.05, 0.05, 0.3, 0.3]) * variance
    np.testing.assert_allclose(observation.tolerance, expected, rtol=1e-3)


def test_held_out_sequences_may_be_shorter_than_the_windows(balls, tiny_recipe, tmp_path):
    fit(balls, recipe=tiny_recipe, out=tmp_path, valid=balls[:4].first_frames(3), **TINY_PARTS)
    first = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[0])
    assert np.isfinite(first["valid_log_likelihood"])


def test_held_out_data_with_other_columns_are_refused_before_anything_starts(
    balls, tiny_recipe, tmp_path
):
    positions = comotion.Trajectories.from_arrays(balls.values[..., :2], balls.times)
    with pytest.raises(BadInput, match="fitted to features x, y, vx, vy, but the data have x, y;"):
        fit(balls, recipe=tiny_recipe, out=tmp_path / "run", valid=positions, **TINY_PARTS)
    train, turned = (
        comotion.Trajectories.from_arrays(
            balls.values, balls.times, static=np.ones((3, 2)), static_names=names
        )
        for names in (["mass", "charge"], ["charge", "mass"])
    )
    with pytest.raises(BadInput, match="static properties mass, charge, but the data have charge"):
        fit(train, recipe=tiny_recipe, out=tmp_path / "run", valid=turned, **TINY_PARTS)
    assert not (tmp_path / "run").exists()


def test_what_is_held_out_is_judged_by_its_likelihood_and_not_by_divergences(finished, balls):
    fitted, _ = finished
    dataset, key = to_dataset(balls[:4], fitted.scaling), jax.random.key(0)
    layout = fitted.model.dynamics.layout
    plan = step_plan(fitted.config, fitted.config.recipe.stages[-1], dataset, layout)
    keys = jax.random.split(jax.random.fold_in(key, 0))
    batch = sample_excerpts(dataset, plan.frames, plan.opening, plan.windows, key=keys[0])
    bound = eqx.filter_jit(evidence_bound)(fitted.model, batch, 4, draws=plan.draws, key=keys[1])
    divergences = bound.kl_initial + bound.kl_properties + sum(bound.kl_functions.values())
    expected = (bound.elbo + divergences) / bound.observations
    got = held_out_figure(*everywhere((fitted.model, dataset), plan.mesh), key, plan)
    assert float(got) == pytest.approx(float(expected), rel=1e-4)


def test_what_training_made_worse_is_not_returned(balls, tiny_recipe, capsys):
    """Steps far too large, beside a run that takes none."""

    def after(iterations):
        stages = (Stage(5, iterations, 30.0),)
        recipe = dataclasses.replace(tiny_recipe, stages=stages, calibration=0)
        return fit(balls, recipe=recipe, valid=balls[:4], **TINY_PARTS).model

    returned, start = after(10), after(0)
    assert "its start is kept" in capsys.readouterr().err
    assert eqx.tree_equal(returned, start)


def test_without_data_to_watch_the_end_is_held_out_and_kept(balls, tiny_recipe, tmp_path):
    more = np.concatenate([balls.values, balls.values[:4]])  # so many are left to train on
    data = comotion.Trajectories.from_arrays(more, balls.times[0], features=balls.features)
    frame = comotion.to_frame(data, "pandas")
    fit(frame, recipe=tiny_recipe, out=tmp_path / "run", hold_out=0.25, **TINY_PARTS)
    held_out = comotion.read(tmp_path / "run" / "held_out.nc")
    np.testing.assert_array_equal(held_out.values, balls.values[:4])
    assert "held out: the last" in (tmp_path / "run" / "plan.txt").read_text()
    rows = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert "valid_log_likelihood" in json.loads(rows[0])
