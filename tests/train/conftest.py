import pytest

from comotion.config import Recipe, Stage
from comotion.simulate import bouncing_balls


@pytest.fixture(scope="session")
def balls():
    return bouncing_balls(sequences=12, frames=20, noise="low", seed=0)


@pytest.fixture(scope="session")
def tiny_recipe():
    stages = (Stage(5, 20, 1e-2, "cosine"),)
    return Recipe(name="tiny", stages=stages, windows=12, clip=1.0, kernel_rate=0.1, calibration=4)


@pytest.fixture(scope="module", autouse=True)
def on_all_devices(shared_by_devices) -> None:
    """Here, where training has its tests, devices share the work."""
