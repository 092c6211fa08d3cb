"""Where in a file an expression can stand: `{P}` is the expression, `{Q}` the same inside of a string."""

from __future__ import annotations

from collections.abc import Mapping

_HEADER = """\
import os, subprocess, pathlib
import numpy as np
import tvm
from tvm import relax, te, topi
from tvm.script import ir as I, relax as R, tirx as T

"""


def _in_body(*statements: str) -> str:
    lines = "".join(f"        {line}\n" for statement in statements for line in statement.split("\n"))
    return (
        f"{_HEADER}@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor(("n",), "float32"), i: R.Prim("int64")):\n        n = T.int64()\n'
        f"{lines}        return x\n"
    )


def _in_kernel(statement: str) -> str:
    return (
        f"{_HEADER}@I.ir_module\nclass Module:\n    @T.prim_func(private=True)\n"
        "    def kernel(a: T.handle):\n        n = T.int64()\n"
        '        A = T.match_buffer(a, (n,), "float32")\n'
        f"        {statement}\n"
        '    @R.function\n    def main(x: R.Tensor((4,), "float32")):\n        return x\n'
    )


def _around(
    before: str = "", decorators: str = "@I.ir_module", head: str = "class Module:", inside: str = ""
) -> str:
    return (
        f"{_HEADER}{before}\n{decorators}\n{head}\n{inside}"
        '    @R.function\n    def main(x: R.Tensor((4,), "float32")):\n        return x\n'
    )


def _signature(signature: str) -> str:
    return (
        f"{_HEADER}@I.ir_module\nclass Module:\n    @R.function\n    def main{signature}:\n        return x\n"
    )


def _used(before: str, use: str = "N") -> str:
    return (
        f"{_HEADER}{before}\n@I.ir_module\nclass Module:\n    @R.function\n"
        f'    def main(x: R.Tensor(({use},), "float32")):\n        return x\n'
    )


