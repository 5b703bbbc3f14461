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

Importing this module, and with it any room that computes, sets up JAX (`backend.processor`).
"""

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from jaxtyping import Key as KeyOfShape

from comotion.backend import processor

processor.prepare()

Key = PRNGKeyArray
Keys = KeyOfShape[Array, "..."]
FAST = jnp.float32
EXACT = jnp.float64
