import pytest

from comotion.simulate import bouncing_balls


@pytest.fixture(scope="session")
def balls():
    return bouncing_balls(sequences=12, frames=20, noise="low", seed=0)
