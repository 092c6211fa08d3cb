"""Texts that a file gives to TVM's script parser, or to Python: literals, also by names, and what is made of
them.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from relax_lint.sources.literal_texts import text_of
from relax_lint.sources.parametrize import parameter_names
from relax_lint.sources.text_names import TextNames

_READ = frozenset({"from_source", "parse"})
_MODULES = frozenset({"tvm.script", "tvm.script.parser", "tvm.script.parser.core"})
_DECORATED = re.compile(r"^[ \t]*@\s*[\w.]*\b(?:ir_module|function)\b", re.MULTILINE)
# They hand on the text, but for its margins.
_SAME_TEXT = frozenset({"cleandoc", "dedent"})
_TEXT_MODULES = frozenset({"inspect", "textwrap"})
_SAME_TEXT_METHODS = frozenset({"lstrip", "rstrip", "strip"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Literals:
    """The texts that TVM's parser gets, in the order of the calls, each once, with what was assumed of the
    names in them; and the literals with modules of which something is made that cannot be told.
    """

    read: dict[ast.Constant, tuple[str, ...]] = field(default_factory=dict)
    unread: list[ast.Constant] = field(default_factory=list)


@dataclass
class _Names:
    """What names of a file stand for, in whatever scope: the parser's function, or Python's own, a module
    that has it, and the values that they are bound to.
    """

    tree: ast.Module
    functions: set[str] = field(default_factory=lambda: {"compile", "exec", "from_source"})
    modules: set[str] = field(default_factory=set)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    # The scope that a value is bound in, by its address; of attributes it is the file.
    scopes: dict[int, ast.AST] = field(default_factory=dict)
    # What is put into the fields of what names are bound to.
    stored: dict[str, list[ast.expr]] = field(default_factory=dict)
    # The definitions of the file, and its calls by the names of what they call.
    definitions: dict[str, list[_Function]] = field(default_factory=dict)
    calls: dict[str, list[ast.Call]] = field(default_factory=dict)
    parameters: dict[str, list[tuple[_Function, int]]] = field(default_factory=dict)
    # The scope of each mention of a name, by its address; and the names that a scope binds for another one.
    mentions: dict[int, ast.AST] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    # What imports bind that is not of Python's modules for texts.
    imported: set[str] = field(default_factory=set)

    def see(self, node: ast.AST, scope: ast.AST) -> None:
        """Note what a node binds in a scope."""
        match node:
            case ast.Name():
                self.mentions[id(node)] = scope
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.shared.update(names)
            case ast.ImportFrom(module=module) if module not in _TEXT_MODULES:
                self.imported.update(alias.asname or alias.name for alias in node.names)
            case ast.Import():
                self.imported.update(a.asname for a in node.names if a.asname and a.name not in _TEXT_MODULES)
        match node:
            case ast.ImportFrom(module=str() as module, level=0):
                for alias in node.names:
                    if module in _MODULES and alias.name in _READ:
                        self.functions.add(alias.asname or alias.name)
                    elif f"{module}.{alias.name}" in _MODULES:
                        self.modules.add(alias.asname or alias.name)
            case ast.Import():
                self.modules |= {a.asname for a in node.names if a.asname is not None and a.name in _MODULES}
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.bind(target, value, scope)
                    if (
                        isinstance(target, ast.Name)
                        and isinstance(value, ast.Attribute)
                        and self.reads(value)
                    ):
                        self.functions.add(target.id)
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                self.bind(node.target, value, scope)
            case ast.AugAssign(target=target, value=value):
                # What it adds to is no text of its own.
                self.bind(target, ast.BinOp(target, node.op, value), scope)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                self.bind(target, value, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.definitions.setdefault(node.name, []).append(node)
                for index, name in enumerate(parameter_names(node)):
                    self.parameters.setdefault(name, []).append((node, index))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                self.calls.setdefault(name, []).append(node)

    def bind(self, target: ast.expr, value: ast.expr, scope: ast.AST) -> None:
        """Note the value of a target of an assignment."""
        match target:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                self.values.setdefault(name, []).append(value)
                self.scopes[id(value)] = scope if isinstance(target, ast.Name) else self.tree
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name)):
                self.stored.setdefault(name, []).append(value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                each = values if len(values) == len(elements) else [value] * len(elements)
                for element, one in zip(elements, each, strict=True):
                    self.bind(element, one, scope)

    def scope_of(self, node: ast.Name) -> ast.AST | None:
        """The scope whose bindings of a name are all that it may have there; None where others may count."""
        scope, name = self.mentions.get(id(node)), node.id
        if scope is None or isinstance(scope, ast.ClassDef) or name in self.shared:
            return None
        is_bound = any(self.scopes[id(value)] is scope for value in self.values.get(name, ()))
        is_bound = is_bound or any(function is scope for function, _ in self.parameters.get(name, ()))
        return scope if is_bound else None

    def keeps_text(self, function: ast.expr) -> bool:
        """Whether a function is one of Python's that hands on a text, but for its margins."""
        match function:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _TEXT_MODULES:
                return name in _SAME_TEXT and not self._is_own(module)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name in _SAME_TEXT and not self._is_own(name)
        return False

    def strips(self, method: str) -> bool:
        """Whether a method is one of texts that hands them on, but for their margins."""
        return method in _SAME_TEXT_METHODS and method not in self.definitions

    def _is_own(self, name: str) -> bool:
        bound = (self.definitions, self.values, self.parameters, self.imported)
        return any(name in names for names in bound)

    def repeated(self) -> set[str]:
        """The names that have several values in one scope."""
        found = set()
        for name, values in self.values.items():
            if len(values) > len({self.scopes[id(value)] for value in values}):
                found.add(name)
        return found

    def reads(self, function: ast.expr) -> bool:
        """Whether a function is the parser's."""
        match function:
            case ast.Name(id=name):
                return name in self.functions
            case ast.Attribute(attr="from_source"):
                return True
            case ast.Attribute(value=ast.Attribute(attr="script"), attr="parse"):
                return True
            case ast.Attribute(value=ast.Name(id=name), attr="parse"):
                return name in self.modules
        return False


