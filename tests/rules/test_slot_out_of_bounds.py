"""RLX106 slot-out-of-bounds where its page does not reach: branches, PrimFuncs and heaps from elsewhere; RLX205 for
slots.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, findings, parse, verdicts

HEAP = """    heap = R.call_builtin_with_ctx(
        "vm.builtin.alloc_shape_heap", (R.prim_value(2),), ty_args=[R.Tensor("int64", ndim=1)]
    )
"""


def match(name: str, heap: str, slot: str, code: int = 1) -> str:
    """A check of the shape of `x` with one code."""
    return (
        f'{name} = R.call_packed("vm.builtin.match_shape", x, {heap}, 1, {code}, {slot}, R.str(""),'
        " ty_args=[R.Tuple])\n"
    )


def make(slot: str, heap: str = "heap") -> str:
    """A shape of one extent from a slot, which is returned."""
    return (
        f'    s = R.call_packed("vm.builtin.make_shape", {heap}, 1, 1, {slot}, ty_args=[R.Shape(ndim=1)])\n'
        "    return s\n"
    )


def function(body: str, before: str = "", parameters: str = "") -> str:
    """A function of a tensor of unknown shape and a condition."""
    head = (
        f'def main(x: R.Tensor("float32", ndim=1), c: R.Tensor((), "bool"){parameters}) -> R.Shape(ndim=1):\n'
    )
    return f"{before}\n@R.function(pure=False)\n{head}{body}"


def kernel(body: str, name: str = "compute") -> str:
    """A PrimFunc that gets the heap."""
    return (
        f'@T.prim_func(private=True, s_tir=True)\ndef {name}(H: T.Buffer((T.int64(2),), "int64")):\n{body}\n'
    )


def said(program: str) -> list[tuple[str, str, str | None]]:
    """What the two rules say that is not fine."""
    return [found for code in ("RLX106", "RLX205") for found in verdicts(findings(parse(program), code))]


BRANCH = (
    HEAP
    + "    if c:\n        "
    + match("w", "heap", "0")
    + "        b = x\n    else:\n{other}        b = x\n"
)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (function(HEAP + "    " + match("w", "heap", "0") + make("0")), []),
        (function(HEAP + make("0")), [("RLX205", "always-wrong", None)]),
        (
            function(HEAP + "    " + match("w", "heap", "0", 3) + make("0")),
            [("RLX205", "always-wrong", None)] * 2,
        ),
        (function(BRANCH.format(other="") + make("0")), [("RLX205", "needs-runtime-check", None)]),
        (function(BRANCH.format(other="        " + match("v", "heap", "0")) + make("0")), []),
        (function(HEAP + "    Module.compute(heap)\n" + make("1"), kernel("    H[1] = T.int64(3)")), []),
        (
            function(HEAP + "    Module.compute(heap)\n" + make("1"), kernel("    H[1] = H[0] + T.int64(3)")),
            [("RLX205", "always-wrong", None)],
        ),
        (
            function(
                HEAP + "    Module.compute(heap)\n" + make("1"),
                kernel("    for i in range(2):\n        H[i] = T.int64(3)"),
            ),
            [("RLX205", "needs-runtime-check", None)],
        ),
        (
            function(HEAP + '    w = R.call_packed("who.knows", heap, ty_args=[R.Tuple])\n' + make("1")),
            [("RLX205", "needs-runtime-check", None)],
        ),
        (
            function(
                "    " + match("w", "h", "3") + make("3", "h"), parameters=', h: R.Tensor((4,), "int64")'
            ),
            [],
        ),
        (
            function(
                "    " + match("w", "h", "4") + make("3", "h"), parameters=', h: R.Tensor((4,), "int64")'
            ),
            [("RLX106", "always-wrong", None)],
        ),
        (
            function(
                "    " + match("w", "h", "4") + make("3", "h"), parameters=', h: R.Tensor("int64", ndim=1)'
            ),
            [("RLX106", "needs-runtime-check", None)] * 2,
        ),
        (
            function(
                HEAP
                + "    pair = (x, heap)\n    other = pair[1]\n    "
                + match("w", "other", "2")
                + make("1")
            ),
            [("RLX106", "always-wrong", None), ("RLX205", "always-wrong", None)],
        ),
    ],
    ids=[
        "written",
        "unwritten",
        "compared with an unwritten one",
        "written in one branch",
        "written in both branches",
        "written by a kernel",
        "read by a kernel",
        "written by a loop",
        "written by who knows",
        "a parameter",
        "beyond a parameter",
        "an unknown number of slots",
        "in a tuple",
    ],
)
def test_slots(program: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert said(program) == expected


@pytest.mark.parametrize(
    ("slots", "named"),
    [((0, 1), None), ((0, 5), 5), ((5, 0), 5), ((7, 5), 7), ((0, -1), -1), ((2, 1), 2)],
)
def test_the_first_slot_that_there_is_not_is_named(slots: tuple[int, int], named: int | None) -> None:
    """The heap has slots 0 and 1."""
    body = HEAP + "    " + match("w", "heap", "0") + "    " + match("v", "heap", "1")
    last = make(", 1, ".join(map(str, slots))).replace("heap, 1,", "heap, 2,").replace("ndim=1", "ndim=2")
    text = function(body + last).replace("-> R.Shape(ndim=1)", "-> R.Shape(ndim=2)")
    found = findings(parse(text), "RLX106")
    said = [f"slot {named} of the shape heap `heap`, which has 2 slots" in one.message for one in found]
    assert said == [True] * (named is not None)


def test_an_if_between_heaps_is_a_heap_of_which_nothing_is_known() -> None:
    body = (
        HEAP
        + HEAP.replace("heap =", "second =")
        + "    if c:\n        b = heap\n    else:\n        b = second\n"
    )
    program = function(body + "    " + match("w", "b", "0") + make("0"))
    found = said(program)
    assert ("RLX205", "needs-runtime-check", None) in found
    assert all(verdict != "always-wrong" for _, verdict, _ in found)


MAY = [("RLX205", "needs-runtime-check", None)]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("H[1] = T.int64(3)", []),
        ("W = T.match_buffer(H[1:2], (1,), 'int64', offset_factor=1)\n        W[0] = T.int64(3)", MAY),
        ("t = T.sblock_alloc_buffer((1,), 'int64')\n        t[0] = T.int64(3)\n        H[1] = t[0]", MAY),
        ("T.where(H[1] > T.int64(0))\n        H[1] = T.int64(3)", MAY),
        ("v = T.axis.spatial(2, 1)\n        H[v] = T.int64(3)", MAY),
        (
            "v = T.axis.reduce(2, 1)\n        with T.init():\n            H[1] = T.int64(3)\n        H[1] = H[1] + v",
            MAY,
        ),
    ],
    ids=["nothing", "a window", "a buffer", "a predicate", "an axis", "what is done first"],
)
def test_a_block_around_the_stores_of_slots(block: str, expected: list[tuple[str, str, str | None]]) -> None:
    body = kernel(f"    with T.sblock('b'):\n        {block}")
    assert said(function(HEAP + "    Module.compute(heap)\n" + make("1"), body)) == expected


TWO = kernel("    H[5] = T.int64(1)\n    G[0] = T.int64(1)").replace(
    '"int64"))', '"int64"), G: T.Buffer((T.int64(2),), "int64"))'
)
OTHER = ', h: R.Tensor("int64", ndim=1)'


@pytest.mark.parametrize(
    ("program", "claimed"),
    [
        # What slot 1 holds nobody knows, nor how many slots `h` has.
        (
            function(
                HEAP + "    Module.compute(heap)\n" + make("0"),
                kernel("    H[H[1]] = T.int64(1)\n    H[5] = T.int64(1)"),
            ),
            "1 >= 0 and 1 + 1 <= 2 and 5 >= 0 and 5 + 1 <= 2",
        ),
        (
            function(
                HEAP + "    Module.compute(heap)\n" + make("0"),
                kernel("    H[5] = T.int64(1)\n    H[H[1]] = T.int64(1)"),
            ),
            "5 >= 0 and 5 + 1 <= 2 and 1 >= 0 and 1 + 1 <= 2",
        ),
        (
            function(
                HEAP + "    " + match("w", "h", "0") + "    Module.compute(heap, h)\n" + make("0"), TWO, OTHER
            ),
            "5 >= 0 and 5 + 1 <= 2",
        ),
    ],
)
def test_a_slot_that_is_outside_decides_whatever_is_not_known_of_others(program: str, claimed: str) -> None:
    """The record of the proof says what is known of the others."""
    found = [
        check
        for check in checks(parse(program), "RLX106", proofs=True)
        if check.verdict.value == "always-wrong"
    ]
    (record,) = [check.proof_record for check in found]
    assert record is not None
    assert [claim.condition for claim in record.claims] == [claimed]
