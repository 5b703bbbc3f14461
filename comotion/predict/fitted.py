"""A fitted model: forecasts, and the file it is kept in."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from comotion._types import FAST, Key, Keys
from comotion.backend.devices import everywhere, mesh_of, one_thread_each, over_parts
from comotion.backend.keys import key_for
from comotion.backend.normal import standard_normal
from comotion.config import RunConfig, from_dict, to_dict
from comotion.contacts import (
    ContactLaw,
    ContactShape,
    blank_law,
    contact_shape,
    describe_contacts,
)
from comotion.data.frames import kind_of
from comotion.data.reading import read
from comotion.data.scaling import Scaling, identity_scaling
from comotion.data.summary import TrainingSummary
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Excerpt, Grid, first, to_dataset
from comotion.dynamics import InteractingDynamics, Nonlinear
from comotion.dynamics.graph import EmptyGraph
from comotion.encode import OriginFilter
from comotion.errors import BadInput
from comotion.integrate import AdaptiveSteps
from comotion.model import Model
from comotion.predict import checkpoint
from comotion.predict.change import Change
from comotion.predict.forecast import Forecast
from comotion.predict.origin import Search
from comotion.predict.seen import Origin, seen_until, times_after, times_ahead
from comotion.predict.times import Plan, plan_forecast
from comotion.systems import DataShape, build, check_data

if TYPE_CHECKING:
    import xarray as xr

    from comotion.predict.effect import Effect
    from comotion.predict.law import Law
    from comotion.report.explorer import Explorer

SEQUENCES_TOGETHER = 100
CANDIDATES = 4
MANY, MOVES = 1, 72
"""Candidates and moves of a start where a collision may be among the frames seen."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel:
    """What `fit` gives and a model file holds."""

    model: Model
    scaling: Scaling
    summary: TrainingSummary
    shape: DataShape
    config: RunConfig

    @one_thread_each()
    def predict(
        self,
        data: Any,
        *,
        horizon: float | None = None,
        origin: Origin | None = None,
        draws: int = 100,
        times: ArrayLike | float | None = None,
        seed: int = 0,
        interaction: bool = True,
        solver: Literal["fixed", "tsit5", "dopri5"] = "fixed",
        candidates: int | None = None,
        moves: int | None = None,
        on_draw: Callable[[int], None] | None = None,
        like: Forecast | None = None,
        change: Change | None = None,
    ) -> Forecast:
        """A forecast of `horizon` from the last frames of each object in `data`.

        `origin` is the last moment that may be seen: "last", "first" (the first frames only, as
        the paper forecasts; so without `horizon`, and then over all times of the data) or a time.
        `draws` laws and states are drawn; each is followed through `times` (one row for all
        sequences or one per sequence), or a frame after the other up to the horizon. `trajectory`
        has the draws themselves, `observation` adds observation noise. Without `interaction` every
        object moves by f_s alone, as if it were the only one.

        Rarely needed: `solver` "tsit5" or "dopri5" choose step sizes by error control; with one
        of `candidates` and no `moves` an initial state is drawn as encoded, with more candidates
        the one that leads through the first frames best is likelier, with moves a Markov chain
        goes on from there (by default where the law has hard contacts); `on_draw` is called with
        the number of finished draws;
        `like` is a forecast whose draws of law, start and noise are taken again for data without
        some of its objects, so that the difference of the two is the effect; `what_if` does more.
        """
        kind = kind_of(data)
        data = self._as_trained(read(data))
        if like is not None:
            from comotion.predict.what_if import without_some_of

            change = without_some_of(self, like, data)
            return self.predict(like.seen, change=change, on_draw=on_draw, **like.settings)
        self._check(data, draws, candidates, moves)
        if solver != "fixed" and self.contact_law is not None:
            raise BadInput(
                f"solver='{solver}' knows no hard contacts; use solver='fixed' for this model"
            )
        seen, plan = self._planned(data, horizon, origin, times)
        model = self.model if interaction else _without_interaction(self.model, self.system)
        if solver != "fixed" and self.config.system.time == "continuous":
            model = eqx.tree_at(lambda m: m.integrator, model, AdaptiveSteps(solver))
        if change is not None:
            alive = plan.alive & np.asarray(change.present)[:, None]
            plan = dataclasses.replace(plan, alive=alive)
        excerpts = self.excerpts(seen)
        search = self._search(candidates, moves)
        shape = (draws, *plan.alive.shape, len(self.shape.features))
        trajectories, observations = np.empty(shape, FAST), np.empty(shape, FAST)
        before = 0
        key = key_for("forecast", seed)
        for done, chunk in draw_chunks(model, excerpts, plan.grids, draws, search, change, key=key):
            for values, drawn in zip(chunk, (trajectories, observations), strict=True):
                drawn[before:done] = self._in_data_units(values, plan)
            before = done
            if on_draw is not None:
                on_draw(done)
        dataset = self._dataset(data, plan, trajectories, observations, seed)
        if not interaction:
            dataset = dataset.assign_attrs(system=f"f_s of {self.system}")
        settings = {"draws": draws, "times": times, "seed": seed, "interaction": interaction}
        settings |= {"solver": solver, "candidates": candidates}
        settings |= {"horizon": horizon, "origin": origin}
        return Forecast(dataset, data, kind, settings)

    def what_if(self, data: Any, **changes: Any) -> "Effect":
        """What a change does: remove, cut, velocity, position, properties or add, see
        `predict.what_if`; the same draws of law, start and noise with and without it."""
        from comotion.predict.what_if import what_if

        return what_if(self, read(data), **changes)

    def simulate(self, states: ArrayLike, times: ArrayLike, **options: Any) -> Forecast:
        """Futures from given states: a row of features for each object, see `predict.what_if`."""
        from comotion.predict.what_if import simulate

        return simulate(self, np.asarray(states, float), np.asarray(times, float), **options)

    @property
    def law(self) -> "Law":
        """What was learned: alone, interaction, contact, in numbers, sentences and pictures."""
        from comotion.predict.law import Law

        return Law(self)

    def explore(self, data: Trajectories, **extent: Any) -> "Explorer":
        """A page in which this model runs on the objects of `data`: a notebook shows it, and
        `.save("scene.html")` writes it. Arguments are those of `comotion explore`."""
        from comotion.report.explorer import explore

        return explore(self, data, **extent)

    def _planned(
        self,
        data: Trajectories,
        horizon: float | None,
        origin: Origin | None,
        times: ArrayLike | float | None,
    ) -> tuple[Trajectories, Plan]:
        """The frames that may be seen, and the times to follow them to."""
        system, at_end = self.config.system, isinstance(self.model.encoder, OriginFilter)
        asked = None if times is None else np.atleast_1d(np.asarray(times, float))
        whole = system.time == "discrete"
        if origin is None:
            origin = "last" if horizon is not None or (at_end and asked is not None) else "first"
        if origin == "first" and horizon is None and not at_end:
            return data, plan_forecast(data, asked, self.scaling, self.shape, whole)
        frames = system.encoder_frames
        if system.properties == "inferred":
            frames = max(frames, system.property_frames)
        seen = seen_until(data, origin, frames)
        if horizon is not None:
            asked = times_ahead(seen, horizon, self.shape.step)
        elif asked is None:
            asked = times_after(data, seen)
        start = seen_until(seen, "last", 1) if at_end else seen
        return seen, plan_forecast(start, asked, self.scaling, self.shape, whole)

    def _search(self, candidates: int | None, moves: int | None) -> Search:
        usual = (MANY, MOVES) if self.contact_law is not None else (CANDIDATES, 0)
        chosen = (candidates, moves)
        return Search(
            usual[0] if chosen[0] is None else chosen[0],
            self.config.system.encoder_frames,
            usual[1] if chosen[1] is None else chosen[1],
        )

    @property
    def contact_law(self) -> ContactLaw | None:
        """Where things touch, in the model's own units."""
        return contacts_of(self.model)

    @property
    def contacts(self) -> str:
        """The learned contacts in words and in the data's units; empty if there are none."""
        law = self.contact_law
        if law is None:
            return ""
        shift, scale = np.asarray(self.scaling.shift), np.asarray(self.scaling.scale)
        return describe_contacts(
            law, shift[: law.spatial], float(scale[0]), float(self.scaling.time)
        )

    @property
    def system(self) -> str:
        return self.config.system.name

    def __repr__(self) -> str:
        shape = self.shape
        return (
            f"FittedModel({self.system}: {', '.join(shape.features)} of {shape.objects} objects, "
            f"{shape.step:.4g} apart)"
        )

    def _repr_html_(self) -> str:
        return f"<b>{self!r}</b><pre>{self.law}</pre>"

    def save(self, path: str | Path) -> None:
        header = {
            "run": to_dict(self.config),
            "shape": dataclasses.asdict(self.shape),
            "leads": len(self.summary.lead),
            "contacts": _contacts_header(self.model),
        }
        checkpoint.write(Path(path), self._arrays(), header)

    def excerpts(self, data: Trajectories) -> Excerpt:
        """The sequences as the encoders see them, a batch."""
        if self.config.system.properties != "observed":
            data = self._with_unused_properties(data)
        windows = to_dataset(data, self.scaling).windows
        opening = min(self.config.system.property_frames, windows.times.shape[1])
        return Excerpt(windows, first(windows, opening))

    def _as_trained(self, data: Trajectories) -> Trajectories:
        """Features the model does not know are left alone."""
        known = self.shape.features
        return data.select(known) if set(known) < set(data.features) else data

    def _with_unused_properties(self, data: Trajectories) -> Trajectories:
        """Properties the model does not look at need not be the same as in training."""
        names = self.shape.properties
        unused = np.full((*data.static.shape[:2], len(names)), np.nan)
        return dataclasses.replace(data, static=unused, static_names=names)

    def _arrays(self) -> dict:
        summary = dataclasses.asdict(self.summary)
        arrays = {name: jnp.asarray(value) for name, value in summary.items()}
        return {"model": self.model, "scaling": self.scaling, "summary": arrays}

    def _in_data_units(self, values: Float[np.ndarray, "L P K A O"], plan: Plan) -> np.ndarray:
        rows = np.arange(len(plan.wanted))[:, None]
        wanted = self.scaling.to_data(values[:, rows, plan.wanted])
        wanted[:, ~plan.alive] = np.nan
        return wanted

    def _check(
        self, data: Trajectories, draws: int, candidates: int | None, moves: int | None
    ) -> None:
        if draws < 1:
            raise BadInput(f"a forecast needs at least one draw, got draws={draws}")
        if candidates is not None and candidates < 1:
            raise BadInput(f"an initial state needs a candidate, got candidates={candidates}")
        if moves is not None and moves < 0:
            raise BadInput(f"a chain of states makes 0 moves or more, got moves={moves}")
        check_data(self.config.system, self.shape, data)

    def _dataset(
        self,
        data: Trajectories,
        plan: Plan,
        trajectories: np.ndarray,
        observations: np.ndarray,
        seed: int,
    ) -> "xr.Dataset":
        import xarray as xr

        dims = ("draw", "sequence", "time", "object", "feature")
        return xr.Dataset(
            {
                "trajectory": (dims, trajectories),
                "observation": (dims, observations),
                "alive": (dims[1:4], plan.alive),
                "climatology_mean": ("feature", self.summary.mean),
                "climatology_sd": ("feature", self.summary.sd),
                "drift_lead": ("lead", self.summary.lead),
                "drift_sd": (("lead", "feature"), self.summary.drift_sd),
            },
            coords={
                "feature": list(data.features),
                "sequence": list(data.sequence_names),
                "object_name": (("sequence", "object"), np.array(data.object_names, dtype=object)),
                "t": (("sequence", "time"), plan.times),
            },
            attrs={
                "system": self.system,
                "seed": seed,
                "encoder_frames": self.config.system.encoder_frames,
                "frames_seen": self.config.system.frames_seen,
            },
        )


