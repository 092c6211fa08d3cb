"""What functions and packed functions that are not known get: tuples, what a branch chose, storages, what is not written
yet. Each is taken to be left as it is, or to be filled, and that is listed.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

FRESH = 'R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))'
HEAD = """
@R.function(pure=False)
def main(x: T4, y: T4, c: R.Tensor((), "bool"), g: R.Callable((R.Object,), T4, False)):
    BODY
    return r
"""
EITHER = "if c:;     k = {0};     e = k; else:;     k = {1};     e = k; "
TWO = "a = R.call_tir(Module.double, (x,), T4); b = R.call_tir(Module.double, (y,), T4); "
READ = "r = R.call_tir(Module.add, (a, b), T4)"
NEW = "`f` returns a new tensor, none that it was given or has kept"
LEFT = "`g` overwrites nothing that it is given or holds, and calls nothing that does"
FILLED = "`f` may read and write its arguments, but does not keep them"
ALSO = "`h` may read and write its arguments, but does not keep them"
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
PLACED = "s = STORAGE; a = TENSOR(s); w0 = Module.double(x, a); b = TENSOR(s); w1 = Module.double(y, b); "
CASES = {
    # The rule, what is done, and what is said: the verdict, of which operation, by which leave.
    "a tensor that may lie on a storage": (
        "RLX203",
        'q = STORAGE; v = R.call_packed("f", q, ty_args=T4); t = TENSOR(q); w = Module.double(y, t); '
        "r = R.call_tir(Module.add, (v, t), T4)",
        [(FINE, "w", NEW)],
    ),
    "a tensor that may lie on a storage of a pure call": (
        "RLX203",
        'q = STORAGE; v = R.call_pure_packed("f", q, ty_args=T4); t = TENSOR(q); w = Module.double(y, t); '
        "r = R.call_tir(Module.add, (v, t), T4)",
        [(FINE, "w", NEW)],
    ),
    "a tensor on a storage that is not written again": (
        "RLX203",
        'q = STORAGE; v = R.call_packed("f", q, ty_args=T4); r = R.call_tir(Module.add, (v, v), T4)',
        [],
    ),
    "a tuple": ("RLX206", f"{TWO}p = (a, b); w = g(p); {READ}", [(FINE, "w", LEFT)] * 2),
    "one of two": ("RLX206", f"{TWO}{EITHER.format('a', 'b')}w = g(e); {READ}", [(FINE, "w", LEFT)] * 2),
    "one of two storages": (
        "RLX203",
        "s = STORAGE; q = STORAGE; a = TENSOR(s); w0 = Module.double(x, a); b = TENSOR(q); "
        f"w1 = Module.double(y, b); {EITHER.format('s', 'q')}w = g(e); {READ}",
        [(FINE, "w", LEFT)] * 2,
    ),
    # `b` has overwritten `a` before, and so has `g` if it writes what it gets.
    "a neighbour": (
        "RLX203",
        f"{PLACED}w = g(b); r = R.call_tir(Module.add, (a, a), T4)",
        [(WRONG, "w1", None), (FINE, "w", LEFT)],
    ),
    "what is not written yet": (
        "RLX206",
        f"a = {FRESH}; b = a; w = g(a); r = R.call_tir(Module.double, (b,), T4)",
        [],
    ),
    "what is not written yet, of which it is taken to fill it": (
        "RLX205",
        f"a = {FRESH}; b = a; w = g(a); r = R.call_tir(Module.double, (b,), T4)",
        [(FINE, "r", "`g` reads its initialised arguments and writes the others")],
    ),
    "two in a tuple that are not written yet": (
        "RLX205",
        f'a = {FRESH}; b = {FRESH}; p = (a, b); w = R.call_packed("f", p, ty_args=R.Object); {READ}',
        [(FINE, "r", FILLED)] * 2,
    ),
    # Where it is `b` that `h` gets, `h` is taken to fill it; but it may be `a`, which is filled.
    "what may be filled": (
        "RLX205",
        f'a = {FRESH}; b = {FRESH}; w = R.call_packed("f", a, ty_args=R.Object); {EITHER.format("a", "b")}'
        'w1 = R.call_packed("h", e, ty_args=R.Object); r = R.call_tir(Module.add, (e, e), T4)',
        [(FINE, "r", f"{FILLED} {ALSO}"), (UNSURE, "r", None)],
    ),
    # Who makes a closure need not fill what it holds.
    "what a closure holds": (
        "RLX205",
        f'a = {FRESH}; w = R.call_packed("vm.builtin.make_closure", g, a, ty_args=R.Object); '
        "w1 = Module.double(x, a); r = R.call_tir(Module.double, (a,), T4)",
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_presumed_of_who_is_not_known(case: str) -> None:
    code, body, expected = CASES[case]
    body = body.replace("; ", "\n    ").replace(";    ", "\n    ").replace("STORAGE", STORAGE)
    for storage in ("s", "q"):
        body = body.replace(f"TENSOR({storage})", TENSOR.format(storage))
    found = checks(parse(KERNELS + HEAD.replace("BODY", body).replace("T4", T4)), code)
    said = [(c.verdict.value, c.binding, " ".join(c.assumes) or None) for c in found if c.function == "main"]
    assert said == expected
