"""From the bindings of a parsed module back to the expressions of the text that made them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tvm import relax

from relax_lint.results.location import Location
from relax_lint.sources.facade import lookup
from relax_lint.sources.kernel_positions import Subscripts, subscripts
from relax_lint.sources.names import Offer, canonical, chain, offer
from relax_lint.sources.recorder import Emission, Recording
from relax_lint.sources.text import SourceText
from relax_lint.support.lazy_dataclass import record

# Operators whose Relax call has the extra leading arguments that the text does not have, or lacks some.
_SKIP_FIRST = frozenset({"call_packed"})


@record(frozen=True)
class _Origin:
    """A binding's expression in the text; `direct` when the binding is the whole of it, not a part."""

    expression: ast.expr | None
    statement: ast.stmt
    direct: bool


class TextPositions:
    """Positions of one unit. Keyed by the identity of the bound variable: names are not unique in the IR."""

    def __init__(
        self,
        text: SourceText,
        root: ast.ClassDef | ast.FunctionDef,
        module: Any,
        recording: Recording,
        imports: Mapping[str, str],
    ) -> None:
        self._text = text
        self._imports = imports
        self._subscripts: dict[str, Subscripts] = {}
        self._definitions = {node.name: node for node in _functions(root)}
        if isinstance(root, ast.FunctionDef):
            # Alone, a function goes by its global symbol.
            self._definitions |= {name: root for name, _ in _relax_functions(module)}
        self._vars: dict[int, tuple[Any, _Origin]] = {}
        statements = {_key(node): node for node in _statements(root)}
        for name, function in _relax_functions(module):
            written = self._definitions[name].name if name in self._definitions else name
            emissions = _in_order(recording.functions.get(written, []))
            for var, emission, direct in _align(list(_bindings(function.body)), emissions):
                statement = statements.get(_key(emission.statement))
                if statement is not None:
                    origin = _Origin(_expression(statement, emission.target), statement, direct)
                    self._vars[var.__chandle__()] = (var, origin)

    def binding(self, var: Any, value: Any) -> Location | None:
        """The value expression of the statement that made a binding."""
        origin = self._origin(var)
        if origin is None:
            return None
        node = self._part(origin, value)
        if isinstance(node, ast.If):
            return self._text.location(_header(node, node.test))
        if isinstance(node, ast.FunctionDef):
            return self._define(node)
        return self._text.location(node)

    def argument(self, var: Any, value: Any, index: int) -> Location | None:
        """Argument `index` of the call (element of the tuple or shape) that a binding's value is."""
        origin = self._origin(var)
        node = self._part(origin, value) if origin is not None else None
        if not isinstance(node, ast.expr):
            return None
        found = self._operand(node, value, index)
        return self._text.location(found) if found is not None else None

    def function(self, name: str) -> Location | None:
        """`def` and the name of a function."""
        node = self._definitions.get(name)
        return self._define(node) if node is not None else None

    def parameter(self, name: str, index: int) -> Location | None:
        """Parameter `index` of a function, with its annotation."""
        node = self._definitions.get(name)
        if node is None or index >= len(node.args.args):
            return None
        return self._text.location(node.args.args[index])

    def attributes(self, name: str) -> Location | None:
        """The `R.func_attr` call of a function."""
        function = self._definitions.get(name)
        for statement in function.body if function is not None else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                dotted = self._dotted(statement.value.func)
                if dotted is not None and dotted.endswith(".func_attr"):
                    return self._text.location(statement.value)
        return None

    def access(self, kernel: str, buffer: str, *, writes: bool, number: int, of: int) -> Location | None:
        """The subscript of an access in a kernel, where the text has as many of them as the kernel."""
        definition = self._definitions.get(kernel)
        if definition is None:
            return None
        found = self._subscripts.get(kernel)
        if found is None:
            found = self._subscripts[kernel] = subscripts(definition)
        nodes = found.get((buffer, writes), [])
        return self._text.location(nodes[number]) if len(nodes) == of else None

    def statement(self, var: Any) -> tuple[ast.stmt, bool] | None:
        """The statement that made a binding, and whether the binding is all that the statement is."""
        origin = self._origin(var)
        return None if origin is None else (origin.statement, origin.direct)

    def expression(self, var: Any, value: Any) -> ast.AST | None:
        """The expression that a binding's value was made of."""
        origin = self._origin(var)
        return None if origin is None else self._part(origin, value)

    def definition(self, name: str) -> ast.FunctionDef | None:
        """The definition of a function."""
        return self._definitions.get(name)

    def _origin(self, var: Any) -> _Origin | None:
        found = self._vars.get(var.__chandle__())
        return found[1] if found else None

    def _define(self, node: ast.FunctionDef) -> Location:
        line = self._text.lines[node.lineno - 1]
        start = line.find("def", len(line.encode()[: node.col_offset].decode(errors="ignore")))
        end = line.find(node.name, start + 3) + len(node.name)
        begin, finish = self._text.at(node.lineno, start), self._text.at(node.lineno, end)
        return Location(self._text.path, *begin, *finish)

    def _part(self, origin: _Origin, value: Any) -> ast.AST:
        """The expression of a binding; for a temporary, the nested expression that its span points at."""
        if isinstance(origin.statement, ast.If | ast.FunctionDef):
            return _condition_part(origin, value, self)
        expression = origin.expression if origin.expression is not None else origin.statement
        if origin.direct:
            return expression
        return self._spanned(expression, value) or expression

    def _spanned(self, node: ast.AST, value: Any) -> ast.expr | None:
        span = getattr(value, "span", None)
        if span is None:
            return None
        place = (span.line, span.column - 1, span.end_line, span.end_column - 1)
        for child in ast.walk(node):
            if isinstance(child, ast.expr) and _place(child) == place:
                return child
        return None

    def _operand(self, node: ast.expr, value: Any, index: int) -> ast.expr | None:
        match node:
            case ast.BinOp():
                return (node.left, node.right)[index] if index < 2 else None
            case ast.Compare():
                return (node.left, *node.comparators)[index] if index <= len(node.comparators) else None
            case ast.UnaryOp():
                return node.operand if index == 0 else None
            case ast.Subscript():
                return node.value if index == 0 else None
            case ast.Tuple() | ast.List():
                return node.elts[index] if index < len(node.elts) else None
            case ast.Call():
                return self._call_argument(node, value, index)
        return None

    def _call_argument(self, node: ast.Call, value: Any, index: int) -> ast.expr | None:
        dotted = self._dotted(node.func)
        if dotted is None:
            return node.args[index] if index < len(node.args) else None
        last = dotted.rsplit(".", 1)[-1]
        if (
            isinstance(value, relax.ShapeExpr)
            and node.args
            and isinstance(node.args[0], ast.List | ast.Tuple)
        ):
            elements = node.args[0].elts
            return elements[index] if index < len(elements) else None
        if last in _SKIP_FIRST:
            index += 1
        name = _parameter(dotted, index)
        for keyword in node.keywords:
            if keyword.arg == name:
                return keyword.value
        return node.args[index] if index < len(node.args) else None

    def _dotted(self, node: ast.expr) -> str | None:
        parts = chain(node)
        if parts is None or parts[0] not in self._imports:
            return None
        return canonical(".".join((self._imports[parts[0]], *parts[1])))


