import jax

import comotion._types  # noqa: F401  (turns on 64-bit types before any array is made)

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
# Most of the time would go into optimising programs that run once.
jax.config.update("jax_disable_most_optimizations", True)
