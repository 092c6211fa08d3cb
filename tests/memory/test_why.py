"""Why a function needs what it needs: figures that the changed program confirms."""

from __future__ import annotations

from typing import Any

from tests.memory.conftest import Memory
from tests.memory.programs import HEADER
from tests.report_schema import report_validator

# `s` is needed by `a` only, `s1` by `b` and `c`; `a` is dead when `b` is made. `twice` works in place as well.
PROGRAM = (
    HEADER
    + """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(p: T.handle, q: T.handle):
        n = T.int64()
        x = T.match_buffer(p, (n,), "float32")
        y = T.match_buffer(q, (n,), "float32")
        for i in T.serial(n):
            y[i] = x[i] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 2048}})
        n = T.int64()
        cls = Module
        s = R.memory.alloc_storage(R.shape([8192]), 0, "global", "uint8")
        s1 = R.memory.alloc_storage(R.shape([20000]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
        _ = cls.twice(x, a)
        b = R.memory.alloc_tensor(s1, 0, R.shape([n]), "float32")
        _1 = cls.twice(x, b)
        c = R.memory.alloc_tensor(s1, 8192, R.shape([n]), "float32")
        _2 = cls.twice(b, c)
        return c
"""
)


def _why(memory: Memory, program: str, *options: str) -> dict[str, Any]:
    found = memory(program, "--output-format", "json", *options).report
    report_validator().validate(found)
    return dict(found["memory"][0]["why"])


def test_the_largest_tensors_where_most_is_needed(memory: Memory) -> None:
    why = _why(memory, PROGRAM)
    assert (why["at"], why["needed"], why["number"]) == ({"n": 2048}, 16384, 2)
    assert [(t["name"], t["operator"], t["shape"], t["dtype"], t["bytes"]) for t in why["tensors"]] == [
        ("b", "twice", "(n,)", "float32", 8192),
        ("c", "twice", "(n,)", "float32", 8192),
    ]
    lines = PROGRAM.splitlines()
    assert [lines[t["line"] - 1].strip() for t in why["tensors"]] == [
        "_1 = cls.twice(x, b)",
        "_2 = cls.twice(b, c)",
    ]
    text = memory(PROGRAM).out
    assert "8,192 bytes (8 KiB): `b` of `twice`, (n,) float32, line 24\n" in text


def test_two_storages_that_are_never_used_together(memory: Memory) -> None:
    changes = {change["kind"]: change for change in _why(memory, PROGRAM)["changes"]}
    shared = changes["storage"]
    assert shared["saves"] == 8192
    assert "`s` and `s1` are never used at the same time" in shared["text"]
    together = PROGRAM.replace("alloc_tensor(s, 0", "alloc_tensor(s1, 0").replace(
        '        s = R.memory.alloc_storage(R.shape([8192]), 0, "global", "uint8")\n', ""
    )
    (before, after) = (_why(memory, each)["planned"] for each in (PROGRAM, together))
    assert before - after == shared["saves"]
    assert f"{after:,} bytes" in shared["text"]


def test_a_call_that_could_overwrite_its_input(memory: Memory) -> None:
    changes = {change["kind"]: change for change in _why(memory, PROGRAM)["changes"]}
    assert changes["in place"]["saves"] == 8192
    assert changes["in place"]["text"].startswith("`twice`, line 26 over its input `b`")
    # `b` is needed after the call: it cannot be overwritten.
    needed = PROGRAM.replace("        return c\n", "        _3 = cls.twice(b, x)\n        return c\n")
    assert "in place" not in {change["kind"] for change in _why(memory, needed)["changes"]}


def test_half_a_bound_and_the_change_that_saves_most_comes_first(memory: Memory) -> None:
    changes = _why(memory, PROGRAM)["changes"]
    assert [change["saves"] for change in changes] == sorted((c["saves"] for c in changes), reverse=True)
    (bound,) = (change for change in changes if change["kind"] == "bound")
    assert bound["saves"] == 8192
    half = PROGRAM.replace('{"n": 2048}', '{"n": 1024}')
    assert _why(memory, half)["needed"] == 16384 - bound["saves"]


def test_memory_that_is_planned_for_a_bound(memory: Memory) -> None:
    (remark,) = _why(memory, PROGRAM, "--bind", "n=16")["remarks"]
    assert remark.startswith("planned for the declared bound n <= 2048, not for your input: at n = 16 ")
    assert "takes 28,192 bytes" in remark
    assert remark.endswith("its tensors need 128 bytes")
    assert _why(memory, PROGRAM, "--bind", "n=2048")["remarks"] == []


def test_without_a_value_there_are_no_reasons(memory: Memory) -> None:
    free = PROGRAM.replace('        R.func_attr({"tir_var_upper_bound": {"n": 2048}})\n', "")
    assert memory(free, "--output-format", "json").report["memory"][0]["why"] is None
