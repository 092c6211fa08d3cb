"""What nothing uses TVM may leave out: nothing that it does is `always-wrong`, as it fails in no run of what is
built by the pipeline of a target. What is used is left in, and fails: each rule, with the VM.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

_PERTURB = -6
"""What glibc calls the option to fill what it gives out and what it takes back."""
UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("double"):
            v = T.axis.spatial(4, i)
            y[v] = x[v] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("twice"):
            v = T.axis.spatial(4, i)
            x[v] = x[v] * T.float32(2)

@R.function(private=True)
def typed(x: {T4}) -> {T4}:
    o = R.add(x, x)
    return o

@R.function(pure=False)
def main(x: {T4}, w: R.Tensor((5,), "float32"), h: R.Tensor((4,), "float16"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    LINES
    RETURN
"""
KILLED = "a = R.call_tir(Module.double, (x,), T4)\nk = R.memory.kill_tensor(a)\n"
OVERWRITTEN = """a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
k1 = Module.double(x, a)
b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
k2 = Module.double(a, b)
"""
IN_PLACE = "y = R.call_tir(Module.double, (x,), T4)\n"
NULL = "n = R.null_value()\n"
TWO = 'k3 = R.print(y, format="")\nk2 = R.call_packed("tests.two", y, ty_args=R.Tuple)'
ALLOC = 'u = R.memory.alloc_tensor({}, R.prim_value({}), R.shape([{}]), R.dtype("{}"))'
STORAGE = 'u = R.memory.alloc_storage(R.shape([16]), R.prim_value({}), R.str("global"), R.dtype("uint8"))'
CASES: dict[str, tuple[str, str]] = {
    "beyond a storage": ("RLX101", ALLOC.format("s", 0, 4096, "float32")),
    "before a storage": ("RLX102", ALLOC.format("s", -65536, 4, "float32")),
    "too many bytes": ("RLX103", ALLOC.format("s", 0, 2**61 - 1, "float64")),
    "less than nothing": ("RLX104", ALLOC.format("s", 0, -1, "float32")),
    "an operator on what was killed": ("RLX201", f"{KILLED}u = R.add(a, a)"),
    "a kernel on what was killed": ("RLX201", f"{KILLED}u = R.call_tir(Module.double, (a,), T4)"),
    "a view of what was killed": ("RLX201", f"{KILLED}u = R.reshape(a, R.shape([2, 2]))"),
    "the shape of what was killed": ("RLX201", f"{KILLED}u = R.shape_of(a)"),
    "a function on what was killed": ("RLX201", f"{KILLED}u = Module.typed(a)"),
    "what was overwritten": ("RLX203", f"{OVERWRITTEN}u = R.add(a, a)"),
    "what nothing wrote": ("RLX205", f"a = {ALLOC.format('s', 0, 4, 'float32')[4:]}\nu = R.add(a, a)"),
    "in place": (
        "RLX206",
        f"{IN_PLACE}u = R.call_tir_inplace(Module.twice, (y,), inplace_indices=[0], out_ty=T4)\n{TWO}",
    ),
    "another shape": ("RLX301", "u = R.call_tir(Module.double, (w,), T4)"),
    "another dtype": ("RLX302", "u = R.call_tir(Module.double, (h,), T4)"),
    "a device that is not there": ("RLX401", STORAGE.format(3)),
    "a dtype that is not allocated": ("RLX404", ALLOC.format("s", 0, 4, "int4")),
    "a branch on nothing": ("RLX505", f"{NULL}if n:\n    u0 = x\n    u = u0\nelse:\n    u0 = x\n    u = u0"),
    "a storage that is nothing": ("RLX505", NULL + ALLOC.format("n", 0, 4, "float32")),
}
USED = '\nz = R.call_packed("tests.looked_at", u, ty_args=R.Tuple)'
# A function that is not known may not look at what it is given.
PRINTED = '\nz1 = R.print(u, format="")'


def _module(lines: str, *, used: bool) -> Any:
    written = (lines + USED * used).replace("T4", T4).replace("\n", "\n    ")
    return parse(TEXT.replace("LINES", written).replace("RETURN", "return x"))


