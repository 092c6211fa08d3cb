"""RLX404: kernels write a byte for each element of `uint1`, and the VM counts an eighth of that: which storages have room."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), shape: R.Shape(ndim=1), size: R.Shape(ndim=1), k: R.Prim("float32")):
    n = T.int64()
    at = R.call_packed("where", ty_args=[R.Prim("int64")])
    given = R.call_packed("storage", ty_args=[R.Object])
    own = R.memory.alloc_storage({size}, 0, "global", "uint8")
    t = R.memory.alloc_tensor({storage}, {at}, {shape}, "uint1")
    return t
"""


@pytest.mark.parametrize(
    ("size", "storage", "at", "shape", "said"),
    [
        ("R.shape([16])", "own", "0", "R.shape([16])", ("always-fine", None)),
        ("R.shape([16])", "own", "0", "R.shape([17])", ("always-wrong", None)),
        ("R.shape([16])", "own", "1", "R.shape([16])", ("always-wrong", None)),
        ("R.shape([17])", "own", "1", "R.shape([16])", ("always-fine", None)),
        ("R.shape([n])", "own", "2", "R.shape([16])", ("needs-runtime-check", "n >= 18")),
        ("R.shape([16])", "own", "0", "R.shape([n])", ("needs-runtime-check", "n <= 16")),
        # What is not known may be anything.
        ("R.shape([16])", "own", "0", "shape", ("needs-runtime-check", None)),
        ("R.shape([16])", "own", "at", "R.shape([16])", ("needs-runtime-check", "at <= 0")),
        ("R.shape([16])", "own", "k", "R.shape([16])", ("needs-runtime-check", None)),
        ("R.shape([16])", "given", "0", "R.shape([16])", ("needs-runtime-check", None)),
        ("size", "own", "0", "R.shape([16])", ("needs-runtime-check", None)),
    ],
)
def test_a_storage_has_room_for_a_byte_for_each_element(
    size: str, storage: str, at: str, shape: str, said: tuple[str, str | None]
) -> None:
    module = parse(PROGRAM.format(size=size, storage=storage, at=at, shape=shape))
    allocated, room = checks(module, "RLX404")
    assert allocated.verdict.value == "always-fine"
    assert (room.verdict.value, room.safe_when) == said
