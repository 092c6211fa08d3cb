"""What a kernel finds in a tensor of indices, by who has written it, through which name, and as what."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse

ONE = 'T.Buffer((8,), "int32", offset_factor=1)'
EIGHT = 'R.Tensor((8,), "int32")'


def kernel(name: str, parameters: str, *lines: str) -> tuple[str, str]:
    """A kernel; `m` is the extent of a parameter `b: T.handle`, `k` of `c: T.handle`."""
    heads = [
        f'{size} = T.int64()\n    {vector} = T.match_buffer({handle}, ({size},), "float32")'
        for handle, vector, size in (("b", "p", "m"), ("c", "u", "k"))
        if f"{handle}: T.handle" in parameters
    ]
    body = "\n    ".join((*heads, *lines))
    return name, f"\n@T.prim_func(private=True, s_tir=True)\ndef {name}({parameters}):\n    {body}\n"


EACH = "for i in range(8):"
SCALAR = "s = T.alloc_buffer((1,), 'int32')"
KERNELS: dict[str, str] = dict(
    (
        kernel("fill", f"q: {ONE}", EACH, "    q[i] = i"),
        kernel("half", 'q: T.Buffer((4,), "int32", offset_factor=1)', "for i in range(4):", "    q[i] = i"),
        kernel("floats", 'q: T.Buffer((8,), "float32")', EACH, "    q[i] = T.float32(1)"),
        kernel("hundreds", f"q: {ONE}", EACH, "    q[i] = i + 100"),
        kernel("from_first", f"q: {ONE}", EACH, "    q[i] = q[0] + 1"),
        kernel("pair", f"q: {ONE}, r: {ONE}", EACH, "    q[i] = i", "    r[i] = i + 100"),
        kernel("each_other", f"r: {ONE}, q: {ONE}", EACH, "    q[i] = r[i]", "    r[i] = q[i]"),
        kernel("copy", f"r: {ONE}, q: {ONE}", EACH, "    q[i] = r[i]"),
        kernel("clamp", f"r: {ONE}, q: {ONE}", EACH, "    q[i] = T.min(T.max(r[i], 0), 7)"),
        kernel("clamp_the_last", f"q: {ONE}, r: {ONE}", EACH, "    q[i] = T.min(T.max(r[i], 0), 7)"),
        kernel("less", f"r: {ONE}, q: {ONE}", EACH, "    q[i] = T.max(r[i] - 1, 0)"),
        kernel(
            "clamp_and_turn",
            f"r: {ONE}, q: {ONE}, o: {ONE}",
            *(EACH, "    q[i] = T.min(T.max(r[i], 0), 7)"),
            *(EACH, "    o[7 - i] = r[i]"),
        ),
        kernel("truths", f'r: T.Buffer((8,), "bool"), q: {ONE}', EACH, "    q[i] = T.Cast('int32', r[i])"),
        kernel("some", f"b: T.handle, q: {ONE}", "for i in range(m):", "    q[i] = 3"),
        kernel("count", f"b: T.handle, q: {ONE}", EACH, "    q[i] = T.Cast('int32', m) + 5"),
        kernel(
            "large", f"b: T.handle, q: {ONE}", EACH, "    q[i] = T.Cast('int32', T.Cast('int32', m) * 3 > 4)"
        ),
        kernel("up_to", f"b: T.handle, q: {ONE}", EACH, "    q[i] = T.min(T.Cast('int32', m), 7)"),
        kernel(
            "huge", f"q: {ONE}", EACH, "    q[i] = T.Cast('int32', T.Cast('int64', i) * T.int64(1000000000))"
        ),
        kernel("hundreds_for", f"b: T.handle, q: {ONE}", EACH, "    q[i] = i + 100"),
        kernel("fill_for", f"b: T.handle, q: {ONE}", EACH, "    q[i] = i"),
        kernel(
            "last",
            f"b: T.handle, q: {ONE}",
            *(SCALAR, "for j in range(m):", "    s[0] = 3", EACH, "    q[i] = s[0]"),
        ),
        kernel(
            "greatest",
            f"b: T.handle, c: T.handle, q: {ONE}",
            *(SCALAR, "t = T.alloc_buffer((1,), 'int32')"),
            *("for j in range(m):", "    with T.sblock('s'):", "        vj = T.axis.reduce(m, j)"),
            *("        with T.init():", "            s[0] = 0", "        s[0] = T.max(s[0], 5)"),
            *("for j in range(k):", "    with T.sblock('t'):", "        vj = T.axis.reduce(k, j)"),
            *("        with T.init():", "            t[0] = 0", "        t[0] = T.max(t[0], 6)"),
            *(EACH, "    q[i] = T.max(s[0], t[0])"),
        ),
        kernel(
            "far_greatest",
            f"b: T.handle, q: {ONE}",
            *(SCALAR, "for j in range(m):", "    with T.sblock('s'):", "        vj = T.axis.reduce(m, j)"),
            *("        with T.init():", "            s[0] = 100", "        s[0] = T.max(s[0], 105)"),
            *(EACH, "    q[i] = s[0]"),
        ),
        kernel(
            "gather",
            f'x: T.Buffer((8,), "float32"), w: {ONE}, y: T.Buffer((8,), "float32")',
            *(EACH, "    y[i] = x[w[i]]"),
        ),
        kernel(
            "gather_half",
            'x: T.Buffer((8,), "float32"), w: T.Buffer((4,), "{}", offset_factor=1), y: T.Buffer((4,), "float32")',
            *("for i in range(4):", "    y[i] = x[w[i]]"),
        ),
        kernel(
            "gather_last",
            f'x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32"), w: {ONE}',
            *(EACH, "    y[i] = x[w[i]]"),
        ),
    )
)
MAIN = """
@R.function(pure=False)
def main({parameters}):
{lines}
    return y