def load(path: str | Path) -> FittedModel:
    """A model file, or that of a run's folder, as it was: the same numbers, bit for bit."""
    path = Path(path)
    if path.is_dir():
        path = path / "model.safetensors"
        if not path.is_file():
            raise BadInput(
                f"{path.parent}: there is no model.safetensors in this folder; give the folder of "
                "a finished run, or finish it with `comotion fit … --resume`"
            )
    arrays, header = checkpoint.read(path)
    config = from_dict(RunConfig, header["run"], where=str(path))
    shape = from_dict(DataShape, header["shape"], where=str(path))
    features = len(shape.features)
    summary = blank_summary(header["leads"], features)
    empty = FittedModel(
        model=_template(config, shape, header.get("contacts"), path),
        scaling=identity_scaling(features, len(shape.properties)),
        summary=summary,
        shape=shape,
        config=config,
    )
    restored = checkpoint.restore(empty._arrays(), arrays, path)
    summary = {name: np.asarray(value) for name, value in restored["summary"].items()}
    return dataclasses.replace(
        empty,
        model=restored["model"],
        scaling=restored["scaling"],
        summary=TrainingSummary(**summary),
    )


def _template(
    config: RunConfig, shape: DataShape, contacts: dict[str, Any] | None, path: Path
) -> Model:
    """A model without numbers, of the shape that was saved."""
    model = eqx.filter_eval_shape(build, config.system, shape, key=jax.random.key(0))
    if contacts is None:
        return model
    law = blank_law(from_dict(ContactShape, contacts, where=str(path)))
    return dataclasses.replace(model, dynamics=dataclasses.replace(model.dynamics, contacts=law))


