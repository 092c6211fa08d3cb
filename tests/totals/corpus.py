"""Modules to measure: each a whole program with its inputs, small enough to follow by hand."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, RET504
from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from tests.totals.cases import STATIC, Case, Run, case, f32, rows
from tests.totals.corpus_calls import CASES as CALLS
from tests.totals.corpus_control import CASES as CONTROL
from tests.totals.corpus_models import CASES as MODELS

CASES: list[Case] = [*CALLS, *CONTROL, *MODELS]
if find_spec("onnx") is not None:
    from tests.totals.corpus_onnx import CASES as ONNX

    CASES += ONNX


@I.ir_module
class StaticChain:
    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            c = R.matmul(R.permute_dims(b, [1, 0]), b)
            R.output(c)
        return c


CASES.append(case("static chain", StaticChain, STATIC))


@I.ir_module
class TupleAsArgument:
    """The tuples that are written as arguments are never killed, and with them what is in them."""

    @R.function
    def inner(
        p: R.Tensor((8, 4), "float32"), q: R.Tuple(R.Tensor((8, 4), "float32"), R.Tensor((8, 4), "float32"))
    ) -> R.Tensor((8, 4), "float32"):
        with R.dataflow():
            a = R.nn.softmax(p)
            R.output(a)
        return a

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = TupleAsArgument
        with R.dataflow():
            a = R.exp(x)
            b = cls.inner(x, (x, a))
            c = cls.inner(b, (x, x))
            R.output(c)
        return c


CASES.append(case("tuple as argument", TupleAsArgument, STATIC))


@I.ir_module
class DynamicChain:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            c = R.matmul(R.permute_dims(b, [1, 0]), b)
            R.output(c)
        return c


CASES.append(case("dynamic chain", DynamicChain, *rows(1, 5, 256, 300)))


@I.ir_module
class BoundedChain:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 512}})
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            c = R.concat((a, b), axis=0)
            d = R.sum(c)
            R.output(d)
        return d


CASES.append(case("bounded chain", BoundedChain, *rows(1, 256, 512)))


@I.ir_module
class Split:
    @R.function
    def main(x: R.Tensor((9, 4), "float32")):
        with R.dataflow():
            s = R.split(x, 3, axis=0)
            a = R.exp(s[0])
            b = R.exp(s[1])
            c = R.add(a, b)
            d = R.add(c, s[2])
            e = R.exp(d)
            f = R.exp(e)
            R.output(f)
        return f


CASES.append(case("split", Split, Run((f32(9, 4),))))


@I.ir_module
class TupleResult:
    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        a = R.add(x, x)
        b = R.exp(a)
        c = R.sum(b, axis=[0])
        return (a, c, x)


CASES.append(case("tuple result", TupleResult, STATIC))


@I.ir_module
class TupleFromACall:
    @R.function(private=True)
    def pair(y: R.Tensor((8, 4), "float32")) -> R.Tuple(
        R.Tensor((8, 4), "float32"), R.Tensor((8, 4), "float32")
    ):
        a = R.add(y, y)
        b = R.exp(a)
        return (a, b)

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = TupleFromACall
        p = cls.pair(x)
        a = p[0]
        b = p[1]
        c = R.add(a, b)
        q = (a, b)
        d = q[1]
        e = R.add(c, d)
        return R.exp(e)


CASES.append(case("tuple from a call", TupleFromACall, STATIC))


@I.ir_module
class Views:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        a = R.add(x, x)
        b = R.reshape(a, R.shape([n * 4]))
        c = R.exp(b)
        d = R.reshape(c, R.shape([n, 2, 2]))
        e = R.sum(d, axis=[1, 2])
        return e


CASES.append(case("reshapes", Views, *rows(1, 64, 257)))


@I.ir_module
class MatchCast:
    @R.function
    def main(x: R.Tensor("float32", ndim=2)):
        m = T.int64()
        a = R.match_cast(x, R.Tensor((m, 4), "float32"))
        b = R.add(a, a)
        c = R.match_cast(b, R.Tensor((m, 4), "float32"))
        d = R.exp(c)
        e = R.match_cast(d, R.Tensor("float32", ndim=2))
        f = R.match_cast(e, R.Tensor((m, 4), "float32"))
        return R.exp(f)


CASES.append(
    case("match_cast", MatchCast, *(Run((f32(m, 4),), {"m": m, "shape_0": m}) for m in (1, 64, 300)))
)


@I.ir_module
class InPlace:
    @T.prim_func(private=True)
    def double(x: T.Buffer((8, 4), "float32")):
        for i, j in T.grid(8, 4):
            x[i, j] = x[i, j] * T.float32(2)

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        cls = InPlace
        a = R.add(x, x)
        b = R.call_tir_inplace(cls.double, (a,), inplace_indices=[0], out_ty=[R.Tensor((8, 4), "float32")])
        c = R.exp(b)
        return c


CASES.append(case("in place", InPlace, STATIC))


@I.ir_module
class ByHand:
    @T.prim_func(private=True)
    def copy(x: T.Buffer((8, 4), "float32"), y: T.Buffer((8, 4), "float32")):
        for i, j in T.grid(8, 4):
            y[i, j] = x[i, j]

    @R.function(pure=False)
    def main(x: R.Tensor((8, 4), "float32")):
        cls = ByHand
        s = R.memory.alloc_storage(R.shape([300]), 0, "global", "uint8")
        unused = R.memory.alloc_storage(R.shape([4097]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([8, 4]), "float32")
        b = R.memory.alloc_tensor(s, 128, R.shape([8, 4]), "float32")
        _ = cls.copy(x, a)
        k = R.memory.kill_tensor(b)
        t = R.memory.alloc_storage(R.shape([2, 64]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(t, 0, R.shape([8, 4]), "float32")
        _1 = cls.copy(a, c)
        k1 = R.memory.kill_tensor(a)
        k2 = R.memory.kill_storage(s)
        u = R.memory.alloc_storage(R.shape([200]), 0, "global", "uint8")
        d = R.memory.alloc_tensor(u, 0, R.shape([8, 4]), "float32")
        _2 = cls.copy(c, d)
        return d


CASES.append(case("by hand", ByHand, STATIC))


@I.ir_module
class ViewsByHand:
    @R.function(pure=False)
    def main(x: R.Tensor((8, 4), "float32")):
        s = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([8, 4]), "float32")
        v = R.memory.view(a, R.shape([16, 2]))
        k = R.memory.kill_tensor(a)
        k1 = R.memory.kill_storage(s)
        t = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([8, 4]), "float32")
        w = R.memory.ensure_zero_offset(v)
        u = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
        c = R.memory.alloc_tensor(u, 0, R.shape([8, 4]), "float32")
        return (w, c)


CASES.append(case("views by hand", ViewsByHand, STATIC))


@I.ir_module
class ScopedStorage:
    @T.prim_func(private=True)
    def add(x: T.Buffer((2, 2), "float32"), y: T.Buffer((2, 2), "float32"), z: T.Buffer((2, 2), "float32")):
        for i, j in T.grid(2, 2):
            z[i, j] = x[i, j] + y[i, j]

    @R.function(pure=False)
    def main(x: R.Tensor((2, 2), "float32")):
        cls = ScopedStorage
        storage = R.vm.alloc_storage(
            R.shape([2 * 2]), runtime_device_index=0, dtype="float32", storage_scope="global"
        )
        alloc = R.vm.alloc_tensor(storage, offset=0, shape=R.shape([2, 2]), dtype="float32")
        _ = cls.add(x, x, alloc)
        out = alloc
        return out


CASES.append(case("storage of the virtual machine", ScopedStorage, Run((f32(2, 2),))))


@I.ir_module
class Scalar:
    @R.function
    def main(x: R.Tensor((8, 4), "float32"), k: R.Prim("int64")):
        R.func_attr({"relax.force_pure": True})
        s = R.memory.alloc_storage(R.shape([k * 8]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([k, 2]), "float32")
        t = R.memory.alloc_storage(R.shape([k * 3]), 0, "global", "uint8")
        b = R.memory.alloc_tensor(t, 0, R.shape([k * 3]), "uint8")
        return (a, b)


CASES.append(case("scalar parameter", Scalar, *(Run((f32(8, 4), k), {"k": k}) for k in (0, 1, 1000, 5000))))


@I.ir_module
class Dtypes:
    @R.function
    def main(x: R.Tensor((7, 3), "float32")):
        with R.dataflow():
            a = R.astype(x, "float16")
            b = R.astype(a, "int8")
            c = R.greater(x, R.const(0.0, "float32"))
            d = R.astype(b, "float64")
            e = R.where(c, d, d)
            R.output(e)
        return e


CASES.append(case("dtypes", Dtypes, Run((f32(7, 3),))))


@I.ir_module
class Constants:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            k = R.const(np.arange(4, dtype="float32"))
            a = R.add(x, k)
            b = R.multiply(a, R.const(np.arange(4, dtype="float32")))
            R.output(b)
        return b


CASES.append(case("constants", Constants, Run((f32(4),))))


@I.ir_module
class Parameter:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        y = x
        return y


CASES.append(case("nothing allocated", Parameter, *rows(3)))


@I.ir_module
class UnknownLength:
    @R.function
    def main(x: R.Tensor((8,), "int64")):
        k = T.int64()
        u = R.unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False)
        v = R.match_cast(u, R.Tensor((k,), "int64"))
        w = R.add(v, v)
        z = R.multiply(w, w)
        return R.sum(z)


CASES.append(
    case(
        "length known at run time",
        UnknownLength,
        Run((np.array([1, 2, 2, 3, 3, 3, 1, 2]),), {"k": 3, "shape_0": 3}),
    )
)


@I.ir_module
class Convolutions:
    @R.function
    def main(
        x: R.Tensor(("n", 3, 16, 16), "float32"),
        w: R.Tensor((8, 3, 3, 3), "float32"),
        v: R.Tensor((8, 8, 3, 3), "float32"),
    ):
        with R.dataflow():
            a = R.nn.relu(R.nn.conv2d(x, w, padding=1))
            b = R.nn.relu(R.nn.conv2d(a, v, padding=1))
            c = R.add(a, b)
            d = R.nn.max_pool2d(c, pool_size=[2, 2], strides=[2, 2])
            e = R.mean(d, axis=[2, 3])
            R.output(e)
        return e


CASES.append(
    case(
        "convolutions",
        Convolutions,
        *(Run((f32(n, 3, 16, 16), f32(8, 3, 3, 3), f32(8, 8, 3, 3)), {"n": n}) for n in (1, 2, 5)),
    )
)
