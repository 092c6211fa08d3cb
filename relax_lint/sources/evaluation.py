"""Expressions of a unit with the values that TVM's parser gives them: by our interpreter, not by `eval`.

TVM's parser differs from Python in a few operators (`and`, `<`, `a if b else c` of expressions become nodes)
and in a slice without a step inside of a call. Lambdas and comprehensions are Python.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import tvm
from tvm.script.parser.core import dispatch, doc
from tvm.script.parser.core.error import ParserError

from relax_lint.sources import permissions
from relax_lint.sources.facade import Namespace, lookup
from relax_lint.sources.interpreter import Interpreter, Names, UndefinedError, operate
from relax_lint.sources.names import TIR
from relax_lint.sources.refusal import RefusedError
from relax_lint.sources.shape_text import MAX_LENGTH, check_shape_text, shortened

# Functions whose slices stand for regions, and keep what is written.
_REGIONS = ("reads", "writes", "match_buffer")
_ABSENT = object()
# The nodes that make something of TVM, which remembers where in the text it was made.
_CONSTRUCTING = frozenset(
    {doc.BinOp, doc.BoolOp, doc.Call, doc.Compare, doc.IfExp, doc.ListComp, doc.Subscript, doc.UnaryOp}
)


class Variables:
    """The names of the parser's table, as they are now, without a copy of it."""

    __slots__ = ("_extra", "_stacks")

    def __init__(self, table: Any, extra: Mapping[str, Any] | None) -> None:
        self._stacks = table.name2value
        self._extra = extra or {}

    def get(self, name: str, default: Any) -> Any:
        """The innermost value of a name."""
        if name in self._extra:
            return self._extra[name]
        values = self._stacks.get(name)
        return values[-1] if values else default

    def snapshot(self) -> dict[str, Any]:
        """The names that a function of the text keeps."""
        return {**{name: values[-1] for name, values in self._stacks.items() if values}, **self._extra}


class ScriptInterpreter(Interpreter):
    """Evaluates the nodes of TVM's parser, and tells it where an error is."""

    def __init__(self, parser: Any, names: Variables) -> None:
        super().__init__(names)
        self.parser = parser
        self.variables = names

    def value(self, node: Any) -> Any:
        """The value of a node; an error is reported at the innermost node that it is in."""
        kind = type(node)
        try:
            if kind not in _CONSTRUCTING:
                return super().value(node)
            with self.parser.with_source_span(node):
                return self.parser.annotate_current_source_span(super().value(node))
        except UndefinedError as error:
            self.parser.report_error(error.node, ParserError(error.node, str(error)))
        except Exception as error:
            self.parser.report_error(node, error)
        raise AssertionError("TVM's parser went on after an error")

    def call(self, node: Any) -> Any:
        """A call, whose slices have a step of one."""
        if getattr(node.func, "attr", _REGIONS[0]) not in _REGIONS:
            _with_steps(node.args)
        return super().call(node)

    def attribute(self, node: Any) -> Any:
        """`value.name`; a property of a node may make another."""
        value = self.value(node.value)
        if type(value) is Namespace:
            return permissions.read(value, node.attr)
        with self.parser.with_source_span(node):
            return self.parser.annotate_current_source_span(permissions.read(value, node.attr))

    def binary(self, node: Any) -> Any:
        """An operation of two values."""
        _with_steps((node.left, node.right))
        return super().binary(node)

    def unary(self, node: Any) -> Any:
        """An operation of one value."""
        _with_steps((node.operand,))
        return super().unary(node)

    def operated(self, node: Any, operands: Any) -> Any:
        """The value of an operator, which a type of TVM may define for the parser."""
        return operation(node, operands)

    def compared(self, node: Any) -> Any:
        """A chain of comparisons, joined by `and`."""
        _with_steps((node.left, *node.comparators))
        values = [self.value(one) for one in (node.left, *node.comparators)]
        result = _ABSENT
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            one = self.operated(op, [left, right])
            result = one if result is _ABSENT else self.operated(doc.And(), [result, one])
        return result

    def junction(self, node: Any) -> Any:
        """`a and b`, which stops early only where `a` is known."""
        value = self.value(node.values[0])
        for one in node.values[1:]:
            if isinstance(value, bool) and value == isinstance(node.op, doc.Or):
                return value
            value = self.operated(node.op, [value, self.value(one)])
        return value

    def conditional(self, node: Any) -> Any:
        """`a if c else b`: a choice here where `c` is known, else one in the program."""
        test = self.value(node.test)
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse)
        if tvm.ir.is_prim_expr(test) and test.ty.matches_code(tvm.DataTypeCode.BOOL):
            return tvm.tirx.op.if_then_else(test, self.value(node.body), self.value(node.orelse))
        raise TypeError(f"Expected Python bool or TIR bool, but got {type(test)}")

    def function(self, node: Any) -> Any:
        """A lambda."""
        return self._python().function(node)

    def comprehension(self, node: Any) -> Any:
        """A comprehension."""
        return self._python().comprehension(node)

    def _python(self) -> Interpreter:
        return Interpreter(self.variables.snapshot(), self.work)


def _with_steps(nodes: Any) -> None:
    """Give the slices of subscripts among these nodes a step of one, as TVM's parser does."""
    for node in nodes:
        if type(node) is not doc.Subscript:
            continue
        parts = node.slice.elts if type(node.slice) is doc.Tuple else (node.slice,)
        for part in parts:
            if type(part) is doc.Slice and not part.step and part.upper and part.lower:
                end, column = part.upper.lineno, part.upper.end_col_offset
                part.step = doc.Constant(1, None, end, column + 1, end, column + 2)


def operation(node: Any, operands: Any) -> Any:
    """The value of an operator: what TVM's parser has registered for the operands' types, else Python's."""
    for index, value in enumerate(operands):
        kind = getattr(type(value), "_dispatch_type", None)
        if kind is None:
            continue
        method = dispatch.get_op(kind, type(node), index, default=None)
        if method is not None:
            permissions.check_operands(type(node).__name__, operands)
            return method(*operands)
    return operate(node, operands)


def evaluate(parser: Any, node: Any, extra: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression of a unit."""
    value = ScriptInterpreter(parser, Variables(parser.var_table, extra)).value(_bare(node))
    permissions.check_value(value)
    return value


def evaluate_plainly(node: Any, names: Mapping[str, Any] | None) -> Any:
    """The value of an expression over a table of names, as Python has it."""
    return Interpreter(dict(names or {})).value(_bare(node))


def _bare(node: Any) -> Any:
    return node.body if type(node).__name__ == "Expression" else node


def extent(value: Any, names: Names | None) -> Any:
    """An extent of a shape. A string is parsed and interpreted; no part of it is passed to Python.

    The gate's check of texts is asked once more, of what is here and not of what the tree promised.
    """
    if not isinstance(value, str):
        return value
    text = str(value).strip()
    if len(text) > MAX_LENGTH:
        raise RefusedError(f"a shape expression of more than {MAX_LENGTH} characters")
    known: Names = {} if names is None else names
    dialect = known.get("T", None)
    if reason := check_shape_text(text, type(dialect) is Namespace and dialect is lookup(TIR)):
        raise RefusedError(reason)
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RefusedError(f"`{shortened(text)}` in a shape") from None
    try:
        return Interpreter(known).value(tree)
    except UndefinedError as error:
        raise NameError(f"name '{error.node.id}' is not defined") from None
