"""The gate: what a TVMScript text may contain before TVM's parser, which evaluates it, gets to see it.

An allow-list over the syntax tree. Everything is refused that is not known to be TVMScript; see
docs/security.md for what is defended against and by what else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from relax_lint.sources.bindings import (
    bound_anywhere,
    local_names,
    methods,
    module_names,
    parameters,
    roots_of_attributes,
)
from relax_lint.sources.call_rules import check_call, check_reference
from relax_lint.sources.literal import is_large
from relax_lint.sources.names import DEFAULT_IMPORTS, IR, TIR, Offer, canonical, chain, is_reserved, offer
from relax_lint.sources.refusal import Refusal
from relax_lint.sources.sizes import check_arithmetic, check_comprehension, check_range
from relax_lint.sources.standing import is_own
from relax_lint.sources.unit import Entry, Imported, Literal, Sibling, Unit, Unknown
from relax_lint.sources.vocabulary import BUILTIN_NAMES, VALUE_ATTRIBUTES

_MAX_DEPTH = 150

_STATEMENTS = (
    ast.FunctionDef,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Expr,
    ast.If,
    ast.For,
    ast.While,
    ast.With,
    ast.Return,
    ast.Pass,
    ast.Assert,
    ast.Break,
    ast.Continue,
    ast.Nonlocal,
)
_EXPRESSIONS = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.Dict,
    ast.IfExp,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Lambda,
    ast.List,
    ast.ListComp,
    ast.Name,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
# Values that have no attribute of TVMScript.
_PYTHON_VALUES = (
    *(ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.Lambda),
    *(ast.Compare, ast.BoolOp),
)


def check_unit(unit: Unit) -> Refusal | None:
    """The first thing in a unit that is not TVMScript, else the first whose value is not known; None if the
    unit may go to the parser.
    """
    return _first(_Gate(unit.environment, unit.node).unit(unit))


def check_expression(node: ast.expr, environment: Mapping[str, Entry]) -> Refusal | None:
    """The same for an expression of the surrounding file that a name is bound to."""
    return _first(_Gate(environment, node).expression(node, 0))


def _first(refusals: Iterator[Refusal]) -> Refusal | None:
    unknown = None
    for refusal in refusals:
        if not refusal.unknown:
            return refusal
        unknown = unknown or refusal
    return unknown


def is_python_function(node: ast.stmt, unit: Unit) -> bool:
    """Whether a statement of a module class is a function under `@I.pyfunc`, whose body TVM does not read.

    The gate does not look at such a body, so whoever feeds the parser has to take it away.
    """
    if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
        return False
    parts = chain(node.decorator_list[-1])
    entry = unit.environment.get(parts[0]) if parts is not None else None
    if parts is None or not isinstance(entry, Imported):
        return False
    return canonical(".".join((entry.dotted, *parts[1]))) == IR + ".pyfunc"


class _Gate:
    def __init__(self, environment: Mapping[str, Entry], root: ast.AST) -> None:
        self.imports = {k: e.dotted for k, e in environment.items() if isinstance(e, Imported)}
        self.plain: Mapping[str, Any] = {k: e.value for k, e in environment.items() if isinstance(e, Literal)}
        self.members = {k: _functions_in(e.unit) for k, e in environment.items() if isinstance(e, Sibling)}
        self.known = {k for k, e in environment.items() if not isinstance(e, Unknown)}
        self.values = {k for k, e in environment.items() if isinstance(e, Literal)}
        self.shadowed = {
            k: _why_another(e)
            for k, e in environment.items()
            if k in BUILTIN_NAMES and not isinstance(e, Literal) and not is_own(k, e)
        }
        nodes = tuple(ast.walk(root))
        self.bound = bound_anywhere(nodes) - methods(root)
        self.modules = module_names(root, nodes)
        # The names that are bound where the walk is.
        self.scopes: list[set[str]] = [
            {root.name} if isinstance(root, ast.ClassDef | ast.FunctionDef) else set()
        ]
        meaning = environment.get("T", Imported(TIR))
        self.has_dialect = "T" not in self.bound and isinstance(meaning, Imported) and meaning.dotted == TIR
        self.callee: str | None = None
        self.is_annotation = False

    def unit(self, unit: Unit) -> Iterator[Refusal]:
        node = unit.node
        yield from self.rebound(node)
        if isinstance(node, ast.ClassDef):
            if node.keywords:
                yield Refusal(node.keywords[0], "a keyword in the bases of a module class")
            for statement in node.body:
                if not is_python_function(statement, unit):
                    yield from self.statement(statement, 0)
        else:
            yield from self.statement(node, 0)

    def statement(self, node: ast.stmt, depth: int) -> Iterator[Refusal]:
        if depth > _MAX_DEPTH:
            yield Refusal(node, f"statements nested deeper than {_MAX_DEPTH}")
            return
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return
        if not isinstance(node, _STATEMENTS):
            yield Refusal(node, f"the statement `{_keyword(node)}`")
            return
        if isinstance(node, ast.FunctionDef):
            yield from self.function(node, depth)
            return
        if is_metadata_mark(node):
            return
        loop = isinstance(node, ast.For)
        for name, value in ast.iter_fields(node):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.stmt):
                    yield from self.statement(item, depth + 1)
                elif isinstance(item, ast.expr):
                    self.is_annotation = name == "annotation"
                    yield from self.expression(item, depth, counted=not (loop and name == "iter"))
                elif isinstance(item, ast.withitem):
                    yield from self.expression(item.context_expr, depth)
                    if item.optional_vars is not None:
                        yield from self.expression(item.optional_vars, depth)

    def rebound(self, root: ast.AST) -> Iterator[Refusal]:
        """A name of an import that the unit binds to something else and reads attributes of."""
        body = root.body if isinstance(root, ast.ClassDef) else [root]
        used = roots_of_attributes(node for statement in body for node in ast.walk(statement))
        for name in sorted(self.bound & used & {*self.imports, *DEFAULT_IMPORTS, "metadata"} - self.modules):
            yield Refusal(root, f"another meaning of the name `{name}`")

    def function(self, node: ast.FunctionDef, depth: int) -> Iterator[Refusal]:
        if node.decorator_list:
            yield from self.expression(node.decorator_list[-1], depth)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                yield from self.expression(default, depth)
        self.scopes.append(local_names(node))
        for argument in parameters(arguments):
            yield from self.identifier(argument, argument.arg)
            yield from self.annotation(argument.annotation, depth)
        yield from self.annotation(node.returns, depth)
        for statement in node.body:
            yield from self.statement(statement, depth + 1)
        self.scopes.pop()

    def annotation(self, node: ast.expr | None, depth: int) -> Iterator[Refusal]:
        if node is not None:
            self.is_annotation = True
            yield from self.expression(node, depth)
            self.is_annotation = False

    def identifier(self, node: ast.AST, name: str) -> Iterator[Refusal]:
        if is_reserved(name):
            yield Refusal(node, f"the name `{name}`")

    def expression(self, node: ast.expr, depth: int, counted: bool = True) -> Iterator[Refusal]:
        is_annotation, self.is_annotation = self.is_annotation, False
        callee, self.callee = self.callee, None
        if depth > _MAX_DEPTH:
            yield Refusal(node, f"expressions nested deeper than {_MAX_DEPTH}")
            return
        if not isinstance(node, _EXPRESSIONS):
            yield Refusal(node, f"an expression of the kind {type(node).__name__}")
            return
        match node:
            case ast.Constant():
                yield from self.constant(node)
            case ast.Name() | ast.Attribute():
                yield from check_reference(node, self.dotted_name(node) or "", callee, is_annotation)
                if isinstance(node, ast.Name):
                    yield from self.name(node)
                else:
                    yield from self.attribute(node, depth)
                return
            case ast.BinOp():
                yield from check_arithmetic(node, self.plain)
            case ast.Call():
                yield from self.call(node, depth, counted)
                return
            case ast.ListComp():
                yield from self.comprehension(node, depth)
                return
            case ast.FormattedValue(format_spec=ast.expr()):
                yield Refusal(node, "a format specification")
            case ast.Lambda():
                yield from self.closure(node, depth)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self.expression(child, depth + 1)

    def closure(self, node: ast.Lambda, depth: int) -> Iterator[Refusal]:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                yield from self.expression(default, depth + 1)
        self.scopes.append({parameter.arg for parameter in parameters(node.args)})
        for parameter in parameters(node.args):
            yield from self.identifier(parameter, parameter.arg)
        yield from self.expression(node.body, depth + 1)
        self.scopes.pop()

    def constant(self, node: ast.Constant) -> Iterator[Refusal]:
        if isinstance(node.value, int) and is_large(node.value):
            yield Refusal(node, "a number that is too large")

    def name(self, node: ast.Name) -> Iterator[Refusal]:
        if is_reserved(node.id):
            yield Refusal(node, f"the name `{node.id}`")
        elif isinstance(node.ctx, ast.Load) and node.id in _PYTHON_BUILTINS and not self._defined(node.id):
            yield Refusal(node, f"the Python function `{node.id}`")
        elif node.id in self.shadowed and not self._is_local(node.id):
            # What is evaluated in place of an unknown name is Python's own function.
            yield Refusal(
                node, f"the value of `{node.id}` is unknown: {self.shadowed[node.id]}", unknown=True
            )
        elif isinstance(node.ctx, ast.Store) and node.id in self.imports:
            yield Refusal(node, f"an assignment to the imported name `{node.id}`")

    def _defined(self, name: str) -> bool:
        return self._is_local(name) or name in self.known or name in BUILTIN_NAMES

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def dotted_name(self, node: ast.expr) -> str | None:
        """The dotted name of the import that an expression denotes."""
        parts = chain(node)
        if parts is None or parts[0] in self.bound or parts[0] not in self.imports:
            return None
        return canonical(".".join((self.imports[parts[0]], *parts[1])))

    def attribute(self, node: ast.Attribute, depth: int) -> Iterator[Refusal]:
        parts = chain(node)
        # `buffer.data = x` of a printed TIR function; never of an imported module, never of a call's result:
        # TVM executes the left side of an assignment outside the names that it evaluates expressions in.
        if isinstance(node.ctx, ast.Store) and (parts is None or parts[0] in self.imports):
            yield Refusal(node, "an assignment to an attribute of this object")
        if parts is None:
            yield from self.value_attribute(node, node.attr)
            yield from self.expression(node.value, depth + 1)
            if isinstance(node.value, _PYTHON_VALUES):
                yield Refusal(node, f"the attribute `{node.attr}` of a value of Python")
            return
        root, attributes = parts
        if root in self.values and root not in self.bound:
            yield Refusal(node, f"the attribute `{attributes[0]}` of a value of Python")
        if root in self.imports and root not in self.bound:
            yield from self.dotted(node, self.imports[root], attributes)
            return
        yield from self.name(ast.copy_location(ast.Name(root, ast.Load()), node))
        for index, attribute in enumerate(attributes):
            # A function of the module may have any name; so may the members of an undefined name,
            # which the parser stops at.
            free = (index == 0 and root in self.modules) or not self._defined(root)
            if free and not (attribute.startswith("__") and attribute.endswith("__")):
                continue
            if index == 0 and root not in self.bound and attribute in self.members.get(root, ()):
                reason = f"the value of `{root}.{attribute}` is unknown: a function of another module"
                yield Refusal(node, reason, unknown=True)
            else:
                yield from self.value_attribute(node, attribute)

    def dotted(self, node: ast.Attribute, root: str, attributes: tuple[str, ...]) -> Iterator[Refusal]:
        """A chain below an import: as far as the vocabulary goes, then attributes of a value."""
        dotted = root
        for index, attribute in enumerate(attributes):
            dotted = canonical(f"{dotted}.{attribute}")
            found = offer(dotted)
            if found is Offer.REFUSED:
                yield Refusal(node, f"`{ast.unparse(node)}`")
                return
            if found is not Offer.NAMESPACE:
                for rest in attributes[index + 1 :]:
                    yield from self.value_attribute(node, rest)
                return

    def value_attribute(self, node: ast.AST, attribute: str) -> Iterator[Refusal]:
        if attribute not in VALUE_ATTRIBUTES:
            yield Refusal(node, f"the attribute `{attribute}`")

    def call(self, node: ast.Call, depth: int, counted: bool) -> Iterator[Refusal]:
        if isinstance(node.func, ast.Name) and node.func.id in BUILTIN_NAMES and node.func.id in self.bound:
            yield Refusal(node, f"another meaning of the name `{node.func.id}`")
        if isinstance(node.func, ast.Name) and node.func.id == "range" and counted:
            yield from check_range(node, self.plain)
        yield from check_call(node, self.dotted_name, self.has_dialect)
        dotted = self.dotted_name(node.func)
        if dotted is None:
            yield from self.expression(node.func, depth + 1)
        elif isinstance(node.func, ast.Name):
            yield from self.name(node.func)
        elif isinstance(node.func, ast.Attribute):
            yield from self.attribute(node.func, depth + 1)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            for one in argument.elts if isinstance(argument, ast.List | ast.Tuple) else (argument,):
                self.callee = dotted
                yield from self.expression(one, depth + 1)
        self.callee = None

    def comprehension(self, node: ast.ListComp, depth: int) -> Iterator[Refusal]:
        if len(node.generators) > 2:
            yield Refusal(node, "a comprehension over more than two sequences")
        yield from check_comprehension(node, self.plain)
        pushed = 0
        for generator in node.generators:
            yield from self.expression(generator.iter, depth + 1)
            self.scopes.append(bound_anywhere(ast.walk(generator.target)))
            pushed += 1
            yield from self.expression(generator.target, depth + 1)
            for condition in generator.ifs:
                yield from self.expression(condition, depth + 1)
        yield from self.expression(node.elt, depth + 1)
        del self.scopes[len(self.scopes) - pushed :]


def is_metadata_mark(node: ast.stmt) -> bool:
    """`__tvm_meta__ = None`, which printed modules of long ago end with."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__tvm_meta__")], value=ast.Constant(value=None)):
            return True
    return False


def _why_another(entry: Entry) -> str:
    """Why a function of Python is not what its name stands for in the file."""
    match entry:
        case Unknown(reason=reason):
            return reason
        case Imported(dotted=dotted):
            return f"imported as `{dotted}`"
    return "bound to something else by the file"


_PYTHON_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _keyword(node: ast.stmt) -> str:
    return ast.unparse(node).split(None, 1)[0].rstrip(":")


def _functions_in(unit: Unit) -> set[str]:
    """The functions of a module class, but for names that Python itself gives a meaning."""
    names = {node.name for node in unit.node.body if isinstance(node, ast.FunctionDef)}
    return {name for name in names if not name.startswith("_")}
