"""What a verdict lists as assumed, and what it does not: facts that another rule judges are none."""

from __future__ import annotations

from tests.rules.by_hand import by_hand
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


EITHER = """
@R.function(private=True, pure=False)
def either(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    if c:
        r = R.call_pure_packed("g", x, ty_args=R.Tensor((4,), "float32"))
    else:
        r = R.call_pure_packed("h", y, ty_args=R.Tensor((4,), "float32"))
    return r

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    b = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    r = cls.either(a, b, c)
    o = R.call_tir_inplace(cls.copy, (x, r), inplace_indices=[1], out_ty=R.Tensor((4,), "float32"))
    d = R.call_tir(cls.add, (o, a), out_ty=R.Tensor((4,), "float32"))
    e = R.call_tir(cls.add, (d, b), out_ty=R.Tensor((4,), "float32"))
    return e
"""


def test_of_a_result_that_a_branch_chose_all_calls_are_presumed_to_return_something_new() -> None:
    """`g` may return `a` and `h` may return `b`: what is overwritten in place is then one of both."""
    found = [check for check in checks(by_hand(EITHER), "RLX206") if check.function == "main"]
    new = "returns a new tensor, none that it was given or has kept"
    assert [(check.verdict.value, check.assumes) for check in found] == [
        ("always-fine", (f"`g` {new}; `h` {new}",)),
        ("always-fine", (f"`g` {new}; `h` {new}",)),
    ]
