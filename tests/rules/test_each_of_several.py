"""Where several things of one kind are to be told, each is told."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.one_kernel import called_kernel
from tests.rules.test_internal_too_large import CUDA
from tests.rules.test_uses_before_definitions import module

T4 = 'R.Tensor((4,), "float32")'
KILLS = f"""
@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    k = R.const([1, 2, 3, 4], "float32")
    l = R.const([1, 2, 3, 5], "float32")
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    s2 = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    t2 = R.memory.alloc_tensor(s2, 0, R.shape([4]), "float32")
    n = R.null_value()
    n2 = R.null_value()
    _1 = R.vm.kill_object(k)
    _2 = R.vm.kill_object(l)
    _3 = R.memory.kill_tensor(t)
    _4 = R.memory.kill_tensor(t)
    _5 = R.memory.kill_tensor(t2)
    _6 = R.memory.kill_tensor(t2)
    _7 = R.vm.kill_object(n)
    _8 = R.vm.kill_object(n2)
    return x
"""


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("RLX201", {"_1": "always-wrong", "_2": "always-wrong", "_7": "always-fine", "_8": "always-fine"}),
        ("RLX202", {"_4": "always-wrong", "_6": "always-wrong"}),
        ("RLX207", {"s": "always-wrong", "s2": "always-wrong"}),
        ("RLX208", {"t": "always-wrong", "t2": "always-wrong"}),
    ],
)
def test_each_kill_and_each_allocation(rule: str, told: dict[str, str]) -> None:
    assert {one.binding: one.verdict.value for one in checks(parse(KILLS), rule)} == told


def test_each_use_before_a_definition() -> None:
    found = checks(module(("a", "c"), ("b", "d"), ("c", "x"), ("d", "x"), result="b"), "RLX204")
    assert [(one.verdict.value, one.binding) for one in found] == [
        ("always-wrong", "a"),
        ("always-wrong", "b"),
    ]


def test_each_buffer_of_a_kernel_that_nothing_has_written_or_reads() -> None:
    buffers = "".join(f'{name} = T.alloc_buffer((8,), "float32")\n' for name in "stuv")
    text = called_kernel(f"{buffers}y[0] = s[0] + t[1]\nu[0] = x[0]\nv[0] = x[0]")
    said = {code: [one.message for one in checks(parse(text), code)] for code in ("RLX311", "RLX313")}
    assert [any(f"`{name}" in message for message in said["RLX311"]) for name in "stuv"] == [
        True,
        True,
        False,
        False,
    ]
    assert [any(f"`{name}`" in message for message in said["RLX313"]) for name in "stuv"] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("named", [True, False])
def test_each_buffer_that_is_too_large_for_the_target(named: bool) -> None:
    """4,096 bytes of shared memory for a block, as the kernel says, or 32 KiB, as the user does."""
    extent = 1025 if named else 2**16
    text = f"""
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    {CUDA if named else "T.evaluate(0)"}
    x = T.match_buffer(a, (8,), "float32")
    y = T.match_buffer(b, (8,), "float32")
    t = T.launch_thread("threadIdx.x", 8)
    s = T.alloc_buffer(({extent},), "float32", scope="shared")
    u = T.alloc_buffer(({extent},), "float32", scope="shared")
    s[0] = T.float32(1)
    u[0] = T.float32(1)
    y[t] = x[t] + s[0] + u[0]

@R.function
def main(x: R.Tensor((8,), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((8,), "float32"))
    return y
"""
    found = checks(parse(text), "RLX314", **({} if named else {"target": "metal"}))
    assert [any(f"`{name}`" in one.message for one in found) for name in "su"] == [True, True]


BOTH = """
@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((T.int64(4),), "float32"), yh: T.handle):
    m = T.int64()
    y = T.match_buffer(yh, (m,), "float32")
    for i in range(m):
        y[i] = x[0]

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
    n = T.int64()
    r = R.call_tir_inplace(Module.both, (x,), inplace_indices=[0, -1], out_ty=[{}, {}])
    return r
"""


@pytest.mark.parametrize(
    ("given", "made", "rule", "told"),
    [
        # What is overwritten in place is not allocated.
        (T4, 'R.Tensor((n - 4,), "float32")', "RLX104", [("needs-runtime-check", "n >= 4")]),
        (
            'R.Tensor((n - 9,), "float32")',
            'R.Tensor((n - 4,), "float32")',
            "RLX104",
            [("needs-runtime-check", "n >= 4")],
        ),
        # Nobody would ask whether these are negative.
        (T4, 'R.Tensor((0,), "float32")', "RLX104", []),
        (T4, 'R.Tensor((3,), "float32")', "RLX104", []),
        (T4, 'R.Tensor((-1,), "float32")', "RLX104", [("always-wrong", None)]),
        # 4 bits are not allocated.
        (T4, 'R.Tensor((4,), "int4")', "RLX404", [("always-wrong", None)]),
        ('R.Tensor((4,), "int4")', T4, "RLX404", []),
    ],
)
def test_each_result_that_a_call_allocates(
    given: str, made: str, rule: str, told: list[tuple[str, str | None]]
) -> None:
    found = checks(parse(BOTH.format(given, made)), rule)
    assert [(one.verdict.value, one.safe_when) for one in found] == told
