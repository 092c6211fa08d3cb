"""The gate: what a TVMScript text may contain before TVM's parser, which evaluates it, gets to see it.

An allow-list over the syntax tree. Everything is refused that is not known to be TVMScript; see
docs/security.md for what is defended against and by what else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relax_lint.sources.literal import is_large
from relax_lint.sources.names import IR, Offer, canonical, chain, offer
from relax_lint.sources.refusal import Refusal
from relax_lint.sources.shape_text import check_shape_text
from relax_lint.sources.sizes import check_arithmetic, check_comprehension, check_range
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
# Functions whose string arguments are names of registered functions that TVM calls while it infers types.
_DERIVE_FUNCTIONS = ("tvm.relax.struct_info.infer_view_sinfo", "tvm.relax.type.infer_view_ty")


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
        nodes = tuple(ast.walk(root))
        self.bound = _bound_in(nodes)
        self.modules = _module_names(root, nodes)

    def unit(self, unit: Unit) -> Iterator[Refusal]:
        node = unit.node
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
                    yield from self.expression(item, depth, counted=not (loop and name == "iter"))
                elif isinstance(item, ast.withitem):
                    yield from self.expression(item.context_expr, depth)
                    if item.optional_vars is not None:
                        yield from self.expression(item.optional_vars, depth)

    def function(self, node: ast.FunctionDef, depth: int) -> Iterator[Refusal]:
        if node.decorator_list:
            yield from self.expression(node.decorator_list[-1], depth)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                yield from self.expression(default, depth)
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in (*named, arguments.vararg, arguments.kwarg):
            if argument is not None:
                yield from self.identifier(argument, argument.arg)
                if argument.annotation is not None:
                    yield from self.expression(argument.annotation, depth)
        if node.returns is not None:
            yield from self.expression(node.returns, depth)
        for statement in node.body:
            yield from self.statement(statement, depth + 1)

    def identifier(self, node: ast.AST, name: str) -> Iterator[Refusal]:
        if _is_reserved(name):
            yield Refusal(node, f"the name `{name}`")

    def expression(self, node: ast.expr, depth: int, counted: bool = True) -> Iterator[Refusal]:
        if depth > _MAX_DEPTH:
            yield Refusal(node, f"expressions nested deeper than {_MAX_DEPTH}")
            return
        if not isinstance(node, _EXPRESSIONS):
            yield Refusal(node, f"{_describe(node)}")
            return
        match node:
            case ast.Constant():
                yield from self.constant(node)
            case ast.Name():
                yield from self.name(node)
            case ast.Attribute():
                yield from self.attribute(node, depth)
                return
            case ast.BinOp():
                yield from check_arithmetic(node, self.plain)
            case ast.Call():
                yield from self.call(node, counted)
            case ast.ListComp():
                yield from self.comprehension(node, depth)
                return
            case ast.FormattedValue(format_spec=ast.expr()):
                yield Refusal(node, "a format specification")
            case ast.Lambda():
                for default in (*node.args.defaults, *node.args.kw_defaults):
                    if default is not None:
                        yield from self.expression(default, depth + 1)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self.expression(child, depth + 1)
            elif isinstance(child, ast.keyword):
                yield from self.expression(child.value, depth + 1)

    def constant(self, node: ast.Constant) -> Iterator[Refusal]:
        if isinstance(node.value, int) and is_large(node.value):
            yield Refusal(node, "a number that is too large")

    def name(self, node: ast.Name) -> Iterator[Refusal]:
        if _is_reserved(node.id):
            yield Refusal(node, f"the name `{node.id}`")
        elif isinstance(node.ctx, ast.Load) and node.id in _PYTHON_BUILTINS and not self._defined(node.id):
            yield Refusal(node, f"the Python function `{node.id}`")
        elif isinstance(node.ctx, ast.Store) and node.id in self.imports:
            yield Refusal(node, f"an assignment to the imported name `{node.id}`")

    def _defined(self, name: str) -> bool:
        return name in self.bound or name in self.known or name in BUILTIN_NAMES

    def attribute(self, node: ast.Attribute, depth: int) -> Iterator[Refusal]:
        parts = chain(node)
        # `buffer.data = x` of a printed TIR function; never of an imported module, never of a call's result:
        # TVM executes the left side of an assignment outside of the names that it evaluates expressions in.
        if isinstance(node.ctx, ast.Store) and (parts is None or parts[0] in self.imports):
            yield Refusal(node, "an assignment to an attribute of this object")
        if parts is None:
            yield from self.value_attribute(node, node.attr)
            yield from self.expression(node.value, depth + 1)
            return
        root, attributes = parts
        if root in self.imports and root not in self.bound:
            yield from self.dotted(node, self.imports[root], attributes)
            return
        yield from self.name(ast.copy_location(ast.Name(root, ast.Load()), node))
        for index, attribute in enumerate(attributes):
            # A function of the module may have any name; so may the members of a name that nothing binds,
            # which the parser stops at.
            free = (index == 0 and root in self.modules) or not self._defined(root)
            if free and not (attribute.startswith("__") and attribute.endswith("__")):
                continue
            if index == 0 and root not in self.bound and attribute in self.members.get(root, ()):
                reason = f"the value of `{root}.{attribute}` is not known: a function of another module"
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

    def call(self, node: ast.Call, counted: bool) -> Iterator[Refusal]:
        if isinstance(node.func, ast.Name) and node.func.id == "range" and counted:
            yield from check_range(node, self.plain)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if last in _SHAPE_TYPES:
            # `R.Tensor("float32")`: a lone string is the element type.
            shapes = [a for a in node.args[:1] if not isinstance(a, ast.Constant)]
            shapes += [keyword.value for keyword in node.keywords if keyword.arg in ("shape", "values")]
            for at, text in _strings(shapes):
                if reason := check_shape_text(text):
                    yield Refusal(at, reason)
        for keyword in node.keywords:
            if keyword.arg == "derive_func" and not _is_known_derivation(keyword.value):
                yield Refusal(keyword.value, "a function that TVM would call while it infers types")
            if keyword.arg == "attrs_type_key" and not _is_attrs_key(keyword.value):
                yield Refusal(keyword.value, "a class of TVM that is not a set of attributes")

    def comprehension(self, node: ast.ListComp, depth: int) -> Iterator[Refusal]:
        if len(node.generators) > 2:
            yield Refusal(node, "a comprehension over more than two sequences")
        yield from check_comprehension(node, self.plain)
        for generator in node.generators:
            yield from self.expression(generator.target, depth + 1)
            yield from self.expression(generator.iter, depth + 1)
            for condition in generator.ifs:
                yield from self.expression(condition, depth + 1)
        yield from self.expression(node.elt, depth + 1)


def is_metadata_mark(node: ast.stmt) -> bool:
    """`__tvm_meta__ = None`, which printed modules of long ago end with."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__tvm_meta__")], value=ast.Constant(value=None)):
            return True
    return False


