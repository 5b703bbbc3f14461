import dataclasses
import json
import platform
import subprocess
import sys

import pytest

from comotion.jobs.provenance import provenance
from comotion.reproduce.runs import Fit, Run, Truth
from comotion.reproduce.scales import SCALES
from comotion.reproduce.scenes import PaperScene, parts_of, single_ball
from comotion.systems import system


def run_of(name: str = "I-GPODE", seed: int = 0, **parts) -> Run:
    config, scene = SCALES["smoke"].system(system(name)), PaperScene(**parts)
    source = Fit(config, SCALES["smoke"].plan(config, scene))
    return Run(source, scene, seed, "smoke", 20)


def test_an_id_is_made_of_everything_that_decides_the_numbers():
    base = run_of()
    others = [
        run_of(seed=1),
        run_of("I-NODE"),
        run_of(noise="low"),
        run_of(velocities=False),
        dataclasses.replace(base, draws=21),
        dataclasses.replace(base, source=Truth()),
    ]
    assert run_of().id == base.id
    assert len({base.id, *(other.id for other in others)}) == 1 + len(others)


def test_an_id_is_the_same_in_another_process():
    program = "from test_runs import run_of; print(run_of().id)"
    words = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == run_of().id


def test_a_run_can_be_written_as_plain_json():
    content = run_of().to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["source"]["system"]["radius"] == "inf"


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_has_a_plan_for_every_kind_of_function(scale):
    for name in ("I-GPODE", "NODE", "I-BNODE"):
        config = SCALES[scale].system(system(name))
        for kind in ("balls", "charges"):
            assert SCALES[scale].plan(config, PaperScene(kind)).stages


def test_the_seed_decides_the_noise_and_not_the_motion():
    scene = PaperScene(train=2, valid=1, test=2, frames=6, noise="low")
    first, again, other = parts_of(scene, 0), parts_of(scene, 0), parts_of(scene, 1)
    assert (first.test.seen.values == again.test.seen.values).all()
    assert (first.test.true.values == other.test.true.values).all()
    assert (first.test.seen.values != other.test.seen.values).all()


def test_hidden_velocities_are_hidden_from_the_model_but_known_to_the_truth():
    parts = parts_of(PaperScene(train=2, valid=1, test=2, frames=6, velocities=False), 0)
    assert parts.train.seen.features == ("x", "y")
    assert parts.train.true.features == ("x", "y", "vx", "vy")


def test_single_balls_are_as_many_as_the_sequences_to_be_judged_on():
    part = single_ball(PaperScene(train=2, valid=1, test=5, frames=6), 0)
    assert part.seen.values.shape == (5, 6, 1, 4)


def test_a_law_that_learns_nothing_opens_no_tracker(tmp_path):
    """One that nobody closes would be in the way of the next run's."""
    scene = PaperScene(train=2, valid=1, test=1, frames=10)

    def watch():
        raise AssertionError("a watcher was asked for")

    Truth().learn(scene, parts_of(scene, 0), 0, tmp_path, watch)


def test_a_row_names_the_processor_it_was_made_on():
    assert provenance()["machine"]["cpu"].startswith(platform.machine())
