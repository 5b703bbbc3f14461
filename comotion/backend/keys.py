"""Seeds become keys here, at the border: whoever asks for another purpose gets other numbers."""

import zlib

import jax


def key_for(purpose: str, seed: int) -> jax.Array:
    """Of a fit and of a forecast with the same seed, for example, no two draws are the same."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(purpose.encode()))
