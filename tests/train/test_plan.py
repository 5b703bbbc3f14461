import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.systems import system
from comotion.train.plan import plan


def recording(objects: int, frames: int, sequences: int = 1) -> Trajectories:
    values = np.random.default_rng(0).normal(size=(sequences, frames, objects, 2))
    return Trajectories.from_arrays(values, np.arange(frames) / 10)


def test_the_last_sequences_are_held_out_where_there_are_enough():
    planned = plan(recording(3, 20, sequences=10))
    assert planned.train.sequence_names == tuple("01234567")
    assert planned.valid is planned.held_out
    assert planned.held_out is not None
    assert planned.held_out.sequence_names == ("8", "9")
    assert planned.sentences == ("held out: the last 2 of 10 sequences",)


@pytest.mark.parametrize("sequences", [1, 3])
def test_the_last_frames_are_held_out_of_few_recordings(sequences):
    planned = plan(recording(3, 100, sequences))
    assert planned.held_out is not None
    assert planned.train.lengths.tolist() == [80] * sequences
    assert planned.held_out.times[:, 0].tolist() == [8.0] * sequences
    assert planned.sentences[0].startswith("held out: the last 20% of the frames, ")


def test_nothing_is_held_out_of_next_to_nothing_or_where_data_to_watch_are_given():
    small, watched = recording(3, 20), recording(3, 20)
    assert plan(small).valid is None
    assert plan(small).sentences[0].startswith("nothing is held out of 1 sequences of 20 frames")
    given = plan(small, valid=watched)
    assert (given.train, given.valid, given.held_out) == (small, watched, None)
    everything = plan(recording(3, 100), hold_out=0.0)
    assert everything.valid is None
    assert everything.sentences == ()


def test_in_a_crowd_the_default_hears_the_nearest():
    crowd = recording(30, 100)
    assert plan(crowd).parts == {"nearest": 10}
    assert plan(crowd, parts={"nearest": 0}).parts == {"nearest": 0}
    assert plan(crowd, system=system("I-GPODE")).parts == {}
    assert plan(recording(20, 100)).parts == {}


def test_objects_that_come_and_go_are_packed():
    values = np.full((1, 400, 80, 2), np.nan)
    for a in range(80):
        values[0, 5 * a : 5 * a + 10, a] = a
    planned = plan(Trajectories.from_arrays(values))
    assert planned.train.values.shape[2] < 10
    assert any(line.startswith("objects come and go: cut into") for line in planned.sentences)


@pytest.mark.parametrize("share", [1.0, -0.1, 2.0])
def test_something_must_be_left_to_train_on(share):
    with pytest.raises(BadInput, match=f"hold_out={share:g} leaves nothing to train on"):
        plan(recording(3, 100), hold_out=share)


def test_what_is_odd_in_the_data_is_said_by_a_fit_and_not_only_by_validate():
    values = recording(3, 20).values.copy()  # too few steps to call one a glitch
    values[0, 7, 1, 0] = 1e12
    sentences = plan(Trajectories.from_arrays(values, np.arange(20) / 10)).sentences
    assert sentences[0].startswith("note: x is 1e+12 for object '1' of sequence '0' at time 0.7,")
