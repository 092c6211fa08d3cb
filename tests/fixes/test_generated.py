"""Fixes of generated modules, and of planned models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import tvm
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relax_lint import fix, insert_memory_checks
from relax_lint.judging.report import check_module
from relax_lint.repair.apply import proposals
from relax_lint.repair.text_target import FixedFile
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.fixes.fixing import findings, fixed, judged
from tests.programs.transformer import CONTEXT, lowered
from tests.soundness.programs import module, programs

HEADER = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
"""
SIGNATURE = (
    '    def main(x: R.Tensor(("m",), "float32"), y: R.Tensor(("n",), "float32"), s: R.Shape(["k"])):\n'
)
EXTENTS = ("4", "m", "n", "k", "m + n", "m * 2", "n // 2", "m * n", "m - 3", "T.max(m, n)", "m % 4")
SIZES = ("16", "64", "4 * m", "4 * k", "4 * m + 16", "8 * n", "T.max(m, 4) * 4")
FIXED = Config(allocators=("naive",))
"""Fixes do not depend on where an allocator first fails, which takes as long to find as the verdicts."""
OFFSETS = ("0", "0", "8", "m * 4", "k")


@dataclass(frozen=True)
class Generated:
    """The text of a module, and a strategy to fix it with."""

    text: str
    strategy: str


@st.composite
def modules(draw: st.DrawFn) -> Generated:
    """A function with up to three storages, each with up to three tensors, some of them killed."""
    lines = ["m = T.int64()", "n = T.int64()", "k = T.int64()"]
    if draw(st.booleans()):
        lines.insert(0, 'R.func_attr({"tir_var_upper_bound": {"m": 8}})')
    for number in range(draw(st.integers(1, 3))):
        size = draw(st.sampled_from(SIZES))
        if vm := draw(st.booleans()):
            call = f'R.vm.alloc_storage(R.shape([{size}]), R.prim_value(0), R.dtype("float16"))'
        else:
            call = f'R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")'
        lines.append(f"s{number} = {call}")
        for tensor in range(draw(st.integers(1, 3))):
            offset, extent = draw(st.sampled_from(OFFSETS)), draw(st.sampled_from(EXTENTS))
            name = f"a{number}{tensor}"
            if vm:
                arguments = f's{number}, R.prim_value({offset}), R.shape([{extent}]), R.dtype("float32")'
                lines.append(f"{name} = R.vm.alloc_tensor({arguments})")
            else:
                lines.append(
                    f'{name} = R.memory.alloc_tensor(s{number}, {offset}, R.shape([{extent}]), "float32")'
                )
            ends = draw(st.sampled_from((0, 0, 1, 2)))
            lines += [f"R.memory.kill_tensor({name})"] * ends
    decorator = draw(st.sampled_from(("@R.function(pure=False)", "@R.function(private=False, pure=False)")))
    body = "".join(f"        {line}\n" for line in [*lines, "return x"])
    return Generated(
        f"{HEADER}    {decorator}\n{SIGNATURE}{body}", draw(st.sampled_from(("auto", "assert", "dynamic")))
    )


def _require_fixed(before: list[Check], file: FixedFile, config: Config) -> None:
    """Everything that had a fix is fine, nothing came, and a second run changes nothing."""
    result = judged(file.text, config)
    assert not [check for check in result.checks if check.rule.startswith("RLX90")]
    after = findings(file.text, config)
    assert not proposals(after, unsafe=False)
    subjects = Counter((check.rule, check.function, check.binding) for check in before)
    assert not Counter((check.rule, check.function, check.binding) for check in after) - subjects
    assert fixed(file.text, config).text == file.text


def _require_all_is_fixed(generated: Generated) -> int:
    """Returns the number of fixes."""
    config = replace(
        FIXED, fix_strategy=generated.strategy, select=("RLX1", "RLX201", "RLX202", "RLX501", "RLX504")
    )
    before = findings(generated.text, config)
    file = fixed(generated.text, config)
    _require_fixed(before, file, config)
    left = [check for check in findings(file.text, config) if check.safe_when is not None]
    # A size with a free symbol in a product cannot be checked in 64 bits.
    assert all("k" in (check.safe_when or "") or not check.fixes for check in left)
    return file.fixed


