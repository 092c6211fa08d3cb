"""What a file does with its names, wherever: read off the syntax tree once, when somebody wants to know."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator

from relax_lint.sources.bindings import local_names
from relax_lint.sources.mutable import FIXED_OF_ARRAYS
from relax_lint.sources.names import DEFAULT_IMPORTS, chain
from relax_lint.sources.parametrize import parameter_names

Function = ast.FunctionDef | ast.AsyncFunctionDef
# What gives the canonical dotted name of a function that is imported; None of any other.
DottedName = Callable[[ast.expr], "str | None"]

# The decorators of TVMScript: what is below them only reads the names of the file.
_SCRIPT = frozenset({"function", "inline", "ir_module", "macro", "prim_func"})
# Methods and functions that only read what they are given. Those that hand on its items are apart.
_READING_METHODS = frozenset(
    {
        *("all", "any", "astype", "count", "format", "index", "item", "keys", "max", "mean", "min"),
        *("numpy", "prod", "sum", "tobytes", "tolist"),
    }
)
_ITEM_METHODS = frozenset({"copy", "get", "items", "values"})
_READING = frozenset(
    {
        *("abs", "all", "any", "bool", "float", "format", "hash", "id", "int", "isinstance", "len", "max"),
        *("min", "print", "range", "repr", "str", "sum", "type"),
    }
)
_ITEMS = frozenset({"dict", "enumerate", "iter", "list", "reversed", "set", "sorted", "tuple", "zip"})
_READING_NUMPY = frozenset(
    {
        *("all", "allclose", "amax", "amin", "any", "argmax", "argmin", "array", "array_equal"),
        *("concatenate", "copy", "dot", "empty_like", "full", "full_like", "isclose", "matmul", "max"),
        *("mean", "min", "ndim", "ones", "ones_like", "prod", "shape", "size", "stack", "sum", "zeros"),
        *("zeros_like",),
    }
)
# What is given by these names is written to, or called with what is there.
_WRITING_KEYWORDS = frozenset({"key", "out"})
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Module
# How many lists in one another are followed.
_DEEPEST = 8


class Uses:
    """The nodes of a file outside its TVMScript: what is around each, which names are mentioned where, where
    `global` and `nonlocal` stand, and what may bind a name that it does not spell.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.mentions: dict[str, list[ast.Name]] = {}
        self.attributes: dict[str, list[ast.Attribute]] = {}
        self.declared: dict[str, list[ast.Global | ast.Nonlocal]] = {}
        self.locals: dict[ast.AST, set[str]] = {}
        scripts = _Scripts(tree)
        waiting: list[ast.AST] = [tree]
        nodes: list[ast.AST] = []
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            self._note(node)
            if not scripts.has(node):
                for child in ast.iter_child_nodes(node):
                    if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop):
                        self.parents[child] = node
                        waiting.append(child)
        self.opaque = sorted(filter(self._binds_any, nodes), key=lambda node: getattr(node, "lineno", 0))

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name):
                self.mentions.setdefault(name, []).append(node)
            case ast.Attribute(attr=name):
                self.attributes.setdefault(name, []).append(node)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    self.declared.setdefault(name, []).append(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def is_another(self, node: ast.Name, scope: ast.AST) -> bool:
        """Whether a mention of a name is about a name of a function inside the scope."""
        for around in self.around(node):
            if around is scope:
                return False
            if isinstance(around, Function):
                if around not in self.locals:
                    self.locals[around] = _locals(around)
                if node.id in self.locals[around]:
                    return True
            if isinstance(around, ast.Lambda) and node.id in (one.arg for one in around.args.args):
                return True
        return True

    def _binds_any(self, node: ast.AST) -> bool:
        match node:
            case ast.ImportFrom(module=module, names=[ast.alias(name="*")]):
                return (module or "").split(".")[0] != "tvm"
            case ast.Call(func=ast.Name(id="exec")):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="builtins" | "__builtins__"), attr="exec")):
                return True
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]):
                return any(_is_of_modules(one) for one in ast.walk(owner))
            case ast.Call(func=ast.Attribute(attr="run_cell" | "run_line_magic")):
                return True
            case ast.Call(func=ast.Name(id="globals" | "vars"), args=[]):
                return self.is_handed_on(node, lambda _: None)
            case ast.Call(func=ast.Name(id="locals"), args=[]):
                is_inner = any(isinstance(one, Function | ast.ClassDef) for one in self.around(node))
                return not is_inner and self.is_handed_on(node, lambda _: None)
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=key, ctx=ast.Load()):
                is_own = not isinstance(key, ast.Constant) or key.value == "__main__"
                return is_own and self._is_written_to(node)
        return False

    def _is_written_to(self, module: ast.expr) -> bool:
        """Whether a module, or the dictionary of its names, is changed or handed on."""
        around = self.parents[module]
        match around:
            case ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"):
                return self.is_handed_on(around, lambda _: None)
            case ast.Attribute(ctx=ast.Load()):
                return False
            case ast.Call(func=ast.Name(id="getattr" | "hasattr" | "setattr" | "delattr")):
                # Those that write are found by themselves.
                return False
        return self.is_handed_on(module, lambda _: None)

    def is_handed_on(self, node: ast.expr, dotted: DottedName, is_flat: bool = False) -> bool:
        """Whether what an expression is used for may change its value in place, or give it another name that
        does. `is_flat` says that nothing inside the value can be changed.
        """
        return _Handing(self, dotted).on(node, 0 if is_flat else math.inf)

    def is_named(self, node: ast.expr, dotted: DottedName, is_flat: bool) -> bool:
        """Whether what the statement around an expression binds has its value, and not only a copy of it."""
        return node in self.parents and _Naming(self, dotted).on(node, 0 if is_flat else math.inf)


