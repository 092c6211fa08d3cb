"""RLX402: `always-wrong` is only what fails on a machine with two devices whatever it is given; what a type declares of
a parameter, and what a tensor names beside its storage, is compared by nobody.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

HEAD = """
I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
        z[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def fill(x: T.handle, y_: T.handle):
    y = T.match_buffer(y_, (4,), "float32")
    for i in range(4):
        y[i] = T.float32(2)
"""
FUNCTION = """
@R.function(pure=False)
def {}(x: R.Tensor((4,), "float32"), on: R.Tensor((4,), "float32", "llvm:0")):
"""
HERE, THERE, NOWHERE = (
    'R.Tensor((4,), "float32", "llvm:0")',
    'R.Tensor((4,), "float32", "llvm:1")',
    ('R.Tensor((4,), "float32")'),
)
CONSTANT = 'R.const([1.0, 2.0, 3.0, 4.0], "float32")'
FINE, PERHAPS, WRONG = "always-fine", "needs-runtime-check", "always-wrong"


def _tensor(name: str, device: int, named: int) -> str:
    return (
        f'    s_{name} = R.memory.alloc_storage(R.shape([16]), {device}, "global", "uint8")\n'
        f'    {name} = R.memory.alloc_tensor(s_{name}, 0, R.shape([4]), "float32", R.prim_value({named}))\n'
    )


def _calls(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines) + "    return v\n"


PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "a tensor that names another device": (
        _tensor("v", 0, 1) + _calls("k = Module.double(x, v)"),
        {"v": PERHAPS},
    ),
    "storages": (
        _tensor("t", 0, 0) + _tensor("v", 1, 1) + _calls("k = Module.double(t, v)"),
        {"t": FINE, "v": FINE, "k": WRONG},
    ),
    "a handle, of which nothing is compared": (
        _tensor("t", 0, 0) + _tensor("v", 1, 1) + _calls("k = Module.fill(t, v)"),
        {"t": FINE, "v": FINE},
    ),
    "a parameter": (_tensor("v", 1, 1) + _calls("k = Module.double(on, v)"), {"v": FINE, "k": PERHAPS}),
    "outputs": (
        _calls(
            f"u = R.call_tir(Module.double, (x,), {HERE})", f"v = R.call_tir(Module.double, (u,), {THERE})"
        ),
        {"v": WRONG},
    ),
    "an output that declares no device": (
        _calls(
            f"u = R.call_tir(Module.double, (x,), {THERE})", f"v = R.call_tir(Module.double, (u,), {NOWHERE})"
        ),
        {"v": WRONG},
    ),
    "outputs of one call": (
        _calls(f"u = R.call_tir(Module.both, (x,), [{HERE}, {THERE}])", "v = u[0]"),
        {"u": WRONG},
    ),
    "outputs on one device": (
        _calls(
            f"u = R.call_tir(Module.double, (x,), {HERE})", f"v = R.call_tir(Module.double, (u,), {NOWHERE})"
        ),
        {"v": FINE},
    ),
    "a copy": (
        _calls('u = R.to_vdevice(x, "llvm:1")', f"v = R.call_tir(Module.double, (u,), {HERE})"),
        {"v": WRONG},
    ),
    "a copy to the right device": (
        _calls('u = R.to_vdevice(x, "llvm:1")', f"v = R.call_tir(Module.double, (u,), {THERE})"),
        {"v": FINE},
    ),
    "a constant": (
        _calls(
            f"u = R.call_tir(Module.double, (x,), {THERE})",
            f"v = R.call_tir(Module.add, ({CONSTANT}, u), {THERE})",
        ),
        {"v": WRONG},
    ),
    "what may be folded": (
        _calls(f"v = R.call_tir(Module.double, ({CONSTANT},), {THERE})"),
        {"v": PERHAPS},
    ),
    "what may be folded and is used": (
        _calls(
            f"u = R.call_tir(Module.both, ({CONSTANT},), [{THERE}, {THERE}])",
            f"w = R.call_tir(Module.double, (x,), {THERE})",
            "c = u[1]",
            f"v = R.call_tir(Module.add, (c, w), {THERE})",
        ),
        {"u": PERHAPS, "v": PERHAPS},
    ),
}


def _name(program: str) -> str:
    return program.replace(" ", "_").replace(",", "")


@cache
def _module() -> Any:
    """All of them in one: it is built once."""
    return parse(HEAD + "".join(FUNCTION.format(_name(one)) + body for one, (body, _) in PROGRAMS.items()))


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_said(program: str) -> None:
    said = [check for check in checks(_module(), "RLX402") if check.function == _name(program)]
    assert {str(check.binding): check.verdict.value for check in said} == PROGRAMS[program][1]
    # What may run right is told all the same: what is written contradicts itself.
    assert all(one.severity.value == "warning" for one in said if one.verdict.value == PERHAPS)


@pytest.mark.vm
def test_what_is_always_wrong_fails_wherever_the_arguments_are_and_nothing_else_does() -> None:
    """As it is and with constants folded; of the arguments nothing is known."""
    as_it_is, folded = _ran(_module()), _ran(relax.transform.FoldConstant()(_module()))
    for program, (_, said) in PROGRAMS.items():
        ran = [*as_it_is[program].values(), *folded[program].values()]
        # Of two calls one fails as it is and the other one with constants folded.
        fails = WRONG in said.values() or program == "what may be folded and is used"
        assert any(ran) is not fails, program
    assert not any(as_it_is["what may be folded"].values())
    assert all(folded["what may be folded"].values())


def _ran(module: Any) -> dict[str, dict[str, bool]]:
    """Whether each program runs with its arguments on the first device, and on the second one."""
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), [tvm.cpu(0), tvm.cpu(1)])
    return {
        program: {f"on {device}": _runs(machine[_name(program)], device) for device in (0, 1)}
        for program in PROGRAMS
    }


def _runs(function: Any, device: int) -> bool:
    given = tvm.runtime.tensor(np.ones(4, "float32"), tvm.cpu(device))
    try:
        function(given, given)
    except ValueError as error:
        if "device_id" not in str(error):
            raise
        return False
    return True
