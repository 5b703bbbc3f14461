import json

from comotion.cli import main
from comotion.data import describe, read, write
from comotion.identification.price import search_cost
from comotion.simulate import bouncing_balls
from comotion.train.cost import cost
from comotion.train.fit import run_config
from comotion.train.plan import plan


def test_prints_the_description_for_people_and_for_programs(tmp_path, capsys):
    file = tmp_path / "balls.csv"
    write(bouncing_balls(sequences=10, frames=5), file)
    expected = describe(read(file))
    assert main(["validate", str(file)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(
        f"{expected}\na fit       held out: the last 2 of 10 sequences\na fit takes"
    )
    assert main(["validate", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert json.loads(json.dumps(expected.to_dict())).items() <= told.items()
    assert told["plan"] == ["held out: the last 2 of 10 sequences"]
    assert 0 < told["fit"]["least"]["seconds"] < told["fit"]["most"]["seconds"]
    assert told["fit"]["structures"] == 7
    assert err == ""


def test_says_what_a_fit_would_do_with_a_crowd(tmp_path, capsys):
    rows = [(n, a, n + a, a) for a in range(100) for n in range(a, a + 30)]
    file = tmp_path / "crowd.txt"
    file.write_text("\n".join(" ".join(map(str, row)) for row in rows))
    assert main(["validate", str(file), "--fps", "2.5"]) == 0
    out, _ = capsys.readouterr()
    for part in (
        "objects     100 in each sequence, at most 30 at once",
        "read        crowd.txt has no header: read as time, object, x, y",
        "a fit       held out: the last 20% of the frames, from 41.2 on",
        "a fit       objects come and go: cut into",
        "a fit takes about 2 to ",
        "as up to 7 structures are tried first, those that the",
        "and without it: --system motion a minute, --system comotion",
    ):
        assert part in out


def test_what_is_odd_is_told_once(tmp_path, capsys):
    file = tmp_path / "empty_for_long.csv"
    rows = [(a, t, t + a, a) for t in (0, 1, 2, 3, 90, 91) for a in range(2)]
    file.write_text("id,frame,x,y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    assert main(["validate", str(file), "--fps", "2.5"]) == 0
    assert capsys.readouterr().out.count("Time steps differ much, from 0.4 to 34.8") == 1


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


def test_tables_stay_as_they_are(tmp_path, capsys):
    file = tmp_path / "peds.csv"
    file.write_text("when;who;x;y;hat\n0;a;1;2;red\n10;a;3;4;red\n")
    named = ["--columns", "object=who,time=when", "--fps", "25", "--ignore", "hat"]
    assert main(["validate", str(file), *named]) == 0
    out, err = capsys.readouterr()
    assert "regular, 0.4 apart" in out
    assert "left alone" not in out
    assert err == ""
    assert main(["validate", str(file), "--columns", "object=who,time=when"]) == 0
    assert "read        peds.csv: left alone hat" in capsys.readouterr().out


def test_a_file_without_a_header_gets_its_names_in_order(tmp_path, capsys):
    file = tmp_path / "mine.txt"
    file.write_text("7 0 1.5\n7 1 2.5\n")
    assert main(["validate", str(file)]) == 2
    assert "--columns time,object,x,y" in capsys.readouterr().err
    assert main(["validate", str(file), "--columns", "object,time,x"]) == 0


def test_a_wish_that_makes_no_sense_is_refused(tmp_path, capsys):
    file = tmp_path / "peds.csv"
    file.write_text("when,who,x\n0,a,1\n1,a,3\n")
    assert main(["validate", str(file), "--columns", "object=who,time"]) == 2
    assert "write PART=COLUMN with commas between" in capsys.readouterr().err
    assert main(["validate", str(file), "--columns", "object=who,time=whem"]) == 2
    assert "peds.csv has no column 'whem'" in capsys.readouterr().err


def test_what_a_fit_costs_follows_what_it_does():
    data = bouncing_balls(sequences=5, frames=80)
    config = run_config("motion", "now", 0, {})
    bare = cost(config, data).seconds
    for part in ({"alone": "raw"}, {"pair": "radial"}):
        assert cost(run_config("motion", "now", 0, part), data).seconds > bare
    price = search_cost(plan(data, system="motion"))
    assert price.structures == 7
    assert bare < price.least.seconds < 3 * bare  # without a law: one trial, then the fit
    assert price.most.seconds > 7 * bare / 2


def test_a_unit_that_is_said_is_told(tmp_path, capsys):
    file = tmp_path / "peds.csv"
    file.write_text("id,frame,x,y\n0,0,1,2\n0,1,3,4\n")
    assert main(["validate", str(file), "--fps", "25", "--unit", "m"]) == 0
    told = capsys.readouterr().out
    assert "features    x (m): 1 to 3" in told
    assert "regular, 0.04 apart, in s" in told
