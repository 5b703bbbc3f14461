"""Fits that are killed or find no room, workers that die, odd data, forecasts without end."""

import builtins
import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import jax
import numpy as np
from soak_files import judged, tiny_model

import comotion as cm
from comotion.config import Recipe, Stage, read_toml
from comotion.errors import BadInput
from comotion.jobs.local import LocalEngine
from comotion.jobs.rows import RunRows
from comotion.predict import checkpoint
from comotion.train import fit

PHASES = ("start", "training", "calibration", "saving")
"""Of a fit, in each of which it is killed once, at a random moment."""
TINY = {"order": 2, "encoder": "smoother", "function": "mlp", "hidden_alone": 4, "hidden_pair": 4}
TINY |= {"contacts": "off"}  # with them nothing would be left to train
RECIPE = Recipe(
    name="soak", stages=(Stage(5, 40, 1e-2, "cosine"),), windows=12, clip=1.0, calibration=4
)
FIT = f"""
import sys
import comotion as cm
from comotion.config import Recipe, Stage
from comotion.predict import FittedModel
from comotion.train import fit, loop
loop.CHECKPOINT_SECONDS = 0.0
stages = (Stage(5, 40, 1e-2, "cosine"),)
recipe = Recipe(name="soak", stages=stages, windows=12, clip=1.0, calibration=4)
said = {{"finding a start": "start", "for windows": "training", "calibrating": "calibration"}}

class Phases:
    def say(self, sentence):
        for words, phase in said.items():
            if words in sentence:
                print(phase, flush=True)

    def show(self, stage, row): ...
    def close(self): ...

def save(model, path, really=FittedModel.save):
    print("saving", flush=True)
    really(model, path)

FittedModel.save = save
choices = dict(recipe=recipe, resume=True, progress=False, **{TINY!r})
fit(cm.read(sys.argv[1]), out=sys.argv[2], watcher=Phases(), **choices)
"""


def kills(seeds: range) -> dict[str, Any]:
    """A fit killed once in each phase and resumed to its end: the same file or not."""
    found, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cm.write(_balls(), folder / "balls.nc")
        _life(folder, "first")  # fills the cache of compiled programs
        whole = _life(folder, "whole")
        for seed in seeds:
            rng = np.random.default_rng(seed)
            for phase in PHASES:
                life = _life(folder, f"killed{seed}", phase, rng.uniform() * whole.lasted[phase])
                found[f"kills in {life.ended_in}"] += life.code == -signal.SIGKILL
            last = _life(folder, f"killed{seed}")
            found["runs"] += 1
            if last.code:
                faults.append(f"seed {seed}: {last.said}")
            if not _same_model(folder / "whole", folder / f"killed{seed}"):
                found["lost"] += 1
                faults.append(f"seed {seed}: another model than without kills")
    return {**found, "lost": found["lost"], "faults": faults}


class Life(NamedTuple):
    """Of one process that fits: how it ended, and how long its phases lasted."""

    code: int
    ended_in: str
    lasted: dict[str, float]
    said: str


