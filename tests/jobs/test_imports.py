import subprocess
import sys

PROGRAM = """
import sys
import comotion.cli.reproduce, comotion.reproduce, comotion.report, comotion.reproduce.drive
import comotion.jobs.local, comotion.train.tracking
extras = ("ray", "optuna", "tensorboardX", "mlflow", "wandb")
print([name for name in extras if name in sys.modules])
"""


def test_extras_are_imported_only_when_asked_for():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
