"""RLX103: sizes that fit, made of numbers that do not."""

from __future__ import annotations

import pytest

from relax_lint.replay import Input, Machine, Module, Outcome, Scalar, Tensor
from tests.rules.checking import checks, parse, verdicts

CLAMPED = "T.min(T.max({}, T.int64(0)), T.int64(64))"
BEYOND = {
    "a product": (CLAMPED.format("k * k"), 2**32, "k**2 <= 9223372036854775807"),
    "a multiple": (CLAMPED.format("k * 4"), 2**62, "k >= -2305843009213693952 and k <= 2305843009213693951"),
    "a difference": (CLAMPED.format("k - 17"), -(2**63), "k >= -9223372036854775791"),
    "a sum that is compared": (
        "T.Select(k + 64 > T.int64(0), T.int64(64), T.int64(0))",
        2**63 - 1,
        "k <= 9223372036854775743",
    ),
    "a remainder": ("k * 4 % 3", 2**62, "k >= -2305843009213693952 and k <= 2305843009213693951"),
}
"""A size, a scalar at which something in it wraps around, and the scalars at which nothing does."""
FITS = {
    "by a power of two": "k * 4 % 64",
    "bits": "T.bitwise_and(k * 12, T.int64(63))",
    "of an extent": CLAMPED.format("n * 16"),
    "of few bits": CLAMPED.format("T.Cast('int64', T.Cast('int32', k)) * 4"),
    "only chosen": CLAMPED.format("k"),
}


def text(size: str, extent: str) -> str:
    """A tensor of some bytes on a storage of some bytes."""
    return f"""
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "int8"), k: R.Prim("int64")) -> R.Object:
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{extent}]), R.dtype("int8"))
        return t
    """


@pytest.mark.parametrize("case", BEYOND)
def test_what_is_chosen_from_a_number_that_wrapped_is_another_size(case: str) -> None:
    size, _, safe = BEYOND[case]
    of_storage, of_tensor = verdicts(checks(parse(text(size, "0")), "RLX103"))
    assert of_storage == ("RLX103", "needs-runtime-check", safe)
    assert of_tensor == ("RLX103", "always-fine", None)


@pytest.mark.parametrize("case", FITS)
def test_low_bits_are_right_whatever_the_others_are(case: str) -> None:
    said = verdicts(checks(parse(text(FITS[case], "0")), "RLX103"))
    assert said == [("RLX103", "always-fine", None)] * 2


def test_an_empty_tensor_says_nothing_of_its_other_extents() -> None:
    _, beyond = verdicts(checks(parse(text("64", "k * 2, 0")), "RLX103"))
    assert beyond == ("RLX103", "needs-runtime-check", "k <= 4611686018427387903")
    _, fits = verdicts(checks(parse(text("64", "k, 0")), "RLX103"))
    assert fits == ("RLX103", "always-fine", None)


@pytest.mark.parametrize(
    ("asserted", "verdict", "safe"),
    [
        ("j == 0", "needs-runtime-check", "k <= 4611686018427387903"),
        ("j >= 0 and j * k == 0", "needs-runtime-check", "k <= 4611686018427387903"),
        ("j >= 1 and j < 9 and k >= 0 and k < 99", "always-fine", None),
        ("j == 0 and k < 99", "always-fine", None),
    ],
)
def test_nor_does_one_that_is_asserted_to_be_empty(asserted: str, verdict: str, safe: str | None) -> None:
    checked = "".join(
        f'        a{i} = R.assert_op(R.prim_value({one}), [], format="no")\n'
        for i, one in enumerate(asserted.split(" and "))
    )
    program = text("64", "k * 2, j").replace("        s = ", checked + "        s = ")
    program = program.replace('k: R.Prim("int64")', 'k: R.Prim("int64"), j: R.Prim("int64")')
    program = program.replace("        n = ", "        k = T.int64()\n        j = T.int64()\n        n = ")
    _, tensor = verdicts(checks(parse(program), "RLX103"))
    assert tensor == ("RLX103", verdict, safe)


def test_an_offset_is_asked_too() -> None:
    module = parse(
        text("64", "8").replace(
            "R.prim_value(0), R.shape([8])", f"R.prim_value({CLAMPED}), R.shape([8])".format("k * 4")
        )
    )
    assert [safe for _, _, safe in verdicts(checks(module, "RLX103"))][1:] == [
        "k >= -2305843009213693952 and k <= 2305843009213693951"
    ]


@pytest.mark.vm
def test_the_machine_takes_the_number_that_wrapped() -> None:
    """It obtains a storage of 0 bytes for 64; without the product it refuses nothing."""
    outcomes = []
    with Machine() as machine:
        for size in ("k * k", "k"):
            module = Module(
                "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:"
                + text(CLAMPED.format(size), CLAMPED.format("k"))
            )
            for scalar in (3, 2**32):
                arguments: list[Input] = [Tensor("int8", (1,)), Scalar(scalar)]
                outcomes.append(machine.run(module, "main", arguments, allocator="naive").outcome)
    assert outcomes == [Outcome.OK, Outcome.ERROR, Outcome.OK, Outcome.OK]
