"""The paper's tables as data: what was printed, and which run belongs to each cell."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources

from comotion.errors import BadInput
from comotion.reproduce.runs import OURS, TRUE_DYNAMICS, AbstractSource, Fit, Ours, Run, Truth
from comotion.reproduce.scales import SCALES
from comotion.reproduce.scenes import PaperScene
from comotion.simulate import LEVELS
from comotion.systems import DEFAULT, system

Measured = tuple[float, float]
METRICS = {"mse": "mse_draws_table", "ell": "ell_table"}
"""The paper's metrics under the names of `conventions`."""

_SCENES = {
    "balls3": PaperScene("balls", 3),
    "balls3, velocities hidden": PaperScene("balls", 3, velocities=False),
    "balls2": PaperScene("balls", 2),
    "charges": PaperScene("charges", 5),
    "balls1 (trained on balls3, f_s only)": PaperScene("balls", 3),
}
_FORMS = {
    "without global latents": "/without-globals",
    "with global latents": "/with-globals",
    "globals observed": "/globals-observed",
}


@dataclass(frozen=True)
class Entry:
    """One row of a table: a system on a scene, and what the paper prints for it."""

    setting: str
    system: str
    scene: PaperScene
    printed: dict[str, dict[str, Measured]]
    """by view and metric"""


@dataclass(frozen=True)
class PaperTable:
    label: str
    about: str
    views: tuple[str, ...]
    """what is scored: train, test, or single balls for so many frames"""
    entries: tuple[Entry, ...]
    beside: tuple[str, ...] = (OURS, TRUE_DYNAMICS)
    """what is forecast for every scene, though the paper does not have it"""

    @property
    def scenes(self) -> list[PaperScene]:
        return list(dict.fromkeys(entry.scene for entry in self.entries))


@lru_cache
def results() -> dict:
    text = resources.files("comotion.reproduce").joinpath("results.json").read_text("utf-8")
    return json.loads(text)


def labels() -> list[str]:
    """Tables of the main text, then those of the supplement, without its mark where unique."""
    printed = results()["tables"]
    return [_short(label, printed) for label in printed]


def table(label: str) -> PaperTable:
    printed = results()["tables"]
    by_label = {_short(full, printed): full for full in printed}
    if label not in by_label:
        raise BadInput(f"there is no table '{label}': choose one of {', '.join(by_label)}")
    content = printed[by_label[label]]
    entries = tuple(_entry(row, content) for row in content["rows"])
    return PaperTable(label, content["about"], tuple(content["columns"]), entries)


def select(
    chosen: PaperTable, noise: Sequence[str] = (), systems: Sequence[str] = ()
) -> PaperTable:
    """Only some noise levels and systems of a table; of systems that are named, `ours` is one."""
    levels = list(dict.fromkeys(entry.scene.noise for entry in chosen.entries))
    names = list(dict.fromkeys(entry.system for entry in chosen.entries))
    bases = {name: name.partition("/")[0] for name in names}
    _check("noise", noise, levels, chosen)
    _check("systems", systems, list(dict.fromkeys([*names, *bases.values(), OURS])), chosen)
    kept = tuple(
        entry
        for entry in chosen.entries
        if (not noise or entry.scene.noise in noise)
        and (not systems or entry.system in systems or bases[entry.system] in systems)
    )
    if not kept:
        raise BadInput(f"--systems {OURS}: name a system of table '{chosen.label}' beside it")
    beside = (TRUE_DYNAMICS,) if systems and OURS not in systems else chosen.beside
    return replace(chosen, entries=kept, beside=beside)


def _check(what: str, wanted: Sequence[str], known: list[str], chosen: PaperTable) -> None:
    for name in wanted:
        if name not in known:
            raise BadInput(f"--{what} {name}: table '{chosen.label}' has {', '.join(known)}")


def runs_of(chosen: PaperTable, scale: str, seeds: int) -> list[Run]:
    """Seed by seed, so that the first seed of a table is there long before the last.

    Systems of the same scene in different tables are the same runs.
    """
    return [run for seed in range(seeds) for run in _runs_of_seed(chosen, scale, seed)]


def _runs_of_seed(chosen: PaperTable, scale: str, seed: int) -> list[Run]:
    fits = [run(entry.system, entry.scene, scale, seed) for entry in chosen.entries]
    beside = [
        run(name, scene, scale, seed) for name in reversed(chosen.beside) for scene in chosen.scenes
    ]
    return beside + fits


@cache
def run(name: str, scene: PaperScene, scale: str, seed: int) -> Run:
    """What has to be done for a system, or for what stands beside it, on a scene of this scale."""
    size, source = SCALES[scale], _source(name, scene, scale)
    draws = size.draws_of(source.system) if isinstance(source, Fit) else size.draws
    return Run(source, size.scene(scene), seed, scale, draws)


def _source(name: str, scene: PaperScene, scale: str) -> AbstractSource:
    size = SCALES[scale]
    if name == TRUE_DYNAMICS:
        return Truth()
    # Nothing acts beside the contacts of balls, so that there is no simple law to look for.
    config = size.system(system(DEFAULT, simplify=False) if name == OURS else system(name))
    if name == OURS:
        return Ours(config, size.own_plan(config, scene))
    return Fit(config, size.plan(config, scene))


def _entry(row: dict, content: dict) -> Entry:
    setting, model = row["setting"] or "", row["model"]
    scene = _SCENES[content["dataset"]]
    if setting in LEVELS:
        scene = replace(scene, noise=setting)
    name = model + _FORMS.get(setting, "")
    if content["dataset"].startswith("balls1"):
        name = f"I-{model}"  # the table leaves the I- out; f_s alone is that of the I- systems
    printed = {
        view: {METRICS[metric]: (value[0], value[1]) for metric, value in row[view].items()}
        for view in content["columns"]
    }
    return Entry(setting, name, scene, printed)


def _short(label: str, printed: dict) -> str:
    short = label.removeprefix("supp:")
    return label if short != label and short in printed else short
