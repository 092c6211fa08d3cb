"""Branches and calls."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, RET504, SIM108
from __future__ import annotations

from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from tests.totals.cases import NO, STATIC, YES, Case, Run, case, f32, rows

CASES: list[Case] = []


@I.ir_module
class Branches:
    @R.function
    def main(x: R.Tensor((8, 4), "float32"), c: R.Tensor((), "bool")):
        a = R.add(x, x)
        if c:
            b = R.concat((a, a), axis=0)
            d = R.sum(b, axis=[0])
        else:
            d = R.sum(a, axis=[0])
        e = R.exp(d)
        f = R.exp(e)
        return f


CASES.append(case("branches", Branches, Run((f32(8, 4), YES)), Run((f32(8, 4), NO)), planned=False))


@I.ir_module
class BranchesInBranches:
    @R.function
    def main(x: R.Tensor((8, 4), "float32"), c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
        a = R.add(x, x)
        if c:
            if d:
                b = R.concat((a, a, a), axis=0)
                r = R.sum(b, axis=[0])
            else:
                r = R.sum(a, axis=[0])
        else:
            r = R.max(a, axis=[0])
        return R.exp(r)


CASES.append(
    case(
        "branches in branches",
        BranchesInBranches,
        *(Run((f32(8, 4), one, two)) for one in (YES, NO) for two in (YES, NO)),
        planned=False,
    )
)


@I.ir_module
class SameConditionTwice:
    @R.function
    def main(x: R.Tensor((8, 4), "float32"), c: R.Tensor((), "bool")):
        if c:
            a = R.concat((x, x), axis=0)
            b = R.sum(a, axis=[0])
        else:
            b = R.sum(x, axis=[0])
        if c:
            d = R.exp(b)
        else:
            e = R.concat((x, x, x), axis=0)
            d = R.max(e, axis=[0])
        return d


CASES.append(
    case(
        "one condition twice", SameConditionTwice, Run((f32(8, 4), YES)), Run((f32(8, 4), NO)), planned=False
    )
)


@I.ir_module
class Calls:
    @R.function(private=True)
    def twice(y: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        a = R.add(y, y)
        b = R.exp(a)
        return b

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = Calls
        a = cls.twice(x)
        b = cls.twice(a)
        return b


CASES.append(case("calls", Calls, STATIC))


@I.ir_module
class ResultKeptByTheMachine:
    @R.function(private=True)
    def twice(y: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        a = R.add(y, y)
        return a

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = ResultKeptByTheMachine
        a = cls.twice(x)
        b = R.sum(a, axis=[0])
        c = R.concat((x, x), axis=0)
        d = R.sum(c, axis=[0])
        return R.add(b, d)


CASES.append(case("result kept by the machine", ResultKeptByTheMachine, STATIC))


@I.ir_module
class CallsInCalls:
    @R.function(private=True)
    def innermost(z: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        a = R.concat((z, z, z), axis=0)
        b = R.strided_slice(a, axes=[0], begin=[0], end=[8])
        return b

    @R.function(private=True)
    def inner(y: R.Tensor((8, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        cls = CallsInCalls
        a = R.exp(y)
        b = cls.innermost(a)
        return R.add(a, b)

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = CallsInCalls
        a = cls.inner(x)
        b = R.concat((a, a), axis=0)
        c = cls.innermost(x)
        return R.concat((b, c), axis=0)


CASES.append(case("calls in calls", CallsInCalls, STATIC))


@I.ir_module
class ArgumentHandedBack:
    @R.function(private=True)
    def same(y: R.Tensor(("m", 4), "float32")) -> R.Tensor(("m", 4), "float32"):
        a = R.exp(y)
        b = R.sum(a, axis=[0])
        return y

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = ArgumentHandedBack
        a = R.add(x, x)
        b = cls.same(a)
        c = R.exp(b)
        return R.sum(c, axis=[0])


CASES.append(case("argument handed back", ArgumentHandedBack, *rows(1, 300)))


@I.ir_module
class CallsWithOtherSymbols:
    @R.function(private=True)
    def half(y: R.Tensor(("m", 2), "float32")) -> R.Tensor(("m", 2), "float32"):
        m = T.int64()
        a = R.exp(y)
        b = R.add(a, y)
        return b

    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        cls = CallsWithOtherSymbols
        a = R.concat((x, x), axis=0)
        b: R.Tensor((2 * n, 2), "float32") = cls.half(a)
        c: R.Tensor((n, 2), "float32") = cls.half(x)
        return R.add(R.sum(b, axis=[0]), R.sum(c, axis=[0]))


CASES.append(
    case(
        "calls with other symbols",
        CallsWithOtherSymbols,
        *(Run((f32(n, 2),), {"n": n}) for n in (1, 300, 600)),
    )
)


@I.ir_module
class CallInABranch:
    @R.function(private=True)
    def inner(y: R.Tensor((8, 4), "float32"), d: R.Tensor((), "bool")) -> R.Tensor((8, 4), "float32"):
        if d:
            a = R.concat((y, y), axis=0)
            b = R.strided_slice(a, axes=[0], begin=[0], end=[8])
        else:
            b = R.exp(y)
        return b

    @R.function
    def main(x: R.Tensor((8, 4), "float32"), c: R.Tensor((), "bool")):
        cls = CallInABranch
        if c:
            r = cls.inner(x, c)
        else:
            r = R.exp(x)
        s = cls.inner(r, c)
        return s


CASES.append(
    case("call in a branch", CallInABranch, Run((f32(8, 4), YES)), Run((f32(8, 4), NO)), planned=False)
)
