"""What a dialect rule is, and the helpers that the rules share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from relax_lint.sources.names import RELAX, TIR, canonical, chain
from relax_lint.sources.vocabulary import TIR_DTYPE
from relax_lint.support.lazy_dataclass import record


class Index:
    """What the rules look for in a tree, found once for all of them; out of date when one has changed it."""

    def __init__(self) -> None:
        self._nodes: dict[int, list[ast.AST]] = {}
        self._calls: dict[int, list[ast.Call]] = {}
        self._words: dict[int, set[str]] = {}

    def forget(self) -> None:
        """The tree has changed."""
        for known in (self._nodes, self._calls, self._words):
            known.clear()

    def nodes(self, tree: ast.AST) -> list[ast.AST]:
        """Every node of a tree."""
        found = self._nodes.get(id(tree))
        if found is None:
            found = self._nodes[id(tree)] = list(ast.walk(tree))
        return found

    def calls(self, tree: ast.AST) -> list[ast.Call]:
        """Every call in a tree."""
        found = self._calls.get(id(tree))
        if found is None:
            found = self._calls[id(tree)] = [n for n in self.nodes(tree) if isinstance(n, ast.Call)]
        return found

    def words(self, tree: ast.AST) -> set[str]:
        """Every name, attribute and keyword in a tree."""
        found = self._words.get(id(tree))
        if found is None:
            found = self._words[id(tree)] = set()
            for node in self.nodes(tree):
                match node:
                    case ast.Name(id=word) | ast.Attribute(attr=word):
                        found.add(word)
                    case ast.keyword(arg=str(word)):
                        found.add(word)
        return found


@record(frozen=True)
class Context:
    """What a rule may ask: the imports of the unit, the class and functions it consists of, the names of
    the file that declare symbols with their element types, and all names of the file that the unit can see.
    `printed` says that TVM's printer wrote the text. What a rule had to assume it adds to `assumptions`.
    """

    imports: Mapping[str, str]
    root: ast.ClassDef | ast.FunctionDef
    symbols: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    printed: bool = False
    index: Index = field(default_factory=Index)
    assumptions: list[str] = field(default_factory=list)

    def nodes(self, tree: ast.AST) -> list[ast.AST]:
        """The nodes of the root, or of a function in it, as they were before the present rule."""
        return self.index.nodes(tree)

    def calls(self) -> list[ast.Call]:
        """Every call in the root, as before the present rule."""
        return self.index.calls(self.root)

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether one of the words is a name, an attribute or a keyword in the root, or what an import stands
        for.
        """
        imported = {part for dotted in self.imports.values() for part in dotted.split(".")}
        return any(word in imported or word in self.index.words(self.root) for word in words)

    def dotted(self, node: ast.expr) -> str | None:
        """The canonical dotted name of an attribute chain below an import."""
        parts = chain(node)
        if parts is None or parts[0] not in self.imports:
            return None
        return canonical(".".join((self.imports[parts[0]], *parts[1])))

    def relax(self, node: ast.expr) -> str | None:
        """`add` for `R.add`, whatever `R` is called."""
        return _below(self.dotted(node), RELAX)

    def tir(self, node: ast.expr) -> str | None:
        """`sblock` for `T.sblock`."""
        return _below(self.dotted(node), TIR)

    def is_scalar(self, annotation: ast.expr | None) -> bool:
        """Whether a kernel's parameter is annotated with an element type: `T.int64`."""
        name = self.tir(annotation) if annotation is not None else None
        return name is not None and TIR_DTYPE.fullmatch(name) is not None

    def functions(self) -> list[ast.FunctionDef]:
        """The functions of the module; the function itself if it is alone."""
        if isinstance(self.root, ast.FunctionDef):
            return [self.root]
        return [node for node in self.root.body if isinstance(node, ast.FunctionDef)]

    def is_prim_func(self, function: ast.FunctionDef) -> bool:
        """Whether a function is written in TIR."""
        return any(self.tir(called(d)) in ("prim_func", "function") for d in function.decorator_list)


# Changes the tree in place (positions of the nodes stay) and says whether it found anything to change.
Rewrite = Callable[[Context], bool]


@record(frozen=True)
class Rule:
    """One difference between a dialect and what TVM reads today.

    `last` is the last release that wrote it this way ("0.27+" for what later releases write). A tree that
    mentions none of the `words` has nothing to change; without words any tree may have.
    """

    name: str
    last: str
    rewrite: Rewrite
    words: tuple[str, ...] = ()

    def apply(self, context: Context) -> bool:
        """Rewrite the tree; whether there was anything to change."""
        if self.words and not context.mentions(self.words):
            return False
        changed = self.rewrite(context)
        if changed:
            context.index.forget()
        return changed


def _below(dotted: str | None, prefix: str) -> str | None:
    if dotted is None or not dotted.startswith(prefix + "."):
        return None
    return dotted[len(prefix) + 1 :]


def called(decorator: ast.expr) -> ast.expr:
    """The decorator without its arguments."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def calls(node: ast.AST) -> list[ast.Call]:
    """Every call in a tree."""
    return [child for child in ast.walk(node) if isinstance(child, ast.Call)]


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument of that name."""
    return next((k for k in call.keywords if k.arg == name), None)


def drop_keyword(call: ast.Call, name: str) -> bool:
    """Remove a keyword argument; whether it was there."""
    found = keyword(call, name)
    if found is None:
        return False
    call.keywords.remove(found)
    return True


class Replace(ast.NodeTransformer):
    """Replace every expression for which `change` gives another one, and count."""

    def __init__(self, change: Callable[[ast.expr], ast.expr | None]) -> None:
        self.change = change
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, with replacements below and at it."""
        node = self.generic_visit(node)
        if isinstance(node, ast.expr):
            changed = self.change(node)
            if changed is not None:
                self.count += 1
                return ast.copy_location(changed, node)
        return node


def replace_all(root: ast.AST, change: Callable[[ast.expr], ast.expr | None]) -> bool:
    """Replace expressions below `root`; whether there were any."""
    replacing = Replace(change)
    replacing.visit(root)
    return replacing.count > 0