class _Handing:
    """The way of a value through the expressions that have it. `depth` says how often a part can be taken of
    what an expression gives until nothing is left that can be changed: 0 of a list of numbers, 1 of a list
    that such a list was put into.
    """

    def __init__(self, uses: Uses, dotted: DottedName) -> None:
        self.uses = uses
        self.dotted = dotted
        self.aliases: set[tuple[str, float]] = set()

    def on(self, node: ast.expr, depth: float) -> bool:
        around = self.uses.parents[node]
        match around:
            case ast.Subscript() if around.value is node:
                return not isinstance(around.ctx, ast.Load) or self.part(around, depth)
            case ast.Attribute():
                return self.attribute(around, depth)
            case ast.Call() if around.func is not node:
                return self.given(around, depth)
            case ast.keyword():
                call = self.uses.parents[around]
                if around.arg in _WRITING_KEYWORDS:
                    return True
                # `dict(a=S)` has it as an item, `dict(**S)` has its items.
                return not isinstance(call, ast.Call) or self.given(call, depth + (around.arg is not None))
            case ast.Assign(targets=targets):
                return any(self.bound(target, depth) for target in targets)
            case ast.NamedExpr():
                return self.bound(around.target, depth) or self.on(around, depth)
            case ast.AnnAssign():
                return self.bound(around.target, depth)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                return around.iter is node and depth > 0 and self.bound(around.target, depth - 1)
            case ast.IfExp() | ast.BoolOp():
                return self.on(around, depth)
            case ast.Dict(keys=keys, values=values) if any(
                key is None and value is node for key, value in zip(keys, values, strict=True)
            ):
                return depth > 0 and self.on(around, depth)
            case ast.Tuple() | ast.List() | ast.Dict() | ast.Set():
                return self.on(around, depth + 1)
            case ast.Starred():
                return self.part(around, depth)
            case ast.BinOp():
                # Two lists together have the items of both; of arrays it makes new ones.
                return 0 < depth < math.inf and self.on(around, depth)
            case ast.AugAssign():
                return 0 < depth < math.inf and self.bound(around.target, depth)
            case ast.UnaryOp() | ast.Compare() | ast.FormattedValue() | ast.Slice() | ast.Subscript():
                return False
            case ast.Call() | ast.Expr() | ast.If() | ast.While() | ast.Assert():
                return False
        return True

    def part(self, node: ast.expr, depth: float) -> bool:
        return depth > 0 and self.on(node, depth - 1)

    def items(self, node: ast.expr, depth: float) -> bool:
        """Whether what has the items of the value, each maybe in a tuple, is used to change them."""
        return depth > 0 and self.on(node, depth + 1)

    def attribute(self, node: ast.Attribute, depth: float) -> bool:
        if not isinstance(node.ctx, ast.Load):
            return True
        call = self.uses.parents[node]
        if isinstance(call, ast.Call) and call.func is node:
            if node.attr == "astype" and _may_share(call):
                return self.on(call, depth)
            return node.attr not in _READING_METHODS and (
                node.attr not in _ITEM_METHODS or self.items(call, depth)
            )
        return node.attr not in FIXED_OF_ARRAYS and self.on(node, depth)

    def given(self, call: ast.Call, depth: float) -> bool:
        if isinstance(call.func, ast.Name) and call.func.id in _READING:
            return False
        if isinstance(call.func, ast.Name) and call.func.id in _ITEMS:
            return self.items(call, depth)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parametrize":
            return False
        package, _, name = (self.dotted(call.func) or "").partition(".")
        if package == "numpy":
            if _may_share(call):
                return self.on(call, depth)
            return name not in _READING_NUMPY and not name.startswith(("testing.", "int", "uint", "float"))
        return package not in ("math", "tvm") or name.endswith("from_dlpack")

    def bound(self, target: ast.expr, depth: float) -> bool:
        """Whether the value is changed by the name that a target gives it."""
        if isinstance(target, ast.Tuple | ast.List):
            return depth > 0
        if not isinstance(target, ast.Name) or _DEEPEST < depth < math.inf:
            return True
        if (target.id, depth) in self.aliases:
            return False
        self.aliases.add((target.id, depth))
        aliases: list[ast.expr] = [*self.uses.mentions[target.id]]
        scope = next(one for one in self.uses.around(target) if isinstance(one, _SCOPES))
        if isinstance(scope, ast.ClassDef):
            aliases += self.uses.attributes.get(target.id, ())
        return any(self.changed(one, depth) for one in aliases)

    def changed(self, alias: ast.expr, depth: float) -> bool:
        if isinstance(alias, ast.Name | ast.Attribute) and isinstance(alias.ctx, ast.Load):
            return self.on(alias, depth)
        return isinstance(self.uses.parents[alias], ast.AugAssign)


