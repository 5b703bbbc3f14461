"""What kind of system is this? Structures tried by the score of forecasts of held-out frames."""

from comotion.identification.choose import identify
from comotion.identification.fit import fit
from comotion.identification.verdict import Identification, Trial

__all__ = ["Identification", "Trial", "fit", "identify"]
