"""RLX203 for what a branch chooses among tensors at different bytes of one storage, with runs of both branches."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse
from tests.rules.four_elements import T4

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def double(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i] * T.float32(2)
"""
ALLOCATED = '{} = R.memory.alloc_tensor(s, R.prim_value({}), R.shape([4]), R.dtype("float32"))'
FUNCTION = """
@R.function(pure=False)
def {name}(x: T4, y: T4, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = A
    b = B
    t = {t}
    {before}
    if c:
        r = {yes}
    else:
        r = {no}
    {after}
    z = R.call_tir(Module.double, ({read},), T4)
    return z
"""
FILLED = "k1 = Module.double(x, a)\n    k2 = Module.double(x, b)"
READ = ("r", FILLED, "w = Module.double(y, t)")
WRITTEN = ("t", "k1 = Module.double(x, t)", "w = Module.double(y, r)")
AT = (0, 8, 56, 64, 128)
WAYS = {
    "as they are": ("a", "b"),
    "the other way": ("b", "a"),
    "a part of one": ("R.memory.view(a, R.shape([4]))", "b"),
}
CASES = list(product(("read", "written"), AT, WAYS))


def functions() -> str:
    """All programs, by number."""
    made = KERNEL
    for number, (what, at, way) in enumerate(CASES):
        read, before, after = READ if what == "read" else WRITTEN
        yes, no = WAYS[way]
        made += FUNCTION.format(
            name=f"f{number}",
            t=ALLOCATED.format("", at).removeprefix(" = "),
            before=before,
            after=after,
            yes=yes,
            no=no,
            read=read,
        )
    for name, at in (("A", 0), ("B", 64)):
        made = made.replace(f"= {name}\n", ALLOCATED.format("", at) + "\n")
    return made.replace("=  =", "=").replace("T4", T4)


@cache
def machine() -> relax.VirtualMachine:
    """All programs."""
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def said() -> list[Check]:
    """What is said of each write."""
    return [check for check in checks(parse(functions()), "RLX203") if check.binding in ("k1", "k2", "w")]


def _is_right(number: int, condition: bool) -> bool:
    x, y = np.arange(4, dtype="float32") + 1, np.full(4, 50, "float32")
    given = map(tvm.runtime.tensor, (x, y, np.array(condition)))
    return bool((machine()[f"f{number}"](*given).numpy() == 4 * x).all())


@pytest.mark.vm
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: "-".join(map(str, CASES[number])))
def test_what_is_read_or_written_is_each_of_the_tensors(number: int) -> None:
    what, at, way = CASES[number]
    runs = [_is_right(number, condition) for condition in (True, False)]
    meets = [
        at < start + 16 and start < at + 16 for start in ((64, 0) if way == "the other way" else (0, 64))
    ]
    assert runs == [not one for one in meets]
    found = [check for check in said() if check.function == f"f{number}"]
    told = [check.message for check in found if check.verdict.value != "always-fine"]
    if what == "read":
        names = [name for name, start in (("a", 0), ("b", 64)) if at < start + 16 and start < at + 16]
        assert told == [f"`t` is written over `{name}`, which `double` still reads" for name in names]
    else:
        assert told == ["`r` is written over `t`, which `double` still reads"] * any(meets)
    for check in found:
        if check.message in told:
            said_of_it = check.verdict.value, check.proof
            assert said_of_it == ("needs-runtime-check", "which tensor it is depends on the branch taken")
