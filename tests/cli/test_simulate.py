import numpy as np
import pytest

from comotion import simulate
from comotion.cli import main
from comotion.data import read


@pytest.mark.parametrize("ending", ["csv", "parquet", "nc"])
def test_the_file_holds_what_the_simulator_gives(ending, tmp_path, capsys):
    out = tmp_path / f"balls.{ending}"
    words = ["--sequences", "3", "--objects", "2", "--frames", "9", "--seed", "5"]
    words += ["--noise", "low", "--hide-velocities", "--out", str(out)]
    assert main(["simulate", "bouncing-balls", *words]) == 0
    expected = simulate.bouncing_balls(
        sequences=3, objects=2, frames=9, seed=5, noise="low", velocities=False
    )
    data = read(out)
    np.testing.assert_array_equal(data.values, expected.values)
    assert data.features == ("x", "y")
    stdout = capsys.readouterr().out
    assert stdout.startswith(f"wrote {out}: Trajectories(3 sequences, up to 9 frames")
    assert f"next: comotion fit {out} " in stdout


def test_the_same_command_twice_keeps_the_file_of_before_beside_the_new_one(tmp_path, capsys):
    out, before = tmp_path / "balls.csv", tmp_path / "balls-1.csv"
    base = ["simulate", "bouncing-balls", "--sequences", "1", "--frames", "2", "--out", str(out)]
    for words in (["--seed", "1"], ["--seed", "2"], ["--seed", "3", "--overwrite"]):
        assert main([*base, *words]) == 0
    first, third = (simulate.bouncing_balls(sequences=1, frames=2, seed=seed) for seed in (1, 3))
    np.testing.assert_array_equal(read(before).values, first.values)
    np.testing.assert_array_equal(read(out).values, third.values)
    assert sorted(tmp_path.iterdir()) == [before, out]
    told = f"{out} was there already: it is kept as {before} (overwrite replaces it)\n"
    assert capsys.readouterr().err == told


def test_charges_can_be_shown_or_hidden_and_noise_may_be_a_number(tmp_path):
    base = ["simulate", "charged-particles", "--sequences", "2", "--frames", "3", "--noise", "0.03"]
    for name, words in {"shown": [], "hidden": ["--hide-charges"]}.items():
        assert main([*base, *words, "--out", str(tmp_path / f"{name}.nc")]) == 0
    shown, hidden = read(tmp_path / "shown.nc"), read(tmp_path / "hidden.nc")
    assert (shown.static_names, hidden.static_names) == (("charge",), ())
    np.testing.assert_array_equal(shown.values, hidden.values)
    expected = simulate.charged_particles(sequences=2, frames=3, noise=0.03)
    np.testing.assert_array_equal(shown.values, expected.values)


def test_springs_keep_who_is_joined_to_whom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "springs", "--sequences", "2", "--frames", "3", "--step", "0.1"]) == 0
    expected = simulate.springs(sequences=2, frames=3, step=0.1)
    np.testing.assert_array_equal(read("springs.nc").neighbours, expected.neighbours)


def test_without_a_scene_all_of_them_are_listed_with_their_defaults(capsys):
    assert main(["simulate"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = {words[0]: words[1:] for words in lines if words}
    assert rows.keys() >= simulate.SIMULATORS.keys()
    assert rows["charged-particles"][:4] == ["700", "5", "0.05", "Simulate"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["springs", "--out", "s.csv"], "--out s.csv: give a name that ends in .nc"),
        (["bouncing-balls", "--out", "b.txt"], "ends in .csv, .parquet, .nc"),
        (["bouncing-balls", "--out", "no/b.csv"], "the folder no does not exist; make it first"),
        (["bouncing-balls", "--hide-charges"], "there are no charges in bouncing-balls"),
        (["bouncing-balls", "--noise", "loud"], "noise='loud' is not a noise level"),
        (["bouncing-balls", "--objects", "0"], "objects=0 makes no scene"),
        (["bouncing-balls", "--seed", "-1"], "seed=-1 is negative"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_sentence(
    words, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("comotion: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file_to_write(tmp_path, capsys):
    (tmp_path / "balls.csv").mkdir()
    assert main(["simulate", "bouncing-balls", "--out", str(tmp_path / "balls.csv")]) == 2
    assert "is a folder; give the name of a file" in capsys.readouterr().err
