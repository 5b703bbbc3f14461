import numpy as np
import pytest

from comotion.simulate import advance_springs, springs


@pytest.fixture(scope="module")
def five_masses():
    return springs(sequences=200, seed=4)


def energies(data, stiffness=0.1):
    x, v = data.values[..., :2], data.values[..., 2:]
    lengths = ((x[:, :, :, None] - x[:, :, None]) ** 2).sum(axis=-1)
    stored = stiffness / 4 * (data.neighbours[:, None] * lengths).sum(axis=(-2, -1))
    return 0.5 * (v**2).sum(axis=(-2, -1)) + stored


def test_energy_is_kept_to_second_order_away_from_walls_and_to_first_order_at_them(five_masses):
    """The inner step is 0.001 and the largest frequency √0.5."""
    total = energies(five_masses)
    errors = np.abs(total / total[:, :1] - 1).max(axis=1)
    away = (np.abs(five_masses.values[..., :2]) < 4.5).all(axis=(1, 2, 3))
    assert away.sum() >= 3
    assert errors[away].max() < 0.001**2 * 0.5
    assert errors.max() < 0.001


def test_pair_on_a_spring_oscillates_as_the_formula_says():
    """The gap g obeys g'' = -2 k g; the middle of the pair moves straight on."""
    positions, velocities = (
        np.array([[[1.0, 0.0], [-1.0, 0.5]]]),
        np.array([[[0.0, 0.1], [0.2, 0]]]),
    )
    joined = ~np.eye(2, dtype=bool)[None]
    times, frequency = np.linspace(0.0, 12.0, 25), np.sqrt(2 * 0.1)
    x, _ = advance_springs(positions, velocities, joined, times)
    gap, drift = positions[0, 0] - positions[0, 1], velocities[0, 0] - velocities[0, 1]
    phase = frequency * times[:, None]
    expected = gap * np.cos(phase) + drift / frequency * np.sin(phase)
    middle = positions[0].mean(axis=0) + times[:, None] * velocities[0].mean(axis=0)
    np.testing.assert_allclose(x[0, :, 0] - x[0, :, 1], expected, atol=1e-5)
    np.testing.assert_allclose(x[0].mean(axis=1), middle, atol=1e-12)


def test_unjoined_masses_do_not_feel_each_other():
    x, v = advance_springs(
        np.array([[[1.0, 0.0], [-1.0, 0.5]]]),
        np.array([[[0.1, 0.2], [0.2, -0.1]]]),
        np.zeros((1, 2, 2), dtype=bool),
        np.array([5.0]),
    )
    np.testing.assert_allclose(x[0, 0], [[1.5, 1.0], [0.0, 0.0]], atol=1e-12)
    np.testing.assert_array_equal(v[0, 0], [[0.1, 0.2], [0.2, -0.1]])


def test_graph_is_symmetric_without_self_and_half_full(five_masses):
    graph = five_masses.neighbours
    np.testing.assert_array_equal(graph, graph.swapaxes(1, 2))
    assert not graph[:, np.arange(5), np.arange(5)].any()
    joined = graph[:, *np.triu_indices(5, k=1)]
    assert abs(joined.mean() - 0.5) < 4 * 0.5 / np.sqrt(joined.size)


def test_masses_stay_in_the_box_and_reach_its_walls(five_masses):
    furthest = np.abs(five_masses.values[..., :2]).max()
    assert 4.9 < furthest <= 5.0


def test_stiffness_changes_the_motion_and_not_the_start():
    soft, hard = springs(sequences=2, frames=3), springs(sequences=2, frames=3, stiffness=0.4)
    np.testing.assert_array_equal(soft.values[:, 0], hard.values[:, 0])
    assert np.abs(soft.values[:, 1] - hard.values[:, 1]).max() > 0.01
