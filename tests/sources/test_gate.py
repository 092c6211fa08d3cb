"""The gate against texts that would make TVM's parser execute something."""

from __future__ import annotations

import os
import textwrap

import pytest

from relax_lint.results.problem import Problem
from relax_lint.sources.gate import check_unit
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.shape_text import check_shape_text
from relax_lint.sources.unit import Unit

HEADER = """
import math
import os
import numpy as np
import tvm
from tvm import relax, topi
from tvm.script import ir as I, relax as R, tirx as T
"""


def module_with(statement: str, header: str = HEADER) -> Unit:
    text = f"""{header}
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
{textwrap.indent(statement, "        ")}
        return x
"""
    (unit,) = read_units(text.encode(), "a.py").units
    return unit


@pytest.mark.parametrize(
    "statement",
    [
        'y = R.const(__import__("os").getpid())',
        "y = R.const(os.getpid())",
        'y = R.const(eval("1"))',
        'y = R.const(open("/etc/passwd").read())',
        "y = R.const(().__class__)",
        "y = R.add.__globals__",
        'y = R.const("".join(["a"]))',
        'y = getattr(R, "add")',
        "y = R.parser.entry.inspect",
        "y = R.builder.ir.inspect.os",
        "y = T.builder.ir.os",
        "y = I.entry.inspect",
        'y = tvm.get_global_func("runtime.SystemLib")',
        'y = tvm.runtime.load_module("x.so")',
        'y = tvm.contrib.cc.create_shared("a", "b")',
        'y = R.const(np.load("x.npy", allow_pickle=True))',
        'y = R.const(np.fromfile("x"))',
        'y = R.const(np.memmap("x", mode="w+", shape=(4,)))',
        'y = np.array([1]).tofile("x")',
        'y = R.const(np.array([1]).dump("x"))',
        "y = np.ctypeslib.ctypes",
        "y = R.const(10 ** 10 ** 10)",
        "y = R.const(1 << 10 ** 9)",
        'y = R.func_attr({"a": "a" * 10 ** 10})',
        "y = R.shape([1] * 10 ** 9)",
        "y = R.shape([i for i in range(10 ** 9)])",
        "y = R.shape(list(range(10 ** 9)))",
        'y = R.func_attr({"a": f"{x:>1000000000}"})',
        'y = R.func_attr({"a": "%1000000000d" % 1})',
        'y = R.func_attr({"a": "{0.__class__}".format(x)})',
        "y = (yield 1)",
        "y = (z := 1)",
        "y = R.shape({i for i in range(3)})",
        "y = (g for g in range(3))",
        'z: R.Tensor(("__import__(\'os\').getpid()",), "float32") = x',
        'z: R.Tensor(("n.__class__",), "float32") = x',
        'z: R.Tensor(("open(\'x\')",), "float32") = x',
        "__import__('os').environ = x",
        "tvm.cpu = x",
        "[np.array, x][0].tofile = x",
        'z: R.Callable(derive_func="some.registered.function") = x',
        'y = R.call_packed("f", x, attrs_type_key="relax.Function")',
        "import os",
        "exec('1')",
        "del x",
        "raise ValueError",
        "try:\n    pass\nfinally:\n    pass",
        "class C:\n    pass",
        "async def f():\n    pass",
        "global x",
        "y = lambda a=open('x'): a",
        "def g(a=os.getpid()):\n    return a",
        "@os.system\ndef g():\n    pass",
        "y = __builtins__",
        "y = __current_script_parser__",
        "y = [].append(1)",
        "y = x.source_name.os",
        "np = x\ny = np.load('f')",
        "__tvm_meta__ = x",
        "y = __tvm_meta__",
        "y = __tensor_field__('tensor_ndim', x)",
        "y = tvm.ir.load_json('{}')",
        "y = metadata.__class__",
        "y = metadata['a'][0].tofile('f')",
        "y = R.inspect.os",
        # A name of an import that means something else there.
        "T = 'a'\ny = T.max(n, 1)",
        "for T in x:\n    y = T.max",
        "with R.dataflow() as R:\n    y = R.add(x, x)",
        "y = [T.max(n, 1) for T in [x]]",
        "y = [R.add for _, R in [(1, x)]]",
        "y = (lambda T: T.max)(x)",
        "y = (lambda *T: T.max)(x)",
        "y = (lambda T=x: T.max)()",
        "y = (lambda **np: np.zeros)()",
        "@R.function\ndef g(T: R.Object):\n    y = T.max\n    return y",
        "@R.function\ndef R(z: R.Object):\n    return z",
        "metadata = x\ny = metadata.shape",
        "max = x\ny = max(1, 2)",
        "nonlocal T\ny = T.max(n, 1)",
        # A name has its meaning only where it is bound.
        "y = lambda a, open=open('x'): a",
        "y = (lambda open: open, open('x'))",
        "y = [open('x'), [1 for open in [2]]]",
        "y = [1 for open in open('x')]",
        "def g(open):\n    return 1\ny = open('x')",
        "def g(a=open('x'), open=1):\n    return a",
        # Values of Python have no attributes of TVMScript.
        "y = 'a'.index('a')",
        "y = (1, 2).index(1)",
        "y = [x].index(x)",
        "y = f'{n}'.name",
        "y = (lambda a: a).name",
        # What TVM would call, named at another place of the arguments.
        "z: R.Callable(None, None, False, 'some.registered.function') = x",
        "z: R.Callable(*[None, None, False, 'some.registered.function']) = x",
        "z: R.Callable(**{'derive_func': 'some.registered.function'}) = x",
        "y = R.call_packed('f', x, **{'attrs_type_key': 'relax.Function'})",
        "f = R.Callable\nz: f(None, None, False, 'some.registered.function') = x",
        "y = (lambda f: f(None, None, False, 'g'))(R.Callable)",
        "y = [f for f in [R.call_packed]]",
        "y = R.emit_te(R.Callable, None, None, None, 'f')",
        "y = max([1, 2], key=R.Callable)",
        # Texts of shapes.
        'z: R.Tensor(("x.show()",), "float32") = x',
        'z: R.Shape(values=("n.dtype",)) = x',
        'y = T.Buffer("n.dtype")',
        'y = T.Buffer(("f(n)",))',
        'y = T.Buffer(shape=("R.add",))',
    ],
)
def test_refused(statement: str) -> None:
    assert check_unit(module_with(statement)) is not None


