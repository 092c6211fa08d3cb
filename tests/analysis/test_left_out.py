"""Which operations TVM leaves out, because nothing needs what they return."""

from __future__ import annotations

import random
from itertools import product

import pytest

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.left_out import LeftOut
from relax_lint.model.builder import build_program
from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    {}
"""
IMPURE = 'b = R.call_packed("f", a, ty_args=R.Object)'
PURE = 'b = R.call_pure_packed("f", a, ty_args=R.Object)'
T4 = 'R.Tensor((4,), "float32")'
BRANCH = "if c:;     b1 = {};     d = x; else:;     d = x; return x"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("a = R.add(x, x); return a", set()),
        ("a = R.add(x, x); return x", {"a"}),
        ("a = R.add(x, x); b = R.add(a, x); return x", {"a", "b"}),
        ("a = R.add(x, x); b = R.add(a, x); return (b, x)", set()),
        # What has an effect is kept, and so is what it is given.
        (f"a = R.add(x, x); {IMPURE}; return x", set()),
        (f"a = R.add(x, x); {PURE}; return x", {"a", "b"}),
        (f"a = R.add(x, x); e = R.add(x, x); {IMPURE}; return x", {"e"}),
        # In a branch whose result nobody needs.
        (f"a = R.add(x, x); {BRANCH.format('R.add(a, x)')}", {"a", "b1", "d"}),
        (f"a = R.add(x, x); {BRANCH.format(IMPURE.removeprefix('b = '))}", set()),
        # A cast that asks nothing new, and casts that do.
        (f"u = R.match_cast(x, {T4}); return x", {"u"}),
        ('u = R.match_cast(x, R.Tensor("float32", ndim=1)); return x', set()),
        ("u = R.match_cast(x, R.Object); return x", set()),
        (f"t = (x, x); u = R.match_cast(t, R.Tuple({T4}, {T4})); return x", {"t", "u"}),
        (f"t = (x, c); u = R.match_cast(t, R.Tuple({T4}, R.Object)); return x", set()),
        ("s = R.shape([4]); u = R.match_cast(s, R.Shape([4])); return x", {"s", "u"}),
        ("s = R.shape([4]); u = R.match_cast(s, R.Shape(ndim=1)); return x", set()),
    ],
)
def test_what_nothing_needs(lines: str, expected: set[str]) -> None:
    program = build_program(
        parse(PROGRAM.format(lines.replace("; ", "\n    ").replace(";     ", "\n        ")))
    )
    (function,) = program.functions
    left = LeftOut(program, Callees(program)).of(function)
    assert {op.place.binding for op in function.body.walk() if op.place.index in left} == expected


CALLED = f"""
@R.function(private=True)
def callee(x: {T4}) -> {T4}:
    a = R.add(x, x)
    return a

@R.function
def main(x: {T4}):
    {{}}
"""


@pytest.mark.parametrize(
    ("lines", "is_left"),
    [
        ("u = Module.callee(x); return x", True),
        ("u = Module.callee(x); v = Module.callee(u); return x", True),
        # One call that is kept is enough.
        ("u = Module.callee(x); v = Module.callee(x); return v", False),
        ("v = Module.callee(x); u = Module.callee(x); return v", False),
    ],
)
def test_a_function_is_left_out_with_all_of_its_calls(lines: str, is_left: bool) -> None:
    program = build_program(parse(CALLED.format(lines.replace("; ", "\n    "))))
    callee = next(function for function in program.functions if function.name == "callee")
    left = LeftOut(program, Callees(program)).of(callee)
    assert {op.place.binding for op in callee.body.walk() if op.place.index in left} == (
        {"a"} if is_left else set()
    )


RECURSION = """
@R.function(private=True)
def again(x: R.Tensor((4,), "float32")) -> R.Tensor((5,), "float32"):
    a = Module.again(x)
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([5]), R.dtype("float32"))
    return t

@R.function
def main(x: R.Tensor((4,), "float32")):
    y = {}
    return y
"""


@pytest.mark.parametrize(
    ("called", "verdict"),
    [
        # Nobody but itself calls it: it is judged as if somebody did.
        ("x", "always-wrong"),
        ("Module.again(x)", "always-wrong"),
    ],
)
def test_a_function_that_only_calls_itself_is_judged_as_one_that_is_called(called: str, verdict: str) -> None:
    (check,) = checks(parse(RECURSION.format(called)), "RLX101")
    assert (check.function, check.verdict.value) == ("again", verdict)


def _calling(chance: random.Random) -> tuple[str, dict[str, set[str]], set[str]]:
    """Functions that call each other, who calls each, and those that anybody may call."""
    names = [f"f{number}" for number in range(chance.randint(2, 7))]
    public = {names[0], *(name for name in names if chance.random() < 0.15)}
    callers: dict[str, set[str]] = {name: set() for name in names}
    text = ""
    for name in names:
        called = [chance.choice(names) for _ in range(chance.choice((0, 1, 1, 2)))]
        for one in called:
            callers[one].add(name)
        lines = "".join(f"    a{at} = Module.{one}(x)\n" for at, one in enumerate(called))
        private = "" if name in public else "(private=True)"
        text += f"\n@R.function{private}\ndef {name}(x: {T4}) -> {T4}:\n{lines}    return x\n"
    return text, callers, public


@pytest.mark.parametrize("seed", range(12))
def test_whether_calls_lead_to_a_function_without_another_one(seed: int) -> None:
    text, callers, public = _calling(random.Random(seed))
    program = build_program(parse(text))
    left_out = LeftOut(program, Callees(program))
    for function, without in product(program.functions, repeat=2):
        reached, pending = {without.name}, [function.name]
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += callers[name]
        leads = bool((reached - {without.name}) & public)
        assert left_out._runs(function, without) is leads
