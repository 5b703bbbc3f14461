"""Draws of a fitted model's future, and of the functions it has learned."""

from comotion.predict.fields import fields
from comotion.predict.fitted import FittedModel, contacts_of
from comotion.predict.model_file import load

__all__ = ["FittedModel", "contacts_of", "fields", "load"]
