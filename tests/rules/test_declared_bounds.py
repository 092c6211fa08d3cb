"""Declared bounds (RLX501 to 503, 506), alone and together: what relies on each, and which are ignored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.checking import checks, parse

FUNCTION = """
@R.function(pure=False)
def {name}(x: R.Tensor(({extents},), "float32")):
    R.func_attr({{{attributes}}})
{lines}
    return x
"""


def function(
    *tensors: tuple[str, str],
    upper: dict[str, Any] | None = None,
    lower: dict[str, int] | None = None,
    symbols: str = "nm",
    name: str = "main",
    asserts: str = "",
) -> str:
    """A function with storages of so many bytes, and a tensor of so many bytes on each."""
    lines = [f"{symbol} = T.int64()" for symbol in symbols] + [asserts] * bool(asserts)
    for number, (room, size) in enumerate(tensors):
        lines += [
            f's{number} = R.memory.alloc_storage(R.shape([{room}]), 0, "global", "uint8")',
            f'a{number} = R.memory.alloc_tensor(s{number}, 0, R.shape([{size}]), "uint8")',
            f'_{number} = R.call_packed("f", a{number}, ty_args=R.Tuple())',
        ]
    bounds = {"tir_var_upper_bound": upper, "tir_var_lower_bound": lower}
    attributes = ", ".join(f'"{key}": {each}' for key, each in bounds.items() if each is not None)
    return FUNCTION.format(
        name=name,
        extents=", ".join(f'"{symbol}"' for symbol in symbols),
        attributes=attributes.replace("'", '"'),
        lines="\n".join(f"    {line}" for line in lines),
    )


def said(text: str, code: str) -> list[tuple[str, str]]:
    """Verdict and severity of what a rule says of the function."""
    return [
        (check.verdict.value, check.severity.value)
        for check in checks(parse(text), code)
        if check.function == "main"
    ]


RELIED = {
    "one": (function(("1024", "n"), upper={"n": 1024}), {"n <= 1024": "`n = 1025` overruns `s0`"}),
    "more than it takes": (
        function(("2000", "n"), upper={"n": 1024}),
        {"n <= 1024": "`n = 2001` overruns `s0`"},
    ),
    "by several": (
        function(("4096", "2 * n"), ("1500", "n"), ("1024", "n"), upper={"n": 1024}),
        {"n <= 1024": "`n = 1025` overruns `s2`"},
    ),
    "by those that do not fit anyway": (
        function(("1000", "n"), ("3000", "2 * n"), upper={"n": 1024}),
        {"n <= 1024": "`n = 1501` overruns `s1`"},
    ),
    # 91 * 91 is the product of the smallest sum above 8192, as 82 * 100 is; `m` must be above 8.
    "of two symbols": (
        function(("1024", "n"), ("8192", "n * m"), upper={"n": 1024, "m": 8}),
        {"n <= 1024": "`n = 1025` overruns `s0`", "m <= 8": "overruns `s1`"},
    ),
    "not of the other one": (
        function(("1024", "n"), upper={"n": 1024, "m": 8}),
        {"n <= 1024": "`n = 1025` overruns `s0`"},
    ),
    "through what is asserted of another one": (
        function(("1024", "n"), upper={"m": 1024}, asserts='R.assert_op(n <= m, [n, m], format="n")'),
        {"m <= 1024": "TVM plans for `m <= 1024` but never checks it"},
    ),
    "by nobody": (function(("n", "n"), upper={"n": 1024}), {}),
    "of a name of another function": (
        function(("1024", "n"), upper={"n": 1024, "k": 5}) + function(symbols="k", name="other"),
        {"n <= 1024": "`n = 1025` overruns `s0`"},
    ),
}


@pytest.mark.parametrize("how", RELIED)
def test_a_bound_that_something_relies_on(how: str) -> None:
    text, expected = RELIED[how]
    found = {
        check.safe_when: check.message for check in checks(parse(text), "RLX501") if check.function == "main"
    }
    assert found.keys() == expected.keys()
    for safe, part in expected.items():
        assert part in found[safe]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (function(upper={"k": 5}), "warning"),
        (function(upper={"n": 4, "k": 5}), "warning"),
        (function(upper={"n": 4, "m": 4, "k": 5}), "note"),
        (function(lower={"k": 5}), "note"),
        (function(upper={"k": 5}, symbols="nmk"), None),
        (function(upper={"k": 5}) + function(symbols="k", name="other"), None),
        # Another function has such a bound, and a symbol without any.
        (
            function(upper={"n": 4, "m": 4, "k": 5}) + function(symbols="j", upper={"k": 5}, name="other"),
            "warning",
        ),
        (function(upper={"n": 4, "m": 4, "k": 5}) + function(symbols="j", name="other"), "note"),
        # A lower bound is not what that symbol lacks.
        (
            function(upper={"n": 4, "m": 4}, lower={"k": 5})
            + function(symbols="j", upper={"k": 5}, name="other"),
            "note",
        ),
        (function(upper={"n": "8"}), "error"),
    ],
)
def test_a_bound_without_effect(text: str, severity: str | None) -> None:
    found = said(text, "RLX502")
    assert found == ([] if severity is None else [("always-wrong", severity)])


@pytest.mark.parametrize(
    ("upper", "lower", "named"),
    [
        ({"n": 10}, {"n": 20}, "the declared `n <= 10` and `n >= 20`"),
        ({"n": 10, "m": 3}, {"m": 5}, "the declared `m <= 3` and `m >= 5`"),
        ({"n": 10, "m": 3}, {"n": 11, "m": 1}, "the declared `n <= 10` and `n >= 11`"),
        ({"n": -1}, {}, "the declared `n <= -1`"),
        ({"m": 3, "n": -1}, {"m": 1}, "the declared `n <= -1`"),
        # What names no symbol says nothing.
        ({"k": 5, "n": 10}, {"k": 7, "n": 20}, "the declared `n <= 10` and `n >= 20`"),
        ({"k": 5}, {"k": 7}, None),
        ({"n": 10}, {"n": 10}, None),
        ({"n": 10, "m": 3}, {"n": 1, "m": 3}, None),
    ],
)
def test_bounds_that_contradict_each_other(
    upper: dict[str, int], lower: dict[str, int], named: str | None
) -> None:
    found = checks(parse(function(("10", "4"), upper=upper, lower=lower)), "RLX503")
    messages = [check.message for check in found if check.verdict.value == "always-wrong"]
    assert [named in message for message in messages if named is not None] == [True] * (named is not None)
    assert bool(messages) is (named is not None)


@pytest.mark.parametrize(("extent", "blamed"), [("n - 20", True), ("-1 - n", False), ("n", False)])
def test_a_bound_is_not_blamed_where_no_input_exists_without_it(extent: str, blamed: bool) -> None:
    """An extent is not negative: `n >= 20`, which `n <= 10` excludes, or no `n` at all."""
    text = f"""