def _said(module: Any, code: str) -> set[Verdict]:
    found = (check for check in checks(module, code) if check.function == "main")
    return {check.verdict for check in found} & {UNSURE, WRONG}


def _fails(module: Any, *, folded: bool) -> bool:
    """Whether a run fails or finds other numbers than those that are right; `folded`: built by TVM's pipeline for
    a target, which folds constants.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            code = _run(module, folded)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def _run(module: Any, folded: bool) -> int:
    # What nobody wrote to is not by chance what is right, left there by an earlier run with the same pool.
    ctypes.CDLL(None).mallopt(_PERTURB, 0x5A)
    found = []
    tvm.register_global_func("tests.two", lambda one: found.append(one.numpy() == 2), override=True)
    tvm.register_global_func("tests.use", lambda one: None, override=True)
    tvm.register_global_func("tests.looked_at", lambda one: found.append(_is_right(one)), override=True)
    target = tvm.target.Target("llvm")
    pipeline = relax.get_default_pipeline(target) if folded else "default"
    machine = relax.VirtualMachine(
        relax.build(module, target, relax_pipeline=pipeline), tvm.cpu(), memory_cfg="naive"
    )
    given = np.ones(4, "float32"), np.ones(5, "float32"), np.ones(4, "float16"), np.array(True)
    machine["main"](*map(tvm.runtime.tensor, given))
    return int(not np.all(found))


def _is_right(value: Any) -> Any:
    """What is added up is four; nothing else is looked at."""
    return value.numpy() == 4 if isinstance(value, tvm.runtime.Tensor) else True


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_what_may_be_left_out_is_not_always_wrong(name: str) -> None:
    code, lines = CASES[name]
    unused = _module(lines, used=False)
    used = _module(lines + PRINTED * (code in ("RLX203", "RLX205")), used=True)
    assert _said(unused, code) == {UNSURE}
    assert not _fails(unused, folded=True)
    assert _said(used, code) == {WRONG}
    # What nobody wrote may be anything, what is right included.
    assert name == "what nothing wrote" or _fails(used, folded=True)
    # It is left in where constants are not folded: what it computes then, nothing shows.
    assert _fails(unused, folded=False) == (name not in ("what was overwritten", "what nothing wrote"))


EFFECTS = {
    "a kill": "k1 = R.memory.kill_tensor(a)",
    "a packed function": 'u = R.call_packed("vm.builtin.shape_of", a, ty_args=R.Shape)',
    "a kernel": "u = Module.double(a, x)",
    "a branch with effects": "if c:\n    u = Module.double(a, x)\n    r = x\nelse:\n    r = x",
}


@pytest.mark.parametrize("lines", EFFECTS.values(), ids=EFFECTS)
def test_what_has_effects_is_left_in(lines: str) -> None:
    found = checks(_module(KILLED + lines, used=False), "RLX20")
    assert {check.verdict for check in found if check.rule in ("RLX201", "RLX202")} == {WRONG}


def test_what_is_killed_is_left_in() -> None:
    """What was read for it is a matter of its own: nothing shows that."""
    for name, said in (("beyond a storage", WRONG), ("what nothing wrote", UNSURE)):
        code, lines = CASES[name]
        module = _module(f"{lines}\nk9 = R.memory.kill_tensor(u)", used=False)
        assert _said(module, code) == {said}
        assert not any("leave such operations out" in check.proof for check in checks(module, code))


def test_a_read_that_may_be_left_out_hides_no_later_one() -> None:
    """Neither of what nothing wrote nor of what was overwritten."""
    last = "\nz = R.add(a, a)\ny = R.print(z, format='')"
    for name in ("what was overwritten", "what nothing wrote"):
        code, lines = CASES[name]
        assert WRONG in _said(_module(lines + last, used=False), code)


def test_what_is_left_out_stays_a_warning() -> None:
    """It fails wherever that pass does not run."""
    (found,) = checks(_module(CASES["an operator on what was killed"][1], used=False), "RLX201")
    assert found.severity.value == "warning"
    assert found.notes == (
        "undecided: nothing needs what it does: `FoldConstant` and `FuseTIR` leave such operations out",
    )


CALLEES = f"""
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("fill"):
            v = T.axis.spatial(4, i)
            x[v] = T.float32(2)

