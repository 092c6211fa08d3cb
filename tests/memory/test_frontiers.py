"""The largest context for each batch, by the names and bounds of symbols."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import relax_lint
from relax_lint.totals.serving import Serving, serving
from tests.rules.checking import parse
from tests.totals.corpus_calls import storage, tensor

DEVICE = 1 << 20


def served(*names: str, at: Mapping[str, int] | None = None, bounds: str = "") -> Serving:
    """A function that gets a tensor with these extents and makes one like it."""
    extents = ", ".join(f'"{name}"' for name in names)
    defined = "".join(f"    {name} = T.int64()\n" for name in names)
    module = parse(f"""
@R.function(pure=False)
def main(x: R.Tensor(({extents},), "float32")):
{defined}    R.func_attr({{"tir_var_upper_bound": {{{bounds}}}}})
    s = {storage(" * ".join(names) + " * 4")}
    t = {tensor("s", ", ".join(names))}
    return t
""")
    (found,) = serving(relax_lint.memory(module, dict(at or {})), DEVICE, "llvm")
    return found


@pytest.mark.parametrize(
    ("names", "at", "roles"),
    [
        (("batch", "seq_len"), {}, ("seq_len", "batch")),
        # One of two tells its role, whichever comes first in the alphabet.
        (("seq_len", "z"), {}, ("seq_len", "z")),
        (("a", "seq_len"), {}, ("seq_len", "a")),
        (("batch", "z"), {}, ("z", "batch")),
        (("a", "batch"), {}, ("a", "batch")),
        # Neither does.
        (("n", "b"), {}, ("n", "b")),
        # One symbol is no pair, nor is one that tells both roles.
        (("seq_len",), {}, None),
        (("batch_len", "k"), {}, None),
        # Of three, the third needs a value.
        (("batch", "k", "seq_len"), {}, None),
        (("batch", "k", "seq_len"), {"k": 4}, ("seq_len", "batch")),
        (("i", "j", "k"), {"k": 4}, None),
    ],
)
def test_which_symbol_is_the_context(
    names: tuple[str, ...], at: Mapping[str, int], roles: tuple[str, str] | None
) -> None:
    frontier = served(*names, at=at).frontier
    assert (None if frontier is None else (frontier.of, frontier.at)) == roles


def test_the_largest_context_of_each_batch() -> None:
    """The parameter takes four bytes an element, the storage the same in whole pages of 4,096 bytes."""
    frontier = served("batch", "seq_len", bounds='"batch": 5').frontier
    assert frontier is not None
    found = {point.at: point.largest for point in frontier.points}
    assert list(found) == [1, 2, 4]
    for batch, length in found.items():
        assert length is not None
        for largest, fits in ((length, True), (length + 1, False)):
            bytes_of_one = 4 * batch * largest
            assert (bytes_of_one + -(-bytes_of_one // 4096) * 4096 <= DEVICE) == fits


def test_what_is_bound_is_not_missing() -> None:
    found = served("batch", "k", "seq_len", at={"k": 4})
    assert (found.missing, found.values) == (("batch", "seq_len"), {"k": 4})
    assert served("n", bounds='"n": 7').values == {"n": 7}


def test_a_symbol_has_a_largest_value_where_each_function_grows_with_it() -> None:
    """The second function has a tensor of `n` elements, and storages of what `n` leaves or adds."""
    alone = served("n").largest
    assert alone.keys() == {"n"}
    for size, found in (("n * 4 + 400", True), ("40000 - n * 4", False)):
        module = parse(f"""
@R.function(pure=False)
def first(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = {storage("n * 4")}
    t = {tensor("s", "n")}
    return t

@R.function(pure=False)
def second(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = {storage(size)}
    t = {tensor("s", "1")}
    return t
""")
        (together,) = serving(relax_lint.memory(module, {}), DEVICE, "llvm")
        assert (together.largest.keys() == {"n"}) is found
        assert together.missing == ("n",)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_bounds_of_every_function_count(order: tuple[int, int]) -> None:
    declared = ('"n": 100', '"n": 40, "m": 7')
    functions = [
        f"""
@R.function(pure=False)
def f{place}(x: R.Tensor(("n", "m"), "float32")):
    R.func_attr({{"tir_var_upper_bound": {{{declared[which]}}}}})
    n = T.int64()
    m = T.int64()
    s = {storage("n * m * 4")}
    t = {tensor("s", "n, m")}
    return t
"""
        for place, which in enumerate(order)
    ]
    module = parse("".join(functions))
    (found,) = serving(relax_lint.memory(module, {}), DEVICE, "llvm")
    assert (found.bounds, found.values, found.missing) == ({"n": 40, "m": 7}, {"n": 40, "m": 7}, ())
    # Where a value is asked for, it is that of each function.
    (asked,) = serving(relax_lint.memory(module, {"n": 12}), DEVICE, "llvm")
    assert asked.values == {"n": 12, "m": 7}
