"""A function inside of another one, what LambdaLift makes of it, the same closure by hand, and the same function with
what it captures as parameters: each is judged alike.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse

RULES = ("RLX201", "RLX203", "RLX205", "RLX206", "RLX301", "RLX303")
T4 = 'R.Tensor((4,), "float32")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def fill(b: T.handle):
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def twice(b: T.handle):
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = y[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def turn(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[3 - i]

@T.prim_func(private=True, s_tir=True)
def at_zero(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]
"""
STORAGE = 's = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
MOVED = f'{STORAGE}; t = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([4]), R.dtype("float32"))'
PLAIN = MOVED.replace("(16)", "(0)")
OTHER = 'u = R.memory.alloc_tensor(s, R.prim_value(32), R.shape([4]), R.dtype("float32"))'
OVER = OTHER.replace("(32)", "(0)")
VIEWS = "a = R.memory.view(t, R.shape([4])); b = R.memory.view(t, R.shape([4]))"
USE = 'j = R.call_packed("vm.builtin.make_tuple", i, ty_args=R.Tuple)'
IN_PLACE = f"i = R.call_tir_inplace(Module.twice, (t,), [0], {T4}); {USE}"
READ = f"w = R.call_tir(Module.turn, (t,), {T4})"
WRONG, UNSURE, FINE = Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_FINE

CASES = [
    # what is before, what is captured, the body of `g`, what is after, what is returned; the worst verdict of a rule
    (f"{PLAIN}", "t", "q = Module.fill(t)", "p", "", "t", "RLX205", FINE),
    (f"{PLAIN}", "t", READ, "w", "", "v", "RLX205", WRONG),
    (f"{PLAIN}; k = Module.fill(t)", "t", READ, "w", "", "v", "RLX205", FINE),
    # All of it is written behind the call in place, or nothing is.
    (f"{PLAIN}; k = Module.fill(t); {IN_PLACE}", "t", "q = Module.fill(t)", "p", "", "t", "RLX206", FINE),
    (f"{PLAIN}; k = Module.fill(t); {IN_PLACE}", "t", READ, "p", "", "t", "RLX206", WRONG),
    # The kernel gets one tensor twice, by two names, or two that lie apart.
    (
        f"{PLAIN}; k = Module.fill(t); {VIEWS}",
        "a, b",
        "q = Module.turn(a, b)",
        "p",
        "",
        "v",
        "RLX206",
        UNSURE,
    ),
    (
        f"{PLAIN}; {OTHER}; k = Module.fill(t)",
        "t, u",
        "q = Module.turn(t, u)",
        "p",
        "",
        "u",
        "RLX206",
        FINE,
    ),
    # What is captured starts at an offset, or at its data pointer.
    (
        f"{MOVED}; k = Module.fill(t)",
        "t",
        f"w = R.call_tir(Module.at_zero, (t,), {T4})",
        "w",
        "",
        "v",
        "RLX303",
        WRONG,
    ),
    (
        f"{PLAIN}; k = Module.fill(t)",
        "t",
        f"w = R.call_tir(Module.at_zero, (t,), {T4})",
        "w",
        "",
        "v",
        "RLX303",
        FINE,
    ),
    # So does what is given back.
    (
        f"{MOVED}; k = Module.fill(t)",
        "t",
        "w = t",
        "w",
        f"o = R.match_cast(v, {T4}); r = R.call_tir(Module.at_zero, (o,), {T4})",
        "r",
        "RLX303",
        WRONG,
    ),
    # The memory of what is captured is written over before it is read.
    (
        f"{PLAIN}; k = Module.fill(t); {OVER}; l = Module.fill(u); l1 = Module.twice(u)",
        "t",
        READ,
        "w",
        "",
        "v",
        "RLX203",
        WRONG,
    ),
    (f"{PLAIN}; k = Module.fill(t); {OTHER}; l = Module.fill(u)", "t", READ, "w", "", "v", "RLX203", FINE),
    # A closure holds what was killed since.
    (f"{PLAIN}; k = Module.fill(t)", "t", READ, "w", "", "v", "RLX201", FINE),
]
Case = tuple[str, str, str, str, str, str, str, Verdict]


def _lines(text: str, indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in text.split("; ") if line)


def _texts(case: Case) -> dict[str, str]:
    before, captured, body, given_back, after, result, *_ = case
    public = f"\n@R.function(pure=False)\ndef main(x: {T4}):\n{_lines(before, 4)}"
    end = f"{_lines(after, 4)}    return {result}\n"
    own = f"{_lines(body, 4)}    return {given_back}\n"
    held = ", ".join(f"{name}: {T4}" for name in captured.split(", "))
    g = f"\n@R.function(private=True, pure=False)\ndef g(p: {T4}, {held}) -> {T4}:\n{own}"
    inner = f"    @R.function(pure=False)\n    def g(p: {T4}) -> {T4}:\n{_lines(body, 8)}        return {given_back}\n"
    invoke = f"    v = R.invoke_closure(FUNCTION, (x,), ty_args={T4})\n"
    closure = f"    m = R.make_closure(Module.g, ({captured},))\n"
    return {
        "inside": f"{public}{inner}    v: {T4} = g(x)\n{end}",
        "parameters": f"{g}{public}    v = Module.g(x, {captured})\n{end}",
        "closure": f"{g}{public}{closure}{invoke.replace('FUNCTION', 'm')}{end}",
        "closure in a tuple": f"{g}{public}{closure}    d = (x, (m, x))\n    e = d[1]\n    f = e[0]\n"
        f"{invoke.replace('FUNCTION', 'f')}{end}",
        "closure that is passed": f"{g}\n@R.function(private=True, pure=False)\ndef calls(f: R.Object, x: {T4}) -> {T4}:\n"
        f"{invoke.replace('FUNCTION', 'f')}    o = R.match_cast(v, {T4})\n    return o\n"
        f"{public}{closure}    v = Module.calls(m, x)\n{end}",
    }


