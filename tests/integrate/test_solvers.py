"""Every integrator against SciPy at a tolerance of 1e-10, in 64 bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from scipy.integrate import solve_ivp

from comotion.integrate import AdaptiveSteps, FixedSteps, FrameSteps, Interval, trajectory

START = np.array([[1.0, 0.0], [-0.5, 0.8], [0.3, 0.2]])
IRREGULAR = np.array([0.0, 0.13, 0.2, 0.55, 0.6, 1.1, 1.15, 2.0])


def pendulums(states, time, stiffness):
    """Pendulums driven in time and coupled to their mean: nothing about it is linear."""
    angle, speed = states[:, 0], states[:, 1]
    force = -stiffness * jnp.sin(angle) + 0.3 * jnp.cos(2 * time) + 0.2 * (angle.mean() - angle)
    return jnp.stack([speed, force], axis=1)


def rates(states, time, interval):
    return pendulums(states, time, 4.0)


def solve(integrator, times, field=rates, start=START):
    times = jnp.asarray(times)
    known = jnp.zeros(len(times) - 1)
    return trajectory(integrator, field, jnp.asarray(start), times, known)


@pytest.fixture(scope="module")
def exact():
    def flat(time, y):
        x, v = y.reshape(3, 2).T
        force = -4.0 * np.sin(x) + 0.3 * np.cos(2 * time) + 0.2 * (x.mean() - x)
        return np.stack([v, force], axis=1).reshape(-1)

    def at(times):
        span = (times[0], times[-1])
        solution = solve_ivp(
            flat, span, START.reshape(-1), method="DOP853", t_eval=times, rtol=1e-11, atol=1e-11
        )
        return solution.y.T.reshape(len(times), 3, 2)

    return at


def test_fixed_steps_converge_with_the_fourth_power_of_the_step(exact):
    times = np.linspace(0.0, 2.0, 6)
    truth = exact(times)
    errors = [np.abs(solve(FixedSteps(steps), times) - truth).max() for steps in (2, 4, 8)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 4.0, atol=0.25)


def test_fixed_steps_at_irregular_times_agree_with_an_exact_solver(exact):
    np.testing.assert_allclose(solve(FixedSteps(50), IRREGULAR), exact(IRREGULAR), atol=1e-7)


def test_substeps_are_the_same_as_asking_for_the_times_between():
    coarse = np.array([0.0, 0.4, 1.0])
    fine = np.array([0.0, 0.2, 0.4, 0.7, 1.0])
    np.testing.assert_allclose(
        solve(FixedSteps(2), coarse), solve(FixedSteps(1), fine)[::2], atol=1e-12
    )


def test_a_loop_over_the_stages_takes_the_same_steps():
    plain, looped = (solve(FixedSteps(2, looped), IRREGULAR) for looped in (False, True))
    np.testing.assert_allclose(looped, plain, rtol=1e-14)
    assert FixedSteps(2).without_gradient() == FixedSteps(2, looped=True)


@pytest.mark.parametrize("method", ["tsit5", "dopri5"])
def test_adaptive_steps_reach_the_tolerance_asked_for(method, exact):
    integrator = AdaptiveSteps(method, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(solve(integrator, IRREGULAR), exact(IRREGULAR), atol=1e-7)


def test_adaptive_steps_that_run_out_give_no_number():
    assert np.isnan(solve(AdaptiveSteps(rtol=1e-9, atol=1e-9, max_steps=3), IRREGULAR)[1:]).all()


@pytest.mark.parametrize(
    "integrator", [FixedSteps(1), FixedSteps(3), AdaptiveSteps(), FrameSteps()], ids=str
)
def test_intervals_of_no_length_do_nothing(integrator):
    padded = solve(integrator, np.array([0.0, 0.3, 0.3, 0.3]))
    np.testing.assert_array_equal(padded[2], padded[1])
    np.testing.assert_array_equal(padded[3], padded[1])
    assert not np.allclose(padded[1], padded[0])


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
def test_gradients_through_the_solver_agree_with_finite_differences(steps, looped):
    def loss(start, stiffness):
        field = lambda states, time, interval: pendulums(states, time, stiffness)
        return jnp.sum(solve(FixedSteps(steps, looped), IRREGULAR, field, start) ** 2)

    at = (jnp.asarray(START), jnp.asarray(4.0))
    check_grads(jax.jit(loss), at, order=1, modes=["rev"], rtol=1e-6)


def test_jumps_add_the_change_from_frame_to_frame_whatever_the_time_between():
    decay = lambda states, time, interval: -0.25 * states
    states = solve(FrameSteps(), IRREGULAR, decay)
    expected = START[None] * 0.75 ** np.arange(len(IRREGULAR))[:, None, None]
    np.testing.assert_allclose(states, expected, rtol=1e-12)


def test_what_is_known_about_an_interval_reaches_the_rates_there():
    pushes = jnp.asarray([1.0, 0.0, -2.0])
    field = lambda states, time, interval: jnp.full_like(states, interval.known)
    times = jnp.asarray([0.0, 1.0, 1.5, 3.0])
    states = trajectory(FixedSteps(2), field, jnp.zeros((1, 1)), times, pushes)
    np.testing.assert_allclose(states[:, 0, 0], [0.0, 1.0, 1.0, -2.0], atol=1e-12)


def test_progress_runs_from_zero_to_one_within_an_interval():
    interval = Interval(jnp.asarray(2.0), jnp.asarray(6.0), None)
    assert [float(interval.progress(jnp.asarray(t))) for t in (2.0, 3.0, 6.0)] == [0.0, 0.25, 1.0]
    padding = Interval(jnp.asarray(2.0), jnp.asarray(2.0), None)
    assert padding.progress(jnp.asarray(2.0)) == 0.0


def test_single_precision_stays_single_precision():
    start, times = jnp.asarray(START, jnp.float32), jnp.asarray(IRREGULAR, jnp.float32)
    field = lambda states, time, interval: pendulums(states, time, jnp.float32(4.0))
    for integrator in (FixedSteps(1), FixedSteps(2), AdaptiveSteps(), FrameSteps()):
        known = jnp.zeros(len(IRREGULAR) - 1)
        assert trajectory(integrator, field, start, times, known).dtype == jnp.float32
