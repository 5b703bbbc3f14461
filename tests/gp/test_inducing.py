import jax
import numpy as np
import pytest

from comotion.gp import k_means

KEY = jax.random.key(0)


def test_k_means_finds_separate_clusters_whatever_the_units():
    random = np.random.default_rng(0)
    truth = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 1e4], [10.0, 1e4]])
    labels = random.integers(4, size=400)
    x = truth[labels] + random.normal(size=(400, 2)) * [0.1, 100.0]
    centres = k_means(x, 4, key=KEY)
    means = np.stack([x[labels == label].mean(axis=0) for label in range(4)])
    order = np.lexsort((centres[:, 0].round(), centres[:, 1].round(-3)))
    np.testing.assert_allclose(centres[order], means, rtol=1e-9, atol=1e-6)


def test_centres_are_the_means_of_their_own_points():
    x = np.random.default_rng(1).uniform(size=(60, 1))
    centres = k_means(x, 3, key=KEY)
    owner = np.argmin(np.abs(x - centres.T), axis=1)
    means = [[x[owner == m].mean()] for m in range(3)]
    np.testing.assert_allclose(centres, means)


def test_same_key_gives_same_centres_and_another_key_others():
    x = np.random.default_rng(2).normal(size=(500, 3))
    first, again, other = (k_means(x, 20, key=jax.random.key(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_fewer_distinct_points_than_centres_still_give_distinct_centres():
    x = np.repeat(np.array([[0.0, 5.0], [1.0, 5.0]]), 10, axis=0)
    centres = k_means(x, 8, key=KEY)
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
    assert distances[~np.eye(8, dtype=bool)].min() > 1e-4
    assert np.abs(centres - [0.5, 5.0]).max() < 0.6


def test_many_points_are_thinned_and_stay_inside_the_data():
    x = np.random.default_rng(3).uniform(size=(50_000, 2))
    centres = k_means(x, 10, key=KEY)
    assert centres.shape == (10, 2)
    assert ((centres > 0) & (centres < 1)).all()


def test_missing_values_are_refused_with_their_number():
    x = np.array([[0.0], [np.nan], [np.inf]])
    with pytest.raises(ValueError, match="2 of 3 rows hold NaN or infinity: leave them out"):
        k_means(x, 1, key=KEY)
