"""`relax_lint.fix` on the modules of all rule pages: what it declines is left, and it raises nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from tests.fixes import fixing
from tests.pages.page import Example, examples

# TVM crashes on what pages of RLX90x show.
_TEXTS = [
    e for e in examples() if "@I.ir_module" in e.text and not e.planned and not e.name.startswith("RLX90")
]


def _module(example: Example) -> Any:
    text = example.text[example.text.index("@I.ir_module") :]
    try:
        return tvm.script.from_source(text, check_well_formed=False)
    except Exception:  # Some are not what TVM reads.
        return None


@pytest.fixture(scope="module")
def modules() -> list[tuple[str, Any]]:
    """Those that are modules, by the name of the example."""
    return [(e.name, module) for e in _TEXTS if isinstance(module := _module(e), tvm.IRModule)]


@pytest.mark.parametrize("strategy", ["assert", "dynamic"])
def test_fix_raises_nothing_and_its_result_is_a_fixed_point(
    strategy: str, modules: list[tuple[str, Any]]
) -> None:
    assert len(modules) > 60
    config = {"fix-strategy": strategy}
    for name, module in modules:
        before = module.script()
        fixed = relax_lint.fix(module, config, unsafe=True)
        assert module.script() == before, name
        assert relax_lint.fix(fixed, config, unsafe=True).script() == fixed.script(), name


EXAMPLES = Path(__file__).parents[2] / "examples"


def _examples() -> Iterator[tuple[str, str, tvm.IRModule]]:
    """Every module of the folder of examples, with the text that it stands in."""
    for path in sorted(EXAMPLES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for unit in read_units(text.encode(), path.name).units:
            module = getattr(parse_unit(unit), "ir_module", None)
            if isinstance(module, tvm.IRModule):
                yield str(path.relative_to(EXAMPLES)), text, module


def test_so_does_it_on_the_folder_of_examples() -> None:
    known = {}
    for name, text, module in _examples():
        known[name] = text
        fixed = relax_lint.fix(module, unsafe=True)
        left = Counter((found.rule, found.function) for found in relax_lint.check(fixed).findings)
        assert not left - Counter(
            (found.rule, found.function) for found in relax_lint.check(module).findings
        ), name
        assert relax_lint.fix(fixed, unsafe=True).script() == fixed.script(), name
    assert {"storage_overflow.py", "verdicts.py", "planned_transformer.py"} <= known.keys()
    for name in ("storage_overflow.py", "verdicts.py", "scoped_storage.py"):
        once = fixing.fixed(known[name], unsafe=True).text
        assert fixing.fixed(once, unsafe=True).text == once, name