@pytest.mark.parametrize(
    "statement",
    [
        'y = R.call_packed("os.system", x, sinfo_args=R.Tensor)',
        "y = R.const(np.zeros((2, 3), dtype='float32'))",
        "y = R.const(np.finfo(np.float32).max)",
        "y = R.const(math.inf)",
        "y = R.const(2 ** 20)",
        "y = R.shape([n * 2, (n + 15) // 16])",
        "y = R.shape([i for i in range(4)])",
        "y = R.emit_te(topi.add, x, x)",
        "y = R.emit_te(lambda a: topi.nn.relu(a), x)",
        'z: R.Tensor(("n * 2",), "float32") = x',
        'z: R.Tensor("float32") = x',
        'z: R.Tensor((T.max(n, 1),), "float32") = x',
        "cls = Module\n_ = cls.system(x)",
        "y = R.memory.alloc_storage(R.shape([16]), 0, 'global', 'uint8')",
        "y = x if True else x",
        "__1 = x",
        "y = R.no_such_function(x)",
        "y = no_such_name.member(x)",
        "y = x.dtype.type_code",
        "__tvm_meta__ = None",
        "with R.dataflow():\n    z = x\n    R.output(z)",
        "with relax.dataflow():\n    z = x\n    relax.output(z)",
        "y = metadata['ir.GenericConst'][0]",
        # Names of builtins and imports that are bound anew and whose attributes nobody reads.
        "max = R.max(x)\ny = R.add(max, max)",
        "I = T.int64()\ny = R.zeros(R.shape([I]), 'float32')",
        "@R.function\ndef g(input: R.Object, filter: R.Object):\n    return input",
        "y = R.emit_te(lambda open: open, x)",
        'z: R.Tensor(("T.max(n, 1)",), "float32") = x',
        "z: R.Callable((R.Tensor,), R.Object, True) = x",
        "z: R.Callable = x",
        "z: R.Tuple(R.Tensor, R.Callable) = x",
        "z: R.Callable(derive_func='tvm.relax.type.infer_view_ty') = x",
    ],
)
def test_let_through(statement: str) -> None:
    assert check_unit(module_with(statement)) is None


def test_position_of_the_offending_expression() -> None:
    unit = module_with("y = R.add(x, os.getpid())")
    refusal = check_unit(unit)
    assert refusal is not None
    place = unit.text.location(refusal.node)
    line = unit.text.lines[place.line - 1]
    assert line[place.column - 1 : place.end_column - 1] == "os.getpid"


