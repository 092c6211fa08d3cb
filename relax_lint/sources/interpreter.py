"""The value of an expression, by walking its tree: in place of the `eval` that TVM's parser uses.

Takes the nodes of Python's own trees and those of TVM's parser, which have the same names and fields. No text
and no tree is compiled. Each single step asks `permissions`, which judges the values and not the words.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from relax_lint.sources import permissions
from relax_lint.sources.facade import BUILTINS
from relax_lint.sources.guards import Interpreted
from relax_lint.sources.refusal import RefusedError

_ABSENT = object()
_MAX_STEPS = 1_000_000


class Names(Protocol):
    """What an expression can name."""

    def get(self, name: str, default: Any) -> Any:
        """The value of a name, or `default`."""
        ...


class Inner:
    """The names of a lambda or comprehension, over those around it."""

    __slots__ = ("around", "own")

    def __init__(self, own: dict[str, Any], around: Names) -> None:
        self.own = own
        self.around = around

    def get(self, name: str, default: Any) -> Any:
        """The innermost value of a name."""
        return self.own[name] if name in self.own else self.around.get(name, default)


class UndefinedError(NameError):
    """An undefined name, and the node that mentions it."""

    def __init__(self, node: Any, name: str) -> None:
        super().__init__(f"Undefined variable: {name}")
        self.node = node


_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "MatMult": operator.matmul,
    "Pow": operator.pow,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: operator.contains(b, a),
    "NotIn": lambda a, b: not operator.contains(b, a),
}
_UNARY: Mapping[str, Callable[[Any], Any]] = {
    "UAdd": operator.pos,
    "USub": operator.neg,
    "Invert": operator.invert,
    "Not": operator.not_,
}


def operate(node: Any, operands: list[Any]) -> Any:
    """The value of a Python operator, given by its node."""
    name = type(node).__name__
    permissions.check_operands(name, operands)
    if name in ("In", "NotIn"):
        permissions.iterated(operands[1])
    if len(operands) == 1:
        return permissions.bounded(_UNARY[name](operands[0]))
    if name == "And":
        return operands[0] and operands[1]
    if name == "Or":
        return operands[0] or operands[1]
    return permissions.bounded(_BINARY[name](*operands))


class Interpreter:
    """Evaluates expressions over a table of names, as Python does."""

    def __init__(self, names: Names, work: Iterator[int] | None = None) -> None:
        self.names = names
        # One count for an expression and for all closures that it calls.
        self.work = itertools.count() if work is None else work

    def value(self, node: Any) -> Any:
        """The value of an expression."""
        handler = _HANDLERS.get(type(node).__name__)
        if handler is None:
            raise RefusedError(f"an expression of the kind {type(node).__name__}")
        if next(self.work) > _MAX_STEPS:
            raise RefusedError("a computation that is too long")
        return handler(self, node)

    def name(self, node: Any) -> Any:
        """A name of the table, else one of the restricted builtins."""
        value = self.names.get(node.id, _ABSENT)
        if value is _ABSENT:
            value = BUILTINS.get(node.id, _ABSENT)
        if value is _ABSENT:
            raise UndefinedError(node, node.id)
        return value

    def constant(self, node: Any) -> Any:
        """A literal."""
        return permissions.bounded(node.value) if isinstance(node.value, int) else node.value

    def attribute(self, node: Any) -> Any:
        """`value.name`."""
        return permissions.read(self.value(node.value), node.attr)

    def subscript(self, node: Any) -> Any:
        """`value[index]`."""
        value = self.value(node.value)
        return permissions.item(value, self.value(node.slice))

    def slice(self, node: Any) -> slice:
        """`lower:upper:step`."""
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.value(part) for part in parts))

    def call(self, node: Any) -> Any:
        """`function(...)`."""
        function = self.value(node.func)
        args = self.items(node.args)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            for name, one in ((keyword.arg, value),) if keyword.arg else self.pairs(value):
                if not isinstance(name, str) or name in kwargs:
                    raise TypeError(f"a keyword argument is repeated or is not a name: {str(name)[:60]!r}")
                kwargs[name] = one
        return permissions.call(function, args, kwargs)

    def pairs(self, value: Any) -> Iterable[tuple[Any, Any]]:
        """The items of a `**` mapping."""
        if type(value) is not dict:
            permissions.refuse(f"`**` of a `{permissions.name_of(value)}`")
        return list(value.items())

    def items(self, nodes: Iterable[Any]) -> list[Any]:
        """The values of a display or an argument list, stars unpacked."""
        values: list[Any] = []
        for node in nodes:
            if type(node).__name__ == "Starred":
                values.extend(self.walked(self.value(node.value)))
            else:
                values.append(self.value(node))
        return values

    def walked(self, value: Any) -> Iterator[Any]:
        """The items of a value, counted."""
        for one in permissions.iterated(value):
            if next(self.work) > _MAX_STEPS:
                raise RefusedError("a computation that is too long")
            yield one

    def tuple(self, node: Any) -> Any:
        """`a, b`."""
        values = self.items(node.elts)
        return permissions.bounded(tuple(values)) if _is_nested(values) else tuple(values)

    def list(self, node: Any) -> Any:
        """`[a, b]`."""
        values = self.items(node.elts)
        return permissions.bounded(values) if _is_nested(values) else values

    def dict(self, node: Any) -> Any:
        """`{a: b, **c}`."""
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                result.update(self.pairs(self.value(value)))
            else:
                one = self.value(key)
                permissions.check_value(one)
                result[one] = self.value(value)
        return permissions.bounded(result)

    def unary(self, node: Any) -> Any:
        """`-a`."""
        return self.operated(node.op, [self.value(node.operand)])

    def binary(self, node: Any) -> Any:
        """`a + b`."""
        left = self.value(node.left)
        return self.operated(node.op, [left, self.value(node.right)])

    def operated(self, node: Any, operands: Any) -> Any:
        """The value of an operator."""
        return operate(node, operands)

    def compared(self, node: Any) -> Any:
        """`a < b < c`."""
        left, result = self.value(node.left), True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            result = self.operated(op, [left, right])
            if right_node is not node.comparators[-1] and not permissions.truth(result):
                return result
            left = right
        return result

    def junction(self, node: Any) -> Any:
        """`a and b`."""
        stops = type(node.op).__name__ == "Or"
        value = None
        for index, one in enumerate(node.values):
            value = self.value(one)
            if index + 1 < len(node.values) and permissions.truth(value) == stops:
                return value
        return value

    def conditional(self, node: Any) -> Any:
        """`a if c else b`."""
        return self.value(node.body if permissions.truth(self.value(node.test)) else node.orelse)

    def joined(self, node: Any) -> str:
        """`f"{a}"`."""
        text = "".join(str(self.value(part)) for part in node.values)
        permissions.bounded(text)
        return text

    def formatted(self, node: Any) -> str:
        """The `{a}` of an f-string."""
        if node.format_spec is not None:
            raise RefusedError("a format specification")
        return permissions.formatted(self.value(node.value), node.conversion)

    def function(self, node: Any) -> Closure:
        """`lambda a: b`."""
        return Closure(node, self.names, self.work)

    def comprehension(self, node: Any) -> Any:
        """`[a for b in c if d]`."""
        result: list[Any] = []
        self.generated(node, 0, result)
        return permissions.bounded(result)

    def generated(self, node: Any, level: int, result: Any) -> None:
        """The values of a comprehension, from its generator `level` on."""
        if level == len(node.generators):
            result.append(self.value(node.elt))
            return
        generator = node.generators[level]
        for one in self.walked(self.value(generator.iter)):
            inner = Interpreter(Inner(assigned(generator.target, one), self.names), self.work)
            if all(permissions.truth(inner.value(condition)) for condition in generator.ifs):
                inner.generated(node, level + 1, result)


def _is_nested(values: list[Any]) -> bool:
    return any(type(value) in (list, tuple, dict) for value in values)


_HANDLERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Attribute": lambda self, node: self.attribute(node),
    "BinOp": lambda self, node: self.binary(node),
    "BoolOp": lambda self, node: self.junction(node),
    "Call": lambda self, node: self.call(node),
    "Compare": lambda self, node: self.compared(node),
    "Constant": lambda self, node: self.constant(node),
    "Dict": lambda self, node: self.dict(node),
    "FormattedValue": lambda self, node: self.formatted(node),
    "IfExp": lambda self, node: self.conditional(node),
    "JoinedStr": lambda self, node: self.joined(node),
    "Lambda": lambda self, node: self.function(node),
    "List": lambda self, node: self.list(node),
    "ListComp": lambda self, node: self.comprehension(node),
    "Name": lambda self, node: self.name(node),
    "Slice": lambda self, node: self.slice(node),
    "Subscript": lambda self, node: self.subscript(node),
    "Tuple": lambda self, node: self.tuple(node),
    "UnaryOp": lambda self, node: self.unary(node),
}


class Closure(Interpreted):
    """A lambda of the text."""

    __name__ = "<lambda>"
    __qualname__ = "<lambda>"

    def __init__(self, node: Any, names: Names, work: Iterator[int]) -> None:
        self._body = node.body
        self._names = names
        self._work = work
        # Read by TVM, which asks a function for the names of its parameters.
        self.__signature__ = _signature(node.args, Interpreter(names, work))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value of the body for these arguments."""
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        for value in (*args, *kwargs.values()):
            permissions.check_value(value)
        return Interpreter(Inner(dict(bound.arguments), self._names), self._work).value(self._body)