def _condition_part(origin: _Origin, value: Any, positions: TextPositions) -> ast.AST:
    """For an `if`: the statement itself, or the part of its condition that became a binding of its own."""
    if origin.direct or not isinstance(origin.statement, ast.If):
        return origin.statement
    return positions._spanned(origin.statement.test, value) or origin.statement.test


def _header(statement: ast.If, test: ast.expr) -> ast.AST:
    header = ast.Expr(test)
    header.lineno, header.col_offset = statement.lineno, statement.col_offset
    header.end_lineno, header.end_col_offset = test.end_lineno, test.end_col_offset
    return header


def _parameter(dotted: str, index: int) -> str | None:
    """The name of a TVMScript function's parameter; None where the function takes any number of them."""
    if offer(dotted) is not Offer.VALUE:
        return None
    try:
        parameters = list(inspect.signature(lookup(dotted)).parameters.values())
    except (TypeError, ValueError, AttributeError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters[: index + 1]):
        return None
    return parameters[index].name if index < len(parameters) else None


def _expression(statement: ast.stmt, target: str | None) -> ast.expr | None:
    """The right-hand side that was bound to `target`."""
    match statement:
        case ast.Assign(
            targets=[ast.Tuple() | ast.List() as names], value=ast.Tuple() | ast.List() as values
        ):
            for name, value in zip(names.elts, values.elts, strict=False):
                if isinstance(name, ast.Name) and name.id == target:
                    return value
            return statement.value
        case ast.Assign() | ast.AnnAssign() | ast.Expr() | ast.Return():
            return statement.value
    return None


