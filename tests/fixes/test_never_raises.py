"""`relax_lint.fix` on the modules of all rule pages: what it declines is left, and it raises nothing."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

import relax_lint
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