class _Naming(_Handing):
    def given(self, call: ast.Call, depth: float) -> bool:
        # What a function gives may be what it was given.
        return super().given(call, depth) and self.on(call, math.inf)

    def bound(self, target: ast.expr, depth: float) -> bool:
        return True


def _may_share(call: ast.Call) -> bool:
    """Whether what numpy gives may be the array that it was given: `np.array(a, copy=False)`."""
    copies = [one.value for one in call.keywords if one.arg == "copy"]
    return any(not isinstance(one, ast.Constant) or one.value is not True for one in copies)


class _Scripts:
    """The definitions of a file that TVM reads: those with a decorator of TVMScript. One of the same last
    name from elsewhere (`my.function`) leaves a function what it is.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.imported: set[str] | None = None

    def has(self, node: ast.AST) -> bool:
        decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
        called = [one.func if isinstance(one, ast.Call) else one for one in decorators]
        chains = [parts for one in called if (parts := chain(one)) is not None]
        return any(rest[-1:] and rest[-1] in _SCRIPT and self.is_of_tvm(root) for root, rest in chains)

    def is_of_tvm(self, root: str) -> bool:
        if root in DEFAULT_IMPORTS:
            return True
        if self.imported is None:
            self.imported = {name for node in ast.walk(self.tree) for name in _imported_of_tvm(node)}
        return root in self.imported


def _imported_of_tvm(node: ast.AST) -> list[str]:
    """The names that an import of TVM binds, or that stand for a part of it."""
    match node:
        case ast.ImportFrom(module=str() as module, names=names) if module.split(".")[0] == "tvm":
            return [one.asname or one.name for one in names]
        case ast.Import(names=names):
            return [one.asname for one in names if one.asname and one.name.split(".")[0] == "tvm"]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
            parts = chain(value)
            return [name] if parts is not None and parts[0] in DEFAULT_IMPORTS else []
    return []


def _is_of_modules(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="modules") | ast.Name(id="__name__"):
            return True
    return False


def _locals(function: Function) -> set[str]:
    """The names of a function's own scope, without those that it declares to be of another."""
    elsewhere = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    named = local_names(function) if isinstance(function, ast.FunctionDef) else {*parameter_names(function)}
    return named - elsewhere
