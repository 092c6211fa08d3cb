"""RLX101: an annotation may say more of a result than follows from what computes it, and nothing checks that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

# A page of the allocators: with both of them the storage holds that and no more.
LENGTH = 1024
DECLARED = f'R.Tensor(({LENGTH},), "float32")'
TWICE = """
@R.function(private=True)
def twice(x: R.Tensor(("n",), "float32")){declared}:
    n = T.int64()
    y{inner} = R.add(x, x)
    return y
"""
MAIN = """
@R.function
def main(x: R.Tensor(("n",), "float32"), q: R.Tensor((1,), "int64")):
    n = T.int64()
    {lines}
    storage = R.memory.alloc_storage(R.shape([4096]), 0, "global", "uint8")
    w = R.memory.alloc_tensor(storage, 0, p, "float32")
    return w
"""
DECLARED_BY_A_CALL = f'R.call_pure_packed("test.itself", x, ty_args={DECLARED})'
OF_ANY_LENGTH = 'R.call_pure_packed("test.itself", x, ty_args=R.Tensor(ndim=1, dtype="float32"))'
# The function before, how the result is computed with an annotation in the place of {}, where it fits.
FOLLOWS = {
    "operator": ("", "v{} = R.add(x, x)", "n <= 1024"),
    "copy of it": ("", "u{} = R.add(x, x); v = u", "n <= 1024"),
    "function": (TWICE.format(declared="", inner=""), "v{} = Module.twice(x)", "n <= 1024"),
    "in a function": (
        TWICE.format(declared="", inner=f": {DECLARED}"),
        "v{} = Module.twice(x)",
        "n <= 1024",
    ),
    "of a function": (
        TWICE.format(declared=f" -> {DECLARED}", inner=f": {DECLARED}"),
        "v{} = Module.twice(x)",
        "n <= 1024",
    ),
}
SPLIT = f"t: R.Tuple({DECLARED}, {DECLARED}) = R.split(x, 2); v = t[0]"


def module_of(before: str, lines: str) -> Any:
    return parse(before + MAIN.format(lines=lines.replace("; ", "\n    ")))


def fits(module: Any) -> Check:
    (check,) = checks(module, "RLX101")
    return check


def runs(module: Any, length: int) -> bool:
    """Whether a run with so many elements, and that number as the element of `q`, comes to its end."""
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = [np.ones(length, "float32"), np.array([length], "int64")]
    try:
        machine["main"](*map(tvm.runtime.tensor, given))
    except Exception as error:
        if "storage allocation failure" in str(error):
            return False
        raise
    return True


@pytest.mark.vm
@pytest.mark.parametrize("name", [*FOLLOWS, "fields"])
def test_the_type_that_follows_counts(name: str) -> None:
    before, lines, region = FOLLOWS.get(name, ("", SPLIT, "n <= 2048"))
    module = module_of(before, lines.format(f": {DECLARED}") + "; p = R.shape_of(v)")
    check = fits(module)
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", region)
    last = int(region.split()[-1])
    assert [runs(module, last), runs(module, last + 2)] == [True, False]


@pytest.mark.vm
@pytest.mark.parametrize(
    "lines",
    [
        f"p: R.Shape([{LENGTH}]) = R.tensor_to_shape(q)",
        f"v = {DECLARED_BY_A_CALL}; p = R.shape_of(v)",
        f"u = {DECLARED_BY_A_CALL}; v = u; p: R.Shape([{LENGTH}]) = R.shape_of(v)",
    ],
)
def test_what_is_only_declared_decides_nothing(lines: str) -> None:
    tvm.register_global_func("test.itself", lambda value: value, override=True)
    module = module_of("", lines)
    check = fits(module)
    assert (check.verdict.value, check.undecided) == ("needs-runtime-check", True)
    assert [runs(module, LENGTH), runs(module, LENGTH + 1)] == [True, False]


@pytest.mark.parametrize("first", [f"u = {DECLARED_BY_A_CALL}", f"u: {DECLARED} = R.add(x, x)"])
def test_what_is_computed_of_what_is_only_declared(first: str) -> None:
    assert fits(module_of("", f"{first}; v = R.multiply(u, u); p = R.shape_of(v)")).undecided


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("", f"y = R.match_cast(x, {DECLARED}); v{{}} = R.add(y, y)"),
        (TWICE.format(declared="", inner=""), f"y = R.match_cast(x, {DECLARED}); v{{}} = Module.twice(y)"),
        ("", "e = R.tensor_to_shape(q); p = R.match_cast(e, R.Shape([k])); R.assert_op(k <= 1024)"),
        ("", f"u = {OF_ANY_LENGTH}; v = R.match_cast(u, R.Tensor((k,), 'float32')); R.assert_op(k <= 1024)"),
    ],
)
@pytest.mark.parametrize("annotation", ["", f": {DECLARED}"])
def test_what_follows_or_is_checked_fits(before: str, lines: str, annotation: str) -> None:
    lines = lines.format(annotation) + ("" if "p = " in lines else "; p = R.shape_of(v)")
    assert fits(module_of(before, "k = T.int64(); " + lines)).verdict.value == "always-fine"
