"""The page's engine gives Python's numbers, for every system and every coordinate."""

import base64
import dataclasses
import gzip
import json
from collections.abc import Iterable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.backend.keys import key_for
from comotion.backend.normal import standard_normal
from comotion.contacts import Parts, Plane, Restitution, Sphere, contact_law, polygon
from comotion.coordinates import ALONE, PAIR
from comotion.data import Trajectories
from comotion.data.windows import cut
from comotion.dynamics import ACCUMULATIONS
from comotion.errors import BadInput
from comotion.functions import ACTIVATIONS
from comotion.gp import KERNELS, KernelProduct, KernelSum, Matern32, SquaredExponential
from comotion.integrate import StateNoise
from comotion.model import Model
from comotion.predict import FittedModel
from comotion.predict.origin import Search
from comotion.report.explorer import export
from comotion.report.explorer.export import Extent, explorable
from comotion.report.explorer.pack import pack
from comotion.report.explorer.scenes import draw, seen_by
from comotion.systems import SYSTEMS, system
from tests.report.explorer.conftest import tiny_model, walks

FRAMES = 50
DRAWS = 2
TOLERANCE = 1e-4
NUDGE = 1e-6
NOISE_SEED = 7

FROM_LAST = [name for name in SYSTEMS if system(name).encoder == "filter"]
KINKED = "matern12"
"""Rough laws make rounding grow faster than can be compared, but for small ones."""
NETWORKS = [name for name in SYSTEMS if system(name).function == "mlp"]


def named(name: str) -> dict:
    """Networks with all activations in turn."""
    if name not in NETWORKS:
        return {"name": name}
    return {"name": name, "activation": turn(ACTIVATIONS, NETWORKS.index(name))}


