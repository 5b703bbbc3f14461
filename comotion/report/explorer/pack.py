"""Words and arrays in one short text: JSON with places of arrays, gzip, base64.

The bytes are: the length of the JSON as a 32-bit number, the JSON, padding to a multiple of
eight, then the arrays one after the other, each padded likewise. In the JSON an array is
`{"array": dtype, "shape": […], "at": byte}`, counted from the beginning of the arrays; one without
axes is a plain number.
"""

import base64
import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

ALIGNMENT = 8
WHOLE = {"i": np.int32, "u": np.int32, "b": np.uint8}


def pack(content: Mapping[str, Any]) -> str:
    arrays = bytearray()
    text = json.dumps(_with_places(content, arrays), allow_nan=False).encode()
    head = struct.pack("<I", len(text)) + text
    return base64.b64encode(
        gzip.compress(head + bytes(-len(head) % ALIGNMENT) + bytes(arrays), mtime=0)
    ).decode("ascii")


def _with_places(value: Any, arrays: bytearray) -> Any:
    """The same content, with every array moved to the end of `arrays`."""
    if isinstance(value, Mapping):
        return {name: _with_places(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_places(part, arrays) for part in value]
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return value
    values = np.asarray(value)
    if values.ndim == 0:
        return values.item()
    values = np.ascontiguousarray(values, WHOLE.get(values.dtype.kind, values.dtype))
    place = {"array": values.dtype.name, "shape": list(values.shape), "at": len(arrays)}
    arrays += values.tobytes()
    arrays += bytes(-len(arrays) % ALIGNMENT)
    return place
