"""`import comotion` and the help of the command line must not wait for JAX."""

import json
import subprocess
import sys
import time

import pytest

HEAVY = ("jax", "jaxlib", "numpy", "xarray", "pandas", "pyarrow", "matplotlib", "equinox", "scipy")
MOST_SECONDS = 1.0
REPORT = """
import json, sys
{program}
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""


def imported(program: str) -> tuple[list[str], float]:
    """Heavy packages a program imports, and the best of three times it takes."""
    words = [sys.executable, "-c", REPORT.format(program=program, heavy=HEAVY)]
    best, heavy = float("inf"), []
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        best = min(best, time.perf_counter() - start)
        heavy = json.loads(done.stdout.splitlines()[-1])
    return heavy, best


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
    heavy, seconds = imported(program)
    assert heavy == []
    assert seconds < MOST_SECONDS


def test_the_first_use_of_a_name_brings_its_room():
    heavy, _ = imported("import comotion; comotion.fit")
    assert "jax" in heavy