def mixed(k: int) -> dict:
    """Each f_b in either order, beside an f_s, a kernel and a way to sum: what the page computes of
    one does not depend on the others."""
    pair = turn(PAIR, k)
    parts = {"pair": pair, "order": 1 + k // len(PAIR), "alone": turn(ALONE, k)}
    kernel = turn(KERNELS, k).replace(KINKED, "se")
    parts |= {"kernel": kernel, "accumulation": turn(ACCUMULATIONS, k)}
    return parts | {"properties": "none" if k % 2 and pair != "multiplying" else "observed"}


def turn(table: Iterable[str], k: int) -> str:
    names = list(table)
    return names[k % len(names)]


CASES: dict[str, dict] = {
    **{name: named(name) for name in SYSTEMS if name not in FROM_LAST},
    **{" ".join(map(str, mixed(k).values())): mixed(k) for k in range(2 * len(PAIR))},
    KINKED: {"kernel": KINKED, "alone": "none", "wild": 0.1},
    "properties inferred": {"properties": "inferred"},
    "nearest": {"nearest": 1, "objects": 4},
    "within a radius": {"radius": 1.5, "scaling": "none"},
    "three steps a frame": {"substeps": 3},
    "controls": {"controls": 2},
    "controls, joint": {"name": "GPODE", "controls": 1},
    "one dimension": {"spatial": 1, "pair": "central"},  # nothing slides past on a line
    "three dimensions": {"spatial": 3},
    "hidden velocities": {"velocities": False},
    "no velocities": {"name": "I-GPODE", "velocities": False, "pair": "radial"},
    "a network decodes": {"name": "I-NODE-8", "decoder": "mlp"},
}
OF_DATA = ("objects", "spatial", "velocities", "controls")


@dataclasses.dataclass(frozen=True)
class Expected:
    """States under drawn laws, as Python follows them: draw × frame × object × state.

    Some laws are chaotic: where two objects attract each other into one spot, the line between
    them turns with the last bit. `steady` says in which frames a start that is off by `NUDGE`
    has not come to more than a hundred times that.
    """

    fitted: FittedModel
    states: np.ndarray
    steady: np.ndarray


def expect(fitted: FittedModel, data: Trajectories, noisy: bool = False) -> Expected:
    keys = jax.random.split(key_for("forecast", 0), DRAWS)
    excerpts, model = fitted.excerpts(data), fitted.model
    begins = seen_by(fitted).begins
    search = Search(1, fitted.config.system.encoder_frames)
    drawn = draw(model, excerpts, search, jnp.zeros(1, int), keys)
    window = jax.tree.map(lambda leaf: leaf[0], excerpts.window)
    window = cut(window, jnp.asarray(begins), window.times.shape[0] - begins)

    @eqx.filter_jit
    def follow(field, start):
        if not noisy:
            return model.follow(field, start, window, window.grid)
        key = jax.random.key(NOISE_SEED)
        return model.follow_noisy(field, start, window, window.grid, key=key)[0]

    def states(nudge: float) -> np.ndarray:
        followed = []
        for k in range(DRAWS):
            field, starts = jax.tree.map(lambda leaf, k=k: leaf[k], (drawn.field, drawn.starts))
            start = jax.tree.map(lambda leaf: leaf[0, 0], starts)
            start = dataclasses.replace(start, initial=start.initial * np.float32(1 + nudge))
            followed.append(np.asarray(follow(field, start)))
        return np.stack(followed)

    plain = states(0.0)
    apart = np.abs(states(NUDGE) - plain).max(axis=(2, 3)) / np.abs(plain).max()
    return Expected(fitted, plain, np.maximum.accumulate(apart, axis=1) < 100 * NUDGE)


def questions(edits: list[dict] | None = None, **more) -> list[dict]:
    request = {"sequence": 0, "origin": 0, "frames": FRAMES, "edits": edits or []}
    return [{"draw": k, "request": request, **more} for k in range(DRAWS)]


def normals(model: Model) -> np.ndarray:
    """What `expect` draws process noise from, for three objects."""
    shape = (FRAMES + 1, 3, model.process_noise.normals)
    return np.asarray(standard_normal(shape, jnp.float32, key=jax.random.key(NOISE_SEED)))


def content_of(fitted: FittedModel, data: Trajectories) -> dict:
    return explorable(fitted, data, Extent(draws=DRAWS, frames=FRAMES, origins=1), "a title")


def assert_same(got: list[np.ndarray], expected: Expected) -> None:
    """Relative to the largest number, in all frames that rounding lets anyone know."""
    wanted, steady = expected.states, expected.steady
    assert steady.sum(axis=1).min() > FRAMES // 2
    error = np.abs(np.stack(got).reshape(wanted.shape) - wanted)[steady].max()
    assert error < TOLERANCE * np.abs(wanted).max()


@pytest.fixture(autouse=True)
def one_candidate(monkeypatch):
    """Choosing among several starts is Python's business alone, and takes long to compile."""
    monkeypatch.setattr(export, "CANDIDATES", 1)
    monkeypatch.setattr(export, "MOVES", 0)


@pytest.mark.parametrize("case", CASES)
def test_the_browsers_numbers_are_pythons(case, run_engine):
    parts = dict(CASES[case])
    data = walks(**{name: parts.pop(name) for name in OF_DATA if name in parts})
    expected = expect(tiny_model(data, **parts), data)
    got = run_engine(content_of(expected.fitted, data), questions())
    assert_same(got, expected)


MOVING = {
    "by itself": {},
    "in three dimensions": {"spatial": 3},
    "by a law of speed and of others": {"alone": "speed", "pair": "body"},
    "in an arena": {"pair": "body", "alone": "wall", "contacts": "hard"},
}


@pytest.mark.parametrize("name", FROM_LAST)
@pytest.mark.parametrize("case", MOVING)
def test_what_moves_with_a_memory_does_so_in_the_page(name, case, run_engine):
    """From the last frame seen, with noise on speed and turning."""
    parts = dict(MOVING[case])
    arena = parts.pop("contacts", None)
    data = walks(spatial=parts.pop("spatial", 2), frames=FRAMES + 10, velocities=False)
    fitted = tiny_model(data, name, encoder_frames=10, **parts)
    noise = dataclasses.replace(
        fitted.model.process_noise,
        along=jnp.asarray([0.1, 0.3, 0.5, -0.2], jnp.float32),
        turn=jnp.asarray([0.4, -0.3, 0.2, 0.1], jnp.float32),
        log_memory=jnp.asarray([-0.5, 0.3], jnp.float32),
        most=jnp.asarray(2.0, jnp.float32),
    )
    model = dataclasses.replace(fitted.model, process_noise=noise)
    if arena:
        law = contact_law(COLLIDING["a round arena with an obstacle"])
        model = eqx.tree_at(
            lambda m: m.dynamics, model, dataclasses.replace(model.dynamics, contacts=law)
        )
    expected = expect(dataclasses.replace(fitted, model=model), data, noisy=True)
    content = content_of(expected.fitted, data)
    assert_same(run_engine(content, questions(noise=normals(model).tolist())), expected)


def test_what_has_no_place_is_refused_in_a_sentence():
    shades = walks()
    shades = dataclasses.replace(shades, features=("a", "b", "c", "d"))
    with pytest.raises(BadInput, match="there is no scene to explore; name the positions"):
        content_of(tiny_model(shades, "I-NODE-8", decoder="mlp"), shades)


def test_a_browser_without_vector_instructions_gets_the_same_numbers(run_engine):
    data = walks()
    fitted = tiny_model(data, alone="mirror", properties="none")
    content = content_of(fitted, data)
    expected = expect(fitted, data)
    assert_same(run_engine(content, questions(), plainly=True), expected)
    assert_same(run_engine(content, questions()), expected)


@pytest.mark.parametrize("combine", [KernelSum, KernelProduct])
def test_sums_and_products_of_kernels_too(combine, run_engine):
    data = walks()
    fitted = tiny_model(data, properties="none")

    def combined(kernel):
        scales = kernel.lengthscales()
        return combine([SquaredExponential.init(scales), Matern32.init(2 * scales)])

    functions = lambda m: (m.dynamics.alone.kernel, m.dynamics.pair.kernel)
    model = eqx.tree_at(functions, fitted.model, replace_fn=combined)
    expected = expect(dataclasses.replace(fitted, model=model), data)
    got = run_engine(content_of(expected.fitted, data), questions())
    assert_same(got, expected)


def test_process_noise_is_pythons_where_the_normal_numbers_are(run_engine):
    data = walks()
    fitted = tiny_model(data)
    share, steady, most = (jnp.asarray(x, jnp.float32) for x in (0.3, 0.05, 0.8))
    noise = StateNoise(share, steady, most, first=2, stop=4)
    fitted = dataclasses.replace(
        fitted, model=eqx.tree_at(lambda m: m.process_noise, fitted.model, noise)
    )
    expected = expect(fitted, data, noisy=True)
    noise = normals(fitted.model).tolist()
    got = run_engine(content_of(fitted, data), questions(noise=noise))
    assert_same(got, expected)
    calm = expect(fitted, data)
    assert np.abs(calm.states - expected.states).max() > 0.1


FLAT = [
    Plane(np.array([x, y]), np.array([x, y]) / np.hypot(x, y))
    for x, y in ((2.0, 0.0), (-2.0, 0.3), (0.2, 1.8), (0.0, -2.0))
]
ROUND = [Sphere(np.zeros(2), 2.2), Sphere(np.array([0.3, -0.2]), 0.4, inside=False)]
SLOW = Restitution([0.9, 0.6], [0.1, 3.0], loss=0.1, scatter=0.05)
COLLIDING = {
    "equal discs in a box": Parts(2, FLAT, radii=[0.3]),
    "a round arena with an obstacle": Parts(2, ROUND, radii=[0.2], wall=SLOW, pair=SLOW),
    "sizes and masses, rims at a polygon": Parts(
        2, polygon([(-3, -2), (3, -2), (2, 3)]), [0.2, 0.4, 0.3], None, [0.0, 1.0, 0.5], rims=True
    ),
    "sliding along walls": Parts(2, FLAT, radii=[0.3], wall=Restitution([0.0])),
    "nothing but contacts": Parts(2, FLAT, radii=[0.3], only=True),
}


@pytest.mark.parametrize("case", COLLIDING)
def test_hard_contacts_are_followed_as_in_python(case, run_engine):
    """Fast discs in a small scene, beside a smooth law."""
    data = walks(step=0.1)
    smooth = tiny_model(data, properties="none", substeps=2)
    dynamics = dataclasses.replace(smooth.model.dynamics, contacts=contact_law(COLLIDING[case]))
    model = dataclasses.replace(smooth.model, dynamics=dynamics)
    expected = expect(dataclasses.replace(smooth, model=model), data)
    got = run_engine(content_of(expected.fitted, data), questions())
    assert_same(got, expected)
    smooth = expect(smooth, data)
    assert np.abs(smooth.states - expected.states)[expected.steady].max() > 0.1


def test_the_draws_of_a_page_are_those_of_a_forecast_in_the_units_of_the_data(run_engine):
    data = walks()
    fitted = tiny_model(data)
    forecast = fitted.predict(data, draws=DRAWS, seed=0, candidates=1).trajectory.to_numpy()
    got = run_engine(content_of(fitted, data), questions(shown=True))
    wanted = forecast[:, 0]
    known = data.alive[0][None] & expect(fitted, data).steady[:, :, None]
    got = np.stack(got).reshape(wanted.shape)
    assert np.abs(got - wanted)[known].max() < TOLERANCE * np.abs(wanted[known]).max()
    beyond = run_engine(
        content_of(fitted, data),
        [q | {"request": q["request"] | {"frames": 80}} for q in questions()],
    )
    assert all(len(states) == 81 * 3 * 4 and np.isfinite(states).all() for states in beyond)


def test_numbers_without_axes_are_plain_in_a_page():
    raw = gzip.decompress(base64.b64decode(pack({"circle": [np.float64(1.5), np.int32(2)]})))
    length = int.from_bytes(raw[:4], "little")
    assert json.loads(raw[4 : 4 + length]) == {"circle": [1.5, 2]}
