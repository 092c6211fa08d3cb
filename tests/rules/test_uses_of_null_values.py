"""RLX201: what the machine does with what remains of a killed tensor. It fails where that is looked at; other names of
it, tuples with it and functions that leave it alone do no harm.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
MORE = """
@T.prim_func(private=True, s_tir=True)
def second(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = y[i]

@R.function(private=True, pure=False)
def untyped(p: R.Object, q: T4) -> T4:
    return q

@R.function(private=True, pure=False)
def typed(p: T4, q: T4) -> T4:
    return q
"""
FUNCTION = """
@R.function(pure=False)
def {name}(x: T4, c: R.Tensor((), "bool"), v: R.Tensor("float32")):
    a = R.call_tir(Module.double, (x,), T4)
    {lines}
    return {result}
"""
KILL = "k = R.memory.kill_tensor(a)"
BRANCH = "if c:;     r0 = {};     r = r0; else:;     r0 = {};     r = r0"
PERHAPS = (
    "m = R.call_tir(Module.double, (x,), T4); if c:;     k1 = R.memory.kill_tensor(m);     r0 = x;     r = r0; "
    "else:;     r0 = x;     r = r0; t = ({})"
)
IGNORED = 'R.call_packed("tests.second", {}, x, ty_args=T4)'
ALWAYS, NEVER, WHERE_TRUE = {True, False}, set[bool](), {True}
CASES = {
    # What follows the kill, what is returned, the conditions at which the machine fails, the verdicts.
    "a kernel that does not read it": ("o = R.call_tir(Module.second, (a, x), T4)", "o", ALWAYS, {WRONG}),
    # What nothing uses may be left out by the pipeline of a target, though not by this one.
    "a shape": ("o = R.reshape(a, R.shape([2, 2]))", "x", ALWAYS, {UNSURE}),
    "a part": (
        'o = R.memory.view(a, R.shape([4]), R.dtype("float32"), R.prim_value(0))',
        "x",
        ALWAYS,
        {UNSURE},
    ),
    "the shape of it": ("o = R.shape_of(a)", "x", None, {UNSURE}),
    "a shape that is used": ("o = R.reshape(a, R.shape([2, 2]))", "o", ALWAYS, {WRONG}),
    "returned": ("o = a", "o", ALWAYS, {WRONG}),
    # Tuples.
    "in a tuple": ("t = (a, x)", "x", NEVER, set()),
    "beside it in a tuple": ("t = (a, x); q = t[1]", "q", NEVER, set()),
    "in a tuple in a tuple": ("t = (a, x); u = (t, x); v1 = u[0]; w = v1[1]", "w", NEVER, set()),
    "out of a tuple": ("t = (a, x); q = t[0]; o = R.call_tir(Module.double, (q,), T4)", "o", ALWAYS, {WRONG}),
    "in a tuple that is returned": ("t = (a, x)", "t", ALWAYS, {WRONG}),
    "in a tuple that is killed": ("t = (a, x); k1 = R.vm.kill_object(t)", "x", NEVER, set()),
    "in a tuple for who ignores it": (f"t = (a, x); o = {IGNORED.format('t')}", "o", NEVER, {UNSURE}),
    # Functions.
    "for who ignores it": (f"o = {IGNORED.format('a')}", "o", NEVER, {UNSURE}),
    "for a function that ignores it": ("o = Module.untyped(a, x)", "o", NEVER, {UNSURE}),
    "for a function that checks it": ("o = Module.typed(a, x)", "o", None, {WRONG}),
    "in a tuple of the machine's": (
        'o = R.call_packed("vm.builtin.make_tuple", a, x, ty_args=R.Tuple(T4, T4)); q = o[1]',
        "q",
        NEVER,
        set(),
    ),
    # Who makes a closure looks at nothing that it holds; the function checks it when it is called.
    "held by a closure": ("o = R.make_closure(Module.typed, (a,))", "x", NEVER, {UNSURE}),
    "held by a closure that is called": (
        "h = R.make_closure(Module.typed, (a,)); o = R.invoke_closure(h, (x,), ty_args=T4)",
        "o",
        ALWAYS,
        {UNSURE},
    ),
    # Functions of the machine: what they read is looked at.
    "copied to a device": (
        'o = R.call_packed("vm.builtin.to_device", a, R.prim_value(1), R.prim_value(0), ty_args=T4)',
        "o",
        ALWAYS,
        {WRONG},
    ),
    "as a shape": (
        'o = R.call_packed("vm.builtin.tensor_to_shape", a, ty_args=R.Shape(ndim=4))',
        "o",
        None,
        {WRONG},
    ),
    "for who is told its place": (
        'o = R.call_packed("vm.builtin.tuple_getitem", (a, x), R.prim_value(1), ty_args=T4)',
        "o",
        NEVER,
        {UNSURE},
    ),
    # Two of which one is killed on some paths only: the tuple holds a null value on all of them.
    "beside one that is killed on some paths": (PERHAPS.format("m, a"), "t", ALWAYS, {WRONG}),
    "before one that is killed on some paths": (PERHAPS.format("a, m"), "t", ALWAYS, {WRONG}),
    # Casts.
    "another type": ("o = R.match_cast(a, R.Object)", "x", NEVER, set()),
    "less of a type": ('o = R.match_cast(a, R.Tensor("float32", ndim=1))', "x", NEVER, {UNSURE}),
    "its own type": ("o = R.match_cast(a, T4)", "x", NEVER, set()),
    # Branches.
    "given by a branch": (BRANCH.format("a", "x"), "x", NEVER, set()),
    "given by a branch and used": (
        f"{BRANCH.format('a', 'x')}; o = R.call_tir(Module.double, (r,), T4)",
        "o",
        WHERE_TRUE,
        {WRONG},
    ),
    "given by both": (
        f"{BRANCH.format('a', 'a')}; o = R.call_tir(Module.double, (r,), T4)",
        "o",
        ALWAYS,
        {WRONG},
    ),
    "given by a branch and returned": (BRANCH.format("x", "a"), "r", {False}, {WRONG}),
    "given by a branch for who ignores it": (
        f"{BRANCH.format('a', 'x')}; o = {IGNORED.format('r')}",
        "o",
        NEVER,
        {UNSURE},
    ),
    "given by a branch and used on some paths": (
        f"{BRANCH.format('a', 'x')}; if c:;     o = x; else:;     o = R.call_tir(Module.double, (r,), T4)",
        "o",
        NEVER,
        {UNSURE},
    ),
}


@cache
def functions() -> str:
    """All programs."""
    text = "".join(
        FUNCTION.format(name=f"f{number}", lines=f"{KILL}; {lines}".replace("; ", "\n    "), result=result)
        for number, (lines, result, _, _) in enumerate(CASES.values())
    )
    return KERNELS + (MORE + text).replace("T4", T4)


@cache
def machine() -> relax.VirtualMachine:
    """Of all programs."""
    tvm.register_global_func("tests.second", lambda _, second: second, override=True)
    return relax.VirtualMachine(relax.build(parse(functions()), "llvm"), tvm.cpu())


@cache
def verdicts() -> dict[str, set[Verdict]]:
    """What is said of each function."""
    found: dict[str, set[Verdict]] = {}
    for check in checks(parse(functions()), "RLX20"):
        if check.rule in ("RLX201", "RLX202"):
            found.setdefault(check.function or "", set()).add(check.verdict)
    return found


def is_null(value: object) -> bool:
    """Whether a result is a null value, or a tuple with one."""
    return value is None or (not isinstance(value, tvm.runtime.Tensor) and any(one is None for one in value))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", CASES)
def test_what_becomes_of_a_null_value(name: str) -> None:
    number = list(CASES).index(name)
    *_, failing, said = CASES[name]
    assert verdicts().get(f"f{number}", set()) - {FINE} == said
    if failing is None:
        # The machine does not survive it.
        return
    failed = set()
    for condition in (True, False):
        given = (np.ones(4, "float32"), np.array(condition), np.ones(4, "float32"))
        try:
            result = machine()[f"f{number}"](*map(tvm.runtime.tensor, given))
        except (TypeError, RuntimeError):
            failed.add(condition)
        else:
            failed |= {condition} if is_null(result) else set()
    assert failed == failing


@pytest.mark.parametrize(
    ("type_", "lines", "said", "fails"),
    [
        (T4, "w = x", [], False),
        ("R.Object", "w = x", [], False),
        (T4, f"w = R.invoke_closure(v, (x,), ty_args={T4})", [WRONG], True),
        ("R.Object", f"w = R.invoke_closure(v, (x,), ty_args={T4})", [UNSURE], False),
    ],
)
def test_a_closure_holds_what_a_callee_returned_empty(
    type_: str, lines: str, said: list[Verdict], fails: bool
) -> None:
    """The function of the closure checks that it is a tensor, if it wants one, when it is called."""
    text = f"""
@R.function(private=True, pure=False)
def cleared(x: T4) -> T4:
    a = R.call_tir(Module.double, (x,), T4)
    {KILL}
    return a

@R.function(private=True, pure=False)
def held(o: T4, q: {type_}) -> T4:
    return o

@R.function(pure=False)
def main(x: T4):
    u = Module.cleared(x)
    v = R.make_closure(Module.held, (u,))
    {lines}
    return x
"""
    module = parse(KERNELS + text.replace("T4", T4))
    assert [check.verdict for check in checks(module, "RLX201") if check.verdict is not FINE] == said
    virtual = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.ones(4, "float32"))
    if fails:
        with pytest.raises((TypeError, RuntimeError), match="expect a Tensor"):
            virtual["main"](given)
    else:
        assert virtual["main"](given).numpy().tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("returned", ["t", "o"])
def test_who_calls_a_private_function_may_leave_alone_what_is_in_a_tuple(returned: str) -> None:
    """The caller runs right: it looks at nothing of what it gets."""
    text = f"""
@R.function(private=True, pure=False)
def inner(x: T4):
    a = R.call_tir(Module.double, (x,), T4)
    {KILL}
    t = (a, x)
    o = R.match_cast(t, R.Object)
    return {returned}

@R.function(pure=False)
def main(x: T4):
    o: R.Object = Module.inner(x)
    return x
"""
    module = parse(KERNELS + text.replace("T4", T4))
    assert [check.verdict for check in checks(module, "RLX201") if check.verdict is not FINE] == [UNSURE]
    given = tvm.runtime.tensor(np.ones(4, "float32"))
    result = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())["main"](given)
    assert result.numpy().tolist() == [1, 1, 1, 1]


def test_the_branch_that_gives_a_null_value_is_told_once() -> None:
    """However many kernels look at it then."""
    lines = f"{KILL}; {BRANCH.format('a', 'x')}"
    lines += "; o = R.call_tir(Module.double, (r,), T4); o1 = R.call_tir(Module.double, (r,), T4)"
    text = FUNCTION.format(name="main", lines=lines.replace("; ", "\n    "), result="o1")
    found = checks(parse(KERNELS + text.replace("T4", T4)), "RLX201")
    assert [check.verdict for check in found if check.verdict is not FINE] == [WRONG]
