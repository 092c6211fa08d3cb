"""RLX205 of what a kernel gives to somebody unknown by its address, and of what it reads itself beside that."""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

TEXT = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
{body}

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = {call}
    return {result}
"""
ARRAY = "T.tvm_stack_make_array(t.data, T.tvm_stack_make_shape(4), 0, 1, T.float32(0), 0)"
GIVEN = {
    "data": "T.evaluate(T.call_extern('int32', 'f', t.data))",
    "an element": "T.evaluate(T.call_extern('int32', 'f', T.address_of(t[0])))",
    "to a packed function": "T.evaluate(T.call_packed('f', t.data))",
    "an array": f"T.evaluate(T.call_packed('f', {ARRAY}))",
}
KERNEL = "Module.kernel(x, t, y)"
TAKEN = "`kernel` may read and write `t`: its address is taken in the kernel"
READ = "for i in range(4):\n    y[i] = t[i]\n"
WRITTEN = "for i in range(4):\n    t[i] = T.float32(2)\n"
ANOTHER = "T.evaluate(T.call_packed('tests.reads_of_given_addresses', x.data))"


def _said(body: str, call: str = KERNEL, result: str = "y") -> list[tuple[str, tuple[str, ...]]]:
    module = parse(TEXT.format(body=indent(body, " " * 4), call=call, result=result))
    return [(check.verdict.value, check.assumes) for check in checks(module, "RLX205")]


@pytest.mark.parametrize("form", GIVEN)
def test_whom_the_address_is_given_is_taken_to_fill_it(form: str) -> None:
    assert _said(GIVEN[form]) == [("always-fine", (TAKEN,))]


def test_an_unknown_packed_function_is_taken_to_do_the_same() -> None:
    said = _said("T.evaluate(0)", 'R.call_packed("f", t, ty_args=[R.Object])', "t")
    assert said == [("always-fine", ("`f` may read and write its arguments, but does not keep them",))]


def test_what_was_filled_before_needs_no_leave() -> None:
    text = 'R.call_packed("vm.builtin.copy", x, ty_args=[R.Tensor((4,), "float32")])'
    module = parse(
        TEXT.format(body=indent(GIVEN["data"], " " * 4), call=KERNEL, result="y").replace(
            "Module.kernel(x, t, y)", f"{text}\n    v = Module.kernel(x, w, y)"
        )
    )
    assert [check for check in checks(module, "RLX205") if check.assumes] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (READ + ANOTHER, "always-wrong"),
        (ANOTHER + "\n" + READ, "always-wrong"),
        # What decides about the read is a number.
        (f"if x[0] > T.float32(0):\n{indent(READ, ' ' * 4)}{ANOTHER}", "needs-runtime-check"),
    ],
)
def test_the_address_of_another_one_mends_nothing(body: str, expected: str) -> None:
    assert [verdict for verdict, _ in _said(body)] == [expected]


def test_written_by_the_kernel_itself_beside_another_address() -> None:
    assert not [verdict for verdict, _ in _said(WRITTEN + ANOTHER + "\n" + READ) if verdict == "always-wrong"]


BEFORE = "for i in range(4):\n    y[i] = T.float32(2)\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (READ + ANOTHER, {"always-wrong"}),
        (BEFORE + ANOTHER + "\n" + READ, {"needs-runtime-check"}),
        (ANOTHER + "\n" + BEFORE + READ, {"needs-runtime-check"}),
    ],
)
def test_one_tensor_as_two_arguments_may_be_written_as_the_other_one(body: str, expected: set[str]) -> None:
    """Each element is then 2 when it is read."""
    assert {verdict for verdict, _ in _said(body, "Module.kernel(x, t, t)", "t")} == expected


@pytest.mark.vm
@pytest.mark.parametrize("is_written", [False, True])
def test_the_run_shows_what_was_not_written(is_written: bool) -> None:
    seen = []
    tvm.register_global_func("tests.reads_of_given_addresses", lambda _: seen.append(1), override=True)
    # What the other of the two runs wrote may still lie in the memory that this one gets.
    number = 2.75 if is_written else 3.75
    written = WRITTEN.replace("T.float32(2)", f"T.float32({number})")
    assert written != WRITTEN
    body = (written if is_written else "") + ANOTHER + "\n" + READ
    text = TEXT.format(body=indent(body, " " * 4), call=KERNEL, result="y")
    machine = relax.VirtualMachine(tvm.compile(parse(text), "llvm"), tvm.cpu())
    for _ in range(3):
        given = np.ones(4, "float32"), np.zeros(4, "float32")
        found = machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist()
    assert len(seen) == 3
    assert (found == [number] * 4) == is_written
