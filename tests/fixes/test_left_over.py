"""Checks that are each right and together leave next to nothing, and changes that the IR does not take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import relax_lint
from relax_lint.fixes.module import changed
from relax_lint.repair import module_target
from tests.rules.checking import checks, parse

TWO = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    R.func_attr({{"tir_var_upper_bound": {{"n": 64}}}})
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([{first}]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    t = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    b = R.memory.alloc_tensor(t, 0, R.shape([{second}]), "float32")
    return (a, b)
"""


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        # n <= 2, and 10 - n <= 4.
        (8, "10 - n", "no input passes all checks"),
        (4, "n + 3", None),
        (32, "8 - n", None),
        (100, "n * 2", None),
        # n <= 4, and 8 - n <= 4: only 4.
        (16, "8 - n", "all checks together admit only `n == 4`"),
        # n <= 5, and 8 - n <= 4: 4 and 5.
        (20, "8 - n", "all checks together admit only `n >= 4 and n <= 5`"),
        (24, "8 - n", None),
    ],
)
def test_checks_that_exclude_each_other_say_so(first: int, second: str, said: str | None) -> None:
    found = checks(parse(TWO.format(first=first, second=second)), "RLX101", fix_strategy="assert")
    told = [line for check in found for line in check.help if "all checks" in line]
    assert bool(told) == (said is not None)
    assert all(said is not None and said in line for line in told)


LATER = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
    n = T.int64()
    k = T.int64()
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    y1 = R.match_cast(y, R.Tensor((k,), "float32"))
    t = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    b = R.memory.alloc_tensor(t, 0, R.shape([{extent}]), "float32")
    return (a, b)
"""


@pytest.mark.parametrize(
    ("extent", "said"), [("k - n + 40", "no input passes all checks"), ("k - n + 8", "`k <= 1`"), ("k", None)]
)
def test_checks_behind_the_entry_count_with_those_before_them(extent: str, said: str | None) -> None:
    """`n <= 4` at the entry, and `k - n + 40 <= 4` where `k` is known."""
    found = checks(parse(LATER.format(extent=extent)), "RLX101", fix_strategy="assert")
    told = [line for check in found for line in check.help if "all checks" in line]
    assert [said is not None and said in line for line in told] == ([] if said is None else [True, True])


def test_what_is_shown_is_the_fix_of_the_finding() -> None:
    """`n <= 2` of the first tensor makes `n <= 4` of the second needless: together, not by itself."""
    found = checks(parse(TWO.format(first=8, second="n")), "RLX101", fix_strategy="assert")
    assert [check.fixes[0].title for check in found] == [
        f"check `{region}` at run time" for region in ("n <= 2", "n <= 4")
    ]
    assert [check.safe_when for check in found] == ["n <= 2", "n <= 4"]
    fixed = relax_lint.fix(parse(TWO.format(first=8, second="n")), {"fix-strategy": "assert"}).script()
    assert "n <= 2" in fixed
    assert "n <= 4" not in fixed


def test_a_change_that_tvm_does_not_take_leaves_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(TWO.format(first=8, second="n"))
    assert relax_lint.fix(module, {"fix-strategy": "assert"}).script() != module.script()

    def refuses(*_: Any) -> Any:
        raise TypeError("not that type")

    monkeypatch.setattr(changed, "rewritten", refuses)
    assert relax_lint.fix(module, {"fix-strategy": "assert"}).script() == module.script()


def test_changes_that_cannot_be_made_together_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(TWO.format(first=8, second="n"))
    plain = changed.apply_changes

    def one_at_a_time(made: Any, changes: Sequence[Any]) -> Any:
        if len(changes) > 1:
            raise changed.Inapplicable("two at once")
        return plain(made, changes)

    whole = relax_lint.fix(module, {"fix-strategy": "assert"})
    monkeypatch.setattr(module_target, "apply_changes", one_at_a_time)
    assert relax_lint.fix(module, {"fix-strategy": "assert"}).script() == whole.script()
