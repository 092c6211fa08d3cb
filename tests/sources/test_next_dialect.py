"""What releases after TVM 0.27 write, on every Python: symbols in front of functions, tensors of kernels."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

HEAD = """from tvm.script import ir as I, relax as R, tirx as T
from tvm.script import s_tir as Ts
"""
KERNEL = """
    @{decorator}
    def copy{symbols}({parameters}):
{opened}        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                B[v] = A[v]
"""
MAIN = """
    @R.function
    def main{symbols}(x: R.Tensor(({n}, 4, {double}), "float32")) -> R.Tensor(({n}, 4), "float32"):
        y = R.zeros(R.shape([n, 4]), "float32")
        return y
"""
MODULE = "@I.ir_module\nclass M:"
TODAY = (
    HEAD
    + MODULE
    + KERNEL.format(
        decorator="T.prim_func(s_tir=True)",
        symbols="",
        parameters="a: T.handle, b: T.handle",
        opened="        n = T.int64()\n"
        '        A = T.match_buffer(a, (n,), "float32")\n        B = T.match_buffer(b, (n,), "float32")\n',
    )
    + MAIN.format(symbols="", n='"n"', double='"n * 2"')
)
TENSORS = 'A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")'


def module(text: str) -> tvm.IRModule:
    found = read_units(text.encode(), "m.py")
    assert found.problems == ()
    parsed = parse_unit(found.units[0])
    assert isinstance(parsed, ParsedUnit), parsed
    assert parsed.ill_formed is None
    return parsed.ir_module


def next_dialect(declaration: str, symbols: str, decorator: str = "Ts.function") -> str:
    kernel = KERNEL.format(decorator=decorator, symbols=symbols, parameters=TENSORS, opened="")
    return HEAD + declaration + MODULE + kernel + MAIN.format(symbols=symbols, n="n", double="n * 2")


@pytest.mark.parametrize(
    ("declaration", "symbols"),
    [
        ('n = T.dynamic("n")\n', ""),
        ('n = T.dynamic("n", "int64")\n', ""),
        ('n = T.dynamic("n", dtype="int64")\n', ""),
        ('n = I.dynamic("n", "int64")\n', ""),
        ("", "[n]"),
        ("", "[n: int]"),
        ("", "[n: T.int64]"),
        ("", "[\n        n: T.int64,  # the rows\n    ]"),
    ],
)
@pytest.mark.parametrize("decorator", ["Ts.function", "Ts.prim_func", "T.function(s_tir=True)"])
def test_symbols_declared_in_front(declaration: str, symbols: str, decorator: str) -> None:
    found = module(next_dialect(declaration, symbols, decorator))
    tvm.ir.assert_structural_equal(found, module(TODAY), map_free_vars=True)


def test_a_symbol_has_the_element_type_that_is_declared() -> None:
    text = next_dialect("", "[n, k: T.int32]").replace("range(n)", "range(k)")
    kernel = module(text.replace("A: T.Tensor((n,)", "A: T.Tensor((n, k)").replace("A[v]", "A[v, 0]"))["copy"]
    first = kernel.buffer_map[kernel.params[0]] if hasattr(kernel, "buffer_map") else kernel.params[0]
    assert [str(extent.ty if hasattr(extent, "ty") else extent.dtype) for extent in first.shape][1].endswith(
        "int32"
    )


def test_symbols_of_a_module_class_and_of_a_body() -> None:
    in_class = HEAD + MODULE + '\n    n = I.dynamic("n")\n' + MAIN.format(symbols="", n="n", double="n * 2")
    in_body = (
        HEAD
        + MODULE
        + MAIN.format(symbols="", n='"n"', double='"n * 2"').replace(
            "        y =", '        n = T.dynamic("n", "int64")\n        y ='
        )
    )
    today = HEAD + MODULE + MAIN.format(symbols="", n='"n"', double='"n * 2"')
    for text in (in_class, in_body):
        tvm.ir.assert_structural_equal(module(text), module(today), map_free_vars=True)


def test_a_symbol_that_only_a_cast_defines() -> None:
    cast = """
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")){result}:
{declared}        y = R.match_cast(x, R.Tensor((n,), "float32"))
        return y
"""
    text = HEAD + 'n = T.dynamic("n")\n' + MODULE
    declared = "        n = T.int64()\n"
    found = module(text + cast.format(result=' -> R.Tensor((n,), "float32")', declared=""))
    today = HEAD + MODULE + cast.format(result=' -> R.Tensor(ndim=1, dtype="float32")', declared=declared)
    tvm.ir.assert_structural_equal(found, module(today), map_free_vars=True)


def test_an_inner_function_declares_its_own_symbols() -> None:
    inner = """
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def inner{0}(a: R.Tensor(({1},), "float32")):
            b = R.add(a, a)
            return b
        y = inner(x)
        return y
"""
    today = module(HEAD + MODULE + inner.format("", '"n"'))
    for declaration, symbols in (("", "[n]"), ('n = T.dynamic("n")\n', "")):
        found = module(HEAD + declaration + MODULE + inner.format(symbols, "n"))
        tvm.ir.assert_structural_equal(found, today, map_free_vars=True)


def test_memory_of_kernels_is_a_tensor() -> None:
    kernel = """
    @T.{0}
    def fill(A: T.{1}((4,), "float32")):
        C = T.{2}((4,), "float32")
        for i in range(4):
            C[i] = T.float32(0)
            A[i] = C[i]
"""
    main = MAIN.format(symbols="", n='"n"', double='"n * 2"')
    found = module(HEAD + MODULE + kernel.format("function", "Tensor", "alloc_tensor") + main)
    today = module(HEAD + MODULE + kernel.format("prim_func", "Buffer", "alloc_buffer") + main)
    tvm.ir.assert_structural_equal(found, today, map_free_vars=True)


LATER = """from tvm.script import relax as R
type Pair[T] = tuple[T, T]
type Number = int
class Holder[T](dict):
    def get_it[S: (int, str) = int](self, key: S) -> T: return self[key]
@R.function
def main[n, m](x: R.Tensor((n, m), "float32"), wrong: R.Tensor((3,), "float32")):
    y = R.matmul(x, oops)
    return y
"""


def test_later_syntax_costs_nothing_and_moves_nothing() -> None:
    found = read_units(LATER.encode(), "m.py")
    assert found.problems == ()
    (unit,) = found.units
    assert (unit.name, unit.line) == ("main", 7)
    problem = parse_unit(unit)
    assert not isinstance(problem, ParsedUnit)
    assert problem.location is not None
    assert (problem.location.line, problem.location.column) == (8, 21)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_later_syntax_with_all_line_ends(end: str) -> None:
    text = next_dialect("", "[\n        n,\n\n    ]").replace("\n", end)
    tvm.ir.assert_structural_equal(module(text), module(TODAY), map_free_vars=True)


def test_brackets_that_only_look_like_type_parameters() -> None:
    text = "from tvm.script import relax as R\nS = 'def f[n](x)'\ntype = S[0]\n# def g[n](x):\n" + (
        '@R.function\ndef main(x: R.Tensor((3,), "float32")):\n    return x\n'
    )
    (unit,) = read_units(text.encode(), "m.py").units
    assert unit.text.content == text
    assert isinstance(parse_unit(unit), ParsedUnit)
