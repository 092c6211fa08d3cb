"""What a function returns that it has killed, and kills of null values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KILLED = """
@R.function(pure=False, private={private})
def given(p: R.Tensor((4,), "float32")):
    gone = R.vm.kill_object(p)
    return p

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    first = Module.given(x)
{more}
    return {result}
"""
NULL = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    nothing = R.null_value()
    gone = R.vm.kill_object(nothing)
    return x
"""


@pytest.mark.parametrize(
    ("private", "more", "result", "verdict"),
    [
        (True, "", "first", "always-wrong"),
        (True, "", "(x, first)", "always-wrong"),
        (True, "", "x", "always-fine"),
        (True, "    second = Module.given(x)", "first", "always-wrong"),
        (True, "    second = Module.given(first)", "x", "always-wrong"),
        (False, "", "x", "always-wrong"),
    ],
)
def test_what_a_function_killed_is_wrong_where_it_is_used(
    private: bool, more: str, result: str, verdict: str
) -> None:
    module = parse(KILLED.format(private=private, more=more, result=result))
    found = [check.verdict.value for check in checks(module, "RLX201")]
    assert found == [verdict]


@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
def test_a_killed_parameter_that_nobody_uses_runs(mode: str) -> None:
    module = parse(KILLED.format(private=True, more="", result="x"))
    machine = relax.VirtualMachine(relax.build(module, target="llvm", exec_mode=mode), tvm.cpu())
    given = tvm.runtime.tensor(np.array([1, 2, 3, 4], "float32"))
    assert machine["main"](given).numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


FIELDS = """
@R.function(pure=False, private=True)
def given(p: R.Tensor((4,), "float32")):
    q = R.add(p, p)
    gone = R.vm.kill_object(q)
    return (q, p)

@R.function(pure=False, private=True)
def second(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
    return q

@R.function(pure=False, private=True)
def of_two(p: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
    q = p[1]
    return q

@R.function(pure=False, private=True)
def of_objects(p: R.Object, q: R.Object):
    return q

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    p = Module.given(x)
{lines}
    return w
"""


USES = [
    ("w = p[1]", "always-fine", False),
    ("w = p[0]", "always-wrong", True),
    ("v = p[0]; w = R.add(v, x)", "always-wrong", True),
    ("v = p[0]; u = (v, x); w = u[1]", "always-fine", False),
    # The virtual machine checks the arguments of a function.
    ("v = p[0]; w = Module.second(v, x)", "always-wrong", True),
    ("v = p[1]; w = Module.second(v, x)", "always-fine", False),
    ("w = Module.of_two(p)", "always-wrong", True),
    ("v = p[0]; w = Module.of_objects(v, x)", "needs-runtime-check", False),
    ("if c:;     v = p[0];     w = R.add(v, x); else:;     w = x", "needs-runtime-check", True),
    ("if c:;     v = p[1];     w = R.add(v, x); else:;     w = x", "always-fine", False),
]


def _uses(lines: str) -> str:
    return FIELDS.format(lines="\n".join(f"    {line}" for line in lines.split("; ")))


@pytest.mark.parametrize(("lines", "verdict"), [use[:2] for use in USES])
def test_a_killed_field_is_wrong_where_it_is_used(lines: str, verdict: str) -> None:
    assert [check.verdict.value for check in checks(parse(_uses(lines)), "RLX201")] == [verdict]


@pytest.mark.vm
@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
def test_the_machine_fails_where_a_killed_field_is_used(mode: str) -> None:
    split = FIELDS.index("@R.function(pure=False)\ndef main")
    mains = [
        _uses(lines)[split:].replace("def main", f"def main_{number}")
        for number, (lines, _, _) in enumerate(USES)
    ]
    module = parse(FIELDS[:split] + "".join(mains))
    machine = relax.VirtualMachine(relax.build(module, target="llvm", exec_mode=mode), tvm.cpu())
    given = tvm.runtime.tensor(np.ones(4, "float32")), tvm.runtime.tensor(np.array(True))
    fails = [_fails(machine, f"main_{number}", given) for number in range(len(USES))]
    assert fails == [wrong for _, _, wrong in USES]


