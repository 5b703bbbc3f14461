"""How long a fit takes that has to find out what to fit: the search, then the best for good."""

from dataclasses import dataclass

from comotion.data import Trajectories
from comotion.identification.choose import SEEN, STEPS, protocol_for
from comotion.identification.structures import NULL, Kind, Structure, beside, rounds
from comotion.systems import DEFAULT, MOTION, system
from comotion.train.cost import Cost, cost
from comotion.train.fit import run_config
from comotion.train.plan import FitPlan
from comotion.train.recipe import now


@dataclass(frozen=True)
class SearchCost:
    """Of a fit that first finds out what to fit."""

    least: Cost
    """if nothing is worth trying beside the motion without a law"""
    most: Cost
    """if every structure is tried and the dearest is chosen"""
    structures: int

    def __str__(self) -> str:
        low, high = (each.time for each in (self.least, self.most))
        low, unit = low.rsplit(" ", 1)
        between = f"{low} to {high}" if high.endswith(unit) else f"{low} {unit} to {high}"
        return self.most.told(high if self.least.time == high else between)


def search_cost(planned: FitPlan) -> SearchCost:
    train, objects = planned.train, planned.train.values.shape[2]
    if planned.valid is None:  # nothing to choose by
        price = cost(run_config(DEFAULT, "short", 0, {}), train)
        return SearchCost(price, price, 0)
    horizon = protocol_for(train, planned.valid, SEEN, None).horizon
    dearest = Kind("raw", "body" if objects > 1 else "none")
    several = rounds(dearest, contacts=True, straight=True, speed=True)
    structures = [NULL, *(structure for each in several for structure in each)]
    search = [_cost(structure, train, horizon, STEPS["quick"]) for structure in structures]
    final = [_cost(structure, train, horizon, None) for structure in structures]
    dearest_final = max(final, key=lambda price: price.seconds)
    return SearchCost(
        _together(search[:1], final[0]), _together(search, dearest_final), len(structures)
    )


def _together(search: list[Cost], final: Cost) -> Cost:
    """One after the other."""
    every = [*search, final]
    return Cost(sum(price.seconds for price in every), max(price.bytes for price in every))


def named_costs(planned: FitPlan) -> dict[str, Cost]:
    """Without a search: of the systems that are named for people."""
    return {
        name: cost(run_config(name, recipe, 0, planned.parts), planned.train)
        for name, recipe in ((MOTION, "now"), (DEFAULT, "short"))
    }


def _cost(structure: Structure, train: Trajectories, horizon: int, steps: int | None) -> Cost:
    """Contacts alone are found, not trained."""
    if structure.system != MOTION:
        steps, structure = 1, NULL
    parts = dict(beside(NULL, structure, train.values.shape[2]).parts)
    recipe = now(system(MOTION, **parts), max(horizon, 2), steps)
    config = run_config(MOTION, recipe, 0, parts)
    return cost(config, train)
