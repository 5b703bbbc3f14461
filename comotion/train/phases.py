"""What a fit is made of, each part to be ended by Ctrl-C: a start, steps, calibration, bands."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Event

import jax

from comotion.backend.devices import on_one
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Dataset
from comotion.initialise import (
    SimpleLaw,
    initialise,
    look_for_contacts,
    nothing_else_acts,
    simple_law,
    with_simple_law,
    with_walls,
)
from comotion.integrate import StateNoise
from comotion.predict import FittedModel, contacts_of
from comotion.systems import build
from comotion.train.calibrate import calibrate
from comotion.train.interruptible import LeftBehind, interruptible
from comotion.train.loop import Loop
from comotion.train.precompile import compiling_steps
from comotion.train.progress import Watcher
from comotion.train.stretch import fit_stretch


@dataclass
class SoFar:
    """What there is of a fit that may be stopped at any moment."""

    heard: Event = field(default_factory=Event)
    fitted: FittedModel | None = None
    loop: Loop | None = None

    def of(self, work: Callable[[], FittedModel]) -> FittedModel:
        """What the work gives, or what there is of it when Ctrl-C finds it deaf."""
        try:
            return interruptible(work, self.heard)
        except LeftBehind:
            self.heard.set()
            return self._rescued()

    @contextmanager
    def cut_short(self) -> Iterator[None]:
        """Ctrl-C ends what is done inside, and keeps what was done before."""
        try:
            yield
        except KeyboardInterrupt:
            self.heard.set()

    def _rescued(self) -> FittedModel:
        """The model as it is, while a program for its next steps is still being compiled."""
        if self.fitted is None or self.loop is None:
            raise KeyboardInterrupt("stopped before anything was learned")
        self.loop.save()
        self.loop.tell_stopped()
        return dataclasses.replace(self.fitted, model=on_one(self.loop.model))


def started(
    fitted: FittedModel, dataset: Dataset, watcher: Watcher, *, key: jax.Array
) -> FittedModel:
    """With starting values from the data, found while the steps to come are compiled."""
    config = fitted.config
    watcher.say("compiling, and finding a start from the data")
    found = look_for_contacts(fitted.model, dataset, config.system.contacts)
    model = with_walls(fitted.model, found)
    simple = simple_law(config.system, model, dataset, found, key=key)
    if simple is not None:
        return _simplified(fitted, simple, watcher, key=key)
    trained = found is None or not nothing_else_acts(model, found)
    with compiling_steps(config, model, dataset) if trained else nullcontext():
        model = initialise(model, dataset, config.recipe, found=found, key=key)
    return _told(dataclasses.replace(fitted, model=model), watcher)


def _simplified(
    fitted: FittedModel, law: SimpleLaw, watcher: Watcher, *, key: jax.Array
) -> FittedModel:
    """The model of a system with other parts, which needs no training."""
    config = dataclasses.replace(fitted.config, system=law.system)
    model = with_simple_law(build(law.system, fitted.shape, key=key), law)
    watcher.say(f"a simple law explains {law.explained:.1%} of what bends flights")
    return _told(dataclasses.replace(fitted, model=model, config=config), watcher)


def _told(fitted: FittedModel, watcher: Watcher) -> FittedModel:
    if fitted.contacts:
        watcher.say(f"contacts: {fitted.contacts}")
    return fitted


def run(loop: Loop, so_far: SoFar, *, key: jax.Array) -> None:
    with so_far.cut_short():
        try:
            loop.run(key=key)
        except KeyboardInterrupt:
            loop.save()
            loop.tell_stopped()
            raise


def calibrated(
    fitted: FittedModel, judged: Dataset, watcher: Watcher, so_far: SoFar, *, key: jax.Array
) -> FittedModel:
    """With the process noise whose forecasts of these data are best."""
    model, config = fitted.model, fitted.config
    law = contacts_of(model)
    uncertain = isinstance(model.process_noise, StateNoise) and not (law is not None and law.only)
    if not (config.recipe.calibration and uncertain):
        return fitted
    watcher.say("compiling, and calibrating (Ctrl-C leaves that out)")
    with so_far.cut_short():
        model = calibrate(model, config, judged, key=key)
    return dataclasses.replace(fitted, model=model)


def stretched(
    fitted: FittedModel, valid: Trajectories, watcher: Watcher, so_far: SoFar
) -> FittedModel:
    """With bands as wide as held-out frames ask for, where forecasts are what was learned."""
    last = fitted.config.recipe.stages[-1]
    if last.objective == "score":
        watcher.say("measuring the bands on held-out frames (Ctrl-C leaves that out)")
        with so_far.cut_short():
            return dataclasses.replace(fitted, stretch=fit_stretch(fitted, valid, last.horizon))
    return fitted
