import json

from comotion.cli import main
from comotion.data import describe, read, write
from comotion.simulate import bouncing_balls


def test_prints_the_description_for_people_and_for_programs(tmp_path, capsys):
    file = tmp_path / "balls.csv"
    write(bouncing_balls(sequences=2, frames=5), file)
    expected = describe(read(file))
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(["validate", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    assert err == ""


def test_a_broken_table_is_refused_with_the_place_of_the_mistake(tmp_path, capsys):
    file = tmp_path / "broken.csv"
    file.write_text("sequence,object,time,x,y\n0,0,0,1,2\n0,0,1,one,2\n")
    assert main(["validate", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("comotion: broken.csv, line 3")
    assert err.count("\n") == 1


def test_a_missing_file_is_refused(tmp_path, capsys):
    assert main(["validate", str(tmp_path / "none.csv")]) == 2
    assert "none.csv does not exist: check the path." in capsys.readouterr().err
