"""The section of docs/systems.md on inferred properties, from what charges.py has measured."""

from rows import read

from comotion.report import Column, Table

FIELDS = {
    "system": Column("system"),
    "crps_table": Column("CRPS"),
    "crps_table constant velocity": Column("constant velocity"),
    "crps_table climatology": Column("climatology"),
    "mse_draws_table": Column("MSE of draws"),
    "mse_mean_table": Column("MSE of mean"),
    "ell_table": Column("ELL", 1),
    "coverage_95": Column("coverage of 95 % bands"),
    "correlation_with_charge": Column("correlation with charge"),
    "correlation_by_chance": Column("by chance"),
    "fit_seconds": Column("fit, s", 0),
    "commit": Column("commit"),
}


def charges_section() -> str:
    """The last row of each form on test sequences; nothing if there is none."""
    latest = {row["system"]: row for row in read("charges") if row["judged_on"] == "test"}
    if not latest:
        return ""
    shown = tuple(tuple(row.get(name) for name in FIELDS) for row in latest.values())
    sequences, seed = (next(iter(latest.values()))[name] for name in ("sequences", "seed"))
    return (
        "\n## A property that must be inferred\n\n"
        "Written from `benchmarks/results/charges.jsonl` (`python benchmarks/charges.py --judge "
        f"test`). Five charges, {sequences} training sequences of 60 frames, 100 test sequences, "
        f"seed {seed}; radial f_b, mirror-symmetric f_s. The charge is given, inferred from the "
        "first 49 frames, or left out; the parts and the rounds are the same. One run each, and "
        "rows of different commits were made by slightly different code. The sign of each "
        "sequence is turned as it fits best, and *by chance* is the correlation with "
        "charges of other sequences after the same turning. Forms without a row "
        "have not been measured yet.\n\n"
        f"{Table('', tuple(FIELDS.values()), shown).to_markdown()}\n"
    )
