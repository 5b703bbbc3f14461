"""Properties that a model infers are told by the names of their objects."""

import jax
import numpy as np
import pytest

from comotion.errors import BadInput


def test_inferred_properties_are_those_of_the_encoder_by_name(make_walks, make_fitted):
    data = make_walks(object_names=[["a", "b", "c"], ["c", "a", "d"]]).without("d")
    fitted = make_fitted(data, "I-NODE", properties="inferred", property_frames=8)
    frame = fitted.properties(data)
    pairs = list(zip(frame["sequence"], frame["object"], strict=True))
    assert pairs == [("0", "a"), ("0", "b"), ("0", "c"), ("1", "c"), ("1", "a")]
    belief = jax.vmap(fitted.model.encode)(fitted.excerpts(data)).properties
    np.testing.assert_allclose(frame["mean"][:3], belief.mean[0, :, 0], rtol=1e-5)
    np.testing.assert_allclose(frame["sd"][:3], np.abs(belief.factor[0, :, 0, 0]), rtol=1e-5)


def test_a_model_that_infers_nothing_says_so(fitted, make_walks):
    with pytest.raises(BadInput, match="infers no properties of objects: fit one with"):
        fitted.properties(make_walks())