def _contacts_header(model: Model) -> dict[str, Any] | None:
    law = contacts_of(model)
    return None if law is None else dataclasses.asdict(contact_shape(law))


def contacts_of(model: Model) -> ContactLaw | None:
    dynamics = model.dynamics
    return dynamics.contacts if isinstance(dynamics, InteractingDynamics) else None


def _without_interaction(model: Model, name: str) -> Model:
    dynamics = model.dynamics
    if not isinstance(dynamics, InteractingDynamics) or isinstance(
        dynamics.accumulation, Nonlinear
    ):
        raise BadInput(
            f"system '{name}' does not keep what an object does alone apart from what others do "
            "to it; use an interacting system (I-…) with accumulation='sum' or 'weighted'"
        )
    law = None if dynamics.contacts is None else dynamics.contacts.without_pairs()
    silent = dataclasses.replace(dynamics, graph=EmptyGraph(), contacts=law)
    return dataclasses.replace(model, dynamics=silent)


def blank_summary(leads: int, features: int) -> TrainingSummary:
    return TrainingSummary(
        mean=np.zeros(features),
        sd=np.zeros(features),
        lead=np.zeros(leads),
        drift_sd=np.zeros((leads, features)),
    )


def draw_chunks(
    model: Model,
    excerpts: Excerpt,
    grids: Grid,
    draws: int,
    search: Search,
    change: Change | None = None,
    *,
    key: Key,
) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Draws, some on each device at once: how many are done, and those of this chunk.

    Memory is that of one chunk. Few sequences alone would leave a device waiting for its own
    overhead, so it follows them under several laws together.
    """
    devices = jax.local_devices()[:draws]
    mesh = mesh_of(devices)
    sequences = grids.times.shape[0]
    together = min(max(1, SEQUENCES_TOGETHER // sequences), math.ceil(draws / len(devices)))
    size = together * len(devices)
    keys = jax.random.split(key, draws)
    shared = everywhere((model, excerpts, grids, change), mesh)
    for start in range(0, draws, size):
        numbers = np.minimum(np.arange(start, start + size), draws - 1)  # the last may be too many
        chunk = _some_draws(*shared, keys[numbers], search, mesh)
        done = min(start + size, draws)
        trajectory, observation = (np.asarray(values)[: done - start] for values in chunk)
        yield done, (trajectory, observation)


@eqx.filter_jit
def _some_draws(
    model: Model,
    excerpts: Excerpt,
    grids: Grid,
    change: Change | None,
    keys: Keys,
    search: Search,
    mesh: Mesh | None,
) -> tuple[Float[Array, "L P K A O"], Float[Array, "L P K A O"]]:
    def part(shared: tuple[Model, Excerpt, Grid, Change | None], keys: Keys) -> tuple[Array, Array]:
        return jax.vmap(lambda key: _one_draw(*shared, search, key))(keys)

    return over_parts(part, mesh, (model, excerpts, grids, change), keys)


def _one_draw(
    model: Model,
    excerpts: Excerpt,
    grids: Grid,
    change: Change | None,
    search: Search,
    key: Key,
) -> tuple[Float[Array, "P K A O"], Float[Array, "P K A O"]]:
    """Every sequence under one drawn law: noise-free, and as it would be observed."""
    key_field, key_states, key_noise = jax.random.split(key, 3)
    field = model.dynamics.draw(key=key_field)

    def follow(
        excerpt: Excerpt, grid: Grid, key: Key, change: Change | None
    ) -> tuple[Array, Array]:
        key_start, key_follow = jax.random.split(key)
        beliefs, window = model.encode(excerpt), excerpt.window
        if beliefs.habits is None:
            start = search.draw_start(model, field, beliefs, excerpt, key=key_start)
        else:  # at the last frame seen there is nothing left to lead through
            start = model.draw_start(beliefs, excerpt, key=key_start)
        if change is not None:
            start, window, grid = change.apply(start, window, grid)
        states = model.follow_noisy(field, start, window, grid, key=key_follow)
        return model.observation.decoder(states), jnp.sqrt(beliefs.noise_variance)

    keys = jax.random.split(key_states, grids.times.shape[0])
    means, noise_sd = jax.vmap(follow)(excerpts, grids, keys, change)
    noise = standard_normal(means.shape, means.dtype, key=key_noise)
    return means, means + jnp.einsum("pkao,po->pkao", noise, noise_sd)
