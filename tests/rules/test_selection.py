"""Which rules run."""

from __future__ import annotations

from relax_lint.rule import is_selected, load_rules
from tests.rules.checking import checks, parse

MODULE = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    R.func_attr({"num_input": 1})
    n = T.int64()
    storage = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
    y = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))
    return y
"""


def test_noisy_rules_run_only_where_a_selection_names_them() -> None:
    from relax_lint.judging.report import check_module
    from relax_lint.settings.config import Config

    off = {"RLX305", "RLX506", "RLX507"}
    assert not any(load_rules()[code].default for code in off)
    module = parse(MODULE)
    assert not off & {check.rule for check in check_module(module, Config()).checks}
    for code in off:
        assert {check.rule for check in checks(module, code)} == {code}


def test_a_rule_that_is_off_is_named_by_any_prefix_of_its_code() -> None:
    assert not is_selected("RLX305", (), (), default=False)
    assert is_selected("RLX305", ("RLX3",), (), default=False)
    assert is_selected("RLX305", ("RLX",), (), default=False)
    assert not is_selected("RLX305", ("RLX3",), ("RLX305",), default=False)
