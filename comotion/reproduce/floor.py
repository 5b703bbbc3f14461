"""The floor: what can be forecast by someone who knows the law and saw the same few noisy frames.

States at the first frame are drawn from their posterior, with the true law, the true noise and what
is known of every start (how fast balls are, and that they do not overlap), and carried forward by
the simulator. Candidates
come, object by object, from straight lines through the first 1, 2, … frames, since a collision
may end the straight flight at any of them; each is carried through the frames by the true law and
weighed by how well it explains them, and Metropolis steps follow. Without noise there is nothing
to be unsure of: the floor is the simulator itself, started at the true state.
"""

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from comotion.data import Trajectories, summarise
from comotion.errors import BadInput
from comotion.predict.schema import Draws, forecast_dataset
from comotion.reproduce.scenes import PaperScene, Part
from comotion.simulate import advance_balls
from comotion.simulate.bouncing_balls import HALF_WIDTH, RADIUS, TOTAL_SPEED

CANDIDATES = 2000
MOVES, MOVE_SIZES = 100, (1.0, 0.3, 0.1)
States = Float[np.ndarray, "K A S"]
"""States of all objects: positions, then velocities."""


def floor_forecast(
    scene: PaperScene,
    part: Part,
    train: Trajectories,
    *,
    frames: int,
    draws: int,
    seed: int,
    speed: float = TOTAL_SPEED,
) -> xr.Dataset:
    """Draws of the future under the true law; `train` gives the references beside it.

    `speed` is the typical norm of all velocities of a sequence together.
    """
    shown = len(part.seen.features)
    if not part.sd.any():
        trajectory = np.tile(part.true.values[None, ..., :shown], (draws, 1, 1, 1, 1))
        return _dataset(part.seen, train, trajectory, trajectory, frames)
    if scene.kind != "balls":
        raise BadInput("only for balls is the floor of noisy frames known; choose noise 'none'")
    rng = np.random.default_rng(seed)
    first = [_first_guesses(part, p, frames, draws, speed, rng) for p in range(len(part.seen))]
    starts = _moved(np.concatenate(first), part, frames, draws, speed, rng)
    futures = _follow(starts, np.repeat(_since_first(part.seen), draws, axis=0))[..., :shown]
    trajectory = futures.reshape(-1, draws, *futures.shape[1:]).swapaxes(0, 1)
    noise = part.sd[:shown] * rng.standard_normal(trajectory.shape)
    return _dataset(part.seen, train, trajectory, trajectory + noise, frames)


def _first_guesses(
    part: Part, p: int, frames: int, draws: int, speed: float, rng: np.random.Generator
) -> States:
    """Weighed candidates: the posterior, but few different ones where a collision came early."""
    seen, times = part.seen.values[p, :frames], _since_first(part.seen)[p, :frames]
    candidates, log_density = _propose(seen, times, part.sd, rng)
    log_weight = _log_posterior(candidates, seen[None], times[None], part.sd, speed) - log_density
    weight = np.exp(log_weight - log_weight.max())
    return candidates[rng.choice(len(candidates), size=draws, p=weight / weight.sum())]


def _moved(
    states: States, part: Part, frames: int, draws: int, speed: float, rng: np.random.Generator
) -> States:
    """Metropolis steps of one object at a time: the posterior stays, copies come apart."""
    seen = np.repeat(part.seen.values[:, :frames], draws, axis=0)
    times = np.repeat(_since_first(part.seen)[:, :frames], draws, axis=0)
    factor = np.linalg.cholesky(_straight_line(seen[0], times[0], part.sd)[1])
    log_p = _log_posterior(states, seen, times, part.sd, speed)
    everyone = np.arange(len(states))
    for _ in range(MOVES):
        size = rng.choice(MOVE_SIZES, size=(len(states), 1))
        proposed = states.copy()
        object_ = rng.integers(states.shape[1], size=len(states))
        proposed[everyone, object_] += size * rng.standard_normal(states.shape[::2]) @ factor.T
        log_proposed = _log_posterior(proposed, seen, times, part.sd, speed)
        accepted = np.log(rng.uniform(size=len(states))) < log_proposed - log_p
        states = np.where(accepted[:, None, None], proposed, states)
        log_p = np.where(accepted, log_proposed, log_p)
    return states