def _is_reserved(name: str) -> bool:
    return name.startswith("__tvm") or (name.startswith("__") and name.endswith("__"))


_SHAPE_TYPES = frozenset({"Tensor", "Shape", "DTensor"})
_PYTHON_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _is_known_derivation(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value in _DERIVE_FUNCTIONS)


def _is_attrs_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith("Attrs")


def _strings(nodes: list[ast.expr]) -> Iterator[tuple[ast.AST, str]]:
    for node in nodes:
        for child in ast.walk(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield child, child.value


def _keyword(node: ast.stmt) -> str:
    return ast.unparse(node).split(None, 1)[0].rstrip(":")


def _describe(node: ast.expr) -> str:
    return f"an expression of the kind {type(node).__name__}"


def _functions_in(unit: Unit) -> set[str]:
    """The functions of a module class, but for names that Python itself gives a meaning."""
    names = {node.name for node in unit.node.body if isinstance(node, ast.FunctionDef)}
    return {name for name in names if not name.startswith("_")}


def _bound_in(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for child in nodes:
        match child:
            case ast.FunctionDef() | ast.ClassDef():
                names.add(child.name)
            case ast.Name(ctx=ast.Store()):
                names.add(child.id)
            case ast.arg():
                names.add(child.arg)
    return names


def _module_names(root: ast.AST, nodes: Iterable[ast.AST]) -> set[str]:
    """Names that stand for the module class `root` itself: its own, and `cls = Module` inside it.

    A name that is bound to anything else anywhere in the unit is an ordinary value.
    """
    if not isinstance(root, ast.ClassDef):
        return set()
    modules = {root.name}
    stores: dict[str, int] = {}
    aliases: dict[str, int] = {}
    for child in nodes:
        match child:
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Name(id=root.name)):
                aliases[alias] = aliases.get(alias, 0) + 1
            case ast.Name(ctx=ast.Store()):
                stores[child.id] = stores.get(child.id, 0) + 1
            case ast.arg():
                stores[child.arg] = stores.get(child.arg, 0) + 1
            case ast.FunctionDef():
                stores[child.name] = stores.get(child.name, 0) + 1
    modules |= {name for name, count in aliases.items() if stores.get(name) == count}
    return {name for name in modules if name in aliases or name not in stores}
