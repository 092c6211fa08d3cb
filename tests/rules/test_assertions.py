"""Run-time checks of the program's own, and those that lowering puts in."""

from __future__ import annotations

from tests.rules.checking import checks, findings, parse, stages, verdicts


def test_checks_that_lowering_puts_in_are_not_called_redundant() -> None:
    module = parse(
        """
        @R.function
        def main(x: R.Tensor(("n", "n"), "float32"), y: R.Tensor(("n",), "float32")):
            n = T.int64()
            z = R.add(x, y)
            return z
        """
    )
    for stage, lowered in stages(module):
        assert checks(lowered, "RLX504") == [], stage
        assert findings(lowered, "RLX505") == [], stage


def test_an_assertion_of_a_branch_condition_is_redundant_in_that_branch_only() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            if n <= 8:
                _ = R.assert_op(n <= 8, [n], format="{}")
                y = x
            else:
                _1 = R.assert_op(n <= 8, [n], format="{}")
                y = x
            return y
        """
    )
    assert verdicts(findings(module, "RLX50")) == [
        ("RLX504", "always-wrong", None),
        ("RLX505", "always-wrong", None),
    ]


def test_a_declared_bound_does_not_make_its_own_assertion_redundant() -> None:
    text = """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            R.func_attr({{"tir_var_upper_bound": {{"n": 8}}}})
            n = T.int64()
            R.assert_op(n {} 8, [n], format="{{}}")
            return x
        """
    assert findings(parse(text.format("<=")), "RLX504") == []
    (failing,) = findings(parse(text.format(">")), "RLX505")
    assert failing.assumes == ("n <= 8 (tir_var_upper_bound, not enforced)",)
