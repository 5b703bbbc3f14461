"""Learned hard contacts beside the floor of true dynamics, from the same frames.

    python benchmarks/contacts.py --noise low --seed 0
    python benchmarks/contacts.py --noise none --hidden --part test
    python benchmarks/contacts.py --noise low --objects 3 --forecast 1 --part test
    python benchmarks/contacts.py --noise low --world "a pentagon"
    python benchmarks/contacts.py --noise none --world "touches last 0.5"
    python benchmarks/contacts.py --charges observed

Balls of the paper's experiment: learned from 100 sequences, forecast from 5 frames; with
`--forecast`, as many balls as it says, under a law that never saw so many (more than six start
from places of a grid). Or one of the worlds of `contact_worlds.py`. The floor knows the true law
and the true noise. Or charges, given with the data or inferred from the first 49 frames, from 200
sequences without noise, beside a straight line on from the first frame. Skill is 1 - CRPS / CRPS
of climatology over all frames, against the motion without noise. The last figures are the share
that the 90 % band holds after the frames seen: in all, and the least and the most of any frame.
"""

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import rows
import scoringrules
import xarray as xr
from contact_worlds import BOX, FEATURES, WORLDS, World, floor
from contact_worlds import parts_of as world_parts

from comotion.config import SystemConfig
from comotion.contacts import Parts
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.predict.quantiles import central_band
from comotion.reproduce.floor import floor_forecast
from comotion.reproduce.scenes import PaperScene, Part, SceneParts
from comotion.reproduce.scenes import parts_of as paper_parts
from comotion.simulate import add_noise, advance_balls, noise_sd
from comotion.simulate.bouncing_balls import HALF_WIDTH, RADIUS, TOTAL_SPEED
from comotion.systems import system
from comotion.train import fit

DRAWS, TABLE_DRAWS, FRAMES = 100, 20, 5
CHARGES = 200
"""Training sequences of charges: they meet walls rarely."""
MOST_BY_CHANCE = 6


def measure(scene: PaperScene, others: PaperScene, seed: int, part: str) -> None:
    parts = paper_parts(scene, seed)
    is_crowded = others.objects > MOST_BY_CHANCE
    judged_parts = crowded(others, seed) if is_crowded else paper_parts(others, seed)
    judged, climate = getattr(judged_parts, part), judged_parts.train
    about = {"scene": others.title, "learned_from": scene.objects, "seed": seed, "part": part}
    fitted = learned(parts.train, judged, climate, about)
    if is_crowded:
        known = floor(World(Parts(2, BOX, [RADIUS])), fitted, judged, DRAWS, seed)
    else:
        known = floor_forecast(others, judged, climate.seen, frames=FRAMES, draws=DRAWS, seed=seed)
    rows.append("contacts", {**about, "law": "true", **scores(known, judged, climate)})


def measure_world(world: World, title: str, noise: str, seed: int, part: str) -> None:
    parts = world_parts(world, noise, seed)
    judged = getattr(parts, part)
    about = {"scene": title, "learned_from": world.objects, "seed": seed, "part": part}
    fitted = learned(parts.train, judged, parts.train, about)
    if world.parts.softness is None:  # without noise a floor of many small steps says nothing
        known = floor(world, fitted, judged, DRAWS, seed)
        rows.append("contacts", {**about, "law": "true", **scores(known, judged, parts.train)})


def measure_charges(properties: str, seed: int, part: str) -> None:
    scene = PaperScene("charges", objects=5, train=CHARGES)
    parts = paper_parts(scene, seed)
    judged = getattr(parts, part)
    about = {"scene": f"5 charges, {properties}", "learned_from": 5, "seed": seed, "part": part}
    wanted = system("comotion", properties=properties, simplify=True)
    learned(parts.train, judged, parts.train, about, wanted)
    states, times = judged.true.values, judged.true.times
    d = states.shape[-1] // 2
    start, speed = states[:, :1, :, :d], states[:, :1, :, d:]
    since = (times - times[:, :1])[:, :, None, None]
    line = np.concatenate([start + since * speed, speed + 0 * since], axis=-1)
    dims = ("draw", "sequence", "time", "object", "feature")
    line = xr.Dataset({"trajectory": (dims, line[None])})
    rows.append("contacts", {**about, "law": "straight", **scores(line, judged, parts.train)})


def learned(
    train: Part,
    judged: Part,
    climate: Part,
    about: dict[str, Any],
    wanted: SystemConfig | None = None,
) -> FittedModel:
    begun = time.perf_counter()
    wanted = wanted or system("comotion")
    fitted = fit(train.seen, system=wanted, hold_out=0.0, seed=about["seed"])
    if wanted.properties == "inferred":
        about = about | {"signs_right": signs_right(fitted, judged)}
    knows = time.perf_counter()
    forecast = fitted.predict(judged.seen, draws=DRAWS, seed=about["seed"])
    seconds = {"fit_seconds": knows - begun, "forecast_seconds": time.perf_counter() - knows}
    ours = scores(forecast.dataset, judged, climate)
    rows.append("contacts", {**about, "law": "learned", **ours, **seconds, "is": fitted.contacts})
    return fitted


