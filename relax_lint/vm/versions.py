"""How TVM versions differ, but for nodes (`nodes.py`) and how they are compared (`comparing.py`). Importing
it imports TVM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import repeat
from typing import Any

import tvm
import tvm_ffi
from tvm import relax
from tvm.script import relax as script_relax
from tvm.script.parser.core import parser as tvm_parser

VERSION: str = tvm.__version__

PARSES_TYPE_PARAMETERS: bool = hasattr(tvm_parser, "collect_signature_type_vars")
"""Whether TVM's parser reads the type parameters of Python 3.12 (`def main[n](x)`): from 0.27 on."""


def arithmetic() -> Any:
    """The module of TVM's integer analyzer: `tvm.sym` from 0.27 on, `tvm.arith` before."""
    return tvm.sym if hasattr(tvm, "sym") else tvm.arith


def z3_scope() -> AbstractContextManager[Any]:
    """A scope in which Z3's answers do not depend on the questions before. 0.26 has none."""
    module = arithmetic()
    return module.Z3ContextScope() if hasattr(module, "Z3ContextScope") else nullcontext()


def is_of_dataflow(var: Any) -> bool:
    """Whether a variable is one that nothing outside of its dataflow block can use."""
    return type(var).__name__ == "DataflowVar"


def kind(node: Any) -> str:
    """The class name of an IR node, the same for 0.26 and 0.27.

    0.27 folded `DataTypeImm` and relax `Constant` into one `GenericConst`. A variable of a dataflow block is
    one like any other.
    """
    name = type(node).__name__
    if name == "DataflowVar":
        return "Var"
    if name == "GenericConst":
        return "DataTypeImm" if isinstance(node.value, tvm.DataType) else "Constant"
    return name


def dtype_in(node: Any) -> Any | None:
    """The dtype that a `DataTypeImm` of either version is; None for any other node."""
    name = type(node).__name__
    if name not in ("GenericConst", "DataTypeImm"):
        return None
    value = node.value
    return value if name == "DataTypeImm" or isinstance(value, tvm.DataType) else None


def dtype_of(node: Any) -> Any:
    """The `tvm.DataType` of an `R.dtype(...)` argument."""
    return tvm.DataType(node.value)


def dtype_bits(text: str) -> tuple[int, int]:
    """(bits per lane, lanes) of a dtype. Scalable vectors have no fixed size: (bits, 0)."""
    if "xvscale" in text:
        return int(tvm.DataType(text.split("xvscale")[0]).bits), 0
    dtype = tvm.DataType(text)
    return int(dtype.bits), int(dtype.lanes)


def relax_functions(module: Any) -> list[tuple[str, Any]]:
    """(name, function) of every Relax function of a module, in the module's own order."""
    return [(str(var.name_hint), func) for var, func in module.functions.items() if is_relax(func)]


def is_relax(function: Any) -> bool:
    """Whether a function of a module is a Relax function."""
    return isinstance(function, relax.Function)


def names_in(function: Any) -> set[str]:
    """The names of the functions of its module that a Relax function refers to."""
    return {str(var.name_hint) for var in relax.analysis.all_global_vars(function)}


def is_relax_function(module: Any, var: Any) -> bool:
    """Whether a GlobalVar names a Relax function of the module."""
    functions = module.functions
    return var in functions and is_relax(functions[var])


def ill_formed(module: Any) -> str | None:
    """What TVM says is wrong with the form of a module; None for one that is well-formed."""
    try:
        relax.analysis.well_formed(module)
    except Exception as error:
        return str(error) or type(error).__name__
    return None


def is_absent(node: Any) -> bool:
    """Whether an optional argument of `R.memory.view` was left out (TVM writes an empty tuple)."""
    return kind(node) == "Tuple" and len(node.fields) == 0


def device_count(module: Any) -> int:
    """The number of devices that a module declares through its VDevices; at least one."""
    declared = module.global_infos.get("vdevice") if module.global_infos else None
    return max(1, len(declared)) if declared is not None else 1


def returned_expression(prim_func: Any) -> Any | None:
    """The expression of a PrimFunc that only returns it; None for any other PrimFunc."""
    body = prim_func.body
    return body.value if type(body).__name__ == "Return" else None