@R.function
def main(a: R.Tensor(("n",), "float32"), b: R.Tensor(("{extent}",), "float32")):
    R.func_attr({{"tir_var_upper_bound": {{"n": 10}}}})
    n = T.int64()
    r = R.add(a, a)
    return r
"""
    assert bool(checks(parse(text), "RLX503")) is blamed


def test_bounds_that_contradict_each_other_by_what_is_compared_are_all_named() -> None:
    """The second parameter has `n - m` elements: `m <= 10` and `n >= 20` are fine, `n <= 10` and `m >= 20` not."""
    for low, high, fine in (("m", "n", True), ("n", "m", False)):
        text = f"""
@R.function
def main(a: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("n - m",), "float32")):
    R.func_attr({{"tir_var_upper_bound": {{"{low}": 10}}, "tir_var_lower_bound": {{"{high}": 20}}}})
    n = T.int64()
    m = T.int64()
    r = R.add(a, a)
    return r
"""
        found = [one.message for one in checks(parse(text), "RLX503") if one.verdict.value == "always-wrong"]
        assert ["the declared `n <= 10` and `m >= 20`" in message for message in found] == [True] * (not fine)


@pytest.mark.parametrize(
    ("text", "bounded"),
    [
        (function(("n", "n"), upper={"n": 1024}), True),
        (function(("n", "n"), upper={"m": 1024}), False),
        (function(("n", "n"), upper={"n": 2**62}), False),
        (function(("n * m", "n"), upper={"n": 1024, "m": 8}), True),
        (function((str(2**50), "4")), True),
        (function(("n", "n"), asserts='R.assert_op(n <= 4096, [n], format="n")'), True),
        (function(("n", "n"), asserts='R.assert_op(m <= 4096, [m], format="m")'), False),
    ],
)
def test_what_bounds_a_size(text: str, bounded: bool) -> None:
    found = {verdict for verdict, _ in said(text, "RLX506")}
    assert found == {"always-fine" if bounded else "needs-runtime-check"}


@pytest.mark.parametrize(
    ("room", "most", "verdict"),
    [
        ("n", 3, "always-fine"),
        ("n", 2**48, "always-fine"),
        ("n", 2**48 + 1, "needs-runtime-check"),
        ("n * 4", 2**46, "always-fine"),
        ("n * 4", 2**46 + 1, "needs-runtime-check"),
        ("n", None, "needs-runtime-check"),
        (str(2**50), None, "always-fine"),
    ],
)
def test_more_than_any_address_space_holds_is_no_bound(room: str, most: int | None, verdict: str) -> None:
    text = function((room, "1"), upper=None if most is None else {"n": most}, symbols="n")
    found = [check for check in checks(parse(text), "RLX506", max_extent=2**60) if check.binding == "s0"]
    assert [check.verdict.value for check in found] == [verdict]
