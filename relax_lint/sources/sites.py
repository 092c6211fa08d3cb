"""Every place where TVM's parser hands something to Python's `eval`, closed while a unit is parsed.

What evaluates an expression is replaced by the interpreter. The names `eval`, `exec` and `compile` themselves
are refused in all modules of the parser, so that a place that nobody has heard of ends the parse.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tvm.relax.script.parser import entry as relax_entry
from tvm.script.parser.core import evaluator
from tvm.script.parser.core import parser as core_parser

from relax_lint.sources.endless import with_an_end
from relax_lint.sources.evaluation import evaluate, evaluate_plainly, extent, operation
from relax_lint.sources.facade import BUILTINS
from relax_lint.sources.interpreter import assigned
from relax_lint.sources.refusal import RefusedError

_PACKAGES = ("tvm.script.parser", "tvm.relax.script.parser", "tvm.tirx.script", "tvm.script.ir_builder")
_PYTHON = ("eval", "exec", "compile", "__import__", "open")


def _assign(parser: Any, target: Any, source: Any) -> dict[str, Any]:
    try:
        return assigned(target, source)
    except Exception as error:
        parser.report_error(target, error)
        raise


_REPLACED: tuple[tuple[ModuleType, Mapping[str, Callable[..., Any]]], ...] = (
    (
        evaluator,
        {
            "eval_expr": evaluate,
            "eval_assign": _assign,
            "_eval_expr": evaluate_plainly,
            "_eval_op": operation,
            "_eval_assign": assigned,
            "_get_builtin_or_none": BUILTINS.get,
        },
    ),
    (core_parser, {"eval_expr": evaluate, "eval_assign": _assign}),
    (relax_entry, {"_eval_shape": extent}),
)
_ABSENT = object()


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*args: object, **kwargs: object) -> None:
        raise RefusedError(f"`{name}` in TVM's parser")

    return refuse


_REFUSING = {name: _refusing(name) for name in _PYTHON}
_modules: dict[int, list[ModuleType]] = {}
# Of two threads the one that leaves first would open what the other one relies on.
_one_at_a_time = threading.RLock()


def _parser_modules() -> list[ModuleType]:
    """The modules of the parser that are loaded; looked for again when more modules are."""
    if len(sys.modules) not in _modules:
        names = [name for name in sys.modules if name.startswith(_PACKAGES)]
        found = [sys.modules[name] for name in names]
        _modules.clear()
        _modules[len(sys.modules)] = [module for module in found if type(module) is ModuleType]
    return _modules[len(sys.modules)]


@contextmanager
def closed() -> Iterator[None]:
    """No module of TVM's parser evaluates, executes or compiles anything inside of this context.

    Raises RefusedError where this TVM lacks a place that has to be replaced: another may have taken its part.
    """
    with _one_at_a_time, with_an_end():
        yield from _closed()


def _closed() -> Iterator[None]:
    changed: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for module, functions in _REPLACED:
            for name, function in functions.items():
                if name not in vars(module):
                    raise RefusedError(f"this TVM has no `{module.__name__}.{name}`: its parser is unknown")
                changed.append((vars(module), name, vars(module)[name]))
                vars(module)[name] = function
        for module in _parser_modules():
            for name, refuse in _REFUSING.items():
                changed.append((vars(module), name, vars(module).get(name, _ABSENT)))
                vars(module)[name] = refuse
        yield
    finally:
        for names, name, value in reversed(changed):
            if value is _ABSENT:
                del names[name]
            else:
                names[name] = value
