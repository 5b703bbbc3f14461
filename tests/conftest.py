import jax

import comotion._types  # noqa: F401  (turns on 64-bit types before any array is made)

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_disable_most_optimizations", True)
