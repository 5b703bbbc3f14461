import numpy as np
import pytest
from scipy.integrate import solve_ivp

from comotion.data import BadInput
from comotion.simulate import advance_charges, charged_particles

APART = np.array([[[-2.0, 0.4], [2.0, -0.4]]])
TOWARDS = np.array([[[0.4, 0.0], [-0.3, 0.05]]])


def accelerations(positions, charges, clamp=np.inf):
    """The law once more, object by object."""
    total = np.zeros_like(positions)
    for i, x in enumerate(positions):
        for j, other in enumerate(positions):
            if i != j:
                gap = x - other
                total[i] += charges[i] * charges[j] * gap / np.linalg.norm(gap) ** 3
    return np.clip(total, -clamp, clamp)


def reference(positions, velocities, charges, times, clamp=np.inf):
    """An independent integration with tight tolerances, without walls."""
    shape = (2, *positions.shape)

    def field(_, flat):
        x, v = flat.reshape(shape)
        return np.concatenate([v.ravel(), accelerations(x, charges, clamp).ravel()])

    flat = np.stack([positions, velocities]).ravel()
    options = {"rtol": 1e-10, "atol": 1e-10, "method": "DOP853", "max_step": 0.02}
    solution = solve_ivp(field, (0.0, times[-1]), flat, t_eval=times, **options)
    return np.moveaxis(solution.y, -1, 0).reshape(len(times), *shape)


def energies(positions, velocities, charges):
    first, second = np.triu_indices(positions.shape[-2], k=1)
    distances = np.linalg.norm(positions[..., first, :] - positions[..., second, :], axis=-1)
    products = charges[..., first] * charges[..., second]
    return 0.5 * (velocities**2).sum(axis=(-2, -1)) + (products / distances).sum(axis=-1)


@pytest.fixture(scope="module")
def five_charges():
    return charged_particles(sequences=100, inner_steps=200, seed=2)


@pytest.mark.parametrize("charges", [[1.0, 1.0], [1.0, -1.0]])
def test_two_bodies_agree_with_an_independent_integration(charges):
    times = np.linspace(0.0, 3.0, 13)
    x, v = advance_charges(APART, TOWARDS, np.array([charges]), times, inner_step=5e-4)
    expected = reference(APART[0], TOWARDS[0], charges, times)
    np.testing.assert_allclose(x[0], expected[:, 0], atol=2e-7)
    np.testing.assert_allclose(v[0], expected[:, 1], atol=2e-7)


def test_clamped_encounter_agrees_with_an_independent_integration():
    """Two particles attract each other through a near miss in which both components clamp."""
    x0, v0 = np.array([[0.3, 0.25], [-0.3, -0.2]]), np.array([[-0.3, 0.1], [0.3, -0.1]])
    times, charges = np.linspace(0.0, 0.8, 17), [1.0, -1.0]
    x, _ = advance_charges(x0[None], v0[None], np.array([charges]), times, inner_step=1e-4)
    expected = reference(x0, v0, charges, times, clamp=10.0)
    np.testing.assert_allclose(x[0], expected[:, 0], atol=1e-6)
    unclamped = np.array([accelerations(positions, charges) for positions in expected[:, 0]])
    assert (np.abs(unclamped) > 10.0).any(axis=(0, 1)).all()


@pytest.mark.parametrize("charges", [[1.0, 1.0], [1.0, -1.0]])
def test_energy_is_kept_in_far_encounters(charges):
    times = np.linspace(0.0, 3.0, 31)
    x, v = advance_charges(APART, TOWARDS, np.array([charges]), times, inner_step=5e-4)
    total = energies(x, v, np.array(charges))
    np.testing.assert_allclose(total, total[0, 0], atol=1e-7)


def test_error_falls_with_the_square_of_the_inner_step():
    times, charges = np.array([3.0]), [1.0, 1.0]
    expected = reference(APART[0], TOWARDS[0], charges, times)[0, 0]
    errors = []
    for step in (0.02, 0.01, 0.005):
        x, _ = advance_charges(APART, TOWARDS, np.array([charges]), times, inner_step=step)
        errors.append(np.abs(x[0, 0] - expected).max())
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.05)