@R.function(private=True, pure=False)
def callee(p: {T4}, q: {T4}) -> {T4}:
    BODY
    return q

@R.function(pure=False)
def main"""
OVER_Y = """a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
k1 = Module.fill(a)
b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
"""
BY = "u = R.call_tir_inplace(Module.{}, ({},), inplace_indices=[0], out_ty=T4)"
PRINTED_A = "\ni1 = R.print(a, format='')"
CALLS = "\nz = Module.callee(a, x)\nj = R.call_packed('tests.use', z, ty_args=R.Tuple)"
BY_CALLEES: dict[str, tuple[str, str, str]] = {
    # The rule, what the callee does, and what its caller does.
    "reads what nothing wrote": ("RLX205", "u = R.add(p, p)", OVER_Y.partition("k1")[0] + CALLS[1:]),
    "reads what was overwritten": (
        "RLX203",
        "u = R.add(p, p)",
        f"{OVER_Y}k2 = Module.double(x, b){CALLS}",
    ),
    "overwrites what is on its memory": (
        "RLX203",
        BY.format("twice", "p"),
        f"{OVER_Y}{CALLS.replace('(a,', '(b,')[1:]}{PRINTED_A}\ni = R.call_packed('tests.two', a, ty_args=R.Tuple)",
    ),
    "overwrites in place": (
        "RLX206",
        BY.format("twice", "p"),
        f"{OVER_Y.rpartition('b = ')[0]}{CALLS[1:]}{PRINTED_A}\ni = R.call_packed('tests.two', a, ty_args=R.Tuple)",
    ),
}


def _by_callee(name: str, *, used: bool, private: bool) -> Any:
    _, body, lines = BY_CALLEES[name]
    callees = CALLEES if private else CALLEES.replace("private=True, pure=False", "pure=False")
    written = callees.replace(
        "BODY", (body + (PRINTED + USED.replace("looked_at", "use")) * used).replace("\n", "\n    ")
    )
    text = TEXT.replace("\n@R.function(pure=False)\ndef main", written).replace("RETURN", "return x")
    return parse(text.replace("LINES", lines.replace("\n", "\n    ")).replace("T4", T4))


@pytest.mark.vm
@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
@pytest.mark.parametrize("name", BY_CALLEES)
def test_what_a_callee_may_leave_out_is_not_always_wrong(name: str, private: bool) -> None:
    """Whoever else may call it."""
    code = BY_CALLEES[name][0]
    unused, used = (_by_callee(name, used=used, private=private) for used in (False, True))
    assert _said(unused, code) == {UNSURE}
    assert not _fails(unused, folded=True)
    assert _said(used, code) == {WRONG}
    # What is only read, nothing here compares.
    assert _fails(used, folded=True) == name.startswith("overwrites")


@pytest.mark.vm
@pytest.mark.parametrize("call", [BY.format("fill", "a"), "u = Module.callee(a, x)"])
def test_what_is_filled_by_what_may_be_left_out_is_told(call: str) -> None:
    """It holds nothing then: a rule tells that there is an older name, whoever writes."""
    first = OVER_Y.partition("k1")[0]
    text = TEXT.replace(
        "\n@R.function(pure=False)\ndef main", CALLEES.replace("BODY", BY.format("fill", "p"))
    )
    text = text.replace("RETURN", "return x").replace("T4", T4)
    lines = f"{first}{call}\ni = R.call_packed('tests.two', a, ty_args=R.Tuple)".replace("T4", T4)
    module = parse(text.replace("LINES", lines.replace("\n", "\n    ")))
    assert _said(module, "RLX206") == {UNSURE}
    assert not _said(module, "RLX205")
    assert not _fails(module, folded=False)
    assert _fails(module, folded=True)
