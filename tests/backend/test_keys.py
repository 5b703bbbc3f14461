import jax
import numpy as np

from comotion.backend.keys import key_for


def test_a_fit_and_a_forecast_with_one_seed_share_no_key():
    drawn = [
        jax.random.key_data(jax.random.split(key_for(purpose, 3), 50))
        for purpose in ("fit", "forecast", "fields", "held out")
    ]
    every = np.concatenate([np.asarray(keys) for keys in drawn])
    assert len(np.unique(every, axis=0)) == len(every)
    np.testing.assert_array_equal(
        drawn[0], jax.random.key_data(jax.random.split(key_for("fit", 3), 50))
    )
