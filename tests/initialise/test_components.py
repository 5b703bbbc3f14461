import numpy as np
import pytest

from comotion.data import BadInput, Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import Window, to_dataset
from comotion.initialise.components import principal_components
from comotion.simulate import render_discs

RNG = np.random.default_rng(0)


def windows(values) -> Window:
    features = [f"sensor_{k}" for k in range(values.shape[-1])]
    data = Trajectories.from_arrays(values, features=features)
    return to_dataset(data, identity_scaling(len(features), 0)).windows


def mixed(frames=50):
    """Seven features of three hidden sources and a little noise, far from zero; one is constant."""
    sources = RNG.normal(size=(4, frames, 2, 3)) * np.array([5.0, 2.0, 1.0])
    values = sources @ RNG.normal(size=(3, 7)) + 0.01 * RNG.normal(size=(4, frames, 2, 7)) + 30.0
    values[..., 6] = 4.0
    return values


def test_scores_are_those_of_a_singular_value_decomposition():
    values = mixed()
    data = windows(values)
    scores = np.asarray(principal_components(data, 3).scores(data.values)).reshape(-1, 3)
    rows = values.reshape(-1, 7)
    left = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :3]
    expected = left * np.sqrt(len(rows))
    signs = np.sign((scores * expected).sum(axis=0))
    np.testing.assert_allclose(scores * signs, expected, atol=2e-3)


def test_frames_with_anything_missing_do_not_count():
    values = mixed()
    spoiled = values.copy()
    spoiled[0, 10:20, 0, 3] = np.nan
    spoiled[0, 10:20, 0, 1] = 1e6
    kept = np.delete(values, np.arange(10, 20), axis=1)[:1, :, :1]
    ours = principal_components(windows(spoiled[:1, :, :1]), 3)
    theirs = principal_components(windows(kept), 3)
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-5)
    np.testing.assert_allclose(np.abs(ours.directions), np.abs(theirs.directions), rtol=1e-3)


def test_what_never_varies_gives_finite_scores():
    found = principal_components(windows(mixed()), 7)
    assert np.isfinite(found.directions).all()


def test_pictures_with_similar_leading_components_show_similar_places():
    """Near on this map is near in the room, but for places at the walls, where the map bends."""
    place = RNG.uniform(-3.8, 3.8, (400, 1, 1, 2))
    pictures = render_discs(Trajectories.from_arrays(place), pixels=16)
    data = to_dataset(pictures, identity_scaling(256, 0)).windows
    scores = np.asarray(principal_components(data, 2).scores(data.values), float)[:, 0, 0]
    apart, apart_on_map = (
        np.linalg.norm(points[:, None] - points[None], axis=-1)
        for points in (place[:, 0, 0], scores)
    )
    np.fill_diagonal(apart_on_map, np.inf)
    nearest = apart[np.arange(400), apart_on_map.argmin(axis=1)]
    assert np.median(nearest) < 0.1 * apart.mean()
    assert np.mean(nearest) < 0.25 * apart.mean()


def test_components_need_a_frame_with_nothing_missing():
    values = mixed()
    values[..., ::2] = np.nan
    with pytest.raises(BadInput, match="nothing missing, which their components need"):
        principal_components(windows(values), 2)
