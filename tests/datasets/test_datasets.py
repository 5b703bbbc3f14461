import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import comotion as cm
from comotion.data.jumps import find_jumps
from comotion.datasets import catalogue
from comotion.datasets.fetch import File, fetch
from comotion.errors import BadInput

CONTENT = b"frame,id,x,y\n0,0,1,2\n1,0,3,4\n"
KNOWN = File("bugs.csv", hashlib.sha256(CONTENT).hexdigest(), folder="robots")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder that is served on loopback, which COMOTION_DATA points to."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as http:
        monkeypatch.setenv("COMOTION_DATA", f"http://127.0.0.1:{http.server_port}/")
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield folder
        http.shutdown()
        thread.join()


def test_a_file_is_fetched_once_and_kept(server):
    (server / "bugs.csv").write_bytes(CONTENT)
    path = fetch(KNOWN)
    assert path.read_bytes() == CONTENT
    (server / "bugs.csv").unlink()
    assert fetch(KNOWN) == path


def test_a_server_with_other_bytes_is_not_believed(server):
    (server / "bugs.csv").write_bytes(CONTENT[:-3])
    with pytest.raises(BadInput, match=r"bugs.csv serves another file than .* cut short"):
        fetch(KNOWN)


def test_a_server_without_the_file_is_told(server):
    with pytest.raises(BadInput, match=r"bugs.csv cannot be fetched .*404.* COMOTION_DATA to a"):
        fetch(KNOWN)


@pytest.mark.parametrize("inside", ["", "robots"])
def test_an_offline_copy_is_used_and_checked(tmp_path, monkeypatch, inside):
    monkeypatch.setenv("COMOTION_DATA", str(tmp_path))
    file = tmp_path / inside / "bugs.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(CONTENT)
    assert fetch(KNOWN) == file
    file.write_bytes(b"something else")
    with pytest.raises(BadInput, match=r"is another file than the one that is known as bugs.csv"):
        fetch(KNOWN)


def test_without_a_copy_the_file_that_is_wanted_is_named(monkeypatch):
    monkeypatch.delenv("COMOTION_DATA", raising=False)
    with pytest.raises(BadInput, match=r"hexbugs.csv is not here: put it into a folder and set"):
        cm.datasets.load("hexbugs")


def test_scenes_are_in_seconds_and_several_files_are_several_sequences(tmp_path, monkeypatch):
    rows = "".join(f"{10 * n}\t{a}.0\t{n}\t{a}\n" for n in range(3) for a in (1, 2)).encode()
    monkeypatch.setenv("COMOTION_DATA", str(tmp_path))
    files = []
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_bytes(rows)
        files.append((name, hashlib.sha256(rows).hexdigest()))
    data = catalogue._pedestrians("a test", *files).load()
    assert data.sequence_names == ("one", "two")
    np.testing.assert_allclose(data.times[0], [0, 0.4, 0.8])
    assert data.object_names[0] == ("1", "2")


def test_names_are_matched_kindly():
    with pytest.raises(
        BadInput, match=r"no data set 'Hexbug' \(did you mean 'hexbugs'\?\): choose"
    ):
        cm.datasets.load("Hexbug")


def test_every_entry_says_where_it_comes_from():
    for name in cm.datasets.names():
        assert cm.datasets.describe(name).startswith(f"{name}: ")


def test_planets_obey_keplers_third_law():
    """In astronomical units, T² = a³ with T in years: Earth and Jupiter go round as they should."""
    data = cm.datasets.load("planets")
    x = data.values[0] - data.values[0, :, :1]
    days = data.times[0]
    for name, years in (("earth", 1.0), ("jupiter", 11.862)):
        path = x[:, data.object_names[0].index(name)]
        angle = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
        assert abs(np.polyfit(days, angle, 1)[0]) * 365.25 / (2 * np.pi) == pytest.approx(
            1 / years, rel=0.02
        )
    assert np.linalg.norm(x[:, data.object_names[0].index("earth")], axis=-1) == pytest.approx(
        1.0, abs=0.02
    )


def test_the_football_match_is_raw_with_its_swaps():
    data = cm.datasets.load("football")
    assert data.sequence_names == ("half 1", "half 2")
    steps = np.diff(data.times[0])
    assert np.median(steps) == pytest.approx(0.1)
    assert np.nanmax(np.abs(data.values)) < 80
    found = find_jumps(data.thin(2))
    assert 0.0005 < len(found) / found.steps < 0.005
