"""Real recordings by name: fetched and checked when they are first wanted, none shipped.

>>> "hexbugs" in cm.datasets.names()
True
"""

from comotion.datasets.catalogue import describe, load, names

__all__ = ["describe", "load", "names"]
