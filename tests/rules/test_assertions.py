"""Run-time checks of the program's own, and those that lowering puts in."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

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


@pytest.mark.parametrize(
    ("conditions", "redundant"),
    [
        (("n <= 8", "n <= 100"), [1]),
        (("n <= 8", "n <= 8"), [1]),
        (("n <= 8", "n <= 7"), []),
        (("n >= 0",), [0]),
        # Nothing is behind an assertion that can never hold.
        (("n <= 8", "n >= 9", "n <= 100"), []),
    ],
)
def test_an_assertion_is_redundant_by_those_before_it(
    conditions: tuple[str, ...], redundant: list[int]
) -> None:
    lines = "".join(f'    R.assert_op({one}, [n], format="{{}}")\n' for one in conditions)
    module = parse(
        f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
{lines}    return x
"""
    )
    found = checks(module, "RLX504")
    assert [place for place, one in enumerate(found) if one.verdict.value == "always-wrong"] == redundant
    assert all(one.proof for one in found)


ASSERTED = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), b: R.Tensor((), "bool"), z: R.Tensor((4,), "float32")):
        LINES
        return x
"""
ALLOCATED = """\
s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([]), R.dtype("bool"))
        """


def _asserted(lines: str) -> str:
    return ASSERTED.replace("LINES", lines.replace("; ", "\n        "))


@pytest.mark.parametrize(
    ("lines", "verdict", "fails"),
    [
        ('R.assert_op(b, format="")', None, (False, True)),
        ('R.vm.kill_object(b); R.assert_op(b, format="")', "always-wrong", (True, True)),
        ('R.assert_op(b, format=""); R.vm.kill_object(b)', None, (False, True)),
        ('R.assert_op(b, z, format="{}")', None, (False, True)),
        # What is shown is looked at where the assertion fails, and the run ends there in any case.
        ('R.vm.kill_object(z); R.assert_op(b, z, format="{}")', "needs-runtime-check", (False, True)),
        ('R.vm.kill_object(b); R.assert_op(b, b, format="{}")', "always-wrong", (True, True)),
    ],
)
def test_a_killed_condition_of_an_assertion_fails_and_what_it_shows_does_not(
    lines: str, verdict: str | None, fails: tuple[bool, bool]
) -> None:
    module = parse(_asserted(lines))
    found = findings(module, "RLX201")
    assert [check.verdict.value for check in found] == ([] if verdict is None else [verdict])
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    tensor = tvm.runtime.tensor(np.ones(4, "float32"))
    for condition, wrong in zip((True, False), fails, strict=True):
        given = tensor, tvm.runtime.tensor(np.array(condition)), tensor
        if wrong:
            with pytest.raises((AssertionError, ValueError)):
                machine["main"](*given)
        else:
            machine["main"](*given)


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ('R.assert_op(a, format="")', "always-wrong"),
        ('R.assert_op(b, a, format="{}")', "needs-runtime-check"),
        ('R.assert_op(b, format="")', None),
    ],
)
def test_an_assertion_reads_its_condition_and_perhaps_what_it_shows(lines: str, verdict: str | None) -> None:
    module = parse(_asserted(ALLOCATED + lines))
    found = [check.verdict.value for check in findings(module, "RLX205")]
    assert found == ([] if verdict is None else [verdict])
    # It is used in any case but the last.
    assert bool(findings(module, "RLX208")) is (verdict is None)


CAST = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), b: R.Tensor((), "bool")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        n = R.null_value()
        if b:
            v = n
        else:
            v = R.call_packed("vm.builtin.null_value", ty_args=(R.Any,))
        k = R.call_packed("vm.builtin.copy", x, ty_args=(R.Any,))
        t = R.match_cast(VALUE, TYPE)
        return x
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("value", "type_", "asked"),
    [
        ("n", 'R.Tensor((4,), "float32")', "n is a tensor"),
        ("n", "R.Tensor(ndim=1)", "n is a tensor"),
        ("v", 'R.Tensor(("m",), "float32")', "v is a tensor"),
        ("s", 'R.Tensor((4,), "float32")', "s is a tensor"),
        ("n", "R.Any", None),
        ("s", "R.Any", None),
        ("k", 'R.Tensor((4,), "float32")', None),
    ],
)
def test_no_null_and_no_storage_is_a_tensor(value: str, type_: str, asked: str | None) -> None:
    text = CAST.replace("VALUE", value).replace("TYPE", type_)
    module = parse(text.replace("s = R", "m = T.int64()\n        s = R").replace('"m"', "m"))
    told = [f"no input passes the match_cast `{asked}`"] if asked else []
    assert [check.message for check in findings(module, "RLX505")] == told
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.ones(4, "float32")), tvm.runtime.tensor(np.array(True))
    if asked:
        with pytest.raises(TypeError, match="expect a Tensor"):
            machine["main"](*given)
    else:
        machine["main"](*given)


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("n < n", "n < n"),
        ("n + 1 <= n", "n + 1 <= n"),
        ("m * n != n * m", "m * n != n * m"),
        ("n <= m and n > m", "n <= m and n > m"),
        ("False", "False"),
        ("n < 0", "n < 0"),
    ],
)
def test_a_condition_that_nothing_meets_is_told_as_it_was_written(condition: str, told: str) -> None:
    module = parse(
        f"""
        @R.function(pure=False)
        def main(x: R.Tensor(("m", "n"), "float32")) -> R.Tensor(("m", "n"), "float32"):
            m, n = T.int64(), T.int64()
            R.assert_op({condition}, [n], format="{{}}")
            return x
        """
    )
    (failing,) = findings(module, "RLX505")
    assert failing.message == f"no input passes the assertion `{told}`"


def test_a_cast_to_another_extent_is_told_with_both() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            n = T.int64()
            storage = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "float32")
            y: R.Tensor((n,), "float32") = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32", 0)
            z = R.match_cast(y, R.Tensor((n + 1,), "float32"))
            return x
        """
    )
    (failing,) = findings(module, "RLX505")
    assert failing.message == "no input passes the match_cast `n + 1 == n`"