def _life(folder: Path, name: str, phase: str = "", after: float = 0.0) -> Life:
    """With a phase, it is killed so many seconds after that has begun."""
    begun = dict[str, float]()
    words = [sys.executable, "-c", FIT, str(folder / "balls.nc"), str(folder / name)]
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache")}
    with (
        (folder / "said").open("w+") as said,
        subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=said, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            begun[line.strip()] = time.monotonic()
            if line.strip() == phase:
                time.sleep(after)
                process.kill()
        process.wait()
        said.seek(0)
        told = said.read()[-300:]
    ends = [*begun.values(), time.monotonic()][1:]
    lasted = {name: end - begun[name] for name, end in zip(begun, ends, strict=True)}
    return Life(process.returncode, [*begun, "nothing"][len(begun) - 1], lasted, told)


def full_disk(seeds: range) -> dict[str, Any]:
    """No room at the write of this number; then there is room again, and the fit goes on."""
    found, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _fit(folder / "whole")
        for at in seeds:
            out = folder / f"full{at}"
            with _failing(folder, at) as failed:
                try:
                    _fit(out)
                except (BadInput, OSError) as error:
                    found["said"] += 1
                    if not str(error):
                        faults.append(f"write {at}: nothing said")
            if not failed():
                break
            found["full"] += 1
            faults += [f"write {at}: {odd}" for odd in _not_whole(out)]
            _fit(out, resume=(out / "config.toml").exists())
            if not _same_model(folder / "whole", out):
                found["lost"] += 1
                faults.append(f"write {at}: another model than on a roomy disk")
    writes = found.pop("full")  # there are no more than these
    return {**found, "seeds": writes, "lost": found["lost"], "faults": faults}


def _fit(out: Path, *, resume: bool = False) -> None:
    with mock.patch("comotion.train.loop.CHECKPOINT_SECONDS", 0.5):
        fit(_balls(), recipe=RECIPE, out=out, resume=resume, progress=False, **TINY)


@contextmanager
def _failing(folder: Path, at: int) -> Iterator[Callable[[], bool]]:
    """Calls that write below the folder are counted; the one of this number finds no room."""
    count = 0

    def counted(real: Callable, writes: Callable[..., bool]) -> Callable:
        def call(*words: Any, **named: Any) -> Any:
            nonlocal count
            if writes(*words, **named):
                count += 1
                if count == at + 1:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(words[0]))
            return real(*words, **named)

        return call

    def ours(path: Any, *_: Any, **__: Any) -> bool:
        return str(path).startswith(str(folder))

    def to_write(path: Any, mode: str = "r", *_: Any, **__: Any) -> bool:
        return ours(path) and not mode.startswith("rb") and mode != "r"

    def always(*_: Any, **__: Any) -> bool:
        return True

    with (
        mock.patch.object(io, "open", counted(io.open, to_write)),
        mock.patch.object(builtins, "open", counted(builtins.open, to_write)),
        mock.patch.object(os, "replace", counted(os.replace, ours)),
        mock.patch.object(os, "mkdir", counted(os.mkdir, ours)),
        mock.patch.object(os, "fsync", counted(os.fsync, always)),
    ):
        yield lambda: count > at


def _not_whole(run: Path) -> list[str]:
    """Files under their own names that cannot be read back."""
    readers = {
        "config.toml": read_toml,
        "model.safetensors": cm.load,
        "checkpoint/state.safetensors": checkpoint.read,
        "held_out.nc": cm.read,
    }
    odd = [str(path) for path in run.rglob("*.part")]
    for name, reader in readers.items():
        if (run / name).exists():
            try:
                reader(run / name)
            except BadInput as error:
                odd.append(str(error))
    return odd


def workers(seeds: range) -> dict[str, Any]:
    """Each piece of work is killed once with its worker, before or after its row is written."""
    with tempfile.TemporaryDirectory() as folder:
        items = [(Path(folder), seed) for seed in seeds]
        results = [result for _, result in LocalEngine(2).map(die_once, items)]
        rows = RunRows(Path(folder) / "rows.jsonl")
        lines = rows.path.read_text().splitlines()
        wanted = {str(seed) for seed in seeds}
        return {
            "killed": len(list(Path(folder).glob("killed-*"))),
            "lost": len(wanted - rows.ids()),
            "doubled": len(lines) - len(set(lines)),
            "faults": [str(result) for result in results if result is not True],
        }


def die_once(item: tuple[Path, int]) -> bool:
    folder, seed = item
    mark, rows = folder / f"killed-{seed}", RunRows(folder / "rows.jsonl")
    first, after = not mark.exists(), seed % 2
    mark.touch()
    if first and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    rows.append({"id": str(seed)})
    if first and after:
        os.kill(os.getpid(), signal.SIGKILL)
    return True


