"""Who is not known may not look at what it is given: then nobody sees that it does not hold what it should. Of known
kernels and of packed functions of TVM it is known.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
NAME = "relax_lint_tests_may_not_look"
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def {name}(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
{body}
"""
EACH = "for i in range(4):\n    y[i] = {}"
OWN = 's = T.alloc_buffer((4,), "float32")\nfor i in range(4):\n    s[i] = x[i]\n'
TO_F = f'T.call_packed("{NAME}", {{}})'
FILLS = f'T.evaluate(T.call_packed("{NAME}_fill", {{}}))'
BODIES = {
    "copy": EACH.format("x[i]"),
    "lent": f"T.evaluate({TO_F.format('x.access_ptr(' + repr('r') + ')')})",
    "away": f"{EACH.format('x[i]')}\n{FILLS.format('y.data')}",
    "beside": f"{EACH.format('x[i]')}\nT.evaluate({TO_F.format('1')})",
    "own_given": f"{OWN}T.evaluate({TO_F.format('s.data')})",
    "own_after": f"{OWN}{FILLS.format('s.data')}\n{EACH.format('s[i]')}",
    "decides": f"if x[0] > T.float32(-100):\n    T.evaluate({TO_F.format('1')})\n{EACH.format('T.float32(7)')}",
    "number": EACH.format('T.call_pure_extern("float32", "relax_lint_tests_none", x[i])'),
    "by_number": EACH.format('x[i] * T.Cast("float32", T.call_pure_extern("int32", "abs", 0))'),
    "mathematical": EACH.format('T.call_pure_extern("float32", "fabsf", x[i])'),
}
KERNELS = {name: KERNEL.format(name=name, body=indent(body, "    ")) for name, body in BODIES.items()}
HEAD = f"""
@R.function(private=True, pure=False)
def gives(p: {T4}):
    k = R.call_packed("{NAME}", p, ty_args=R.Tuple)
    return p

"""
MAIN = f"""
@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}, f: R.Callable, c: R.Tensor((), "bool")):
    s = {STORAGE}
    t = {TENSOR.format("s")}
"""
OVERWRITTEN = f"""k0 = Module.copy(y, t)
v = {TENSOR.format("s")}
k1 = Module.copy(x, v)
k2 = Module.copy(v, y)
"""
REPLACED = f"k0 = Module.copy(y, t)\nv = R.call_tir_inplace(Module.copy, (x, t), [1], {T4})\nk1 = Module.copy(v, y)\n"
NEVER = {"RLX203": OVERWRITTEN, "RLX206": REPLACED, "RLX205": ""}
LOOK = "`{}` may not read what it is given"
ONLY_IF = "`{}` reads it only under a condition, or may not use what it reads"
PASSED = "`gives` gives it to a function that may not read what it is given"
NOTHING = "it is not known that what is computed of it is needed on every path"
READERS: dict[str, tuple[str, str | None]] = {
    # What reads, and why it is not certain of the overwritten tensor; None: it is.
    f'R.call_packed("{NAME}", t, ty_args={T4})': ("r", f"`{NAME}` may write it before it reads it"),
    f'R.call_py_func("{NAME}", (t,), out_ty={T4})': ("r", LOOK.format(NAME)),
    f'R.call_pure_packed("{NAME}", t, ty_args={T4})': ("r", LOOK.format(NAME)),
    f'R.call_dps_packed("{NAME}", (t,), {T4})': ("r", LOOK.format(NAME)),
    f'R.call_inplace_packed("{NAME}", x, t, inplace_indices=[0], ty_args={T4})': ("r", LOOK.format(NAME)),
    "f(t)": ("x", LOOK.format("f")),
    "Module.gives(t)": ("x", PASSED),
    "Module.lent(t, x)": ("x", ONLY_IF.format("lent")),
    "Module.away(t, x)": ("x", NOTHING),
    "Module.own_given(t, x)": ("x", ONLY_IF.format("own_given")),
    "Module.own_after(t, x)": ("x", ONLY_IF.format("own_after")),
    "Module.decides(t, x)": ("x", ONLY_IF.format("decides")),
    "Module.number(t, x)": ("x", ONLY_IF.format("number")),
    "Module.by_number(t, x)": ("x", ONLY_IF.format("by_number")),
    "Module.mathematical(t, x)": ("x", None),
    "Module.beside(t, x)": ("x", None),
    "Module.copy(t, x)": ("x", None),
    f'R.call_packed("vm.builtin.copy", t, ty_args={T4})': ("r", None),
    f'R.call_pure_packed("vm.builtin.copy", t, ty_args={T4})': ("r", None),
    'R.print(t, format="{}")': ("x", None),
}


def _module(cases: Iterable[tuple[str, str]], more: str = "", main: str = MAIN) -> Any:
    """Functions with these lines, each in two parts: what does damage, and what reads."""
    texts = (
        main.replace("NUMBER", str(number)) + indent("".join(case), "    ")
        for number, case in enumerate(cases)
    )
    return parse("".join(KERNELS.values()) + HEAD + more + "\n".join(texts))


def _said(module: Any, rule: str) -> list[list[Check]]:
    """What is not fine in each of these functions."""
    found = [one for one in checks(module, rule) if one.verdict in (UNSURE, WRONG)]
    count = sum("main_" in str(one) for one in module.functions)
    return [[one for one in found if one.function == f"main_{number}"] for number in range(count)]


def _lines(readers: dict[str, tuple[str, str | None]]) -> list[str]:
    return [f"r = {call}\nreturn {result}\n" for call, (result, _) in readers.items()]