REFUSED: Mapping[str, str] = {
    # In the body of a Relax function.
    "value": _in_body("y = {P}"),
    "argument": _in_body("y = R.add(x, {P})"),
    "callee": _in_body("y = ({P})(x)"),
    "annotation": _in_body("y: {P} = x"),
    "extent": _in_body('y = R.zeros(R.shape([n, {P}]), "float32")'),
    "storage_size": _in_body('s = R.memory.alloc_storage(R.shape([{P}]), 0, "global", "uint8")'),
    "storage_scope": _in_body('s = R.memory.alloc_storage(R.shape([4]), 0, {P}, "uint8")'),
    "offset": _in_body(
        's = R.memory.alloc_storage(R.shape([4]), 0, "global", "uint8")',
        'y = R.memory.alloc_tensor(s, {P}, R.shape([1]), R.dtype("float32"))',
    ),
    "expression_statement": _in_body("{P}"),
    "condition": _in_body("if {P}:\n    y = x\nelse:\n    y = x"),
    "assertion": _in_body("assert {P}, 'm'"),
    "assertion_message": _in_body("assert n > 1, {P}"),
    "loop": _in_body("for k in {P}:\n    y = x"),
    "with": _in_body("with {P}:\n    y = x"),
    "subscript_target": _in_body("x[{P}] = x"),
    "attribute_target": _in_body("({P}).a = x"),
    "augmented": _in_body("x += {P}"),
    "attribute_dictionary": _in_body('R.func_attr({"a": {P}})'),
    "call_tir": _in_body('y = R.call_tir({P}, (x,), out_sinfo=R.Tensor((4,), "float32"))'),
    "result_type": _in_body('y = R.call_packed("f", x, sinfo_args={P})'),
    "match_cast": _in_body('y = R.match_cast(x, R.Tensor(({P},), "float32"))'),
    "constant": _in_body("y = R.const({P})"),
    "dtype": _in_body("y = R.astype(x, {P})"),
    "tuple": _in_body("y = (x, {P})"),
    "return": _in_body("return {P}"),
    "inner_function": _in_body("@R.function\ndef g(z: {P}):\n    return z"),
    "inner_default": _in_body('@R.function\ndef g(z: R.Tensor((4,), "float32") = {P}):\n    return z'),
    "inner_decorator": _in_body('@{P}\ndef g(z: R.Tensor((4,), "float32")):\n    return z'),
    "inner_class": _in_body("class C:\n    y = {P}"),
    "rebound_module": _in_body("R = {P}", "y = R.add(x, x)"),
    "shape_text": _in_body('y = R.match_cast(x, R.Tensor(("{Q}",), "float32"))'),
    # In a kernel.
    "kernel_store": _in_kernel("A[0] = {P}"),
    "kernel_index": _in_kernel("A[{P}] = 1.0"),
    "kernel_loop": _in_kernel("for i in range({P}): A[i] = 1.0"),
    "kernel_grid": _in_kernel("for i, j in T.grid(n, {P}): A[i] = 1.0"),
    "kernel_buffer": _in_kernel('B = T.match_buffer(a, ({P},), "float32")'),
    "kernel_let": _in_kernel("v: T.int64 = {P}"),
    "kernel_attribute": _in_kernel('T.func_attr({"a": {P}})'),
    "kernel_evaluate": _in_kernel("T.evaluate({P})"),
    # In a signature.
    "parameter": _signature("(x: {P})"),
    "parameter_extent": _signature('(x: R.Tensor(({P},), "float32"))'),
    "parameter_text": _signature('(x: R.Tensor(("{Q}",), "float32"))'),
    "parameter_type_text": _signature("(x: '{Q}')"),
    "default": _signature('(x: R.Tensor((4,), "float32") = {P})'),
    "result": _signature('(x: R.Tensor((4,), "float32")) -> {P}'),
    "result_text": _signature('(x: R.Tensor((4,), "float32")) -> R.Tensor(("{Q}",), "float32")'),
    # Around the functions.
    "function_decorator_argument": _around(
        inside="    @R.function(pure={P})\n    def g(y: R.Object):\n        return y\n"
    ),
    "class_keyword": _around(head="class Module(metaclass={P}):"),
    "class_value": _around(inside="    y = {P}\n"),
    "class_expression": _around(inside="    {P}\n"),
    "class_annotation": _around(inside="    y: {P} = 1\n"),
    "module_attributes": _around(inside='    I.module_attrs({"a": {P}})\n'),
    "module_infos": _around(inside='    I.module_global_infos({"vdevice": [{P}]})\n'),
    "nested_class": _around(inside="    class Inner:\n        y = {P}\n"),
    # In the file around, used by the module.
    "used_name": _used("N = {P}"),
    "used_item": _used("N = [{P}, 4]", "N[1]"),
    "used_function": _used("def f():\n    return {P}\n", "f()"),
    "used_class": _used("class C:\n    N = {P}\n", "C.N"),
    "used_import": _used("from attack_module import N"),
    "used_loop": _used("for N in {P}:\n    pass"),
    "used_context": _used("with {P} as N:\n    pass"),
    "used_tuple": _used("N, M = {P}, 4"),
    "used_global": _used("def f():\n    global N\n    N = {P}\nf()"),
    "used_default": _used("def f(N={P}):\n    return N\n", "f()"),
    "used_conditional": _used("N = 4 if {P} else 8"),
}

HARMLESS: Mapping[str, str] = {
    # What nobody evaluates: the module itself is judged.
    "comment": _around(before="# {Q}"),
    "docstring": _around(inside='    """{Q}"""\n'),
    "elsewhere": _around(before="unused = {P}"),
    "elsewhere_in_a_function": _around(before="def unused():\n    return {P}\n"),
    "class_decorator": _around(decorators="@{P}\n@I.ir_module"),
    "class_decorator_argument": _around(decorators="@I.ir_module(check_well_formed={P})"),
    "class_base": _around(head="class Module({P}):"),
    # Of several decorators TVM looks at the last.
    "function_decorator": _around(
        inside="    @{P}\n    @R.function\n    def g(y: R.Object):\n        return y\n"
    ),
    # Either branch, as an assumption.
    "used_in_a_condition": _used("if {P}:\n    N = 4\nelse:\n    N = 8"),
    "python_function": _around(
        head="class Module(relax.BasePyModule):",
        inside="    @I.pyfunc\n    def g(self, y):\n        return {P}\n",
    ),
    "main_guard": _around(before='if __name__ == "__main__":\n    {P}\n'),
    "after": _around() + "\n{P}\n",
    "type_comment": _around(before="y = 1  # type: {Q}"),
}