class _Reach:
    """The literals that a value may be made of, each with whether it is all of the value."""

    def __init__(self, names: _Names) -> None:
        self.names = names
        self.seen: set[tuple[int, bool]] = set()
        self.whole: dict[ast.Constant, None] = {}
        self.part: dict[ast.Constant, None] = {}
        self.changed: dict[str, set[ast.AST]] = {}

    def follow(self, node: ast.expr) -> None:
        """Note what is reached from an expression. Every node is looked at twice at most."""
        waiting = [(node, True)]
        while waiting:
            one, is_whole = waiting.pop()
            if (id(one), is_whole) in self.seen:
                continue
            self.seen.add((id(one), is_whole))
            if isinstance(one, ast.Constant):
                if isinstance(one.value, bytes):
                    self.part[one] = None
                elif isinstance(one.value, str):
                    (self.whole if is_whole else self.part)[one] = None
                continue
            # The last is taken first.
            waiting += [(more, is_whole and same) for more, same in reversed([*self.behind(one)])]

    def behind(self, node: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
        """What a value is made of, each with whether it is handed on as it is."""
        match node:
            case ast.Name(id=name):
                scope = self.names.scope_of(node)
                yield from self.assigned(name, scope)
                yield from self.given(name, scope)
            case ast.Attribute(attr=name):
                yield from self.assigned(name)
            case _:
                yield from self.parts(node)

    def parts(self, node: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
        """The same for any other expression."""
        match node:
            case ast.Call():
                yield from self.called(node)
            case ast.Subscript(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                yield value, True
            case ast.IfExp(body=body, orelse=other):
                yield from ((body, True), (other, True))
            case ast.BoolOp(values=values) | ast.Dict(values=values):
                yield from ((value, True) for value in values)
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                yield from ((value, True) for value in values)
            case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value):
                yield value, True
            case ast.BinOp() | ast.JoinedStr() | ast.FormattedValue():
                yield from ((one, False) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))

    def assigned(self, name: str, scope: ast.AST | None = None) -> Iterator[tuple[ast.expr, bool]]:
        """What assignments bind a name to, in one scope or in any."""
        for value in self.bound(name, scope):
            yield value, self.names.scopes[id(value)] not in self.changed_in(name)

    def given(self, name: str, scope: ast.AST | None) -> Iterator[tuple[ast.expr, bool]]:
        """What a name is bound to as a parameter, by calls, defaults and tests, of one function or of any."""
        for function, index in self.names.parameters.get(name, ()):
            if scope is not None and function is not scope:
                continue
            is_same = function not in self.changed_in(name)
            yield from ((value, is_same) for value in _defaults(function))
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield from ((value, is_same) for value in decorator.args[1:2])
            for call in self.names.calls.get(function.name, ()):
                yield from ((one.value, is_same) for one in call.keywords if one.arg == name)
                # A method has one parameter that its calls do not give.
                yield from ((value, is_same) for value in call.args[max(index - 1, 0) : index + 1])

    def changed_in(self, name: str) -> set[ast.AST]:
        """The scopes in which another text is made of what a name is bound to, and bound to it again: what it
        was bound to before is not what is handed on. What is put into a field is in all of them.
        """
        if name not in self.changed:
            values, scopes = self.names.values.get(name, ()), self.names.scopes
            found = {scopes[id(value)] for value in values if self.is_made_of(value, name)}
            if any(self.is_made_of(value, name) for value in self.names.stored.get(name, ())):
                found.update(scopes[id(value)] for value in values)
                found.update(function for function, _ in self.names.parameters.get(name, ()))
            self.changed[name] = found
        return self.changed[name]

    def is_made_of(self, value: ast.expr, name: str) -> bool:
        """Whether a value is made of a name, and not the same as it."""
        waiting, seen = [(value, True)], set()
        while waiting:
            one, is_whole = waiting.pop()
            if (id(one), is_whole) in seen:
                continue
            seen.add((id(one), is_whole))
            match one:
                case ast.Name(id=other) | ast.Attribute(attr=other):
                    if other == name and not is_whole:
                        return True
                    if other != name:
                        scope = self.names.scope_of(one) if isinstance(one, ast.Name) else None
                        waiting += [(more, is_whole) for more in self.bound(other, scope)]
                case _:
                    waiting += [(more, is_whole and same) for more, same in self.parts(one)]
        return False

    def bound(self, name: str, scope: ast.AST | None) -> list[ast.expr]:
        """The values that assignments bind a name to, in one scope or in any."""
        values, scopes = self.names.values.get(name, ()), self.names.scopes
        return [value for value in values if scope is None or scopes[id(value)] is scope]

    def called(self, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
        arguments = [*call.args, *(one.value for one in call.keywords)]
        match call.func:
            case ast.Attribute(attr="script"):
                # A module as a text: what it was made of was read where it was made.
                return
            case read if self.names.reads(read):
                return
            case ast.Name() | ast.Attribute() if self.names.keeps_text(call.func):
                yield from ((one, True) for one in arguments)
            case ast.Attribute(value=value, attr=name):
                yield value, self.names.strips(name)
                yield from ((one, False) for one in arguments)
            case _:
                yield from ((one, False) for one in arguments)
        if isinstance(call.func, ast.Name):
            for function in self.names.definitions.get(call.func.id, ()):
                yield from ((one, True) for one in _results(function))


def _defaults(function: _Function) -> Iterator[ast.expr]:
    yield from function.args.defaults
    yield from (one for one in function.args.kw_defaults if one is not None)


def _results(function: _Function) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value


def find_literals(tree: ast.Module) -> Literals:
    """The texts that are given to `from_source` or `parse` of TVM's script parser, or to Python."""
    names = _names(tree)
    given = [argument for calls in names.calls.values() for call in calls for argument in _texts(names, call)]
    given.sort(key=lambda node: (node.lineno, node.col_offset))
    read: dict[ast.Constant, tuple[str, ...]] = {}
    unread: dict[ast.Constant, None] = {}
    meanings: TextNames | None = None
    for argument in given:
        reach = _Reach(names)
        reach.follow(argument)
        parts = [one for one in reach.part if _holds_module(one)]
        made = None
        if parts:
            meanings = meanings or TextNames(tree, names.repeated())
            made = text_of(argument, partial(meanings.entry, argument=argument), names.keeps_text)
        if made is not None:
            read[ast.copy_location(ast.Constant(made.text), argument)] = made.assumptions
        else:
            read.update(dict.fromkeys(reach.whole, ()))
            # One of them is enough to find the others.
            unread.update(dict.fromkeys(parts[:1]))
    return Literals(read, [*unread])


def _names(tree: ast.Module) -> _Names:
    names = _Names(tree)
    waiting: deque[tuple[ast.AST, ast.AST]] = deque([(tree, tree)])
    while waiting:
        node, scope = waiting.popleft()
        names.see(node, scope)
        inner = node if isinstance(node, _Function | ast.ClassDef) else scope
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return names


def _holds_module(node: ast.Constant) -> bool:
    # Of bytes it does not matter here what they mean beyond ASCII.
    text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
    return isinstance(text, str) and _DECORATED.search(text) is not None


def _texts(names: _Names, call: ast.Call) -> Iterable[ast.expr]:
    if not names.reads(call.func):
        return ()
    return [*call.args[:1], *(one.value for one in call.keywords if one.arg == "program")]
