"""`import comotion` and the help of the command line must not wait for JAX."""

import json
import subprocess
import sys
import time

import pytest

HEAVY = ("jax", "jaxlib", "numpy", "xarray", "pandas", "pyarrow", "matplotlib", "equinox", "scipy")
HEAVY += ("diffrax",)
MOST_SECONDS = 1.0
REPORT = """
import json, sys
{program}
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""


def imported(program: str) -> list[str]:
    """Heavy packages a program imports."""
    words = [sys.executable, "-c", REPORT.format(program=program, heavy=HEAVY)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def seconds(program: str) -> float:
    start = time.perf_counter()
    assert imported(program) == []
    return time.perf_counter() - start


@pytest.mark.parametrize(
    "program",
    [
        "import comotion; comotion.__version__; dir(comotion)",
        "from comotion.cli import main; main(['--help'])",
        "from comotion.cli import main; main(['--version'])",
        "from comotion.cli import main; main(['fit', '--help'])",
        "from comotion.cli import main; main(['simulate', '--help'])",
        "import comotion.config",
        "from comotion.cli import main; main(['nonsense'])",
    ],
)
def test_nothing_heavy_is_imported_and_it_takes_less_than_a_second(program):
    assert any(seconds(program) < MOST_SECONDS for _ in range(3))


def test_the_first_use_of_a_name_brings_its_room_but_no_solver_that_is_rarely_asked_for():
    brought = imported("import comotion; comotion.fit")
    assert "jax" in brought
    assert "diffrax" not in brought
