import pytest

from comotion.reproduce.runs import Run, Truth
from comotion.reproduce.scenes import PaperScene

TINY = PaperScene(train=3, valid=1, test=4, frames=12)


@pytest.fixture
def runs() -> list[Run]:
    """Floors of three seeds: runs that need no training."""
    return [Run(Truth(), TINY, seed, "smoke", draws=4) for seed in range(3)]
