"""The figures of metrics.jsonl, also sent to a tracker: TensorBoard, MLflow or Weights & Biases."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from comotion.config import Stage
from comotion.errors import BadInput
from comotion.train.progress import Figures, Watcher

_NO_FIGURES = ("iteration", "time")


class TensorBoard:
    """Event files in the run's folder; look at them with `tensorboard --logdir`."""

    def __init__(self, folder: Path, name: str):
        self.writer = _extra("tensorboardX", "tensorboard").SummaryWriter(str(folder))

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
        self.mlflow = _extra("mlflow", "mlflow")
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
        self.run: Any = _extra("wandb", "wandb").init(
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


def tracker(kind: str, folder: Path, name: str) -> Watcher:
    """A watcher that passes every figure on; `name` is what the run is called there."""
    if kind not in TRACKERS:
        raise BadInput(f"there is no tracker '{kind}': choose one of {', '.join(TRACKERS)}")
    return TRACKERS[kind](folder, name)


def _figures(row: Figures) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name not in _NO_FIGURES}


def _extra(package: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"{package} is not installed; install it with `pip install 'comotion[{extra}]'`"
        ) from error
