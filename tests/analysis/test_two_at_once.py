"""Where two things come together: two damages by one operation, a tuple twice in what a call returns, a function that
gives back what it was given beside one that does not, and closures beside calls that make none.
"""

from __future__ import annotations

from itertools import permutations, product

import pytest

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.closures import Closures
from relax_lint.analysis.content_state import worse
from relax_lint.analysis.events import Damage
from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.builder import build_program
from tests.rules.checking import parse
from tests.rules.four_elements import KERNELS, T4

ONE, OTHER = Presumption("one is so"), Presumption("another is so")


@pytest.mark.parametrize("known", [None, ONE, OTHER])
@pytest.mark.parametrize("found", [None, ONE, OTHER])
def test_two_damages_are_harmless_where_both_are(
    known: Presumption | None, found: Presumption | None
) -> None:
    both = worse(Damage(Certainty.MAY, harmless=known), Damage(Certainty.MAY, harmless=found)).harmless
    if known is None or found is None:
        assert both is None
    else:
        assert both is not None
        assert all(one.text in both.text for one in (known, found))


def test_one_damage_is_itself() -> None:
    for certainty, harmless in product(Certainty, (None, ONE)):
        found = Damage(certainty, harmless=harmless)
        assert worse(None, found) == found


RETURNED = f"""
@R.function(private=True, pure=False)
def callee(p: {T4}):
    w = R.call_tir(Module.double, (p,), out_ty={T4})
    o = R.call_tir(Module.double, (p,), out_ty={T4})
    q = (w, o)
    return RESULT

@R.function(pure=False)
def main(x: {T4}):
    v = Module.callee(x)
    a = v[0]
    b = v[1]
    return a
"""


@pytest.mark.parametrize(
    ("result", "shared"),
    [("(w, o)", False), ("(w, w)", True), ("((w, o), x)", False), ("(q, q)", True), ("(q, (o, w))", True)],
)
def test_a_new_tensor_in_two_fields_is_a_part_of_either(result: str, shared: bool) -> None:
    text = RETURNED.replace("RESULT", result.replace("x", "p"))
    program = build_program(parse(KERNELS + text))
    main = next(function for function in program.functions if function.name == "main")
    aliases = FunctionFlow(ProgramFlow(program), main).aliases
    assert isinstance(aliases, Aliases)
    windows = {main.values[value].name for value in aliases.windows}
    assert ("a" in windows) is shared


CLOSURES = f"""
@R.function(private=True, pure=False)
def fills(t: {T4}, x: {T4}) -> {T4}:
    k = Module.double(x, t)
    return x

@R.function(pure=False)
def main(x: {T4}):
    LINES
    return x
"""
MADE = "f = R.make_closure(Module.fills, (x,))"
ANOTHER = 'g = R.call_packed("another", Module.fills, x, ty_args=R.Any)'
EMPTY = 'h = R.call_packed("another", ty_args=R.Any)'


@pytest.mark.parametrize("lines", [*permutations((MADE, ANOTHER, EMPTY))])
def test_only_what_makes_closures_makes_one(lines: tuple[str, ...]) -> None:
    program = build_program(parse(KERNELS + CLOSURES.replace("LINES", "\n    ".join(lines))))
    main = next(function for function in program.functions if function.name == "main")
    found = {main.values[value].name: closure.name for value, closure in Closures(program).of(main).items()}
    assert {name: found.get(name) for name in "fgh"} == {"f": "fills", "g": None, "h": None}


GET = f'v = R.call_packed("vm.builtin.tuple_getitem", p, R.prim_value(0), ty_args={T4})'
CALL = f"w = R.call_tir(Module.double, (x,), out_ty={T4})"


@pytest.mark.parametrize(
    ("lines", "claimed"),
    [((), False), ((CALL,), False), ((GET,), True), ((CALL, GET), True), ((GET, CALL), True)],
)
def test_one_call_that_gives_back_a_field_is_enough_for_a_claim(
    lines: tuple[str, ...], claimed: bool
) -> None:
    text = f"@R.function(pure=False)\ndef main(x: {T4}, p: R.Tuple({T4}, {T4})):\n"
    body = "".join(f"    {line}\n" for line in (*lines, "return x"))
    program = build_program(parse(KERNELS + text + body))
    (main,) = program.functions
    assert FunctionFlow(ProgramFlow(program), main).are_kinds_claimed is claimed


PAIRED = f"""
@R.function(private=True, pure=False)
def one_of(p: {T4}, q: {T4}, c: R.Tensor((), "bool")) -> {T4}:
    if c:
        r = p
    else:
        r = q
    return r

@R.function(pure=False)
def main(x: {T4}, y: {T4}, c: R.Tensor((), "bool")):
    v = Module.one_of(x, y, c)
    o = Module.one_of(x, y, c)
    w = R.memory.view(v, R.shape([2]), dtype="float32", relative_byte_offset=R.prim_value(8))
    u = R.memory.view(w, R.shape([1]), dtype="float32", relative_byte_offset=R.prim_value(0))
    k = R.call_tir(Module.double, (x,), out_ty={T4})
    return k
"""


@pytest.mark.parametrize(
    ("one", "other", "pairs"),
    [
        ("v", "x", {"xx", "yx"}),
        # What is seen through views is one tensor, whichever that is.
        ("v", "w", {"xx", "yy"}),
        ("u", "w", {"xx", "yy"}),
        # The function may choose another one the next time.
        ("v", "o", {"xx", "xy", "yx", "yy"}),
        ("u", "o", {"xx", "xy", "yx", "yy"}),
    ],
)
def test_which_two_tensors_two_values_are(one: str, other: str, pairs: set[str]) -> None:
    program = build_program(parse(KERNELS + PAIRED))
    main = next(function for function in program.functions if function.name == "main")
    value = {known.name: number for number, known in main.values.items()}
    name = {number: known.name for number, known in main.values.items()}
    flow = FunctionFlow(ProgramFlow(program), main)
    (last,) = [op for op in flow.operations if op.place.binding == "k"]
    found = flow.together.pairs(value[one], value[other], last)
    assert {name[a] + name[b] for a, b in found} == pairs
