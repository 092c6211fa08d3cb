"""RLX404, RLX203: kernels access a byte for each lane of a dtype of less than a byte, wherever the VM counts bits."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest

from relax_lint.replay import Machine, Module, Tensor
from tests.guarded import guarded_machine
from tests.rules.checking import checks, parse

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
FILL = """
@T.prim_func(private=True)
def fill(t: T.Buffer(({count},), "{dtype}")):
    for i in range({count}):
        t[i] = {one}
"""
MAIN = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")
    {made}
    w = Module.fill(t)
    return x
"""
TENSOR = 't = R.memory.alloc_tensor(s, 0, R.shape([{count}]), "{dtype}")'
VIEW = """b = R.memory.alloc_tensor(s, 0, R.shape([{size}]), "uint8")
    t = R.memory.view(b, R.shape([{count}]), R.dtype("{dtype}"), R.prim_value(0))"""
RESULT = 't = R.call_tir(Module.fill, (), R.Tensor(({count},), "{dtype}"))'


def _program(made: str, dtype: str, count: int, size: int) -> str:
    base, _, lanes = dtype.partition("x")
    one = f'T.Cast("{base}", 1)'
    one = f"T.Broadcast({one}, {lanes})" if lanes else one
    made = made.format(count=count, dtype=dtype, size=size)
    return FILL.format(count=count, dtype=dtype, one=one) + MAIN.format(size=size, made=made)


CASES = [
    # The last element begins as many bytes behind the first as lanes precede it, and is packed itself.
    (TENSOR, "uint1x8", 5, 33, "always-fine"),
    (TENSOR, "uint1x8", 5, 32, "always-wrong"),
    (TENSOR, "uint1x8", 5, 5, "always-wrong"),
    (TENSOR, "uint1x2", 4, 7, "always-fine"),
    (TENSOR, "uint1x2", 4, 6, "always-wrong"),
    (TENSOR, "uint1x16", 3, 34, "always-fine"),
    (TENSOR, "uint1x16", 3, 33, "always-wrong"),
    (TENSOR, "uint1x16", 1, 2, "always-fine"),
    (VIEW, "uint1x8", 5, 33, "always-fine"),
    (VIEW, "uint1x8", 5, 32, "needs-runtime-check"),
    (VIEW, "int4x2", 4, 7, "always-fine"),
    (VIEW, "int4x2", 4, 6, "needs-runtime-check"),
    (VIEW, "uint1", 16, 16, "always-fine"),
    # Memory planning gives whole bytes to the bits of each element.
    (RESULT, "uint1x8", 5, 1, "needs-runtime-check"),
    (RESULT, "uint1x8", 1, 1, "always-fine"),
    (RESULT, "uint1x2", 4, 1, "needs-runtime-check"),
]


def _told(made: str, dtype: str, count: int, size: int) -> list[str]:
    found = checks(parse(_program(made, dtype, count, size)), "RLX404")
    return [check.verdict.value for check in found if check.binding == "t"]


@pytest.mark.parametrize(("made", "dtype", "count", "size", "said"), CASES)
def test_there_is_a_byte_for_each_lane(made: str, dtype: str, count: int, size: int, said: str) -> None:
    assert _told(made, dtype, count, size)[-1] == said


@pytest.fixture
def guarded() -> Iterator[Machine]:
    yield from guarded_machine()


@pytest.mark.vm
def test_the_compiled_kernel_takes_them(guarded: Machine) -> None:
    """Of the last element less than a byte per lane: `33` is enough for 5 of 8 lanes."""
    for made, dtype, count, size, said in (CASES[0], CASES[3], CASES[8], CASES[10], CASES[1]):
        text = HEAD + indent(_program(made, dtype, count, size), "    ")
        result = guarded.run(Module(text), "main", [Tensor("float32", (1,))], allocator="naive")
        assert (result.damage is None) is (said == "always-fine"), (dtype, count, size, result)