def declared_devices(module: Any) -> tuple[tuple[str, str, str], ...]:
    """(how a tensor's type writes it, kind of its target, target and number) of each VDevice of a module, by
    index. VDevices that differ in their memory scope only are one device.
    """
    declared = module.global_infos.get("vdevice") if module.global_infos else None
    return (
        ()
        if declared is None
        else tuple((str(d), str(d.target.kind.name), f"{d.target} {int(d.vdevice_id)}") for d in declared)
    )


def prim_functions(module: Any) -> list[tuple[str, Any]]:
    """(name, function) of every PrimFunc of a module."""
    return [
        (str(var.name_hint), func)
        for var, func in module.functions.items()
        if type(func).__name__ == "PrimFunc"
    ]


def is_private(function: Any) -> bool:
    """Whether nobody outside of its module may call a function."""
    return function.attrs is None or "global_symbol" not in function.attrs


def exported_as(module: Any, symbol: str) -> str | None:
    """The PrimFunc of a module that a packed call of this name runs: the machine looks into what was compiled
    with the module before it asks TVM's registry. None where there is none.
    """
    for name, function in prim_functions(module):
        attributes = function.attrs
        own = (
            attributes["global_symbol"] if attributes is not None and "global_symbol" in attributes else name
        )
        if str(own) == symbol:
            return name
    return None


def packed_call_name(node: Any) -> str:
    """How a call is written that says it is one of a packed function, also where it names a PrimFunc of the
    module: passes look into none of those. Nothing for other expressions.
    """
    name = str(getattr(node.op, "name", "")) if is_call(node) else ""
    return _PACKED_CALLS.get(name, "")


_PACKED_CALLS = {f"relax.{name}": f"R.{name}" for name in ("call_dps_packed", "call_pure_packed")}


def type_of(value: Any) -> Any:
    """The type of a variable: `ty` from 0.27 on, `struct_info` before."""
    return value.ty if hasattr(value, "ty") else value.struct_info


def inference(operator: Any) -> Callable[[Any], Any] | None:
    """What gives a call of an operator the type that follows from its arguments, whatever type the call says
    that it has; None where the operator has no such function. It may raise what TVM raises on calls that are
    not well-formed.
    """
    infer = operator.get_attr(_INFERENCE)
    return None if infer is None else lambda call: infer(call, _builder)


_INFERENCE = "FInferStructInfo" if hasattr(relax, "StructInfo") else "FInferType"
_builder = relax.BlockBuilder()


def is_function_type(type_: Any) -> bool:
    """Whether a type is that of functions."""
    return type(type_).__name__ in ("FuncType", "FuncStructInfo")


_item = tvm_ffi.get_global_func("ffi.ArrayGetItem")
_length = tvm_ffi.get_global_func("ffi.ArraySize")


def items(array: Any) -> list[Any]:
    """The elements of an array of TVM's, without what makes a slice of Python's take half as long again."""
    return list(_each(array))


def _each(array: Any) -> Iterator[Any]:
    """The same, one after the other."""
    return map(_item, repeat(array), range(_length(array)))


def identity(node: Any) -> int:
    """The same number for every wrapper of one node, as long as the node lives. Comparing wrappers costs
    thirty times as much.
    """
    return int(node.__chandle__())


def is_call(node: Any) -> bool:
    """Whether an expression is a call: of an operator, a function, or a packed function."""
    return type(node).__name__ == "Call"


def is_pure_call(call: Any) -> bool:
    """Whether a call has no effects, as the operator or the type of the function says."""
    if isinstance(call.op, tvm.ir.Op):
        return bool(call.op.get_attr("FPurity"))
    return bool(getattr(type_of(call.op), "purity", False))


def variable_for(value: Any, name: str) -> Any:
    """A variable that a value may be bound to. Its identity lasts as long as it lives."""
    return relax.Var(name, value.ty)


def operator_name(node: Any) -> str:
    """The name of what a call calls, without `relax.`: an operator or a packed function; else nothing."""
    if not is_call(node):
        return ""
    name = getattr(node.op, "name", None) or getattr(node.op, "global_symbol", "")
    return str(name).removeprefix("relax.")


