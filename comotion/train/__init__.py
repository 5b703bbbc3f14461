"""From data to a fitted model."""

from comotion.train.fit import fit
from comotion.train.recipe import RECIPES, recipe

__all__ = ["RECIPES", "fit", "recipe"]