def _fails(machine: Any, name: str, given: tuple[Any, ...]) -> bool:
    try:
        return machine[name](*given) is None
    except (RuntimeError, TypeError):
        return True


def test_a_killed_null_value_is_bytecode_only() -> None:
    module = parse(NULL)
    (found,) = checks(module, "RLX201")
    assert found.verdict.value == "always-fine"
    assert ["bytecode" in text for text in found.assumes] == [True]
    relax.build(module, target="llvm", exec_mode="bytecode")
    with pytest.raises(Exception, match="anylist_getitem"):
        relax.build(module, target="llvm", exec_mode="compiled")


BRANCHES = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    if c:
        {then}
    else:
        {other}
    return b
"""


@pytest.mark.parametrize("kill", ["R.memory.kill_tensor(a)", "R.vm.kill_object(a)"])
@pytest.mark.parametrize(
    ("then", "other", "wrong"),
    [
        ("k = {kill}\n        b = a", "b = x", True),
        ("b = x", "k = {kill}\n        b = a", True),
        ("k = {kill}\n        b = (x, (a, x))", "b = (x, (x, x))", True),
        ("k = {kill}\n        b = x", "b = a", False),
        ("b = a", "k = {kill}\n        b = x", False),
    ],
)
def test_a_branch_gives_what_it_has_killed(kill: str, then: str, other: str, wrong: bool) -> None:
    text = BRANCHES.format(then=then.format(kill=kill), other=other.format(kill=kill))
    said = [check.verdict.value for check in checks(parse(text), "RLX201")]
    assert said.count("always-wrong") == int(wrong), said


NESTED = """
@R.function
def main(
    x: R.Tensor(("n",), "float32"), y: R.Object
) -> R.Tuple(R.Tensor(ndim=1, dtype="float32"), R.Tuple(R.Tensor(("n",), "float32"), R.Object)):
    n = T.int64()
    inner = (R.exp(x), R.call_pure_packed("test.other", y, ty_args=R.Object))
    result = (R.exp(x), inner)
    return result
"""


def test_the_fields_that_tvm_checks_behind_its_last_kill_are_no_uses() -> None:
    module = parse(NESTED)
    with tvm.target.Target("llvm"):
        lowered = relax.get_pipeline("default")(module)
    text = lowered.script()
    # An inner tuple is killed by its name, and its fields are read after that.
    assert re.search(r"kill_object\(inner\)[\s\S]*result\[1\]", text)
    assert not checks(lowered, "RLX201")
    tvm.register_global_func("test.other", lambda given: given, override=True)
    machine = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.array([0, 0], "float32"))
    first, (second, other) = machine["main"](given, given)
    assert first.numpy().tolist() == second.numpy().tolist() == [1.0, 1.0]
    assert other.numpy().tolist() == [0.0, 0.0]


STORAGE = KILLED.replace(
    "    gone = R.vm.kill_object(p)\n    return p",
    '    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")\n'
    "    gone = R.vm.kill_object(s)\n    return s",
)
ON_IT = '    t = R.memory.alloc_tensor(first, 0, R.shape([4]), "float32")\n'


@pytest.mark.parametrize(
    ("private", "more", "result", "verdict"),
    [
        (True, ON_IT, "t", "always-wrong"),
        (True, "", "first", "always-wrong"),
        # Not every call has a use.
        (True, f"    second = Module.given(x)\n{ON_IT}", "t", "needs-runtime-check"),
        # Others may call it.
        (False, ON_IT, "t", "always-wrong"),
        (False, "", "x", "always-wrong"),
    ],
)
def test_a_storage_that_a_function_killed_is_wrong_where_every_call_uses_it(
    private: bool, more: str, result: str, verdict: str
) -> None:
    module = parse(STORAGE.format(private=private, more=more, result=result))
    assert [check.verdict.value for check in checks(module, "RLX201")] == [verdict]