def has_storages(module: Any) -> bool:
    """Whether a Relax function of a module allocates a storage: its memory was planned."""
    return has_call(module, lambda node: operator_name(node).endswith("alloc_storage"))


def has_packed_in_place(module: Any) -> bool:
    """Whether a Relax function of a module declares that a packed call overwrites an argument."""
    return has_call(module, lambda node: operator_name(node).endswith("call_inplace_packed"))


def has_operators_to_lower(module: Any) -> bool:
    """Whether a Relax function of a module that is not planned yet calls an operator that `LegalizeOps`
    lowers. `R.reshape` does not count: `RewriteDataflowReshape` puts it in again.
    """

    def lowers(node: Any) -> bool:
        name = operator_name(node)
        return name not in ("", "reshape") and _has_lowering(node.op)

    return has_call(module, lowers) and not has_storages(module)


def is_of_vm_level(callee: str) -> bool:
    """Whether only the virtual machine has the operator or the packed function of a name."""
    return callee.removeprefix("relax.").startswith(_VM_LEVEL)


_VM_LEVEL = ("vm.", "call_builtin_with_ctx")


_TAKEN_AS_A_WHOLE = ("Primitive", "Composite", "Codegen")


def is_taken_as_a_whole(function: Any) -> bool:
    """Whether a later pass makes one kernel of a Relax function, or hands it to another code generator. It
    holds nothing but what that pass knows.
    """
    attributes = function.attrs
    return attributes is not None and any(attributes.get(name) for name in _TAKEN_AS_A_WHOLE)


def bound_values(module: Any) -> Iterator[Any]:
    """What the bindings of the Relax functions of a module bind, in branches and in inner functions too."""
    for _, function in relax_functions(module):
        yield from _bound_in(function.body)


def _bound_in(body: Any) -> Iterator[Any]:
    """What the bindings of a body bind, those of branches and of inner functions included."""
    for block in body.blocks if type(body).__name__ == "SeqExpr" else ():
        for binding in _each(block.bindings):
            value = binding.value
            yield value
            name = type(value).__name__
            if name == "Function":
                yield from _bound_in(value.body)
            elif name == "If":
                yield from _bound_in(value.true_branch)
                yield from _bound_in(value.false_branch)


def _has_lowering(callee: Any) -> bool:
    return type(callee).__name__ == "Op" and callee.get_attr("FLegalize") is not None


def has_call(module: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether a Relax function of a module has a call that is `wanted`, which depends on the callee alone."""
    known: dict[int, bool] = {}
    """By the identities of callees, which the module keeps: a model calls few, and calls them often."""

    def is_wanted(node: Any) -> bool:
        if type(node).__name__ != "Call":
            return False
        callee = identity(node.op)
        if callee not in known:
            known[callee] = wanted(node)
        return known[callee]

    if any(map(is_wanted, bound_values(module))):
        return True
    # What no binding binds is an argument, or the result of a function that was never normalised.
    found = False

    def visit(node: Any) -> None:
        nonlocal found
        found = found or is_wanted(node)

    for _, function in relax_functions(module):
        relax.analysis.post_order_visit(function, visit)
    return found


def integer_argument(value: int) -> Any:
    """An integer as an argument of a packed function: a `PrimValue` in 0.26, an expression from 0.27 on."""
    return script_relax.prim_value(value)


def integer_value(argument: Any) -> int:
    """The number in an argument that `integer_argument` could have made."""
    return int(argument.value)


def text_argument(text: str) -> Any:
    """A text as an argument of a packed function."""
    return script_relax.str(text)


def as_module(value: Any) -> Any | None:
    """An IRModule itself, a Relax function as the only one of a module; None for anything else."""
    if isinstance(value, tvm.IRModule):
        return value
    if isinstance(value, relax.Function):
        name = value.attrs["global_symbol"] if value.attrs and "global_symbol" in value.attrs else "main"
        return tvm.IRModule({tvm.ir.GlobalVar(str(name)): value})
    return None
