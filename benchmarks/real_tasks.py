"""Data sets with their protocol: what to train on, to choose on, and to test on once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import comotion as cm
from comotion import datasets
from comotion.data import Trajectories
from comotion.data.slots import joined
from comotion.scoring import Protocol

PEDESTRIANS = ("eth", "hotel", "univ", "zara1", "zara2")
TRAINED_ON_ONLY = ("zara3", "examples")
SWARM_NOISE = 0.01


@dataclass(frozen=True, eq=False)
class Task:
    """`about` says in a sentence what is seen, forecast and held out."""

    about: str
    train: Trajectories
    choose: Trajectories
    test: Trajectories
    protocol: Protocol


def hexbugs() -> Task:
    train, choose, test = datasets.load("hexbugs").split(0.7, 0.1, 0.2, by="time")
    protocol = Protocol(10, 50, stride=5, seen_share=0.8, unbroken=True)
    about = "five robots in a round arena; 10 frames seen, 50 forecast (1 s); 70/10/20 % in time"
    return Task(about, train, choose, test, protocol)


def pedestrians(scene: str) -> Task:
    """Leave one scene out; of each other scene the last fifth in time is there to choose."""
    others = [name for name in PEDESTRIANS + TRAINED_ON_ONLY if name != scene]
    halves = [(name, datasets.load(name).split(0.8, 0.2, by="time")) for name in others]
    train, choose = (joined([(name, parts[i]) for name, parts in halves]) for i in (0, 1))
    protocol = Protocol(8, 12, stride=1, whole_future=True, unbroken=True)
    about = (
        f"pedestrians of {scene}, trained on all other scenes; 8 frames seen, 12 forecast (4.8 s)"
    )
    return Task(about, train, choose, datasets.load(scene), protocol)


def football() -> Task:
    match = datasets.load("football").thin(2)
    train, choose, test = match.split(0.7, 0.1, 0.2, by="time")
    protocol = Protocol(10, 20, stride=10, seen_share=0.8, unbroken=True)
    about = "a match from broadcast video with its swaps; 10 frames seen, 20 forecast (4 s)"
    return Task(about, train, choose, test, protocol)


def planets() -> Task:
    train, choose, test = datasets.load("planets").split(0.54, 0.06, 0.4, by="time")
    protocol = Protocol(10, 100, stride=20)
    about = "Sun and eight planets; 10 frames of 5 days seen, 500 days forecast; 15 years, then 10"
    return Task(about, train, choose, test, protocol)


def swarm() -> Task:
    clean = cm.simulate.agents("swarm", sequences=100, velocities=False, seed=0)
    noise = SWARM_NOISE * np.random.default_rng(0).standard_normal(clean.values.shape)
    train, choose, test = replace(clean, values=clean.values + noise).split(60, 20, 20)
    about = "ten simulated agents, positions measured with noise .01; 5 frames seen, 75 forecast"
    return Task(about, train, choose, test, Protocol(5, 75))


TASKS: dict[str, Callable[[], Task]] = {
    "hexbugs": hexbugs,
    **{scene: partial(pedestrians, scene) for scene in PEDESTRIANS},
    "football": football,
    "planets": planets,
    "swarm": swarm,
}
