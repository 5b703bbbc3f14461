"""Figures, animations, tables and pages (the only room that speaks matplotlib)."""

from comotion.report.animation import animate
from comotion.report.fields import independent_field_figure, interaction_field_figure
from comotion.report.figures import forecast_figure
from comotion.report.page import figure_png, write_page
from comotion.report.pictures import picture_figure
from comotion.report.reproduction import reproduction_table, skill_figure, skill_table
from comotion.report.tables import Column, Table

__all__ = [
    "Column",
    "Table",
    "animate",
    "figure_png",
    "forecast_figure",
    "independent_field_figure",
    "interaction_field_figure",
    "picture_figure",
    "reproduction_table",
    "skill_figure",
    "skill_table",
    "write_page",
]
