"""The kernels of a text that an earlier text had, too: most tests write the same few before what they are about.

A kernel is the same where its lines are the same at the same place, and where it sees nothing but what TVM itself
offers: no other function, and no value that the caller of the parser gave. TVM shares such nodes itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import ir as builder
from tvm.script.parser.core import entry
from tvm.script.parser.core.parser import Parser

_KEPT = 500
"""So many that no test waits for its own again, and few enough to be no memory to speak of."""


@dataclass
class _Kernel:
    signature: Any
    function: Any = None


_kernels: OrderedDict[tuple[int, str], _Kernel] = OrderedDict()
_parse: Callable[..., Any] = Parser.parse
_declare: Callable[..., Any] = Parser.visit_tvm_declare_function
_define: Callable[..., Any] = Parser.visit_FunctionDef
_PLAIN = "sees_only_tvm"
_NAMES = len(entry._default_globals()) + 1
"""What is known in a module that nobody gave anything: what TVM offers, and the module."""


def install() -> None:
    """From now on what is parsed again is what was made before."""
    _replace(_parsed, _declared, _defined)


def remove() -> None:
    """From now on everything is parsed."""
    _replace(_parse, _declare, _define)


def _replace(parse: Any, declare: Any, define: Any) -> None:
    Parser.parse, Parser.visit_tvm_declare_function, Parser.visit_FunctionDef = parse, declare, define


def _parsed(self: Any, extra_vars: Mapping[str, Any] | None = None) -> Any:
    """In the place of `Parser.parse`."""
    known = entry._default_globals()
    given = extra_vars or {}
    of_tvm = given.keys() == known.keys() and all(given[name] is value for name, value in known.items())
    setattr(self, _PLAIN, of_tvm and self.diag.source.source_name == "<str>")
    return _parse(self, extra_vars)


def _place(parser: Any, node: Any) -> tuple[int, str] | None:
    """The first line of a kernel and its text; None where what is made of that may depend on something else."""
    if not getattr(parser, _PLAIN, False) or parser.current_class is None or parser.inside_function:
        return None
    if sum(map(bool, parser.var_table.name2value.values())) != _NAMES:
        return None
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    text = "\n".join(parser.diag.source.source.splitlines()[first - 1 : node.end_lineno])
    if "@T.prim_func" not in text or parser.current_class in text or "cls" in text:
        return None
    return first, text


def _declared(self: Any, node: Any) -> Any:
    """In the place of `Parser.visit_tvm_declare_function`."""
    place = _place(self, node)
    if place is None:
        return _declare(self, node)
    if (kept := _kernels.get(place)) is not None:
        _kernels.move_to_end(place)
        return builder.decl_function(node.name, kept.signature)
    found = _declare(self, node)
    signature = _functions().get(found)
    if signature is not None:
        _kernels[place] = _Kernel(signature)
        if len(_kernels) > _KEPT:
            _kernels.popitem(last=False)
    return found


def _defined(self: Any, node: Any) -> None:
    """In the place of `Parser.visit_FunctionDef`."""
    kept = _kernels.get(place) if (place := _place(self, node)) is not None else None
    if kept is not None and kept.function is not None:
        builder.def_function(node.name, kept.function)
        return
    _define(self, node)
    if kept is not None:
        kept.function = next((f for name, f in _functions().items() if name.name_hint == node.name), None)


def _functions() -> Any:
    """Those of the module that is being made."""
    return next(f.functions for f in IRBuilder.current().frames if isinstance(f, builder.IRModuleFrame))