def _signature(arguments: Any, interpreter: Interpreter) -> inspect.Signature:
    kinds = inspect.Parameter
    positional = [
        *((one, kinds.POSITIONAL_ONLY) for one in arguments.posonlyargs),
        *((one, kinds.POSITIONAL_OR_KEYWORD) for one in arguments.args),
    ]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    declared = [
        *((*one, default) for one, default in zip(positional, defaults, strict=True)),
        *([(arguments.vararg, kinds.VAR_POSITIONAL, None)] if arguments.vararg else []),
        *(
            (one, kinds.KEYWORD_ONLY, default)
            for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ),
        *([(arguments.kwarg, kinds.VAR_KEYWORD, None)] if arguments.kwarg else []),
    ]
    return inspect.Signature(
        [
            kinds(one.arg, kind, default=kinds.empty if default is None else interpreter.value(default))
            for one, kind, default in declared
        ]
    )


def assigned(target: Any, value: Any) -> dict[str, Any]:
    """The names that an assignment binds, as Python unpacks a value."""
    kind = type(target).__name__
    if kind == "Name":
        return {target.id: value}
    if kind in ("Tuple", "List"):
        return _unpacked(target.elts, value)
    root = target
    while hasattr(root, "value"):
        root = root.value
    # What TVM does about it: the left side has no names to refer to.
    raise NameError(f"name {getattr(root, 'id', '')!r} is not defined")


def _unpacked(targets: Any, value: Any) -> dict[str, Any]:
    stars = [index for index, target in enumerate(targets) if type(target).__name__ == "Starred"]
    items = iter(permissions.iterated(value))
    wanted = len(targets)
    found = list(itertools.islice(items, wanted + 1 if not stars else 65536))
    if len(found) < wanted - len(stars):
        least = f"at least {wanted - 1}" if stars else str(wanted)
        raise ValueError(f"not enough values to unpack (expected {least}, got {len(found)})")
    if not stars and len(found) > wanted:
        raise ValueError(f"too many values to unpack (expected {wanted})")
    if stars:
        at, after = stars[0], wanted - stars[0] - 1
        middle = found[at : len(found) - after]
        found = [*found[:at], middle, *found[len(found) - after :]]
    names: dict[str, Any] = {}
    for target, one in zip(targets, found, strict=True):
        names.update(assigned(target.value if type(target).__name__ == "Starred" else target, one))
    return names