def test_momentum_is_kept_while_nothing_is_clamped():
    charges = np.array([[1.0, -1.0]])
    _, v = advance_charges(APART, TOWARDS, charges, np.linspace(0.0, 3.0, 7), inner_step=1e-3)
    np.testing.assert_allclose(
        v.sum(axis=2), np.tile(TOWARDS.sum(axis=1), (7, 1))[None], atol=1e-13
    )


def test_free_particle_follows_the_unfolded_reflection():
    positions, velocities = np.array([[[1.0, -4.0]]]), np.array([[[1.3, -0.7]]])
    times = np.linspace(0.0, 20.0, 41)
    x, _ = advance_charges(positions, velocities, np.ones((1, 1)), times, inner_step=0.01)
    phase = np.mod(positions[0] + velocities[0] * times[:, None, None] + 5.0, 20.0)
    expected = np.where(phase > 10.0, 20.0 - phase, phase) - 5.0
    np.testing.assert_allclose(x[0], expected, atol=1e-10)


def test_impossible_inner_step_is_refused():
    with pytest.raises(BadInput, match=r"inner_step=0\.0 makes no scene"):
        advance_charges(APART, TOWARDS, np.ones((1, 2)), np.array([1.0]), inner_step=0.0)


def test_two_legs_equal_one_journey_of_the_same_inner_steps():
    charges = np.array([[1.0, -1.0]])
    half = advance_charges(APART, TOWARDS, charges, np.array([0.5]), inner_step=1e-3)
    both = advance_charges(half[0][:, 0], half[1][:, 0], charges, np.array([0.7]), inner_step=1e-3)
    straight = advance_charges(APART, TOWARDS, charges, np.array([1.2]), inner_step=1e-3)
    np.testing.assert_allclose(both[0], straight[0], atol=1e-12)


def test_motion_is_reversible(five_charges):
    """The median, because a pair that passes through itself loses its way in rounding."""
    x, v = five_charges.values[:, 0, :, :2], five_charges.values[:, 0, :, 2:]
    charges = five_charges.static[..., 0]
    there = advance_charges(x, v, charges, np.array([2.0]), inner_step=5e-4)
    back = advance_charges(
        there[0][:, 0], -there[1][:, 0], charges, np.array([2.0]), inner_step=5e-4
    )
    assert np.median(np.abs(back[0][:, 0] - x).max(axis=(1, 2))) < 1e-10


def test_inner_steps_of_the_published_data_are_fine_enough():
    """Half the step moves the median sequence by less than 0.01 in all of 100 chaotic frames."""
    coarse = charged_particles(sequences=40, seed=0)
    fine = charged_particles(sequences=40, seed=0, inner_steps=2000)
    errors = np.abs(coarse.values - fine.values)[:, -1].max(axis=(1, 2))
    assert np.median(errors) < 0.01


def test_ranges_agree_with_the_published_table(five_charges):
    """Published for 10 200 sequences: ±5.00, and velocities from -3.44 to 3.26; ±0.5 for 100."""
    values = five_charges.values.reshape(-1, 4)
    for extreme in (values.max(axis=0), -values.min(axis=0)):
        assert (extreme[:2] <= 5.0).all()
        np.testing.assert_allclose(extreme[:2], 5.0, atol=0.05)
        np.testing.assert_allclose(extreme[2:], 3.35, atol=0.5)


def test_starts_are_spread_as_described(five_charges):
    x, v = five_charges.values[:, 0, :, :2], five_charges.values[:, 0, :, 2:]
    assert abs(x.mean()) < 4 / np.sqrt(x.size)
    assert abs(x.std() - 1) < 4 / np.sqrt(2 * x.size)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-1), 0.5, rtol=1e-12)
    np.testing.assert_allclose(five_charges.times[0], 0.05 * np.arange(100))


def test_charges_are_signs_with_equal_probability(five_charges):
    charges = five_charges.static
    assert five_charges.static_names == ("charge",)
    assert set(np.unique(charges)) == {-1.0, 1.0}
    assert abs(charges.mean()) < 4 / np.sqrt(charges.size)


def test_hidden_charges_leave_the_motion_alone():
    shown = charged_particles(sequences=3, frames=5, inner_steps=20)
    hidden = charged_particles(sequences=3, frames=5, inner_steps=20, charges=False)
    assert hidden.static.shape == (3, 5, 0)
    assert hidden.static_names == ()
    np.testing.assert_array_equal(hidden.values, shown.values)
