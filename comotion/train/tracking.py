"""The figures of metrics.jsonl, also sent to a tracker: TensorBoard, MLflow or Weights & Biases."""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from comotion.config import Stage
from comotion.errors import BadInput
from comotion.train.progress import Figures, Watcher

_NO_FIGURES = ("iteration", "time")


class TensorBoard:
    """Event files in the run's folder; look at them with `tensorboard --logdir`."""

    def __init__(self, folder: Path, name: str):
        self.writer = import_module("tensorboardX").SummaryWriter(str(folder))

    def say(self, sentence: str) -> None:
        pass

    def show(self, stage: Stage, row: Figures) -> None:
        for figure, value in _figures(row).items():
            self.writer.add_scalar(figure, value, row["iteration"], walltime=row["time"])

    def close(self) -> None:
        self.writer.close()


class MLflow:
    """A run on the server that MLFLOW_TRACKING_URI names, or in ./mlflow.db."""

    def __init__(self, folder: Path, name: str):
        self.mlflow = import_module("mlflow")
        self.mlflow.start_run(run_name=name, tags={"folder": str(folder)})

    def say(self, sentence: str) -> None:
        pass

    def show(self, stage: Stage, row: Figures) -> None:
        self.mlflow.log_metrics(_figures(row), step=int(row["iteration"]))

    def close(self) -> None:
        self.mlflow.end_run()


class WeightsAndBiases:
    """A run of the project `comotion`, unless WANDB_PROJECT says otherwise."""

    def __init__(self, folder: Path, name: str):
        self.run: Any = import_module("wandb").init(
            name=name, dir=str(folder), project=os.environ.get("WANDB_PROJECT", "comotion")
        )

    def say(self, sentence: str) -> None:
        pass

    def show(self, stage: Stage, row: Figures) -> None:
        self.run.log(_figures(row), step=int(row["iteration"]))

    def close(self) -> None:
        self.run.finish()


TRACKERS: dict[str, Callable[[Path, str], Watcher]] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
    "wandb": WeightsAndBiases,
}
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}
"""What each extra brings."""


def tracker(kind: str, folder: Path, name: str) -> Watcher:
    """A watcher that passes every figure on; `name` is what the run is called there."""
    check_tracker(kind)
    return TRACKERS[kind](folder, name)


def check_tracker(kind: str) -> None:
    """Refuses one that is unknown or not installed, before anybody has waited for its figures."""
    if kind not in TRACKERS:
        raise BadInput(f"there is no tracker '{kind}': choose one of {', '.join(TRACKERS)}")
    package = PACKAGES[kind]
    found = find_spec(package)
    if found is None or found.origin is None:  # a folder of that name is no package
        raise BadInput(
            f"{package} is not installed; install it with `pip install 'comotion[{kind}]'`"
        )


def _figures(row: Figures) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name not in _NO_FIGURES}