def test_a_name_that_is_rebound_is_not_trusted_as_the_module() -> None:
    unit = module_with("Module = np.array([1])\n_ = Module.tofile('x')")
    assert check_unit(unit) is not None


def test_known_numbers_count() -> None:
    assert check_unit(module_with("y = R.const(2 ** N)", HEADER + "N = 10\n")) is None
    assert check_unit(module_with("y = R.const(2 ** N)", HEADER + "N = 10 ** 9\n")) is not None


def test_the_body_of_a_python_function_is_not_evaluated_and_not_judged() -> None:
    text = (
        HEADER
        + """
@I.ir_module
class Module(relax.BasePyModule):
    @I.pyfunc
    def hook(self, x):
        return os.system("true")

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
"""
    )
    (unit,) = read_units(text.encode(), "a.py").units
    assert check_unit(unit) is None


def test_only_the_real_decorator_hides_a_body() -> None:
    text = HEADER + "pyfunc = R.function\n@I.ir_module\nclass Module:\n"
    for decorator in ("@pyfunc", "@I.pyfunc(os.getpid())", "@R.function\n    @I.pyfunc\n    @pyfunc"):
        body = f"    {decorator}\n    def main(x: R.Tensor((4,), 'float32')):\n        y = os.getpid()\n        return y\n"
        (unit,) = read_units((text + body).encode(), "a.py").units
        assert check_unit(unit) is not None
    inner = (
        "    @R.function\n    def main(x: R.Tensor((4,), 'float32')):\n"
        "        @I.pyfunc\n        def g():\n            return os.getpid()\n        return x\n"
    )
    (unit,) = read_units((text + inner).encode(), "a.py").units
    assert check_unit(unit) is not None


def test_deep_nesting() -> None:
    assert check_unit(module_with(f"y = {'-' * 400}x")) is not None


@pytest.mark.parametrize("text", ["n", "n * 2", "(n + 15) // 16", "T.max(n, 1)", "n if n > 1 else 1", " n "])
def test_shape_text(text: str) -> None:
    assert check_shape_text(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "n.a",
        "f(n)",
        "T.x.y",
        "T.max(n, 1).ty",
        "[1][0]",
        "'a'",
        "lambda: 1",
        "9 ** 9 ** 9",
        "n ** 10 ** 9",
        "__x",
        "(" * 5000,
        "n +",
        "T._x(n)",
        "T.max(a=open)",
        "1 << 10 ** 9",
    ],
)
def test_hostile_shape_text(text: str) -> None:
    assert check_shape_text(text) is not None


@pytest.mark.parametrize("text", ["T.max(n, 1)", "T.max", "T.format(R)"])
def test_a_text_calls_nothing_where_the_dialect_has_another_name(text: str) -> None:
    assert check_shape_text(text, has_dialect=False) is not None


@pytest.mark.parametrize("binding", ["T = 'a'", "T = ['a']", "T, _ = 'a', 1", "def outer(T='a'):", "T = 7"])
def test_a_name_of_the_file_is_not_taken_for_the_dialect(binding: str) -> None:
    inner = (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
        "    def main(x: R.Tensor(('T.max(1, 2)',), 'float32')):\n        y = T\n        return x\n"
    )
    text = f"{binding}\n{inner}"
    if binding.endswith(":"):
        text = binding + "\n" + textwrap.indent(inner, "    ")
    (unit,) = read_units(text.encode(), "a.py").units
    assert check_unit(unit) is not None
    (unit,) = read_units(
        text.replace("y = T\n", "y = T.max(1, 2)\n").replace("'T.max(1, 2)'", "4").encode(), "a.py"
    ).units
    assert check_unit(unit) is not None


def test_the_dialect_needs_no_mention_outside_of_the_text() -> None:
    text = (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
        "    def main(x: R.Tensor(('n', 'T.max(n, 1)'), 'float32')):\n        return x\n"
    )
    (unit,) = read_units(text.encode(), "a.py").units
    assert check_unit(unit) is None


def test_a_module_class_may_not_take_the_name_of_a_dialect() -> None:
    text = (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass T:\n    @R.function\n"
        "    def main(x: R.Tensor((4,), 'float32')):\n        y = T.os\n        return x\n"
    )
    (unit,) = read_units(text.encode(), "a.py").units
    problem = parse_unit(unit)
    assert isinstance(problem, Problem)


def test_nothing_runs_while_reading(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(os, "system", called.append)
    text = HEADER + "os.system('true')\nN = os.system('true')\n"
    text += "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((N,), 'float32')):\n        return x\n"
    read_units(text.encode(), "a.py")
    assert called == []