BESIDE = """
@T.prim_func(private=True)
def ones(t: T.Buffer((16,), "uint1")):
    for i in range(16):
        t[i] = T.Cast("uint1", 1)

@T.prim_func(private=True)
def sevens(p: T.handle):
    t = T.match_buffer(p, (4,), "int8", elem_offset=T.int64())
    for i in range(4):
        t[i] = T.int8(7)

@T.prim_func(private=True)
def copied(p: T.handle, t: T.Buffer((4,), "int8")):
    a = T.match_buffer(p, (4,), "int8", elem_offset=T.int64())
    for i in range(4):
        t[i] = a[i]

@R.function(pure=False)
def main():
    s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([16]), "uint1")
    b = R.memory.alloc_tensor(s, {at}, R.shape([4]), "int8")
    w = Module.sevens(b)
    w1 = {writer}
    y = R.call_tir(Module.copied, (b,), R.Tensor((4,), "int8"))
    return y
"""


@pytest.mark.parametrize(
    ("at", "writer", "said"),
    [
        # The VM counts 2 bytes for `t`, and 16 are written.
        (2, "Module.ones(t)", "always-wrong"),
        (15, "Module.ones(t)", "always-wrong"),
        (16, "Module.ones(t)", "always-fine"),
        # Somebody else may count as the VM does.
        (2, 'R.call_packed("unknown", t, ty_args=R.Tuple([]))', "needs-runtime-check"),
        (0, "Module.ones(t)", "always-wrong"),
    ],
)
def test_what_lies_behind_the_bits_is_written_over(at: int, writer: str, said: str) -> None:
    found = checks(parse(BESIDE.format(at=at, writer=writer)), "RLX203")
    assert [check.verdict.value for check in found if check.binding == "w1"] == [said]


@pytest.mark.vm
@pytest.mark.parametrize(("at", "values"), [(2, (1, 1, 1, 1)), (15, (1, 7, 7, 7)), (16, (7, 7, 7, 7))])
def test_the_compiled_kernel_writes_over_it(at: int, values: tuple[int, ...]) -> None:
    text = HEAD + indent(BESIDE.format(at=at, writer="Module.ones(t)"), "    ")
    with Machine() as machine:
        result = machine.run(Module(text), "main", [], allocator="naive")
    assert result.outputs[0].values == values


VIEWED = """
@T.prim_func(private=True)
def bits(y: T.Buffer((8,), "{whole}")):
    z = T.decl_buffer(({count},), "{dtype}", data=y.data)
    for i in range({count}):
        z[i] = T.Cast("{dtype}", 1)

@R.function(pure=False)
def main():
    s = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([8]), "{whole}")
    w = Module.bits(t)
    return t
"""


@pytest.mark.parametrize(
    ("whole", "dtype", "count", "said"),
    [
        # On a CPU each takes a byte.
        ("int8", "int4", 16, "needs-runtime-check"),
        ("uint8", "uint1", 64, "needs-runtime-check"),
        ("int8", "uint8", 8, "always-fine"),
        ("int8", "int16", 4, "always-fine"),
        ("int8", "int16", 5, "always-wrong"),
        ("uint1", "uint1", 8, "always-fine"),
        ("uint1", "uint1", 9, "always-wrong"),
    ],
)
def test_a_kernel_shows_bytes_as_bits(whole: str, dtype: str, count: int, said: str) -> None:
    found = checks(parse(VIEWED.format(whole=whole, dtype=dtype, count=count)), "RLX306")
    assert [check.verdict.value for check in found] == ([] if said == "always-fine" else [said])


@pytest.mark.vm
@pytest.mark.parametrize(
    ("whole", "dtype", "count", "is_inside"),
    [("int8", "int4", 16, False), ("int8", "int16", 4, True)],
)
def test_the_compiled_kernel_takes_a_byte_for_few_bits(
    guarded: Machine, whole: str, dtype: str, count: int, *, is_inside: bool
) -> None:
    text = HEAD + indent(VIEWED.format(whole=whole, dtype=dtype, count=count), "    ")
    result = guarded.run(Module(text), "main", [], allocator="naive")
    assert (result.damage is None) is is_inside
