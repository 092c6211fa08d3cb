"""RLX404: kernels write a byte for each element of `uint1`, and the VM counts an eighth of that: which storages have room."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint import fix
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True)
def fill(t_: T.handle):
    m = T.int64()
    t = T.match_buffer(t_, (m,), "uint1")
    for i in range(m):
        t[i] = T.Cast("uint1", i % 2)

@T.prim_func(private=True)
def touch(t_: T.handle):
    m = T.int64()
    t = T.match_buffer(t_, (m,), "uint1")
    t[0] = T.Cast("uint1", 1)

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), shape: R.Shape(ndim=1), size: R.Shape(ndim=1), k: R.Prim("float32")):
    n = T.int64()
    at = R.call_packed("where", ty_args=[R.Prim("int64")])
    given = R.call_packed("storage", ty_args=[R.Object])
    own = R.memory.alloc_storage({size}, 0, "global", "uint8")
    t = R.memory.alloc_tensor({storage}, {at}, {shape}, "uint1"){more}
    return t
"""
FILLED = "\n    u = t\n    k0 = Module.fill(u)"


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
    module = parse(PROGRAM.format(size=size, storage=storage, at=at, shape=shape, more=FILLED))
    allocated, room = checks(module, "RLX404")
    assert allocated.verdict.value == "always-fine"
    assert (room.verdict.value, room.safe_when) == said


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("", "needs-runtime-check"),
        ("\n    k0 = Module.touch(t)", "needs-runtime-check"),
        ("\n    k0 = Module.fill(t)", "always-wrong"),
    ],
)
def test_what_no_kernel_fills_may_be_left_as_it_is(more: str, verdict: str) -> None:
    """Then a check of the room refuses what works: it is no safe fix."""

    def module(shape: str) -> Any:
        return parse(PROGRAM.format(size="R.shape([16])", storage="own", at="0", shape=shape, more=more))

    assert checks(module("R.shape([17])"), "RLX404")[1].verdict.value == verdict
    mixed = module("R.shape([n])")
    assert (fix(mixed, Config(select=("RLX404",))) is mixed) is (verdict != "always-wrong")
    assert fix(mixed, Config(select=("RLX404",)), unsafe=True) is not mixed