def test_generated_modules() -> None:
    assert _total(_require_all_is_fixed, 6) > 0


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(modules())
def test_many_generated_modules(generated: Generated) -> None:
    _require_all_is_fixed(generated)


def _total(require: Callable[[Generated], int], count: int) -> int:
    """The sum of what a property counts in random modules, and in one that needs a check."""
    counts: list[int] = []

    @settings(deadline=None, max_examples=count)
    @given(modules())
    @example(Generated(_TOO_SMALL, "assert"))
    def property_(generated: Generated) -> None:
        counts.append(require(generated))

    property_()
    return sum(counts)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_on_one_symbol(seed: int) -> None:
    text = module(programs(12, seed))
    config = replace(FIXED, select=("RLX1",), fix_strategy=("assert", "dynamic")[seed % 2])
    before = findings(text, config)
    file = fixed(text, config)
    _require_fixed(before, file, config)
    mixed = [check for check in before if check.safe_when is not None]
    assert mixed
    assert not [check for check in findings(file.text, config) if check.safe_when is not None]


_RULES = ("RLX101", "RLX102", "RLX104", "RLX201", "RLX202", "RLX501", "RLX505")


def _require_none_to_spare(generated: Generated) -> int:
    """Returns the number of checks."""
    config = replace(FIXED, fix_strategy=generated.strategy, select=_RULES)
    for found in findings(generated.text, config):
        shown = [fix.title for fix in found.fixes if fix.title.startswith("check ")]
        assert all(title == f"check `{found.safe_when}` at run time" for title in shown), found
    file = fixed(generated.text, config)
    left = len(findings(file.text, config))
    for line in _checks(file.text):
        assert len(findings(file.text.replace(line, "", 1), config)) > left, line
    return len(_checks(file.text))


def _checks(text: str) -> list[str]:
    return [line for line in text.splitlines(keepends=True) if "R.assert_op(" in line]


def test_no_inserted_check_can_be_spared() -> None:
    assert _total(_require_none_to_spare, 5) > 0


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(modules())
def test_no_check_of_many_modules_can_be_spared(generated: Generated) -> None:
    _require_none_to_spare(generated)


def _function(*statements: str) -> str:
    symbols = ("m = T.int64()", "n = T.int64()", "k = T.int64()")
    body = "".join(f"        {line}\n" for line in (*symbols, *statements, "return x"))
    return f"{HEADER}    @R.function(pure=False)\n{SIGNATURE}{body}"


def test_checks_that_imply_another_one_together_make_it_needless() -> None:
    """`2*m + n <= k` and `k <= 4` imply `m + n <= 4`, with which the second has no symbol in common."""
    text = _function(
        's = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([k]), "float32")',
        'b = R.memory.alloc_tensor(s, 0, R.shape([m + n]), "float32")',
        's1 = R.memory.alloc_storage(R.shape([4 * k]), 0, "global", "uint8")',
        'c = R.memory.alloc_tensor(s1, m * 4, R.shape([m + n]), "float32")',
    )
    config = Config(fix_strategy="assert", select=("RLX101",))
    after = fixed(text, config)
    conditions = [line.split("(")[1].split(",")[0] for line in _checks(after.text)]
    assert conditions == ["k <= 4", "m * 2 + n <= k"]
    assert not findings(after.text, config)


def test_a_storage_is_made_larger_before_anything_is_checked() -> None:
    """`b` needs 8 bytes more than `s` ever has. Made large enough for both, `s` has room for `a` always."""
    text = _function(
        's = R.memory.alloc_storage(R.shape([4 * m]), 0, "global", "uint8")',
        'a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")',
        'b = R.memory.alloc_tensor(s, 8, R.shape([m]), "float32")',
    )
    config = Config(fix_strategy="assert", select=("RLX101",))
    after = fixed(text, config)
    assert "R.shape([T.max(16, m * 4 + 8)])" in after.text
    assert not _checks(after.text)
    assert not findings(after.text, config)