def _functions(root: ast.ClassDef | ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    if isinstance(root, ast.FunctionDef):
        yield root
        return
    for node in root.body:
        if isinstance(node, ast.FunctionDef):
            yield node


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement and those inside it, as far as TVMScript nests them."""
    yield statement
    for part in ("body", "orelse"):
        for inner in getattr(statement, part, ()):
            yield from _statements(inner)


def _relax_functions(module: Any) -> Iterator[tuple[str, Any]]:
    for var, function in module.functions.items():
        if isinstance(function, relax.Function):
            yield str(var.name_hint), function


def _key(node: Any) -> tuple[str, int, int]:
    return type(node).__name__, node.lineno, node.col_offset


def _place(node: ast.expr) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _bindings(expression: Any) -> Iterator[Any]:
    """Bindings in the order in which the parser emits them: those inside a value come before it."""
    if not isinstance(expression, relax.SeqExpr):
        return
    for block in expression.blocks:
        for binding in block.bindings:
            value = getattr(binding, "value", None)
            if isinstance(value, relax.If):
                yield from _bindings(value.true_branch)
                yield from _bindings(value.false_branch)
            elif isinstance(value, relax.Function):
                yield from _bindings(value.body)
            yield binding


def _in_order(emissions: list[Emission]) -> list[Emission]:
    """Emissions with each `if` after those of its branches, and its variable filled in."""
    ordered: list[Emission] = []
    open_ifs: list[Emission] = []
    for emission in emissions:
        while open_ifs and not _inside(emission.statement, open_ifs[-1].statement):
            ordered.append(open_ifs.pop())
        if emission.frame is not None:
            emission.var = emission.frame.var
            open_ifs.append(emission)
        else:
            ordered.append(emission)
    return ordered + open_ifs[::-1]


def _inside(inner: Any, outer: Any) -> bool:
    start = (outer.lineno, outer.col_offset)
    end = (outer.end_lineno, outer.end_col_offset)
    return start < (inner.lineno, inner.col_offset) < end


def _align(bindings: list[Any], emissions: list[Emission]) -> Iterator[tuple[Any, Emission, bool]]:
    """Pair every binding with an emission: (variable, emission, whether the statement itself made it).

    Most variables are still the ones that were emitted. The output variables of a dataflow block and the last
    ones of a branch were replaced on the way: they stand in the same order under the same name. What is
    left are temporaries, which the builder puts directly before the binding that needs them.
    """
    by_identity = {e.var.__chandle__(): i for i, e in enumerate(emissions) if e.var is not None}
    position = 0
    waiting: list[Any] = []
    for binding in bindings:
        index = by_identity.get(binding.var.__chandle__())
        if index is None:
            index = _renamed(binding, emissions, position, by_identity, bindings)
        if index is None:
            waiting.append(binding)
            continue
        for temporary in waiting:
            yield temporary.var, emissions[index], False
        waiting = []
        yield binding.var, emissions[index], True
        position = index + 1
    if emissions:
        last = emissions[min(position, len(emissions) - 1)]
        for temporary in waiting:
            yield temporary.var, last, False


def _renamed(
    binding: Any,
    emissions: list[Emission],
    position: int,
    by_identity: Mapping[int, int],
    bindings: list[Any],
) -> int | None:
    name = str(binding.var.name)
    for index in range(position, len(emissions)):
        emission = emissions[index]
        if emission.var is None:
            return None
        if _still_there(emission.var, bindings):
            return None
        emitted = str(emission.var.name)
        if name in (emitted, emitted + "_then", emitted + "_else"):
            return index
    return None


def _still_there(var: Any, bindings: list[Any]) -> bool:
    handle = var.__chandle__()
    return any(b.var.__chandle__() == handle for b in bindings)
