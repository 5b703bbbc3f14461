import jax.numpy as jnp
import numpy as np
import pytest
from scipy import linalg

from comotion.data import Trajectories
from comotion.scoring.kalman import DampedVelocity, OUAcceleration, WhiteAcceleration
from comotion.scoring.kalman_filter import Parameters, _gained, _transition, run_filter
from comotion.scoring.rolling import Protocol, roll
from comotion.scoring.tracks import KalmanTracks

PROTOCOL = Protocol(seen=8, horizon=6)


def parameters(noise=(0.1,), push=0.3, damping=0.2, forgetting=0.7) -> Parameters:
    return Parameters(jnp.asarray(noise), *map(jnp.asarray, (push, damping, forgetting)))


def drift(p: Parameters) -> np.ndarray:
    fast = float(p.damping + p.forgetting)
    return np.array([[0, 1, 0], [0, -float(p.damping), 1], [0, 0, -fast]])


@pytest.mark.parametrize("step", [1e-4, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(("driven", "entry"), [("velocity", 1), ("acceleration", 2)])
def test_steps_agree_with_the_matrix_exponential(step, driven, entry):
    """Van Loan's method gives transition and covariance from one exponential."""
    p = parameters()
    F, L = drift(p), np.zeros((3, 3))
    L[entry, entry] = float(p.push) ** 2
    blocks = linalg.expm(np.block([[-F, L], [np.zeros((3, 3)), F.T]]) * min(step, 3.0))
    move, gained = blocks[3:, 3:].T, blocks[3:, 3:].T @ blocks[:3, 3:]
    for _ in range(round(step / min(step, 3.0)) - 1):  # long steps would overflow
        move, gained = (
            blocks[3:, 3:].T @ move,
            blocks[3:, 3:].T @ gained @ blocks[3:, 3:] + (blocks[3:, 3:].T @ blocks[:3, 3:]),
        )
    steps = jnp.asarray([step])
    np.testing.assert_allclose(_transition(steps, p)[..., 0], move, rtol=1e-9, atol=1e-12)
    scale = np.sqrt(np.outer(np.diag(gained), np.diag(gained))) + 1e-300
    error = (np.asarray(_gained(steps, p, driven))[..., 0] - gained) / scale
    assert np.abs(error[gained != 0]).max() < 1e-7


def dense_log_density(values, present, times, p, speed, driven) -> float:
    """All positions after the first as one Gaussian vector, by brute force."""
    shown = np.flatnonzero(present)
    first, rest = shown[0], shown[1:]
    push, noise = float(p.push), float(p.noise[0])
    entry = {"velocity": 1, "acceleration": 2}[driven]
    fast = float(p.damping + p.forgetting)
    start = np.diag([noise**2, speed**2, push**2 / (2 * fast) if entry == 2 else 0.0])

    def response(t: float) -> np.ndarray:
        return linalg.expm(drift(p) * t)

    since = times[rest] - times[first]
    grid, width = np.linspace(0, since[-1], 4001, retstep=True)
    pushes = linalg.expm(drift(p) * grid[:, None, None])[:, 0, entry]
    covariance = np.empty((len(rest), len(rest)))
    for i, t in enumerate(since):
        for j, u in enumerate(since):
            until = round(min(t, u) / width)
            a = np.interp(t - grid[: until + 1], grid, pushes)
            b = np.interp(u - grid[: until + 1], grid, pushes)
            gained = push**2 * np.trapezoid(a * b, dx=width)
            covariance[i, j] = (response(t) @ start @ response(u).T)[0, 0] + gained
    covariance += noise**2 * np.eye(len(rest))
    error = values[rest] - values[first]
    square = error @ np.linalg.solve(covariance, error)
    return -0.5 * (square + np.linalg.slogdet(2 * np.pi * covariance)[1])


@pytest.mark.parametrize("driven", ["velocity", "acceleration"])
def test_likelihood_is_that_of_the_dense_gaussian_with_gaps_and_irregular_times(driven):
    rng = np.random.default_rng(0)
    times = np.array([0.0, 0.5, 1.5, 1.75, 3.0, 4.0, 4.5])
    values = rng.normal(size=7).cumsum()
    present = np.array([False, True, True, True, False, True, True])
    p = parameters()
    steps, which = np.unique(np.diff(times, prepend=0.0), return_inverse=True)
    tracks = KalmanTracks(
        jnp.asarray(np.where(present, values, 0.0))[:, None, None],
        jnp.asarray(present)[:, None, None],
        jnp.asarray(steps),
        jnp.asarray(which)[:, None],
    )
    total = float(run_filter(p, tracks, 0.8, driven)[2]) * present.sum()
    expected = dense_log_density(values, present, times, p, 0.8, driven)
    assert total == pytest.approx(expected, abs=1e-5)


def simulated(seed: int, noise: float, driven: str, velocities: bool = False) -> Trajectories:
    """Exactly the filter's own process at frames 0.04 apart, in metres and seconds."""
    rng = np.random.default_rng(seed)
    step, inner = 0.04, 20
    x, v, a = np.zeros((60, 3, 2)), rng.normal(size=(60, 3, 2)), rng.normal(size=(60, 3, 2))
    positions, speeds = [], []
    for _ in range(60):
        positions.append(x)
        speeds.append(v)
        for _ in range(inner):
            dt = step / inner
            x = x + dt * v
            kick = rng.normal(size=v.shape) * np.sqrt(dt)
            if driven == "acceleration":
                v = v + dt * (a - 0.5 * v)
                a = a - dt * 4.0 * a + 3.0 * kick
            else:
                v = v - dt * 0.5 * v + 0.5 * kick
    path = np.stack(positions, axis=1)
    seen = path + noise * rng.normal(size=path.shape)
    if velocities:
        seen = np.concatenate([seen, np.stack(speeds, axis=1)], axis=-1)
    features = ("x", "y", "vx", "vy") if velocities else ("x", "y")
    return Trajectories.from_arrays(seen, step * np.arange(60), features=features)


@pytest.mark.parametrize(
    ("reference", "driven"), [(OUAcceleration, "acceleration"), (DampedVelocity, "velocity")]
)
def test_noise_is_found_in_the_units_of_the_data(reference, driven):
    fitted = reference.fit(simulated(0, 0.01, driven), PROTOCOL)
    noise = float(fitted.parameters.noise[0]) * fitted.units.length
    assert noise == pytest.approx(0.01, rel=0.1)


def test_richer_processes_are_at_least_as_likely():
    data = simulated(1, 0.002, "acceleration")
    likelihoods = [
        kind.fit(data, PROTOCOL).log_likelihood
        for kind in (WhiteAcceleration, DampedVelocity, OUAcceleration)
    ]
    assert likelihoods[0] < likelihoods[1] + 1e-3
    assert likelihoods[1] < likelihoods[2]


def test_units_do_not_matter():
    data = simulated(2, 0.01, "velocity")
    scaled = Trajectories.from_arrays(1000 * data.values, data.times * 60, features=("x", "y"))
    fitted, other = (WhiteAcceleration.fit(d, PROTOCOL) for d in (data, scaled))
    mean, sd = (
        [getattr(f.forecast(roll(d, PROTOCOL)), name) for f, d in ((fitted, data), (other, scaled))]
        for name in ("mean", "sd")
    )
    np.testing.assert_allclose(mean[1], 1000 * mean[0], rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(sd[1], 1000 * sd[0], rtol=1e-4)
    assert other.log_likelihood == pytest.approx(fitted.log_likelihood - np.log(1000), abs=1e-4)


def test_measured_velocities_sharpen_the_forecast():
    both = simulated(3, 0.05, "velocity", velocities=True)
    origins = roll(both, PROTOCOL)
    forecast = WhiteAcceleration.fit(both, PROTOCOL).forecast(origins)
    hidden = both.hide_velocities()
    alone = WhiteAcceleration.fit(hidden, PROTOCOL).forecast(roll(hidden, PROTOCOL))
    errors = [np.abs(f.mean - origins.future)[:, -1].mean() for f in (forecast, alone)]
    assert errors[0] < 0.9 * errors[1]
    assert forecast.sd[:, -1].mean() < 0.9 * alone.sd[:, -1].mean()
