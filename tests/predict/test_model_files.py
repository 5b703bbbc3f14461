"""A model file gives back the model it was made from."""

import json

import numpy as np
import pytest
from safetensors.numpy import save

from comotion.data import BadInput
from comotion.predict import checkpoint, load


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


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    """The arrays and the header of a model file, to be written again with changes."""
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    fitted.save(path)
    return checkpoint.read(path)


def rewritten(path, arrays, header) -> None:
    """With the right checksum: somebody meant it."""
    about = {"format": 1, "versions": {}, "header": header}
    checksum = checkpoint._checksum(arrays, header)
    path.write_bytes(save(arrays, {checkpoint.ENTRY: json.dumps(about | {"checksum": checksum})}))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["model", "scaling", "summary"])
def test_a_model_whose_numbers_are_not_finite_is_refused(saved, tmp_path, where, number):
    arrays, header = saved
    name = next(n for n, a in arrays.items() if n.startswith(where) and a.dtype.kind == "f")
    odd = arrays[name].copy()
    odd[(0,) * odd.ndim] = number
    path = tmp_path / "model.safetensors"
    rewritten(path, arrays | {name: odd}, header)
    with pytest.raises(BadInput, match=f"{name} holds numbers that are not finite"):
        load(path)


CHANGES = {
    "leads": [-1, 10**15, "3", None, 2.5],
    "shape": [None, [], {}, {"step": -1.0}, {"step": float("nan")}, {"objects": "three"}],
    "run": [None, {"system": {"order": 3}}, {"system": {"inducing_alone": 10**30}}],
    "contacts": [{}, {"planes": 10**12}, [1], "walls"],
    "stretch": [{"factors": [float("nan")]}, 7],
    "findings": [{"skill": 3}, []],
}


@pytest.mark.parametrize(
    ("part", "value"), [(part, value) for part, values in CHANGES.items() for value in values]
)
def test_a_header_that_means_no_model_is_refused_in_a_sentence(saved, tmp_path, part, value):
    """Parts of a table are changed one by one, everything else is replaced."""
    arrays, header = saved
    whole = isinstance(value, dict) and isinstance(header.get(part), dict)
    changed = {**header[part], **value} if whole and value else value
    path = tmp_path / "model.safetensors"
    rewritten(path, arrays, header | {part: changed})
    with pytest.raises(BadInput, match=r"model\.safetensors"):
        load(path)


@pytest.mark.parametrize("part", ["run", "shape", "leads"])
def test_a_header_that_lacks_a_part_is_refused(saved, tmp_path, part):
    arrays, header = saved
    path = tmp_path / "model.safetensors"
    rewritten(path, arrays, {name: value for name, value in header.items() if name != part})
    with pytest.raises(BadInput, match=r"damaged or not a comotion file"):
        load(path)