def _forms(case: Case) -> dict[str, tvm.IRModule]:
    modules = {name: parse(KERNELS + text) for name, text in _texts(case).items()}
    return {**modules, "lifted": relax.transform.LambdaLift()(modules["inside"])}


def _said(module: tvm.IRModule) -> dict[str, Verdict]:
    """The worst verdict of each rule."""
    found: dict[str, Verdict] = {}
    told = check_module(module, Config(select=RULES)).checks
    for rule in RULES:
        verdicts = {check.verdict for check in told if check.rule == rule}
        found[rule] = next((one for one in (WRONG, UNSURE) if one in verdicts), FINE)
    return found


@pytest.mark.parametrize("case", CASES)
def test_it_is_judged_alike_in_each_form(case: Case) -> None:
    rule, verdict = case[-2:]
    said = {name: _said(module) for name, module in _forms(case).items()}
    inside = said["inside"]
    assert inside[rule] is verdict
    for name in ("closure in a tuple", "closure that is passed"):
        # Who passes a function on may be anybody, who gives it what starts anywhere.
        if said[name]["RLX303"] is UNSURE:
            said[name]["RLX303"] = inside["RLX303"]
    assert said == dict.fromkeys(said, inside)


FORMS = ("inside", "parameters", "closure", "closure in a tuple", "closure that is passed")


@pytest.mark.vm
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("case", "returned"),
    [
        (CASES[0], [7, 7, 7, 7]),
        (CASES[3], [7, 7, 7, 7]),
        # What was doubled, though `t` was meant to be 7.
        (CASES[4], [14, 14, 14, 14]),
        # The kernel is refused.
        (CASES[7], None),
        (CASES[6], [7, 7, 7, 7]),
    ],
)
def test_it_does_the_same_in_each_form(case: Case, returned: list[float] | None, form: str) -> None:
    module = relax.transform.LambdaLift()(parse(KERNELS + _texts(case)[form]))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm", relax_pipeline="default"), tvm.cpu())
    given = tvm.runtime.tensor(np.arange(4, dtype="float32"))
    if returned is None:
        with pytest.raises(Exception, match="expected 0"):
            machine["main"](given)
    else:
        assert machine["main"](given).numpy().tolist() == returned


KILL, DEFINE, CALL, LEAVE = (
    "    k2 = R.memory.kill_tensor(t)\n",
    f"    @R.function(pure=False)\n    def g(p: {T4}) -> {T4}:\n        {READ}\n        return w\n",
    f"    v: {T4} = g(x)\n",
    "    v = x\n",
)
FILLED = _lines(f"{PLAIN}; k = Module.fill(t)", 4)


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "verdicts", "returned"),
    [
        # The closure is made of a null value, which is looked at where it is called.
        ((KILL, DEFINE, CALL), {UNSURE}, None),
        ((KILL, DEFINE, LEAVE), {UNSURE}, [0, 1, 2, 3]),
        # It was made before, and holds the tensor.
        ((DEFINE, KILL, CALL), set(), [7, 7, 7, 7]),
        ((DEFINE, CALL, KILL), set(), [7, 7, 7, 7]),
        # It holds nothing of what was killed.
        ((KILL, DEFINE.replace("(t,)", "(p,)"), CALL), set(), [3, 2, 1, 0]),
    ],
)
def test_what_is_killed_before_a_function_captures_it(
    lines: tuple[str, ...], verdicts: set[Verdict], returned: list[float] | None
) -> None:
    text = f"\n@R.function(pure=False)\ndef main(x: {T4}):\n{FILLED}{''.join(lines)}    return v\n"
    inside = parse(KERNELS + text)
    lifted = relax.transform.LambdaLift()(inside)
    for module in (inside, lifted):
        found = [check for check in checks(module, "RLX201") if check.verdict is not FINE]
        assert {check.verdict for check in found} == verdicts
        assert {check.binding for check in found} <= {"g"}
    machine = relax.VirtualMachine(tvm.compile(lifted, "llvm", relax_pipeline="default"), tvm.cpu())
    given = tvm.runtime.tensor(np.arange(4, dtype="float32"))
    if returned is None:
        with pytest.raises(Exception, match="expect a Tensor"):
            machine["main"](given)
    else:
        assert machine["main"](given).numpy().tolist() == returned