"""
PARAMETERS = 'x: R.Tensor((8,), "float32"), o: R.Tensor((8,), "int32"), r: R.Tensor((8,), "int32"), f: R.Tensor(("n",), "float32")'


def module(*lines: str, parameters: str = PARAMETERS, more: str = "", halves: str = "int32") -> Any:
    """A module with these lines in its function."""
    body = "\n".join(f"    {line}" for line in lines)
    called = "".join(text for name, text in KERNELS.items() if f"Module.{name}" in body)
    return parse(called.replace("{}", halves) + MAIN.format(parameters=parameters, lines=body) + more)


def said(module: Any) -> list[str]:
    """What is assumed of the indices; nothing where all is proved."""
    return [
        assumption.text
        for function in ModuleJudge(module, Config(select=("RLX306",))).functions()
        for use in function.facts.kernels.uses
        if use.kernel.name.startswith("gather")
        for found in function.facts.indices.verdict(use).open
        if found.status is not Status.PROVED
        for assumption in found.assumptions
    ]


def new(name: str, by: str = "fill", *given: str) -> str:
    """A new tensor that a kernel writes."""
    arguments = ", ".join(given) + ("," if given else "")
    return f"{name} = R.call_tir(Module.{by}, ({arguments}), {EIGHT})"


def in_place(name: str, by: str, *given: str, at: int = 0) -> str:
    """A kernel that overwrites one of its arguments."""
    return f"{name} = R.call_tir_inplace(Module.{by}, ({', '.join(given)},), [{at}], {EIGHT})"


def gather(name: str = "i", kernel: str = "gather", rows: int = 8) -> str:
    """Rows of `x` are taken."""
    return f'y = R.call_tir(Module.{kernel}, (x, {name}), R.Tensor(({rows},), "float32"))'


def tensor(name: str, offset: int = 0, rows: int = 8, dtype: str = "int32", storage: str = "s") -> str:
    """A tensor on a storage."""
    return f'{name} = R.memory.alloc_tensor({storage}, {offset}, R.shape([{rows}]), "{dtype}")'


def storage(name: str = "s") -> str:
    """Memory for sixteen integers."""
    return f'{name} = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")'


def view(name: str, of: str, rows: int = 8, dtype: str = "int32") -> str:
    """The beginning of a tensor as another one."""
    return f'{name} = R.memory.view({of}, R.shape([{rows}]), "{dtype}")'


def either(name: str, one: str, other: str) -> str:
    """One of two values."""
    return f"if g:\n        {name} = {one}\n    else:\n        {name} = {other}"


def constant(name: str, last: int = 7) -> str:
    """A constant that counts up."""
    return f'{name} = R.const({list(range(last + 1))}, "int32")'


def inside(name: str) -> tuple[str, ...]:
    """A function inside overwrites a tensor, and returns another one."""
    return (
        "@R.function(pure=False)",
        f"def inside() -> {EIGHT}:",
        *(f"    {in_place('k', 'hundreds', name)}", f"    {new('m')}", "    return m"),
        "l = inside()",
    )


RESHAPED = "i = R.reshape(h, R.shape([8]))"
SAME = f'i = R.call_pure_packed("relax_lint.tests.same", h, ty_args={EIGHT})'
KNOWN = {
    "a constant in another shape": (constant("h"), RESHAPED, gather()),
    "the beginning of a constant": (constant("h"), view("i", "h"), gather()),
    "a reshaped tensor": (new("h"), RESHAPED, gather()),
    "a copy that begins the memory": (new("h"), "i = R.memory.ensure_zero_offset(h)", gather()),
    "half of a tensor": (new("h"), view("i", "h", 4), gather("i", "gather_half", 4)),
    "two dtypes later": (new("h"), view("j", "h", dtype="float32"), view("i", "j"), gather()),
    "one of two results": (
        f"v = R.call_tir(Module.pair, (), [{EIGHT}, {EIGHT}])",
        "i = v[0]",
        gather(),
    ),
    "made of any numbers": (new("i", "clamp", "o"), gather()),
    "made of truths": (new("i", "truths", "g"), gather()),
    "made of itself": (in_place("i", "clamp", "o", "o", at=1), gather()),
    "of another tensor in a parameter": (new("h"), in_place("i", "clamp", "h", "o", at=1), gather()),
    "of a parameter in another tensor": (
        *(storage(), tensor("h")),
        *("_1 = Module.clamp(o, h)", gather("h")),
    ),
    "twice, as a size has it": (
        new("h"),
        "e = R.zeros(R.shape([8]), 'float32')",
        "_1 = Module.some(e, h)",
        gather("h"),
    ),
    "of so many": ("e = R.zeros(R.shape([8]), 'float32')", new("i", "last", "e"), gather()),
    "the greatest of some": (
        "e = R.zeros(R.shape([8]), 'float32')",
        *(new("i", "greatest", "e", "e"), gather()),
    ),
    "positions": ('i = R.argsort(o, axis=0, dtype="int32")', gather()),
    "15 copies": (new("h0"), *(new(f"h{n + 1}", "copy", f"h{n}") for n in range(15)), gather("h15")),
}

HELD = "`{}` within 0..7 (indices of `gather`, not checked)"
NOT_KNOWN = {
    # Whether it wraps around nobody knows.
    "a truth of an unknown number": (new("i", "large", "a"), gather()),
    # The kernel refuses that, and has not run where somebody goes on.
    "fewer results than the kernel has": (new("i", "pair"), gather()),
    "another name of the memory": (new("h"), RESHAPED, in_place("k", "hundreds", "i"), gather("h")),
    "a view that was changed": (new("h"), RESHAPED, in_place("k", "hundreds", "h"), gather()),
    "more elements than are seen": (constant("h", 9), view("i", "h"), gather()),
    "half of it is written": (storage(), tensor("h"), view("j", "h", 4), "_1 = Module.half(j)", gather("h")),
    "half of its memory is": (storage(), tensor("h"), tensor("j", 0, 4), "_1 = Module.half(j)", gather("h")),
    "written with floats": (
        *(storage(), tensor("j", dtype="float32"), "_1 = Module.floats(j)"),
        *(view("i", "j"), gather()),
    ),
    "the other result": (f"v = R.call_tir(Module.pair, (), [{EIGHT}, {EIGHT}])", "i = v[1]", gather()),
    "a kernel reads what it has stored": (new("i"), "_1 = Module.from_first(i)", gather()),
    "two results of each other": (
        f"v = R.call_tir_inplace(Module.each_other, (o, r), [0, 1], [{EIGHT}, {EIGHT}])",
        *("i = v[1]", gather()),
    ),
    "another parameter that may be the same": (in_place("i", "less", "o", "r", at=1), gather()),
    "what a packed function returns": (new("h"), SAME, in_place("k", "fill", "i"), gather()),
    "what it was given has changed": (
        *(new("h"), SAME, in_place("k", "fill", "i"), in_place("l", "hundreds", "h")),
        gather(),
    ),
    "one of two tensors": (
        *(new("h"), new("j", "hundreds"), either("t", "h", "j"), "_1 = Module.fill(t)", gather("j")),
    ),
    "on either storage, the first": (
        *(storage("s1"), storage("s2"), either("s", "s1", "s2"), tensor("h"), "_1 = Module.fill(h)"),
        *(tensor("j", storage="s1"), "_2 = Module.hundreds(j)", gather("h")),
    ),
    "on either storage, the second": (
        *(storage("s1"), storage("s2"), either("s", "s1", "s2"), tensor("h"), "_1 = Module.fill(h)"),
        *(tensor("j", storage="s2"), "_2 = Module.hundreds(j)", gather("h")),
    ),
    "a function inside": (new("h"), *inside("h"), gather("h")),
    "a function inside, by a view": (new("h"), RESHAPED, *inside("i"), gather("h")),
    "a view, of what a function inside has": (new("h"), RESHAPED, *inside("h"), gather()),
    "fewer arguments than are copied": (new("i", "clamp_the_last"), gather()),
    "a constant with one index before": (
        'h = R.const([-1, 1, 2, 3, 4, 5, 6, 7], "int32")',
        f"i = R.match_cast(h, {EIGHT})",
        gather(),
    ),
    "numbers beside positions": (
        't = R.topk(o, 8, axis=0, ret_type="both", dtype="int32")',
        *("i = t[0]", gather()),
    ),
    "positions as floats": ('i = R.argsort(o, axis=0, dtype="float32")', gather()),
    "twice, the second a size decides": (new("h"), "_1 = Module.some(f, h)", gather("h")),
    "of so many as there are": (new("i", "last", "f"), gather()),
    "of a size that is not known": (new("i", "up_to", "a"), gather()),
    "of an unknown number": (new("i", "last", "a"), gather()),
    "numbers that do not fit": (new("i", "huge"), gather()),
    "of unknown numbers": (new("i", "clamp", "z"), gather()),
    "more copies than are followed": (
        new("h0"),
        *(new(f"h{n + 1}", "copy", f"h{n}") for n in range(16)),
        gather("h16"),
    ),
    "a tuple": (new("h"), "i = (h,)", gather()),
}
MORE = ', g: R.Tensor((8,), "bool"), a: R.Tensor(dtype="float32", ndim=1), z: R.Tensor(ndim=1)'


@pytest.mark.parametrize("case", KNOWN)
def test_what_is_known_to_be_inside(case: str) -> None:
    assert said(module(*KNOWN[case], parameters=PARAMETERS + MORE)) == []


@pytest.mark.parametrize("case", NOT_KNOWN)
def test_what_is_not_known_is_assumed(case: str) -> None:
    lines = NOT_KNOWN[case]
    name = lines[-1].partition("(x, ")[2].partition(")")[0]
    more = MORE.replace('(8,), "bool"', '(), "bool"')
    assert said(module(*lines, parameters=PARAMETERS + more)) == [HELD.format(name)]


WRAPS, EMPTY = "no integer that `count` stores wraps around", "no reduction is empty"
BELIEVED = 'e = R.call_packed("relax_lint.tests.floats", ty_args=R.Tensor((8,), "float32"))'
TYPE = "the type of `e` (declared by the call of `relax_lint.tests.floats`, not checked)"
ZEROS = "e = R.zeros(R.shape([8]), 'float32')"
ASSUMED = {
    "a number that may wrap": ((new("i", "count", "f"), gather()), [WRAPS, HELD.format("i")]),
    "the greatest of perhaps none": ((ZEROS, new("i", "greatest", "e", "f"), gather()), [EMPTY]),
    "perhaps none, then of some": ((ZEROS, new("i", "greatest", "f", "e"), gather()), [EMPTY]),
    "of an unknown number": ((ZEROS, new("i", "greatest", "e", "a"), gather()), [EMPTY]),
    # The size is not known, and what is stored is outside for any.
    "far, of an unknown number": ((new("i", "far_greatest", "a"), gather()), [EMPTY, HELD.format("i")]),
    "beside a type that is believed": ((BELIEVED, new("i", "fill_for", "e"), gather()), [TYPE]),
    "far, beside such a type": (
        (BELIEVED, new("i", "hundreds_for", "e"), gather()),
        [TYPE, HELD.format("i")],
    ),
}
PAIRS = {
    "of a constant": (constant("h"), view("i", "h", 4, "int64")),
    "of a reshaped tensor": (new("h"), "j = R.reshape(h, R.shape([8]))", view("i", "j", 4, "int64")),
    "of a tensor": (new("h"), view("i", "h", 4, "int64")),
}
REACHED = {
    "another name": (
        ('h = R.const([0, 1, 2, 3, 4, 5, 6, 9], "int32")', f"i = R.match_cast(h, {EIGHT})"),
        ["always-wrong"],
    ),
    "a part of it": ((constant("h", 9), view("i", "h")), []),
    "of one size": (("e = R.zeros(R.shape([3]), 'float32')", new("i", "count", "e")), ["always-wrong"]),
    "that may wrap": ((new("i", "count", "f"),), []),
}


@pytest.mark.parametrize("case", ASSUMED)
def test_what_is_known_if_something_else_is_so(case: str) -> None:
    lines, assumed = ASSUMED[case]
    assert said(module(*lines, parameters=PARAMETERS + MORE)) == assumed


@pytest.mark.parametrize("case", PAIRS)
def test_two_numbers_as_one_are_another_number(case: str) -> None:
    found = module(*PAIRS[case], gather("i", "gather_half", 4), halves="int64")
    assert said(found) == [HELD.format("i").replace("gather", "gather_half")]


@pytest.mark.parametrize("case", REACHED)
def test_ends_that_some_element_has(case: str) -> None:
    lines, found = REACHED[case]
    checked = checks(module(*lines, gather()), "RLX308")
    assert [check.verdict.value for check in checked] == found
