"""What TVM's packed functions that sort are given, as far as a call in a kernel tells that."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint.vm.sorting import Sorting, sorting_of

_KERNEL = """\
@T.prim_func(private=True, check_well_formed=False)
def f(a: T.handle, b: T.handle, c: T.handle, k: T.int32):
    n = T.int64()
    x = T.match_buffer(a, (n, 7), "float32")
    y = T.match_buffer(b, (n, 7), "float32")
    z = T.match_buffer(c, (n,), "int64")
    T.evaluate({call})
"""


def _array(name: str, shape: str = "n, 7", strides: str = "0", offset: str = "0") -> str:
    made = f"T.tvm_stack_make_shape({shape})"
    return f"T.tvm_stack_make_array({name}.data, {made}, {strides}, 2, T.float32(0), {offset})"


def _called(callee: str, *arguments: str, by: str = "T.call_packed") -> Any:
    return tvm.script.from_source(_KERNEL.format(call=f"{by}({', '.join((callee, *arguments))})")).body


def _found(callee: str, *arguments: str) -> Sorting | None:
    body = _called(f'"tvm.contrib.sort.{callee}"', *arguments)
    return sorting_of(_call_of(body))


def _call_of(body: Any) -> Any:
    """The call that is evaluated, behind the declarations of the buffers."""
    while type(body).__name__ != "Evaluate":
        body = body.seq[-1] if type(body).__name__ == "SeqStmt" else body.body
    return body.value


def _said(found: Sorting | None) -> tuple[Any, ...] | None:
    if found is None:
        return None
    results = tuple((one.array.buffer.name, one.indices) for one in found.results)
    return found.source.buffer.name, len(found.source.shape), found.axis, results, found.first


X, Y, Z = _array("x"), _array("y"), _array("z", "n")


@pytest.mark.parametrize(
    ("callee", "arguments", "expected"),
    [
        ("sort", (X, Y, "0", "T.bool(True)"), ("x", 2, 0, (("y", False),), None)),
        ("sort", (X, Y, "1"), ("x", 2, 1, (("y", False),), None)),
        ("argsort", (X, Y, "-1", "T.bool(True)"), ("x", 2, 1, (("y", True),), None)),
        ("argsort", (Y, X, "-2"), ("y", 2, 0, (("x", True),), None)),
        ("argsort", (X, Y, "2"), None),
        ("argsort", (X, Y, "-3"), None),
        ("argsort", (X, Y, "k"), None),
        ("argsort", (X, Y), None),
        ("argsort", (X, Z, "0"), None),
        ("argsort", (Z, Z, "0"), ("z", 1, 0, (("z", True),), None)),
        ("argsort", ("x.data", Y, "0"), None),
        ("argsort", (X, "y.data", "0"), None),
        ("argsort", ("k", Y, "0"), None),
        ("argsort", (_array("x", strides="1"), Y, "0"), None),
        ("argsort", (_array("x", strides="k"), Y, "0"), None),
        ("argsort", (_array("x", offset="4"), Y, "0"), None),
        ("argsort", (_array("x", offset="k"), Y, "0"), None),
        ("argsort_nms", (X, Y, "0", "0"), None),
        ("topk", (X, Y, Z, "3", "1", '"both"', "T.bool(False)"), None),
        ("topk", (X, Y, X, "3", "1", '"both"', "0"), ("x", 2, 1, (("y", False), ("x", True)), 3)),
        ("topk", (X, Y, X, "1", "-2", '"both"', "0"), ("x", 2, 0, (("y", False), ("x", True)), 1)),
        ("topk", (X, Y, X, "0", "1", '"both"', "0"), ("x", 2, 1, (("y", False), ("x", True)), None)),
        ("topk", (X, Y, X, "-1", "1", '"both"', "0"), ("x", 2, 1, (("y", False), ("x", True)), None)),
        ("topk", (X, Y, "3", "1", '"values"', "0"), ("x", 2, 1, (("y", False),), 3)),
        ("topk", (X, Y, "3", "1", '"indices"', "0"), ("x", 2, 1, (("y", True),), 3)),
        ("topk", (X, Y, "3", "1", '"neither"', "0"), None),
        ("topk", (X, Y, "k", "1", '"values"', "0"), None),
        ("topk", (X, Y, "3", "k", '"values"', "0"), None),
        ("topk", ("x.data", Y, "3", "1", '"values"', "0"), None),
        ("topk", (X, "y.data", "3", "1", '"values"', "0"), None),
        ("topk", (X, Y, "3", "1", '"both"', "0"), None),
        ("topk", (X, "3", "1", '"values"', "0"), None),
        ("topk", (X, "1", '"values"', "0"), None),
    ],
)
def test_what_is_sorted_into_what(
    callee: str, arguments: tuple[str, ...], expected: tuple[Any, ...] | None
) -> None:
    assert _said(_found(callee, *arguments)) == expected


def test_other_calls_sort_nothing() -> None:
    for by, callee in (
        ("T.call_extern", '"int32", "tvm.contrib.sort.argsort"'),
        ("T.call_packed", '"argsort"'),
    ):
        assert sorting_of(_call_of(_called(callee, X, Y, "0", by=by))) is None
    name = '"tvm.contrib.sort.argsort"'
    for by in ("T.tvm_call_packed", "T.call_packed", "T.call_cpacked"):
        found = sorting_of(_call_of(_called(name, X, Y, "0", by=by)))
        assert _said(found) == ("x", 2, 0, (("y", True),), None), by
