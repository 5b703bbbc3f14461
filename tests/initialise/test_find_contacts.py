"""Contacts are found where there are any, as they are, and refused where there are none."""

import numpy as np
import pytest

from comotion.contacts import Parts, Restitution, Sphere, box, polygon
from comotion.initialise.containment import share_let_out
from comotion.initialise.curves import curves_of
from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.flights import find_flights, straightened
from comotion.initialise.jumps import find_jumps
from comotion.initialise.tracks import Tracks, noise_scale, tracks_of
from comotion.simulate import bouncing_balls, charged_particles, springs
from tests.billiards import billiard

BOX = box([-3.8] * 2, [3.8] * 2)
PENTAGON = [(6 * np.cos(t), 6 * np.sin(t)) for t in 2 * np.pi * np.arange(5) / 5]


def offsets(law):
    return np.sort(np.sum(law.planes.anchors * law.planes.normals, axis=1))


def test_noise_is_measured_by_differences_that_hardly_notice_collisions():
    noise = noise_scale(tracks_of(bouncing_balls(sequences=20, noise=0.02, seed=2)))
    clean = bouncing_balls(sequences=20, seed=2).values
    assert noise.position == pytest.approx(0.02 * np.ptp(clean[..., :2]), rel=0.05)
    assert noise.velocity == pytest.approx(0.02 * np.ptp(clean[..., 2]), rel=0.1)


def test_flights_take_most_of_the_noise_away():
    seen = tracks_of(bouncing_balls(sequences=20, noise="low", seed=2))
    clean = bouncing_balls(sequences=20, seed=2).values
    straight = straightened(seen, find_flights(seen, noise_scale(seen)))
    assert straight.velocities is not None
    before = np.std(seen.positions - clean[..., :2])
    assert np.std(straight.positions - clean[..., :2]) < 0.35 * before
    assert np.std(straight.velocities - clean[..., 2:]) < 0.008


def test_flights_follow_times_and_gaps_as_they_are():
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.1, 1.0, size=(2, 40)), axis=1)
    x = 3 - 0.5 * np.abs(times - times[:, 20:21])[..., None, None] * np.array([1.0, 0.0])
    x[0, 5:9] = np.nan
    tracks = Tracks(times, x + 0.01 * rng.normal(size=x.shape), None)
    flights = find_flights(tracks, noise_scale(tracks))
    assert list(flights.track) == [0, 0, 1, 1]
    np.testing.assert_allclose(flights.velocity[:, 0], [0.5, -0.5, 0.5, -0.5], atol=0.02)


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("noise", ["none", "low"])
def test_three_balls_touch_at_their_diameter_and_their_walls(noise, velocities):
    data = bouncing_balls(sequences=100, noise=noise, velocities=velocities, seed=1)
    found = find_contacts(tracks_of(data))
    law = found.law
    assert law is not None
    slack = 1e-5 if noise == "none" else 0.02
    np.testing.assert_allclose(2 * law.radii.mean, [2.4], atol=slack)
    np.testing.assert_allclose(offsets(law), 3.8, atol=slack)
    np.testing.assert_allclose(law.pair.restitution.mean, [1.0], atol=1e-3)
    np.testing.assert_allclose(law.wall.restitution.mean, [1.0], atol=1e-3)


def test_errors_of_what_is_found_are_as_large_as_it_says():
    z = []
    for seed in range(5):
        law = find_contacts(tracks_of(bouncing_balls(sequences=40, noise="low", seed=seed))).law
        assert law is not None
        z.append((2 * law.radii.mean - 2.4) / (2 * law.radii.sd))
        walls = np.sum(law.planes.anchors * law.planes.normals, axis=1)
        z.append((walls - 3.8) / law.planes.moved.sd[:, 0])
    assert 0.7 < np.sqrt(np.mean(np.concatenate(z) ** 2)) < 1.4


