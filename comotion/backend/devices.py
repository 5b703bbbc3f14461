"""Which devices share the work: cores of one processor, accelerators, or many computers.

XLA follows one program of ours on one core. So the cores of a processor are devices of their own
(`processor`), and a mesh of devices shares the sequences of a batch, whatever the devices are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding
from threadpoolctl import threadpool_limits

from comotion.errors import BadInput

PARTS = "parts"
Tree = TypeVar("Tree")


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Small factorisations by one thread: many threads wait for each other, and for the cores."""
    import scipy.linalg  # noqa: F401  (its BLAS is the one that JAX calls, and must be loaded)

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def mesh_for(count: int) -> Mesh | None:
    """The devices that share `count` windows evenly; None if that is only one.

    Computers that work together must all have a share; one computer may leave devices idle.
    """
    devices = jax.devices()
    size = next(size for size in range(len(devices), 0, -1) if count % size == 0)
    if jax.process_count() > 1 and size < len(devices):
        raise BadInput(
            f"{len(devices)} devices of {jax.process_count()} processes cannot share {count} "
            f"windows evenly; choose a multiple of {len(devices)} for `windows`"
        )
    return mesh_of(devices[:size])


def mesh_of(devices: list[Any]) -> Mesh | None:
    return None if len(devices) == 1 else Mesh(np.array(devices), (PARTS,))


def everywhere(tree: Tree, mesh: Mesh | None) -> Tree:
    """The same arrays on every device of the mesh, or on this process's first one if there is none.

    Arrays that have been put nowhere would be a reason for JAX to compile again.
    """
    return _put(tree, _first_device() if mesh is None else NamedSharding(mesh, PartitionSpec()))


def on_one(tree: Tree) -> Tree:
    """Arrays that are the same everywhere, on one device of this process only."""
    return _put(jax.device_get(tree), _first_device())


def as_first_process(tree: Tree) -> Tree:
    """What the first of several processes has, in all of them."""
    if jax.process_count() == 1:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(multihost_utils.broadcast_one_to_all(arrays), rest)


def over_parts(function: Callable[..., Tree], mesh: Mesh | None, shared: Any, *rows: Any) -> Tree:
    """`function(shared, *rows)`, with a part of the rows on each device; rows in, rows out.

    Gradients of what is shared are added up once, after the whole backward pass.
    """
    if mesh is None:
        return function(shared, *rows)
    arrays, rest = eqx.partition(shared, eqx.is_array)
    return jax.shard_map(
        lambda arrays, *rows: function(eqx.combine(arrays, rest), *rows),
        mesh=mesh,
        in_specs=(PartitionSpec(), *(PartitionSpec(PARTS) for _ in rows)),
        out_specs=PartitionSpec(PARTS),
        check_vma=False,  # the drawn functions' own derivatives say nothing of it
    )(arrays, *rows)


def _first_device() -> Sharding:
    return jax.sharding.SingleDeviceSharding(jax.local_devices()[0])


def _put(tree: Tree, sharding: Sharding) -> Tree:
    return jax.tree.map(
        lambda leaf: jax.device_put(leaf, sharding) if eqx.is_array(leaf) else leaf, tree
    )
