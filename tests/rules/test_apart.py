"""RLX203 on storages with several tensors: what lies apart is told at once, what meets is told one by one."""

from __future__ import annotations

from typing import Any

from relax_lint.output.summary import summarise
from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

COPY = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
"""
PLACED = '{name} = R.memory.alloc_tensor(storage, R.prim_value({at}), R.shape([4]), R.dtype("float32"))'


def module(*lines: str) -> Any:
    """A function that puts tensors on a storage of 80 bytes."""
    head = ["@R.function(pure=False)", 'def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):']
    body = [
        "cls = Module",
        'storage = R.memory.alloc_storage(R.shape([80]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
        *lines,
    ]
    return parse(COPY + "\n".join([*head, *(f"    {line}" for line in body)]) + "\n")


def placed(**offsets: int) -> list[str]:
    """Tensors at these offsets, each filled when it is allocated."""
    found = []
    for name, at in offsets.items():
        found += [PLACED.format(name=name, at=at), f"_{name} = cls.copy(x, {name})"]
    return found


def said(found: list[Check]) -> list[tuple[str | None, str, int]]:
    """The binding, the verdict and the number of questions of each check."""
    return [(check.binding, check.verdict.value, check.count) for check in found]


def test_what_lies_apart_is_one_check_for_each_write() -> None:
    found = checks(module(*placed(a=0, b=16, c1=32, d=48), "return (a, b, c1, d)"), "RLX203")
    assert said(found) == [("_b", "always-fine", 1), ("_c1", "always-fine", 2), ("_d", "always-fine", 3)]
    assert [check.message for check in found] == [
        "`b` does not overwrite `a`",
        "`c1` overwrites none of 2 tensors on its storage that are used later",
        "`d` overwrites none of 3 tensors on its storage that are used later",
    ]
    assert summarise(found).all.always_fine == 6


def test_what_meets_among_them_is_found() -> None:
    found = checks(module(*placed(a=0, b=16, c1=32, d=24), "return (a, b, c1, d)"), "RLX203")
    wrong = [check.message for check in found if check.verdict.value == "always-wrong"]
    assert [text.partition(",")[0] for text in wrong] == [
        "`d` is written over `b`",
        "`d` is written over `c1`",
    ]
    assert ("_d", "always-fine", 1) in said(found)


def test_what_is_not_used_later_is_left_out() -> None:
    found = checks(module(*placed(a=0, b=16, c1=32, d=0, e=48), "return (b, d, e)"), "RLX203")
    assert [(binding, count) for binding, _, count in said(found)] == [
        ("_c1", 1),
        ("_d", 1),
        ("_e", 2),
        ("b", 1),
    ]


def test_a_tensor_that_is_read_in_part_is_looked_at_alone() -> None:
    view = 'v = R.memory.view(a, R.shape([2]), R.dtype("float32"), R.prim_value(8))'
    found = checks(module(*placed(a=0), view, *placed(b=32, c1=48, d=8), "return (v, b, c1, d)"), "RLX203")
    assert ("_d", "always-wrong", 1) in said(found)
    found = checks(module(*placed(a=8), view, *placed(b=32, c1=48, d=0), "return (v, b, c1, d)"), "RLX203")
    assert all(verdict == "always-fine" for _, verdict, _ in said(found))


def test_each_branch_has_its_own() -> None:
    lines = placed(a=0, b=16, c1=32)
    inner = [f"    {line}" for line in placed(d=8)]
    body = [*lines, "if c:", *inner, "    r = d", "else:", "    r = x", "return (a, b, c1, r)"]
    wrong = [check for check in checks(module(*body), "RLX203") if check.verdict.value == "always-wrong"]
    assert [check.binding for check in wrong] == ["_d", "_d"]


def test_a_record_holds_each_of_them() -> None:
    found = checks(module(*placed(a=0, b=16, c1=32), "return (a, b, c1)"), "RLX203", proofs=True)
    record = found[-1].proof_record
    assert record is not None
    assert [claim.terms["start of `c1`"] for claim in record.claims] == ["32"]
    assert {"start of `a`", "start of `b`"} <= record.claims[0].terms.keys()
