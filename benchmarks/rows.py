"""One JSON row per measurement, appended with what is needed to measure it again."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def append(name: str, row: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    described = {**row, "commit": _commit(), "cores": os.cpu_count(), "cpu": platform.machine()}
    with (RESULTS / f"{name}.jsonl").open("a") as file:
        file.write(json.dumps(described) + "\n")
    print(json.dumps(described))


def _commit() -> str:
    shown = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return shown.stdout.strip()