@pytest.mark.parametrize("rule", ["RLX203", "RLX206"])
def test_whoever_is_not_known_may_not_look_at_it(rule: str) -> None:
    said = _said(_module((NEVER[rule], lines) for lines in _lines(READERS)), rule)
    for found, (call, (_, why)) in zip(said, READERS.items(), strict=True):
        # What is written in place the caller may need, too.
        told = [(one.verdict, one.proof) for one in found if "caller" not in one.proof]
        assert [verdict for verdict, _ in told] == [WRONG if why is None else UNSURE], call
        assert why is None or told[0][1] == why, call


def test_nor_at_what_nobody_wrote() -> None:
    # Some are taken to write it.
    named = f'R.call_packed("{NAME}"', f'R.call_py_func("{NAME}"'
    readers = {call: READERS[call] for call in READERS if call not in ("f(t)", "Module.gives(t)")}
    readers = {call: readers[call] for call in readers if not call.startswith(named)}
    said = _said(_module(("", lines) for lines in _lines(readers)), "RLX205")
    for found, (call, (_, why)) in zip(said, readers.items(), strict=True):
        assert [one.verdict for one in found] == [WRONG if why is None else UNSURE], call


CONDITION = 'b = R.call_tir(Module.asked, (t,), R.Tensor((), "bool"))\n'
ASKED = """
@T.prim_func(private=True, s_tir=True)
def asked(x: T.Buffer((4,), "float32"), y: T.Buffer((), "bool")):
    y[()] = x[0] > T.float32(0)
"""
BRANCHES = "if b:\n    q = {}\n    z = x\nelse:\n    q0 = {}\n    z = x\nreturn z"


WAYS = [
    (f'R.call_packed("{NAME}", x, ty_args=R.Tuple)', "x", UNSURE),
    (f'R.call_packed("{NAME}", ty_args=R.Tuple)', 'R.call_packed("another", ty_args=R.Tuple)', UNSURE),
    ("f(x)", "x", UNSURE),
    ("Module.copy(y, x)", f'R.call_packed("{NAME}", x, ty_args=R.Tuple)', UNSURE),
    ("Module.copy(y, x)", "x", WRONG),
    ('R.print(x, format="{}")', "x", WRONG),
]


def test_the_way_to_somebody_who_may_do_nothing_is_none_that_shows() -> None:
    cases = [(CONDITION, BRANCHES.format(then, otherwise)) for then, otherwise, _ in WAYS]
    for found, way in zip(_said(_module(cases, ASKED), "RLX205"), WAYS, strict=True):
        assert [one.verdict for one in found if one.binding == "b"] == [way[2]], way


@pytest.mark.vm
@pytest.mark.parametrize("rule", ["RLX203", "RLX206"])
def test_it_runs_right_where_the_function_does_not_look(rule: str) -> None:
    """The same calls, of a function that looks at nothing, beside those where nothing is damaged."""
    tvm.register_global_func(NAME, _looks_at_nothing, override=True)
    tvm.register_global_func(f"{NAME}_fill", _fills, override=True)
    # Who `f` is nobody knows, and what is printed nobody hears.
    readers = {call: READERS[call] for call in READERS if call != "f(t)" and "print" not in call}
    del readers["Module.number(t, x)"]
    # Only a class in Python has such functions.
    del readers[f'R.call_py_func("{NAME}", (t,), out_ty={T4})']
    cases = [(damage, lines) for lines in _lines(readers) for damage in (NEVER[rule], UNDAMAGED)]
    answers = _answers(cases)
    for number, (call, (_, why)) in enumerate(readers.items()):
        assert (answers[2 * number] == answers[2 * number + 1]) == (why is not None), call


@pytest.mark.vm
def test_whoever_is_not_known_may_write_again_what_was_overwritten() -> None:
    given, read = f'k8 = R.call_packed("{NAME}", y, t, ty_args=R.Tuple)\n', "k9 = Module.copy(t, x)\n"
    cases = [(NEVER["RLX203"], f"{given}{read}return x"), (NEVER["RLX203"], f"{read}{given}return x")]
    said = _said(_module(cases), "RLX203")
    assert [[one.verdict for one in found if one.binding == "k1"] for found in said] == [[UNSURE], [WRONG]]
    tvm.register_global_func(NAME, _looks_at_nothing, override=True)
    cases = [(damage, lines) for _, lines in cases for damage in (NEVER["RLX203"], UNDAMAGED)]
    answers = _answers(cases)
    assert answers[0] == answers[1]
    assert answers[2] != answers[3]


UNDAMAGED = "k0 = Module.copy(y, t)\nk1 = Module.copy(x, y)\n"


def _answers(cases: list[tuple[str, str]]) -> list[list[float]]:
    """What the functions return."""
    module = _module(cases, main=MAIN.replace("f: R.Callable, ", ""))
    # It calls what is not there.
    del module["number"]
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = (np.full(4, -1, "float32"), np.full(4, 2, "float32"), np.array(True))
    return [
        machine[f"main_{number}"](*map(tvm.runtime.tensor, given)).numpy().tolist()
        for number in range(len(cases))
    ]


def _looks_at_nothing(*given: Any) -> Any:
    """Fills what a call in destination-passing style gives it, and returns what is new."""
    if len(given) == 2 and isinstance(given[1], tvm.runtime.Tensor):
        given[1].copyfrom(np.ones(4, "float32"))
    return tvm.runtime.tensor(np.ones(4, "float32"))


def _fills(address: ctypes.c_void_p) -> None:
    ctypes.memmove(address, np.full(4, 5, "float32").tobytes(), 16)
