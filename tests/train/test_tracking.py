import importlib
from pathlib import Path

import pytest

from comotion.config import Stage
from comotion.errors import BadInput
from comotion.train.progress import Several, Silent
from comotion.train.tracking import TRACKERS, tracker

STAGE = Stage(5, 10, 0.1)
ROW = {"iteration": 7, "elbo": -1.5, "kl_initial": 0.25, "time": 1000.0}


def test_tensorboard_gets_the_figures_of_every_row(tmp_path):
    proto = importlib.import_module("tensorboardX.proto.event_pb2")
    board = Several(Silent(), tracker("tensorboard", tmp_path, "a run"))
    board.say("not for the board")
    board.show(STAGE, ROW)
    board.close()
    (file,) = tmp_path.glob("events.out.tfevents.*")
    content, events = file.read_bytes(), []
    while content:
        size = int.from_bytes(content[:8], "little")
        events.append(proto.Event.FromString(content[12 : 12 + size]))
        content = content[12 + size + 4 :]
    found = {value.tag: (e.step, value.simple_value) for e in events for value in e.summary.value}
    assert found == {"elbo": (7, -1.5), "kl_initial": (7, 0.25)}


def test_a_tracker_there_is_not_is_refused():
    with pytest.raises(BadInput, match="there is no tracker 'abacus': choose one of tensorboard"):
        tracker("abacus", Path(), "")


@pytest.mark.parametrize("kind", TRACKERS)
def test_a_tracker_that_is_not_installed_says_how_to_get_it(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("comotion.train.tracking.find_spec", lambda package: None)
    with pytest.raises(BadInput, match=rf"pip install 'comotion\[{kind}\]'"):
        tracker(kind, tmp_path, "a run")
