"""A model file gives back the model it was made from."""

import numpy as np
import pytest

from comotion.data import BadInput
from comotion.predict import load


def test_a_model_with_every_kind_of_part_comes_back_bit_for_bit(make_fitted, make_walks, tmp_path):
    push = {"controls": np.ones((2, 8, 3, 1)), "control_names": ["push"]}
    data = make_walks(**push, scale=100.0)
    fitted = make_fitted(
        data,
        "I-NODE/with-globals",
        scaling="units",
        accumulation="weighted",
        decoder="mlp",
        latent=6,
        nearest=1,
        property_count=2,
    )
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.shape == fitted.shape
    assert again.config == fitted.config
    assert fitted.predict(data, draws=2).identical(again.predict(data, draws=2))


def test_a_file_whose_weights_were_changed_is_refused(fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 + len(content) // 3] ^= 16
    path.write_bytes(bytes(content))
    with pytest.raises(BadInput, match="damaged or not a comotion file"):
        load(path)


def test_a_path_may_be_text(fitted, tmp_path):
    fitted.save(str(tmp_path / "model.safetensors"))
    assert load(str(tmp_path / "model.safetensors")).config == fitted.config
