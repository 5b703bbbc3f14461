import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Most of the time here would go into optimising programs that run once."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
