"""Hard contacts as part of a start: found in the data, with the smooth law that remains."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import FAST, Key
from comotion.contacts import ContactLaw
from comotion.data.windows import Dataset, Window
from comotion.dynamics import InteractingDynamics, Scene
from comotion.encode.differences import finite_differences
from comotion.errors import BadInput
from comotion.initialise.containment import MOST_OUT
from comotion.initialise.find_contacts import Finding, find_contacts
from comotion.initialise.rates import Paths
from comotion.initialise.regression import rates_are_linear, with_regression
from comotion.initialise.shown import Shown
from comotion.initialise.soft_contacts import find_soft_contacts
from comotion.initialise.tracks import NoiseScale, tracks_of_windows
from comotion.integrate import BodyNoise
from comotion.model import FirstEntries, Model

Wish = Literal["off", "hard", "soft", "auto"]
OUTLIER = 8.0
"""Robust standard deviations of rates."""
FEWEST_OUTLIERS, MOST_OUTLIERS = 0.001, 0.2
"""Shares of rates that stand out, between which contacts are looked for beside forces."""
MEAN_OF = 8
"""Draws, whose mean stands for the mean law."""


def look_for_contacts(model: Model, dataset: Dataset, wish: Wish) -> Finding | None:
    """In straight flights; None where nobody wants contacts or the system cannot have them.

    Soft ones are looked for where no hard ones hold, as they take some seconds to find.
    """
    if wish == "off":
        return None
    if not can_collide(model):
        if wish == "auto":
            return None
        raise BadInput(
            f"contacts='{wish}' needs an interacting system of second order whose positions are "
            "observed along two or three axes; use contacts='off'"
        )
    tracks = tracks_of_windows(dataset, model.dynamics.layout.spatial)
    if wish == "soft":
        soft = find_soft_contacts(tracks)
        if soft.law is None:
            raise BadInput(f"no soft contacts were found ({soft.reason}); use contacts='auto'")
        return soft
    finding = find_contacts(tracks)
    if wish == "hard":
        return dataclasses.replace(finding, required=True)
    finding = unless_it_leaks(finding)
    soft = find_soft_contacts(tracks) if finding.law is None else finding
    return finding if soft.law is None else soft


def unless_it_leaks(finding: Finding) -> Finding:
    """A law that forecasts leave the scene under is worse than a smooth one: it is refused."""
    if finding.out <= MOST_OUT:
        return finding
    reason = f"the walls found would let {finding.out:.0%} of the flights out that stay inside"
    return dataclasses.replace(finding, law=None, reason=reason)


def nothing_else_acts(model: Model, finding: Finding) -> bool:
    """Then there is nothing left to learn."""
    restless = isinstance(model.process_noise, BodyNoise)
    return finding.law is not None and finding.law.only and not restless


def can_collide(model: Model) -> bool:
    layout, dynamics = model.dynamics.layout, model.dynamics
    plain = layout.has_velocity and not (layout.hidden or layout.extra)
    interacting = isinstance(dynamics, InteractingDynamics) and dynamics.order == 2
    seen = isinstance(model.observation.decoder, FirstEntries)
    return interacting and plain and seen and layout.spatial in (2, 3)


def with_walls(model: Model, finding: Finding | None) -> Model:
    """For models with noise of their own: what was found is a part from the beginning on.

    Between contacts they never fly straight, and a filter knows the noise of the frames.
    """
    if finding is None or finding.law is None or not isinstance(model.process_noise, BodyNoise):
        return model
    return with_law(model, dataclasses.replace(finding.law, only=False))


def with_contact_law(model: Model, finding: Finding) -> Model:
    """The law, and the noise that finding it measured."""
    assert finding.law is not None
    return with_law(with_noise(model, finding.noise), finding.law)


def with_noise(model: Model, noise: NoiseScale) -> Model:
    spatial, observed = model.dynamics.layout.spatial, model.observation.log_noise_variance.shape[0]
    sds = [noise.position] * spatial + [noise.velocity or 1.0] * (observed - spatial)
    variance = jnp.asarray(2 * np.log(sds), FAST)
    return eqx.tree_at(
        lambda m: (m.observation.log_noise_variance, m.observation.tolerance),
        model,
        (variance, jnp.zeros_like(variance)),
    )


def with_law(model: Model, law: ContactLaw) -> Model:
    assert isinstance(model.dynamics, InteractingDynamics)
    dynamics = dataclasses.replace(model.dynamics, contacts=law)
    return dataclasses.replace(model, dynamics=dynamics)


def with_contacts_beside_forces(model: Model, shown: Shown, first: Finding, *, key: Key) -> Model:
    """Jumps in what a smooth law leaves, and that law again without their intervals.

    The first law is regressed without the largest rates, which contacts would be among; where
    there are none that stand out, there is nothing to look for.
    """
    key_robust, key_mean, key_again = jax.random.split(key, 3)
    finding, outliers = first, _outliers(shown.paths)
    solvable = rates_are_linear(model) and shown.properties_known
    restless = isinstance(model.process_noise, BodyNoise)
    if solvable and not restless and FEWEST_OUTLIERS < outliers.mean() < MOST_OUTLIERS:
        robust = with_regression(model, _but(shown, outliers), key=key_robust)
        tracks = tracks_of_windows(shown.measured, model.dynamics.layout.spatial)
        finding = find_contacts(tracks, _accelerations(robust, shown.smooth.windows, key=key_mean))
    if finding.law is None:
        if first.required:
            raise BadInput(f"no hard contacts were found ({finding.reason}); use contacts='auto'")
        return model
    if solvable:
        model = with_regression(model, _but(shown, near(finding.eventful)), key=key_again)
    return model if restless else with_contact_law(model, finding)


def _outliers(paths: Paths) -> Bool[np.ndarray, "F A"]:
    known = np.asarray(paths.known)
    size = np.linalg.norm(np.asarray(paths.rates, float), axis=-1)
    middle = np.median(size[known])
    spread = 1.4826 * np.median(np.abs(size[known] - middle))
    return known & (size > middle + OUTLIER * spread)


def near(eventful: Bool[np.ndarray, "P J A"]) -> Bool[np.ndarray, "P J A"]:
    """Intervals with a contact and those beside them: its time is not known to the frame."""
    wider = eventful.copy()
    wider[:, 1:] |= eventful[:, :-1]
    wider[:, :-1] |= eventful[:, 1:]
    return wider


def _but(shown: Shown, left_out: Bool[np.ndarray, "*F A"]) -> Shown:
    known = shown.paths.known & ~jnp.asarray(left_out.reshape(shown.paths.known.shape))
    return eqx.tree_at(lambda s: s.paths.known, shown, known)


def _accelerations(model: Model, smooth: Window, *, key: Key) -> Float[np.ndarray, "P N A d"]:
    """Of the mean law along the smoothed tracks."""
    layout = model.dynamics.layout
    seen = finite_differences(smooth, layout)
    states = jnp.concatenate([seen.states, seen.after[:, -1:]], axis=1)

    @eqx.filter_jit
    def ask(model: Model, key: Key) -> Float[Array, "P N A d"]:
        field = model.dynamics.draw(key=key)

        def at(states: Array, controls: Array, window: Window) -> Array:
            given = window.properties[:, : layout.properties]
            scene = Scene(given, controls, window.neighbours, window.exists)
            return field(states, scene)[:, layout.velocity]

        along = jax.vmap(at, in_axes=(0, 0, None))
        return jax.vmap(along)(states, smooth.controls, smooth)

    draws = [ask(model, one) for one in jax.random.split(key, MEAN_OF)]
    return np.mean([np.asarray(draw, float) for draw in draws], axis=0)
