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
stays in 32 bits because every array there has an explicit dtype. It also tells JAX of the
processor (`backend.processor`).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from jaxtyping import Key as KeyOfShape

from comotion.backend import processor

jax.config.update("jax_enable_x64", True)
processor.prepare()

Key = PRNGKeyArray
Keys = KeyOfShape[Array, "..."]
FAST = jnp.float32
EXACT = jnp.float64
