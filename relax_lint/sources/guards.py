"""Functions of TVM that would call a function named or given by an argument: the argument's value is checked
whoever calls, whatever the text looked like.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from relax_lint.sources.names import IR, RELAX
from relax_lint.sources.refusal import RefusedError

Function = Callable[..., Any]
# The dotted name that a function was handed out under; None for any other object.
OriginOf = Callable[[object], "str | None"]

# Registered functions that infer types and do nothing else.
DERIVE_FUNCTIONS = ("tvm.relax.struct_info.infer_view_sinfo", "tvm.relax.type.infer_view_ty")
_BUILDERS_OF_TENSORS = ("tvm.topi.", "tvm.te.")


def is_endless(value: object) -> bool:
    """Whether Python would walk through a value for ever: a tensor of `tvm.te` has items and no length."""
    return type(value).__module__.startswith("tvm.te") and hasattr(type(value), "__getitem__")


class Interpreted:
    """A function of the text, which the interpreter runs itself; the base of its closures."""


def _derivation(function: Function, origin_of: OriginOf) -> Function:
    signature = inspect.signature(function)

    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        given = signature.bind_partial(*args, **kwargs).arguments.get("derive_func")
        if given is not None and not (isinstance(given, str) and given in DERIVE_FUNCTIONS):
            raise RefusedError("a function that TVM would call while it infers types")

    return _checked(function, check)


def _attributes(function: Function, origin_of: OriginOf) -> Function:
    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        key = kwargs.get("attrs_type_key")
        if key is not None and not (isinstance(key, str) and key.endswith("Attrs")):
            raise RefusedError("a class of TVM that is not a set of attributes")

    return _checked(function, check)


def _callback(parameter: str) -> Callable[[Function, OriginOf], Function]:
    def guard(function: Function, origin_of: OriginOf) -> Function:
        signature = inspect.signature(function)

        def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            arguments = signature.bind_partial(*args, **kwargs).arguments
            if is_endless(arguments.get("shape")):
                raise RefusedError("a shape that has no end")
            given = arguments.get(parameter)
            origin = origin_of(given) or ""
            is_own = isinstance(given, Interpreted) or origin.startswith(_BUILDERS_OF_TENSORS)
            if callable(given) and not is_own:
                raise RefusedError("a function that TVM would call with arguments of the text")

        return _checked(function, check)

    return guard


def _type_variable(function: Function, origin_of: OriginOf) -> Function:
    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        # Python compiles a bound that is a string.
        if any(isinstance(value, str) for value in (*args[1:], *kwargs.values())):
            raise RefusedError("a type variable that is bound by a string")

    return _checked(function, check)


def _device(function: Function, origin_of: OriginOf) -> Function:
    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        # Only here: the gate, which reads texts before TVM is loaded, asks this module for names.
        from tvm.script.ir_builder import IRBuilder

        # TVM looks for a module under way, and dies where there is none.
        if not IRBuilder.is_in_scope():
            raise RefusedError("a device that is looked up outside of a module")

    return _checked(function, check)


def _checked(function: Function, check: Callable[[tuple[Any, ...], Mapping[str, Any]], None]) -> Function:
    @functools.wraps(function, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    def guarded(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return function(*args, **kwargs)

    del guarded.__wrapped__
    return guarded


GUARDS: Mapping[str, Callable[[Function, OriginOf], Function]] = {
    f"{IR}.lookup_vdevice": _device,
    f"{RELAX}.Callable": _derivation,
    f"{RELAX}.call_packed": _attributes,
    f"{RELAX}.emit_te": _callback("func"),
    "tvm.te.compute": _callback("fcompute"),
    "typing.TypeVar": _type_variable,
}