_TOO_SMALL = _function(
    's = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")',
    'a = R.memory.alloc_tensor(s, 0, R.shape([k]), "float32")',
)
_LATE = _function(
    'R.assert_op(n >= 1, [n], format="own")',
    's = R.vm.alloc_storage(R.shape([T.max(m, 4) * 4]), R.prim_value(0), R.dtype("float16"))',
    'a = R.vm.alloc_tensor(s, R.prim_value(m * 4), R.shape([n // 2]), R.dtype("float32"))',
    'b = R.vm.alloc_tensor(s, R.prim_value(m * 4), R.shape([k]), R.dtype("float32"))',
    's1 = R.memory.alloc_storage(R.shape([4 * m]), 0, "global", "uint8")',
    'c = R.memory.alloc_tensor(s1, k, R.shape([4]), "float32")',
)
"""Only checks of `k` for `c` make it possible that `s` grows with `b`, and then no check of `a` is needed."""
_GROWING = Config(fix_strategy="dynamic", select=("RLX101", "RLX102", "RLX104"), check_form="assert-op")


def test_a_check_that_a_later_fix_has_made_needless_is_left_out() -> None:
    after = fixed(_LATE, _GROWING)
    assert [line.split("(")[1].split(",")[0] for line in _checks(after.text)] == [
        "k <= m * 4 - 16",
        "k >= 0",
        "n >= 1",
    ]
    assert not findings(after.text, _GROWING)


def test_so_it_is_in_a_module() -> None:
    after = fix(load_module(_LATE, "script"), _GROWING)
    assert [line.split("(")[1].split(",")[0] for line in _checks(after.script())] == [
        "k <= m * 4 - 16",
        "k >= 0",
        "n >= 1",
    ]
    assert all(check.verdict is Verdict.ALWAYS_FINE for check in check_module(after, _GROWING).checks)


def _require_none_to_spare_in_a_module(generated: Generated) -> int:
    """Returns the number of checks."""
    config = replace(FIXED, fix_strategy=generated.strategy, select=_RULES, check_form="assert-op")
    after = insert_memory_checks(load_module(generated.text, "script"), config)
    assert insert_memory_checks(after, config) is after
    text = after.script()
    left = _wrong(after, config)
    for line in _checks(text):
        assert _wrong(load_module(text.replace(line, "", 1), "script"), config) > left, line
    return len(_checks(text))


def _wrong(module: Any, config: Config) -> int:
    return sum(check.verdict is not Verdict.ALWAYS_FINE for check in check_module(module, config).checks)


def test_no_check_inserted_in_a_module_can_be_spared() -> None:
    assert _total(_require_none_to_spare_in_a_module, 3) > 0


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(modules())
def test_no_check_inserted_in_many_modules_can_be_spared(generated: Generated) -> None:
    _require_none_to_spare_in_a_module(generated)


# -- planned models ------------------------------------------------------------------------------


def _require_one_assert(layers: int) -> None:
    text = lowered(layers, bounded=True, stage="killed").script()
    file = fixed(text)
    assert file.fixed == 1
    added = [line.strip() for line in file.text.splitlines() if line not in text.splitlines()]
    check = f"n <= {CONTEXT}"
    assert added == [f'R.assert_op({check}, [n], format="n = {{}}, but {check} is needed")']
    checks = judged(file.text).checks
    assert {check.verdict for check in checks} == {Verdict.ALWAYS_FINE}
    assert not [check for check in checks if re.search("not enforced", " ".join(check.assumes))]


PRINTED_SYMBOLS = pytest.mark.skipif(
    tvm.__version__.startswith("0.26"), reason="TVM 0.26 cannot read its own printed symbols"
)


@PRINTED_SYMBOLS
def test_a_planned_model_needs_one_check() -> None:
    _require_one_assert(2)


@PRINTED_SYMBOLS
@pytest.mark.slow
def test_a_planned_model_of_32_layers_needs_one_check() -> None:
    _require_one_assert(32)