def degenerate(seeds: range) -> dict[str, Any]:
    """Data that mean little, in every kind: a sentence, or a model whose forecasts are finite."""
    found, faults = Counter[str](), list[str]()
    recipe = Recipe(name="few", stages=(Stage(4, 3, 1e-2),), windows=4, clip=1.0)
    for seed in seeds:
        name, data = _odd_data(seed)
        with judged(found, faults, f"{name} of seed {seed}", seconds=1200):  # compiling included
            try:
                fitted = fit(data(), recipe=recipe, hold_out=0.0, progress=False, **TINY)
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    drawn = fitted.predict(data(), horizon=3 * fitted.shape.step, draws=2)
            except ArithmeticError as error:
                raise BadInput(str(error)) from error
            values = drawn["trajectory"].values[:, drawn["alive"].values]
            if not np.isfinite(values).all() and not told:
                found["silent"] += 1
                faults.append(f"{name} of seed {seed}: not finite, and nothing was said")
    return {**found, "silent": found["silent"], "faults": faults}


def _odd_data(seed: int) -> tuple[str, Callable[[], cm.Trajectories]]:
    rng = np.random.default_rng(seed)
    walk = 0.1 * rng.normal(size=(4, 12, 3, 2)).cumsum(axis=1)
    times = np.arange(12.0)

    def at(index: tuple, value: float) -> np.ndarray:
        changed = walk.copy()
        changed[index] = value
        return changed

    kinds: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "nothing moves": (np.full_like(walk, 3.0), times),
        "one huge value": (at((1, 5, 1, 0), 1e12), times),
        "one axis is constant": (at((..., 1), 7.0), times),
        "all objects are one": (np.repeat(walk[:, :, :1], 3, axis=2), times),
        "most is missing": (np.where(rng.random(walk.shape) < 0.7, np.nan, walk), times),
        "one object is never there": (at((slice(None), slice(None), 2), np.nan), times),
        "tiny": (walk * 1e-30, times),
        "huge": (walk * 1e30, times),
        "largest": (walk * 1e300, times),
        "far away": (walk + 1e9, times),
        "almost no time": (walk, times * 1e-12),
        "ages": (walk, times * 1e12),
        "one long gap": (walk, np.where(times > 6, times + 1e6, times)),
        "jumps to and fro": (np.where(np.arange(12)[:, None, None] % 2, walk, -walk), times),
        "one moves only once": (at((slice(None), slice(None, 11)), 0.0), times),
        "straight and equal": (walk[:, :1] + times[:, None, None], times),
    }
    name = list(kinds)[seed % len(kinds)]
    return name, lambda: cm.Trajectories.from_arrays(*kinds[name])


def _balls() -> cm.Trajectories:
    return cm.simulate.bouncing_balls(sequences=12, frames=20, noise="low", seed=0)


def _same_model(one: Path, other: Path) -> bool:
    files = [folder / "model.safetensors" for folder in (one, other)]
    return all(file.exists() for file in files) and files[0].read_bytes() == files[1].read_bytes()


def horizons(seeds: range) -> dict[str, Any]:
    """Forecasts of a hundred times the data, by models of wild weights: finite, or said."""
    found, faults = Counter[str](), list[str]()
    data = cm.simulate.bouncing_balls(sequences=1, objects=2, frames=8, seed=1)
    model = tiny_model()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        leaves, shape = jax.tree.flatten(model.model)
        size = float(rng.uniform(0.5, 3.0))
        wild = [leaf * leaf.dtype.type(size) if _is_weight(leaf) else leaf for leaf in leaves]
        spoiled = replace(model, model=jax.tree.unflatten(shape, wild))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ahead = float(data.times[0, -1] - data.times[0, 0]) * 100
            drawn = spoiled.predict(data, horizon=ahead, draws=2, seed=seed)
        finite = bool(np.isfinite(drawn["trajectory"].values[:, drawn["alive"].values]).all())
        found["finite" if finite else "said" if told else "silent"] += 1
    return {**found, "silent": found["silent"], "faults": faults}


def _is_weight(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and leaf.dtype.kind == "f" and leaf.ndim > 0
