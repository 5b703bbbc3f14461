"""Damaged tables and model files: each is read, refused in a sentence, or counted as a fault."""

import contextlib
import io
import json
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors.numpy import save as safetensors

import comotion as cm
from comotion.config import Recipe, Stage
from comotion.data import describe, formats
from comotion.data.arrays import from_array
from comotion.data.frames import as_frame
from comotion.data.netcdf import SEAL_LENGTH
from comotion.data.reading import understand
from comotion.data.tables import to_table
from comotion.data.wishes import Wishes
from comotion.errors import BadInput
from comotion.predict import FittedModel, checkpoint
from comotion.train.fit import prepare, run_config

MOST_SECONDS = 60
"""For one file."""
# fmt: off
TOKENS = (
    "nan", "inf", "-inf", "1e400", "-1e400", "1e308", "1e12", "0", "-0", "1e-320", "NA",
    "null", "None", "\x00", "\ufeff", "$x^$", "\"unclosed", "''", ";", "|", "#",
    "2024-05-31T12:00:00Z", "0x10", "1_000", "\u0661\u0662", "\xe9", "99999999999999999999999",
    "x", "vx", "time", "", "\t", "\u2028",
)
# fmt: on
Faults = Counter[str]


class TooLongError(BaseException):
    """Not an Exception, so that nobody takes it for damage."""


