"""What the paper claims, each against our rows: who should be ahead of whom, and where."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy.stats import t

from comotion.report.tables import Column, Table
from comotion.reproduce import Found, Line

LOWER = {"MSE": "mse_draws_table"}
HIGHER = {"ELL": "ell_table", "skill": "skill_crps"}
MEASURES = LOWER | HIGHER
FEWEST_SEEDS = 3


@dataclass(frozen=True)
class Claim:
    """That one system is ahead of another in what the paper names; skill is ours to add."""

    says: str
    table: str
    better: str
    worse: str
    by: tuple[str, ...]
    views: tuple[str, ...] = ("test",)


CLAIMS = (
    Claim("knowing objects pays, for GPs", "bb3", "I-GPODE", "GPODE", ("MSE", "ELL")),
    Claim("… for networks", "bb3", "I-NODE", "NODE", ("MSE", "ELL")),
    Claim("… for Bayesian networks", "bb3", "I-BNODE", "BNODE", ("MSE", "ELL")),
    Claim("networks are nearer in the mean", "interactions", "I-NODE", "I-GPODE", ("MSE",)),
    Claim("GPs know best how sure to be", "interactions", "I-GPODE", "I-NODE", ("ELL",)),
    Claim("… also beside Bayesian networks", "interactions", "I-GPODE", "I-BNODE", ("MSE", "ELL")),
    Claim(
        "second order rescues hidden velocities",
        "missing-vel",
        "I-GPODE-L-S",
        "I-GPODE-L",
        ("MSE", "ELL"),
    ),
    Claim("… which are worth inferring", "missing-vel", "I-GPODE-L-S", "I-GPODE", ("MSE", "ELL")),
    Claim(
        "charges are worth inferring, for GPs",
        "charges",
        "I-GPODE/with-globals",
        "I-GPODE/without-globals",
        ("MSE",),
    ),
    Claim(
        "… for networks",
        "charges",
        "I-NODE/with-globals",
        "I-NODE/without-globals",
        ("MSE", "ELL"),
    ),
    Claim(
        "charges given are better than inferred, for GPs",
        "charges",
        "I-GPODE/globals-observed",
        "I-GPODE/with-globals",
        ("MSE", "ELL"),
    ),
    Claim(
        "… for networks",
        "charges",
        "I-NODE/globals-observed",
        "I-NODE/with-globals",
        ("MSE", "ELL"),
    ),
    Claim("two balls: knowing objects pays", "bb2", "I-GPODE", "GPODE", ("MSE", "ELL")),
    Claim("two balls: networks are nearer in the mean", "bb2", "I-NODE", "I-GPODE", ("MSE",)),
    Claim("two balls: GPs know best how sure to be", "bb2", "I-GPODE", "I-NODE", ("ELL",)),
    Claim(
        "f_s of a GP moves one ball on its own",
        "disent",
        "I-GPODE",
        "I-NODE",
        ("MSE", "ELL"),
        ("T33", "T100"),
    ),
    Claim("discrete time does as well", "discr-cont-gp", "I-GPSSM", "I-GPODE", ("ELL",)),
)


@dataclass(frozen=True)
class Difference:
    """How far the one that should be ahead is ahead, seed by seed."""

    values: tuple[float, ...]
    spread: float
    """what two runs of the paper may differ by for no reason but their seeds"""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def doubt(self) -> float:
        """Half of the 95 % interval of paired differences; of fewer seeds the paper's spread."""
        n = len(self.values)
        if n < FEWEST_SEEDS:
            return self.spread
        return float(t.ppf(0.975, n - 1)) * statistics.stdev(self.values) / math.sqrt(n)

    @property
    def is_shown(self) -> bool:
        return self.mean > self.doubt

    @property
    def is_denied(self) -> bool:
        return self.mean < -self.doubt


def claims_table(tables: dict[str, Found]) -> Table:
    columns = (Column("the paper's claim"), Column("holds here"), *map(Column, MEASURES))
    rows = [_row(claim, tables[claim.table]) for claim in CLAIMS]
    return Table("claims", columns, tuple(rows))


def _row(claim: Claim, shown: Found) -> tuple[str, ...]:
    by_measure = {name: list(_differences(claim, shown, name)) for name in MEASURES}
    named = [difference for name in claim.by for difference in by_measure[name]]
    said = f"{claim.says}: {_plain(claim.better)} ahead of {_plain(claim.worse)}"
    cells = [_counted(found, name, name in claim.by) for name, found in by_measure.items()]
    return said, _verdict(named), *cells


def _verdict(named: Sequence[Difference]) -> str:
    shown, denied = sum(d.is_shown for d in named), sum(d.is_denied for d in named)
    if not named:
        return "not run"
    if shown == len(named):
        return "yes"
    return "in part" if shown else "no" if denied else "undecided"


def _counted(found: Sequence[Difference], name: str, is_claimed: bool) -> str:
    """In how many settings it is ahead beyond doubt, and by how much in all of them."""
    if not found:
        return "–"
    digits = 3 if name == "skill" else 1
    ahead = sum(difference.is_shown for difference in found)
    least, most = (f(difference.mean for difference in found) for f in (min, max))
    span = " … ".join(f"{value:+.{digits}f}" for value in sorted({least, most}))
    text = f"{ahead} of {len(found)} ({span})"
    return text if is_claimed else f"*{text}*"


def _differences(claim: Claim, shown: Found, name: str) -> Iterator[Difference]:
    """One for each scene and view that both have been run on."""
    metric, sign = MEASURES[name], -1.0 if name in LOWER else 1.0
    pairs = [
        (better, worse)
        for better in shown.lines
        for worse in shown.lines
        if (better.name, worse.name) == (claim.better, claim.worse)
        and better.scene == worse.scene
        and better.scale == worse.scale
    ]
    for better, worse in pairs:
        for view in claim.views:
            ahead, behind = _by_seed(better, view, metric), _by_seed(worse, view, metric)
            shared = sorted(ahead.keys() & behind.keys())
            spread = math.hypot(*(_printed_sd(line, view, metric) for line in (better, worse)))
            if shared:
                values = tuple(sign * (ahead[seed] - behind[seed]) for seed in shared)
                yield Difference(values, spread)


def _by_seed(line: Line, view: str, metric: str) -> dict[int, float]:
    kept = [row for row in line.sound if view in row["scores"]]
    return {row["run"]["seed"]: row["scores"][view]["model"][metric] for row in kept}


def _printed_sd(line: Line, view: str, metric: str) -> float:
    """None is printed of skill."""
    return line.printed[view].get(metric, (0.0, 0.0))[1]


def _plain(name: str) -> str:
    return f"`{name}`"
