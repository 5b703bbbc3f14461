import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from safetensors import safe_open
from safetensors.numpy import save

from comotion.errors import BadInput
from comotion.predict import checkpoint


class Part(eqx.Module):
    weight: Array
    name: str = eqx.field(static=True)


def some_tree(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "parts": (
            Part(jnp.asarray(rng.normal(size=(3, 2)), jnp.float32), "one"),
            Part(jnp.asarray(rng.normal(size=()), jnp.float64), "two"),
        ),
        "empty": jnp.zeros((0, 4)),
        "count": jnp.asarray(3),
        "activation": jax.nn.relu,
    }


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "deep" / "model.safetensors"
    checkpoint.write(file, some_tree(), {"run": {"seed": 1}, "radius": float("inf")})
    return file


def refused(path):
    with pytest.raises(BadInput) as error:
        checkpoint.read(path)
    assert str(path) in str(error.value)
    return str(error.value)


def test_what_is_written_comes_back_bit_for_bit(path):
    arrays, header = checkpoint.read(path)
    assert header == {"run": {"seed": 1}, "radius": float("inf")}
    restored = checkpoint.restore(some_tree(seed=1), arrays, path)
    assert eqx.tree_equal(restored, some_tree(), typematch=True)


def test_arrays_are_named_by_their_path(path):
    arrays, _ = checkpoint.read(path)
    assert sorted(arrays) == ["count", "empty", "parts.0.weight", "parts.1.weight"]


def test_the_file_says_which_versions_wrote_it(path):
    with safe_open(path, framework="numpy") as file:
        assert json.loads(file.metadata()["comotion"])["versions"].keys() == {
            "comotion",
            "jax",
            "equinox",
        }


def test_nothing_is_left_beside_the_file(path):
    assert [file.name for file in path.parent.iterdir()] == ["model.safetensors"]


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "there is no such file; check the path" in refused(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_damaged(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "damaged or not a comotion file" in refused(path)
    assert "use another copy" in refused(path)


def test_a_flipped_bit_never_gives_another_model(path):
    """Either the file is refused, or what it says is untouched (the versions are only a note)."""
    content = path.read_bytes()
    arrays, header = checkpoint.read(path)
    refusals = 0
    for position in range(len(content)):
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
        )
        try:
            found, found_header = checkpoint.read(path)
        except BadInput:
            refusals += 1
            continue
        assert found_header == header
        assert {name: (a.dtype, a.tobytes()) for name, a in found.items()} == {
            name: (a.dtype, a.tobytes()) for name, a in arrays.items()
        }
    assert refusals > 0.8 * len(content)


def test_a_flipped_bit_in_the_weights_is_found_by_the_checksum(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(bytes(content))
    assert "its checksum does not match its content" in refused(path)


def test_somebody_else_s_safetensors_are_not_a_model(tmp_path):
    for metadata in (None, {"format": "pt"}):
        file = tmp_path / "other.safetensors"
        file.write_bytes(save({"w": np.zeros(3)}, metadata))
        assert "not a file comotion wrote; give a model saved by comotion" in refused(file)


def test_text_is_not_a_model(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("balls bounce " * 20)
    assert "damaged or not a comotion file" in refused(file)


def test_a_file_of_the_future_asks_for_an_upgrade(tmp_path):
    file = tmp_path / "future.safetensors"
    about = {"format": 2, "header": {}, "checksum": ""}
    file.write_bytes(save({"w": np.zeros(3)}, {"comotion": json.dumps(about)}))
    assert "written in file format 2, but this version of comotion reads up to 1" in refused(file)
    assert "upgrade comotion" in refused(file)


@pytest.mark.parametrize(
    "about",
    [
        "[]",
        "7",
        "[" * 100_000,
        "9" * 5000,
        '{"format": "new", "header": {}, "checksum": ""}',
        '{"format": null, "header": {}, "checksum": ""}',
        '{"format": 1, "header": [], "checksum": 3}',
        '{"format": 1, "header": {}, "checksum": 3}',
    ],
)
def test_a_header_of_any_content_is_refused_in_a_sentence(tmp_path, about):
    file = tmp_path / "odd.safetensors"
    file.write_bytes(save({"w": np.zeros(3)}, {"comotion": about}))
    assert "damaged or not a comotion file" in refused(file)


def test_weights_of_another_shape_or_type_are_not_forced_in(path):
    arrays, _ = checkpoint.read(path)
    name = "parts.0.weight"
    for other, sentence in (
        (np.zeros((4, 2), np.float32), f"{name} is float32 of shape \\(4, 2\\), not float32 of"),
        (np.zeros((3, 2), np.float64), f"{name} is float64 of shape \\(3, 2\\), not float32 of"),
    ):
        with pytest.raises(BadInput, match=sentence):
            checkpoint.restore(some_tree(), {**arrays, name: other}, path)


def test_weights_that_are_missing_or_left_over_are_named(path):
    arrays, _ = checkpoint.read(path)
    with pytest.raises(BadInput, match=r"another version .* for example at extra"):
        checkpoint.restore(some_tree(), {**arrays, "extra": np.zeros(1)}, path)
    del arrays["parts.1.weight"]
    with pytest.raises(BadInput, match=r"for example at parts\.1\.weight"):
        checkpoint.restore(some_tree(), arrays, path)