@contextlib.contextmanager
def judged(
    found: Faults, faults: list[str], name: str, seconds: int = MOST_SECONDS
) -> Iterator[None]:
    """Counts how it ended; what is neither an answer nor a sentence is a fault, with its place."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
        found["answered"] += 1
    except BadInput as error:
        found["refused"] += 1
        if not str(error).strip() or "\n\n" in str(error):
            found["no sentence"] += 1
            faults.append(f"{name}: no sentence: {error!r}")
    except TooLongError:
        found["hangs"] += 1
        faults.append(f"{name}: longer than {seconds} s")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        found["tracebacks"] += 1
        place = f"{Path(last.filename).name}:{last.lineno}"
        faults.append(f"{name}: {type(error).__name__} at {place}: {str(error)[:200]}")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tables(seeds: range) -> dict[str, Any]:
    """One damaged table for each seed: text in four shapes, Parquet, NetCDF, arrays."""
    found, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        originals = _written_tables(Path(folder))
        truths = {path: understand(path, Wishes()).data for path in originals if _is_sealed(path)}
        for seed in seeds:
            rng = np.random.default_rng(seed)
            path = originals[seed % len(originals)]
            damaged = path.with_name(f"damaged{path.suffix}")
            damaged.write_bytes(_damaged(path, rng))
            with judged(found, faults, f"{path.name} of seed {seed}"):
                data = understand(damaged, Wishes()).data
                str(describe(data))
                if path in truths and not _same(data, truths[path]):
                    found["wrong loads"] += 1
                    faults.append(f"{path.name} of seed {seed}: read as something else")
    return {**found, "files": len(seeds), "faults": faults}


TEXT = (".csv", ".txt", ".tsv")


def _damaged(path: Path, rng: np.random.Generator) -> bytes:
    """A NetCDF file keeps its seal: without one a process is started for it, see `foreign`."""
    content, seal = path.read_bytes(), b""
    if path.suffix == ".nc":
        content, seal = content[:-SEAL_LENGTH], content[-SEAL_LENGTH:]
    return mutated(content, rng, text=path.suffix in TEXT) + seal


def foreign(seeds: range) -> dict[str, Any]:
    """NetCDF files of somebody else, which a process with a time limit opens first."""
    found, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "foreign.nc"
        cm.write(cm.simulate.bouncing_balls(sequences=2, objects=2, frames=6, seed=0), path)
        content = path.read_bytes()[:-SEAL_LENGTH]
        for seed in seeds:
            path.write_bytes(mutated(content, np.random.default_rng(seed), text=False))
            with judged(found, faults, f"foreign file of seed {seed}"):
                understand(path, Wishes())
    return {**found, "files": len(seeds), "faults": faults}


def _is_sealed(path: Path) -> bool:
    """Written by us with checksums of the numbers in it."""
    return path.suffix == ".nc"


def _written_tables(folder: Path) -> list[Path]:
    data = cm.simulate.bouncing_balls(sequences=2, objects=2, frames=6, seed=0)
    table = to_table(data)
    formats.write_csv(table, folder / "long.csv")
    frame = as_frame(table, "pandas")
    frame.to_csv(folder / "semicolons.csv", sep=";", decimal=",", index=True)
    numbers = frame[frame["sequence"] == frame["sequence"].iloc[0]]
    numbers[["time", "object", "x", "y"]].to_csv(
        folder / "numbers.txt", sep=" ", header=False, index=False
    )
    wide = {f"{f}_{a}": data.values[0, :, a, k] for a in range(2) for k, f in enumerate("xy")}
    lines = [",".join(wide)] + [",".join(map(str, row)) for row in zip(*wide.values(), strict=True)]
    (folder / "wide.tsv").write_text("\n".join(lines).replace(",", "\t"))
    cm.write(data, folder / "all.nc")
    cm.write(data, folder / "table.parquet")
    np.savez(folder / "arrays.npz", trajectories=data.values[0, :, :, :2], frames_per_second=2.0)
    np.save(folder / "array.npy", from_array(data.values[0], None, None, "array").values)
    return sorted(path for path in folder.iterdir())


def mutated(content: bytes, rng: np.random.Generator, *, text: bool) -> bytes:
    """One to four accidents: bits, cuts, repeats, words that mean something."""
    for _ in range(rng.integers(1, 5)):
        content = _ACCIDENTS[rng.integers(len(_ACCIDENTS) if text else 4)](content, rng)
    return content


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    begin, end = _span(content, rng)
    return content[:begin] + content[end:]


def _truncate(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: rng.integers(len(content) + 1)]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    begin, end = _span(content, rng)
    return content[:end] + content[begin:end] * int(rng.integers(1, 4)) + content[end:]


def _word(content: bytes, rng: np.random.Generator) -> bytes:
    """In the place of a cell."""
    cells = content.split(b",") if b"," in content else content.split()
    if not cells:
        return content
    place = int(rng.integers(len(cells)))
    cells[place] = TOKENS[rng.integers(len(TOKENS))].encode()
    return b",".join(cells)


def _swap_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    a, b = rng.integers(len(lines), size=2)
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _drop_column(content: bytes, rng: np.random.Generator) -> bytes:
    rows = [line.split(b",") for line in content.split(b"\n")]
    column = int(rng.integers(max(1, len(rows[0]))))
    return b"\n".join(b",".join(row[:column] + row[column + 1 :]) for row in rows)


_ACCIDENTS: tuple[Callable[[bytes, np.random.Generator], bytes], ...]
_ACCIDENTS = (_flip, _cut, _truncate, _repeat, _word, _word, _swap_lines, _drop_column)


def _span(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    begin, end = np.sort(rng.integers(len(content) + 1, size=2))
    return int(begin), int(min(end, begin + 200))


def _same(one: cm.Trajectories, other: cm.Trajectories) -> bool:
    return np.array_equal(one.values, other.values, equal_nan=True)


def models(seeds: range) -> dict[str, Any]:
    """One damaged model file for each seed: every other one with a checksum that is right."""
    found, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        tiny_model().save(path)
        content, (arrays, header) = path.read_bytes(), checkpoint.read(path)
        truth = cm.load(path)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            damaged = Path(folder) / "damaged.safetensors"
            if seed % 2:
                damaged.write_bytes(mutated(content, rng, text=False))
            else:
                damaged.write_bytes(_meant(arrays, header, rng))
            with judged(found, faults, f"model of seed {seed}"):
                loaded = cm.load(damaged)
                if seed % 2 and checkpoint.read(damaged)[1] != header:
                    found["wrong loads"] += 1
                    faults.append(f"model of seed {seed}: loaded as something else")
                assert loaded.shape.spatial <= len(truth.shape.features)
    return {**found, "files": len(seeds), "faults": faults}


def tiny_model() -> FittedModel:
    data = cm.simulate.bouncing_balls(sequences=2, objects=2, frames=8, seed=0)
    small = {"inducing_alone": 4, "inducing_pair": 4, "fourier_features": 4}
    recipe = Recipe(stages=(Stage(3, 2, 1e-2),))
    config = run_config("comotion", recipe, 0, small)
    return prepare(data, config, key=jax.random.key(0))[0]


ODD: tuple[Any, ...] = (None, -1, 0, 1, 2, 3, 10**9, 10**30, 0.5, -0.5, float("nan"), float("inf"))
ODD += ("", "x", "gp", [], {}, True, [1, 2], {"a": 1}, "$x^$", "\0")


def _meant(
    arrays: dict[str, np.ndarray], header: dict[str, Any], rng: np.random.Generator
) -> bytes:
    """A file whose checksum is right, with something in it that is not."""
    arrays, header = dict(arrays), json.loads(json.dumps(header))
    if rng.random() < 0.7:
        _change(header, rng)
    else:
        name = sorted(arrays)[rng.integers(len(arrays))]
        number = [np.nan, np.inf, -1.0, 0.0, 1e30][rng.integers(5)]
        arrays[name] = _spoiled(arrays[name], number, rng)
    about = {"format": 1, "versions": {}, "header": header}
    about["checksum"] = checkpoint._checksum(arrays, header)
    return safetensors(arrays, {checkpoint.ENTRY: json.dumps(about)})


def _change(table: dict[str, Any], rng: np.random.Generator) -> None:
    """Some entry, however deep, becomes something else or is gone."""
    key = sorted(table)[rng.integers(len(table))]
    if isinstance(table[key], dict) and table[key] and rng.random() < 0.85:
        _change(table[key], rng)
    elif rng.random() < 0.15:
        del table[key]
    else:
        table[key] = ODD[rng.integers(len(ODD))]


def _spoiled(array: np.ndarray, number: float, rng: np.random.Generator) -> np.ndarray:
    kind = rng.integers(3)
    if kind == 0 and array.size:
        array = array.copy()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array.flat[rng.integers(array.size)] = np.array(number).astype(array.dtype)
        return array
    if kind == 1:
        return array.astype(np.float16 if array.dtype == np.float32 else np.float32)
    return array.reshape(-1)[: max(0, array.size - 1)]