SCENES = {
    "a round arena": Parts(2, [Sphere(np.array([0.3, -0.2]), 4.5)], [0.8]),
    "a pentagon": Parts(2, polygon(PENTAGON), [0.7]),
    "one heavy disc": Parts(2, BOX, [0.9], log_masses=np.log([1.0, 3.0, 1.0])),
    "three radii": Parts(2, BOX, [0.5, 0.9, 1.3]),
    "tired contacts": Parts(2, BOX, [0.9], pair=Restitution((0.9,)), wall=Restitution((0.8,))),
    "space": Parts(3, box([-3.0] * 3, [3.0] * 3), [0.9]),
    "an obstacle": Parts(2, [*BOX, Sphere(np.zeros(2), 0.8, False)], [0.5]),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_are_found_as_they_are(name):
    parts = SCENES[name]
    speed = 0.5 if name == "tired contacts" else 0.3
    law = find_contacts(billiard(parts, noise=0.02, speed=speed, seed=3)).law
    assert law is not None
    planes = [wall for wall in parts.walls if not isinstance(wall, Sphere)]
    wanted = np.sort([wall.anchor @ wall.normal for wall in planes])
    np.testing.assert_allclose(offsets(law), wanted, atol=0.02)
    spheres = [[*w.centre, w.radius] for w in parts.walls if isinstance(w, Sphere)]
    np.testing.assert_allclose(
        law.spheres.shapes.mean, np.reshape(spheres, (-1, parts.spatial + 1)), atol=0.05
    )
    np.testing.assert_allclose(law.radii.mean, parts.radii, atol=0.02)
    logs = np.asarray(parts.log_masses) - np.mean(parts.log_masses)
    np.testing.assert_allclose(law.log_masses.mean, logs, atol=0.03)
    np.testing.assert_allclose(law.pair.restitution.mean, parts.pair.values, atol=0.02)
    np.testing.assert_allclose(law.wall.restitution.mean, parts.wall.values, atol=0.02)


def test_a_force_is_taken_away_before_jumps_are_looked_for():
    scene = billiard(Parts(2, BOX, [0.9]), push=(0.0, -0.05), noise=0.01, seed=4)
    force = np.broadcast_to([0.0, -0.05], scene.positions.shape)
    law = find_contacts(scene, force).law
    assert law is not None
    np.testing.assert_allclose(offsets(law), [3.8] * 4, atol=0.01)
    np.testing.assert_allclose(2 * law.radii.mean, [1.8], atol=0.01)


def test_objects_may_be_absent_and_frames_missing():
    scene = billiard(Parts(2, BOX, [0.9]), noise=0.02, seed=5)
    assert scene.velocities is not None
    rng = np.random.default_rng(0)
    gone = rng.uniform(size=scene.positions.shape[:3]) < 0.1
    gone[:20, :30, 1] = True
    x, v = (np.where(gone[..., None], np.nan, a) for a in (scene.positions, scene.velocities))
    found = find_contacts(Tracks(scene.times, x, v))
    assert found.law is not None
    np.testing.assert_allclose(offsets(found.law), [3.8] * 4, atol=0.02)
    assert not found.eventful[:20, :28, 1].any()


def test_intervals_with_a_contact_are_named():
    scene = billiard(Parts(2, BOX, [0.9]), noise=0.0, seed=6)
    found = find_contacts(scene)
    assert scene.velocities is not None
    jumps = np.linalg.norm(np.diff(scene.velocities, axis=1), axis=-1) > 1e-3
    assert np.mean(found.eventful[jumps]) > 0.9
    assert np.mean(found.eventful[~jumps]) < 0.01


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("simulate", [charged_particles, springs])
def test_forces_without_contacts_give_no_surface(simulate, velocities):
    data = simulate(sequences=40, seed=1)
    found = find_contacts(tracks_of(data if velocities else data.hide_velocities()))
    assert found.law is None
    assert "no wall" in found.reason


def test_random_walkers_give_no_surface():
    rng = np.random.default_rng(0)
    v = np.cumsum(rng.normal(size=(10, 100, 5, 2)), axis=1) * 0.1
    tracks = Tracks(np.tile(np.arange(100.0), (10, 1)), np.cumsum(v, axis=1), None)
    assert find_contacts(tracks).law is None


def test_walkers_that_slide_along_a_round_wall_give_it_away():
    rng, x, v = np.random.default_rng(1), np.zeros((4, 2)), np.ones((4, 2)) * 0.5
    rows = []
    for _ in range(2000):
        angle = 0.2 * rng.normal(size=4)
        turn = np.stack([np.stack([np.cos(angle), -np.sin(angle)], 1),
                         np.stack([np.sin(angle), np.cos(angle)], 1)], 1)  # fmt: skip
        v = np.einsum("aij,aj->ai", turn, v)
        x = x + v
        distance = np.linalg.norm(x, axis=1, keepdims=True)
        x = np.where(distance > 10, 10 * x / distance, x)
        rows.append(x)
    tracks = Tracks(np.arange(2000.0)[None], np.stack(rows)[None], None)
    law = find_contacts(tracks).law
    assert law is not None
    np.testing.assert_allclose(law.spheres.shapes.mean, [[0.0, 0.0, 10.0]], atol=0.1)
    np.testing.assert_allclose(law.wall.restitution.mean, [0.0])


@pytest.mark.parametrize("seed", [0, 1])
def test_six_short_recordings_show_every_wall(seed):
    law = find_contacts(tracks_of(bouncing_balls(sequences=6, frames=30, noise="low", seed=seed)))
    assert law.law is not None
    np.testing.assert_allclose(offsets(law.law), [3.8] * 4, atol=0.1)
    np.testing.assert_allclose(2 * law.law.radii.mean, [2.4], atol=0.1)
    assert law.out == 0


def test_walls_that_let_out_who_stays_are_called_out():
    tracks = tracks_of(bouncing_balls(sequences=20, seed=1))
    flights = find_flights(tracks, noise_scale(tracks))
    nobody = find_jumps(flights, curves_of(tracks, None), 3)
    nobody = nobody[np.zeros(0, int)]
    sides = [share_let_out(BOX[:n], flights, nobody, tracks) for n in range(5)]
    assert sides[0] == 1.0
    assert np.all(np.diff(sides) < -0.1)
    assert sides[4] == 0.0


def test_paths_cut_into_short_flights_do_not_look_straight():
    scene = billiard(Parts(2, BOX, [0.9]), push=(0.0, -0.03), noise=0.15, seed=4)
    found = find_contacts(scene).law
    assert found is None or not found.only


@pytest.mark.parametrize("seed", range(3))
def test_boxes_of_any_size_are_found_at_any_speed_and_frame_rate(seed):
    rng = np.random.default_rng(seed)
    size, step = np.exp(rng.uniform(-2, 3)), np.exp(rng.uniform(-3, 1))
    half, centre = size * rng.uniform(0.7, 1.3, 2), size * rng.normal(size=2)
    radius = rng.uniform(0.1, 0.25) * half.min()
    scene = billiard(
        Parts(2, box(-half, half), [radius]), spread=0.9 * half.min(), step=step,
        speed=size * rng.uniform(0.05, 0.2) / step, noise=0.01 * size, seed=seed, velocities=False,
    )  # fmt: skip
    moved = Tracks(scene.times, scene.positions + centre, None)
    law = find_contacts(moved).law
    assert law is not None
    wanted = np.sort([*(half + centre), *(half - centre)])
    np.testing.assert_allclose(offsets(law), wanted, atol=0.03 * size)
    np.testing.assert_allclose(law.radii.mean, [radius], atol=0.02 * size)