def signs_right(fitted: FittedModel, judged: Part) -> float:
    """Share of sequences whose charges are all right, up to turning all of them."""
    found = fitted.properties(judged.seen)["mean"].to_numpy().reshape(len(judged.seen), -1)
    signs, true = np.sign(found), judged.true.static[..., 0]
    same = [(signs == turn * true).all(axis=1) for turn in (1, -1)]
    return float(np.mean(same[0] | same[1]))


def crowded(scene: PaperScene, seed: int) -> SceneParts:
    """The paper's balls, each near a place of its own."""
    rng = np.random.default_rng(0)
    counts = (scene.train, scene.valid, scene.test)
    reach, room = HALF_WIDTH - RADIUS, 2 * RADIUS
    side = int(2 * reach // room) + 1
    along = np.linspace(-reach, reach, side)
    grid = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
    chosen = np.stack([rng.permutation(len(grid))[: scene.objects] for _ in range(sum(counts))])
    loose = (along[1] - along[0] - room) / 2
    places = grid[chosen] + rng.uniform(-loose, loose, (*chosen.shape, 2))
    places = places.clip(-reach, reach)
    speeds = rng.normal(size=places.shape)
    speeds *= TOTAL_SPEED / np.linalg.norm(speeds, axis=(1, 2), keepdims=True)
    times = 0.5 * np.arange(scene.frames)
    motion = np.concatenate(advance_balls(places, speeds, times), axis=-1)
    clean = Trajectories.from_arrays(motion, times, features=FEATURES)
    noisy, sd = add_noise(clean, scene.noise, seed=seed), noise_sd(clean, scene.noise)
    pairs = zip(noisy.split(*counts), clean.split(*counts), strict=True)
    return SceneParts(*(Part(seen, true, sd) for seen, true in pairs))


def scores(forecast: xr.Dataset, judged: Part, train: Part) -> dict[str, float]:
    """In the convention of the paper's tables: summed over objects and features."""
    draws = forecast["trajectory"].values.astype(float)
    shown = draws.shape[-1]
    truth, seen = judged.true.values[..., :shown], train.true.values[..., :shown]
    mean, few = draws.mean(axis=0), draws[:TABLE_DRAWS]
    variance = few.var(axis=0) + 0.01
    log_density = -0.5 * (np.log(2 * np.pi * variance) + (few.mean(0) - truth) ** 2 / variance)
    crps = scoringrules.crps_ensemble(truth, np.moveaxis(draws, 0, -1))
    moments = seen.mean(axis=(0, 1, 2)), seen.std(axis=(0, 1, 2))
    climate = scoringrules.crps_normal(truth, *moments)
    low, high = central_band(np.sort(draws, axis=0), 0.9)
    held = ((truth >= low) & (truth <= high)).mean(axis=(0, 2, 3))[FRAMES:]
    units = moments[1]
    return {
        "mse_draws": float(((draws - truth) ** 2).sum(axis=(-1, -2)).mean()),
        "mse_mean": float(((mean - truth) ** 2).sum(axis=(-1, -2)).mean()),
        "ell_20": float(log_density.sum(axis=(-1, -2)).mean()),
        "skill": float(1 - (crps / units).mean() / (climate / units).mean()),
        "held": float(held.mean()),
        "held_least": float(held.min()),
        "held_most": float(held.max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", default="low")
    parser.add_argument("--objects", type=int, default=3)
    parser.add_argument("--forecast", type=int, help="balls to forecast, if other than learned")
    parser.add_argument("--world", choices=WORLDS, help="a scene other than the paper's balls")
    parser.add_argument("--charges", choices=("observed", "inferred"), help="their charges are")
    parser.add_argument("--hidden", action="store_true", help="velocities are not seen")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=("valid", "test"), default="valid")
    chosen = parser.parse_args()
    if chosen.charges:
        measure_charges(chosen.charges, chosen.seed, chosen.part)
        return
    if chosen.world:
        title = f"{chosen.world}, {chosen.noise} noise"
        world = WORLDS[chosen.world]
        measure_world(world, title, chosen.noise, chosen.seed, chosen.part)
        return
    scene = PaperScene(objects=chosen.objects, noise=chosen.noise, velocities=not chosen.hidden)
    others = replace(scene, objects=chosen.forecast or chosen.objects)
    measure(scene, others, chosen.seed, chosen.part)


if __name__ == "__main__":
    main()
