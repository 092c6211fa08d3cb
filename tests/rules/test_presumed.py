"""What a verdict lists as assumed, and what it does not: facts that another rule judges are none."""

from __future__ import annotations

from tests.rules.checking import checks, parse


def test_signs_that_another_rule_judges_are_not_assumed() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(k: R.Prim("int64"), j: R.Prim("int64")):
            R.assert_op(k <= 16, [k], format="k")
            s = R.memory.alloc_storage(R.shape([64 * j]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([k, j]), R.dtype("float32"))
            return a
        """
    )
    (check,) = checks(module, "RLX101")
    assert (check.verdict.value, check.assumes) == ("always-fine", ())


def test_a_bound_that_only_the_planner_believes_is_assumed() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            R.func_attr({"tir_var_upper_bound": {"n": 4}})
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
            return a
        """
    )
    (check,) = checks(module, "RLX101")
    assert check.verdict.value == "always-fine"
    assert len(check.assumes) == 1
    assert "n <= 4" in check.assumes[0]
    (check,) = checks(module, "RLX101", trust_declared_bounds=False)
    assert (check.verdict.value, check.safe_when, check.assumes) == ("needs-runtime-check", "n <= 4", ())


def test_a_last_check_holds_where_the_function_returns() -> None:
    """The domain at the return is what all operations leave, the last one too."""
    text = """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            s = R.memory.alloc_storage(R.shape([4 * n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
            a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
            R.assert_op({condition}, [n], format="n")
            return a
        """
    said = {
        condition: [
            check.verdict.value for check in checks(parse(text.format(condition=condition)), "RLX205")
        ]
        for condition in ("n <= 0", "n >= 1", "n >= 0")
    }
    assert said == {
        "n <= 0": ["always-fine"],
        "n >= 1": ["always-wrong"],
        "n >= 0": ["needs-runtime-check"],
    }
