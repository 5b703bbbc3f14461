import csv
import io

from comotion.report import Column, Table

RESULTS = Table(
    "Balls",
    (Column("noise"), Column("model"), Column("MSE", 1, "lower"), Column("ELL", 1, "higher")),
    (
        ("none", "I-GPODE", (17.3, 1.2), -25.94),
        ("none", "GPODE", (23.9, 0.9), -597.6),
        ("low", "I|NODE_8", (13.0, 1.0), None),
    ),
    group="noise",
)


def test_markdown_has_bold_best_values_within_each_group_of_several():
    assert RESULTS.to_markdown().splitlines() == [
        "| noise | model | MSE | ELL |",
        "| :-- | :-- | --: | --: |",
        "| none | I-GPODE | **17.3 ± 1.2** | **-25.9** |",
        "| none | GPODE | 23.9 ± 0.9 | -597.6 |",
        "| low | I\\|NODE_8 | 13.0 ± 1.0 | – |",
    ]


def test_latex_is_a_booktabs_table_with_rules_between_groups():
    lines = RESULTS.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{llrr}"
    assert r"none & I-GPODE & $\mathbf{17.3 \pm 1.2}$ & $\mathbf{-25.9}$ \\" in lines
    assert r"low & I|NODE\_8 & $13.0 \pm 1.0$ & -- \\" in lines
    assert lines.count(r"\midrule") == 2


def test_latex_is_written_in_what_every_latex_reads():
    marked = Table("Balls", (Column("mark"),), (("≠ ELL (paper: I-GPODE − …) ± 1 %",),))
    assert r"$\neq$ ELL (paper: I-GPODE $-$ \dots{}) $\pm$ 1 \%" in marked.to_latex()
    assert marked.to_latex().isascii()


def test_csv_keeps_full_precision_and_standard_deviations_apart():
    rows = list(csv.DictReader(io.StringIO(RESULTS.to_csv())))
    assert rows[0] == {
        "noise": "none",
        "model": "I-GPODE",
        "MSE": "17.3",
        "MSE sd": "1.2",
        "ELL": "-25.94",
    }
    assert rows[2]["ELL"] == ""
