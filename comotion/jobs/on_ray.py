"""Work as Ray tasks, on a Ray that is running somewhere or is started here for the occasion."""

import os
import socket
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

from comotion.errors import BadInput
from comotion.jobs.engine import MOST_ATTEMPTS, AbstractEngine, Failure, Item, attempt

CORES_EACH = 2.0
LOOPBACK = "127.0.0.1"
KNOCK_SECONDS = 10.0


@dataclass(frozen=True)
class RayEngine(AbstractEngine):
    """Ray gives the work of a worker that died to another one; only what comes back counts."""

    workers: int
    cores: float

    @classmethod
    def connect(cls, address: str | None, workers: int | None = None) -> "RayEngine":
        ray = _ray()
        if not ray.is_initialized():
            _start(ray, address)
        total = float(ray.cluster_resources().get("CPU", 1.0))
        largest = max(node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"])
        each = min(total / workers if workers else CORES_EACH, largest)
        return cls(workers or max(1, int(total // each)), each)

    def map(
        self, work: Callable[[Item], Any], items: Iterable[Item]
    ) -> Generator[tuple[Item, Any], None, None]:
        ray = _ray()
        devices = {"JAX_NUM_CPU_DEVICES": str(max(1, int(self.cores)))}
        remote = ray.remote(attempt).options(
            num_cpus=self.cores,
            max_retries=MOST_ATTEMPTS - 1,
            name=work.__name__,
            runtime_env={"env_vars": devices},  # Ray counts cores, it does not keep a task to them
        )
        waiting, busy = iter(items), dict[Any, Item]()
        try:
            while True:
                while len(busy) < self.workers:
                    for item in waiting:
                        busy[remote.remote(work, item)] = item
                        break
                    else:
                        break
                if not busy:
                    return
                (reference,), _ = ray.wait(list(busy), num_returns=1)
                yield busy.pop(reference), _result(ray, reference)
        finally:
            for reference in busy:
                ray.cancel(reference, force=True)


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        return Failure(f"its workers died: {str(error).splitlines()[0]}", str(error))


def _start(ray: Any, address: str | None) -> None:
    if address is not None:
        _knock(address)
    quiet = {"include_dashboard": False, "_node_ip_address": LOOPBACK} if address is None else {}
    try:
        # Asked for none, Ray would look for one that someone else has started.
        where = address or "local"
        ray.init(address=where, log_to_driver=False, logging_level="ERROR", **quiet)
    except (ConnectionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"--address {address}: there is no Ray to connect to ({reason})") from error


def _knock(address: str) -> None:
    """Ray itself waits for minutes before it says that nobody is there."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS).close()
    except OSError as error:
        raise BadInput(f"--address {address}: there is no Ray to connect to ({error})") from error


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # reports to nobody unless asked to
    # Ray would otherwise hide devices from tasks that ask for none of them.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise BadInput(
            "--on ray: Ray is not installed; install it with `pip install 'comotion[cluster]'`"
        ) from error
    return ray
