"""One safetensors file: arrays by their path in the module, everything else in the header."""

import hashlib
import importlib.metadata
import json
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree
from safetensors import safe_open
from safetensors.numpy import save

from comotion.backend.disk import replacing
from comotion.errors import BadInput

FORMAT = 1
ENTRY = "comotion"
Tree = TypeVar("Tree", bound=PyTree)


def write(path: Path, tree: PyTree, header: dict[str, Any]) -> None:
    """Whole or not at all: a crash never leaves half a file."""
    arrays = {name: np.asarray(leaf) for name, leaf in _named_arrays(tree)}
    about = {"format": FORMAT, "versions": _versions(), "header": header}
    # One entry, because safetensors writes several in no particular order, and the same model
    # should be the same file.
    text = json.dumps({**about, "checksum": _checksum(arrays, header)}, sort_keys=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as whole:
        whole.write_bytes(save(arrays, {ENTRY: text}))


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """All arrays by name and the header; refuses what it cannot vouch for."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; check the path")
    try:
        with safe_open(path, framework="numpy") as file:
            about = _about(path, (file.metadata() or {}).get(ENTRY))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except BadInput:
        raise
    except Exception as error:  # whatever the reader makes of bytes that mean nothing
        raise damaged(path, first_line(error)) from error
    if about["checksum"] != _checksum(arrays, about["header"]):
        raise damaged(path, "its checksum does not match its content")
    return arrays, about["header"]


def restore(tree: Tree, arrays: dict[str, np.ndarray], path: Path) -> Tree:
    """`tree` with every array replaced by the one of the same path; none may be left over.

    It may be a template of shapes, as `eqx.filter_eval_shape` gives it.
    """
    wanted = dict(_named_arrays(tree))
    if wanted.keys() != arrays.keys():
        odd = sorted(wanted.keys() ^ arrays.keys())[0]
        raise of_another_version(path, f"its weights do not fit its config, for example at {odd}")
    for name, leaf in wanted.items():
        found = arrays[name]
        if leaf.shape != found.shape or leaf.dtype != found.dtype:
            kinds = (f"{array.dtype} of shape {array.shape}" for array in (found, leaf))
            raise of_another_version(path, f"{name} is {', not '.join(kinds)}")
    names = iter(wanted)
    return jax.tree.map(
        lambda leaf: jax.device_put(arrays[next(names)]) if _is_array(leaf) else leaf, tree
    )


def _named_arrays(tree: PyTree) -> list[tuple[str, Any]]:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [
        (jax.tree_util.keystr(path, simple=True, separator="."), leaf)
        for path, leaf in leaves
        if _is_array(leaf)
    ]


def _is_array(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)


def _checksum(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _about(path: Path, text: str | None) -> dict[str, Any]:
    if text is None:
        raise BadInput(f"{path}: not a file comotion wrote; give a model saved by comotion")
    try:
        about = json.loads(text)
        number, header, _ = about["format"], about["header"], about["checksum"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, "its header cannot be read") from error
    if type(number) is not int or not isinstance(header, dict):
        raise damaged(path, "its header is none of ours")
    if number > FORMAT:
        raise BadInput(
            f"{path}: written in file format {number}, but this version of comotion reads up to "
            f"{FORMAT}; upgrade comotion"
        )
    return about


def damaged(path: Path, why: str) -> BadInput:
    return BadInput(f"{path}: damaged or not a comotion file ({why}); use another copy")


def of_another_version(path: Path, why: str) -> BadInput:
    """A file whose checksum is right, but whose arrays are none of today's model."""
    return BadInput(
        f"{path}: written by another version of comotion ({why}); fit again, or read it with the "
        "version that wrote it"
    )


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("comotion", "jax", "equinox")}
