"""Axis letters used in every shape annotation, and the two float types.

| letter | axis                             | letter | axis                      |
|--------|----------------------------------|--------|---------------------------|
| P      | sequences                        | M      | inducing points           |
| N      | frames (observation times)       | S      | Fourier features          |
| A      | objects                          | L      | draws                     |
| O      | observed features of an object   | I      | inputs of a function      |
| D      | state of an object               | Q      | outputs of a function     |
| C      | static properties of an object   | E      | edges of a graph          |
| U      | control inputs of an object      |        |                           |

Importing this module turns on 64-bit types in JAX: Cholesky factors need them, the hot path
stays in 32 bits because every array there has an explicit dtype. And it makes a device of each
core of the processor (`devices`), unless `JAX_NUM_CPU_DEVICES` says how many.
"""

import os
from contextlib import suppress

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from jaxtyping import Key as KeyOfShape

MOST_CORES = 8

jax.config.update("jax_enable_x64", True)
if "JAX_NUM_CPU_DEVICES" not in os.environ:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with suppress(RuntimeError):  # JAX has computed something already, and stays with what it has
        jax.config.update("jax_num_cpu_devices", min(cores or 1, MOST_CORES))

Key = PRNGKeyArray
Keys = KeyOfShape[Array, "..."]
FAST = jnp.float32
EXACT = jnp.float64