def _propose(
    seen: Float[np.ndarray, "n A O"],
    times: Float[np.ndarray, " n"],
    sd: Float[np.ndarray, " S"],
    rng: np.random.Generator,
) -> tuple[States, Float[np.ndarray, " K"]]:
    """Candidates, and the log density they were drawn with."""
    objects = seen.shape[1]
    least = 1 if seen.shape[-1] == len(sd) else 2
    lines = [_straight_line(seen[:n], times[:n], sd) for n in range(least, len(times) + 1)]
    means = np.stack([mean for mean, _ in lines])  # M A S
    factors = np.stack([np.linalg.cholesky(covariance) for _, covariance in lines])  # M S S
    chosen = rng.integers(len(lines), size=(CANDIDATES, objects))
    noise = rng.standard_normal((CANDIDATES, objects, len(sd)))
    shift = np.einsum("kaij,kaj->kai", factors[chosen], noise)
    candidates = means[chosen, np.arange(objects)] + shift
    away = candidates[:, None] - means  # K M A S
    white = np.linalg.solve(factors[None, :, None], away[..., None])[..., 0]
    volume = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    parts = -0.5 * (white**2).sum(axis=-1) - volume[:, None]  # K M A
    return candidates, np.logaddexp.reduce(parts, axis=1).sum(axis=-1)


def _straight_line(
    seen: Float[np.ndarray, "n A O"], times: Float[np.ndarray, " n"], sd: Float[np.ndarray, " S"]
) -> tuple[Float[np.ndarray, "A S"], Float[np.ndarray, "S S"]]:
    """Mean and covariance of a state that flies straight on, by least squares."""
    size = len(sd)
    d, shown = size // 2, seen.shape[-1]
    design = np.zeros((len(times), size, size))
    design[:, range(size), range(size)] = 1.0
    design[:, range(d), range(d, size)] = (times - times[0])[:, None]
    rows = (design[:, :shown] / sd[:shown, None]).reshape(-1, size)
    values = (seen / sd[:shown]).swapaxes(1, 2).reshape(len(rows), -1)
    covariance = np.linalg.inv(rows.T @ rows)
    return (covariance @ rows.T @ values).T, covariance


def _log_posterior(
    states: States,
    seen: Float[np.ndarray, "k n A O"],
    times: Float[np.ndarray, "k n"],
    sd: Float[np.ndarray, " S"],
    speed: float,
) -> Float[np.ndarray, " K"]:
    """Of states at the first frame, given one sequence for all or one for each."""
    grid = np.broadcast_to(times, (len(states), times.shape[1]))
    shown = seen.shape[-1]
    error = (_follow(states, grid)[..., :shown] - seen) / sd[:shown]
    velocities = states[..., states.shape[-1] // 2 :]
    usual = speed / np.sqrt(velocities[0].size)
    squares = (error**2).sum(axis=(1, 2, 3)) + ((velocities / usual) ** 2).sum(axis=(1, 2))
    return np.where(_possible(states), -0.5 * squares, -np.inf)


def _possible(states: States) -> Bool[np.ndarray, " K"]:
    """Balls lie within the box and not inside each other."""
    places = states[..., : states.shape[-1] // 2]
    inside = (np.abs(places) <= HALF_WIDTH - RADIUS).all(axis=(1, 2))
    first, second = np.triu_indices(places.shape[1], k=1)
    distance = np.linalg.norm(places[:, first] - places[:, second], axis=-1)
    return inside & (distance >= 2 * RADIUS).all(axis=1)


def _follow(states: States, times: Float[np.ndarray, "K N"]) -> Float[np.ndarray, "K N A S"]:
    d = states.shape[-1] // 2
    return np.concatenate(advance_balls(states[..., :d], states[..., d:], times), axis=-1)


def _since_first(data: Trajectories) -> Float[np.ndarray, "P N"]:
    return data.times - data.times[:, :1]


def _dataset(
    data: Trajectories, train: Trajectories, trajectory: Draws, observation: Draws, frames: int
) -> xr.Dataset:
    return forecast_dataset(
        data,
        summarise(train, frames),
        trajectory,
        observation,
        times=data.times,
        alive=data.alive,
        system="true dynamics",
        encoder_frames=frames,
        frames_seen=frames,
    )
