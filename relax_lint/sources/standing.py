"""What can be read of a file without the scope that it stands in, and how it is quoted."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping
from dataclasses import replace

from relax_lint.sources.unit import Computed, Entry, Imported, Literal, Sibling, Unknown


def shortened(node: ast.expr) -> str:
    """The text of an expression, its beginning if it is long."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."


def assumed(entry: Entry, name: str, place: str) -> Entry:
    """An entry with the assumption that `name` is it; `place` tells where it is made, and why that is not
    certain.
    """
    if isinstance(entry, Unknown):
        return entry
    text = f"{name} = {_quoted(entry)} ({place})"
    return replace(entry, assumption=text if entry.assumption is None else f"{entry.assumption}; {text}")


def _quoted(entry: Literal | Computed | Imported | Sibling) -> str:
    match entry:
        case Literal(value=value):
            return shortened(ast.Constant(value))
        case Computed(node=node):
            return shortened(node)
        case Imported(dotted=dotted):
            return dotted
    return "the definition"


def itself(name: str) -> Computed:
    """The function that Python has under a name."""
    return Computed(ast.Name(name, ast.Load()))


def is_own(name: str, entry: Entry) -> bool:
    """Whether an entry is the function that Python has under a name."""
    return isinstance(entry, Computed) and isinstance(entry.node, ast.Name) and entry.node.id == name


def is_itself(name: str, entry: Entry) -> bool:
    """Whether a name is what it is without the file: an import by the module's name, or Python's own."""
    return entry == Imported(name) or (is_own(name, entry))


def is_same(entry: Entry, other: Entry) -> bool:
    """Whether it does not matter which of two a name is. What stands where TVM is missing does not."""
    if is_of_tvm(entry):
        return entry == other or not (isinstance(other, Computed) or is_of_tvm(other))
    if isinstance(entry, Computed) and isinstance(other, Computed):
        return ast.dump(entry.node) == ast.dump(other.node)
    return entry == other


def is_of_tvm(entry: Entry) -> bool:
    """Whether a name is a part of TVM."""
    return isinstance(entry, Imported) and entry.dotted.split(".")[0] == "tvm"


def standing_alone(node: ast.expr, names: Mapping[str, Entry]) -> ast.expr:
    """A copy of `node` that depends on nothing but imports; `names` are what it mentions."""
    copied = _Standing(names).visit(copy.deepcopy(node))
    assert isinstance(copied, ast.expr)
    return ast.fix_missing_locations(copied)


class _Standing(ast.NodeTransformer):
    """An expression that can be read in any scope: imports by canonical names, values in place."""

    def __init__(self, names: Mapping[str, Entry]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        entry = self.names.get(node.id)
        match entry:
            case Imported():
                return ast.copy_location(ast.parse(entry.dotted, mode="eval").body, node)
            case Computed():
                return copy.deepcopy(entry.node)
            case Literal() if isinstance(entry.value, int | float | str | bool | tuple | list | None):
                return ast.copy_location(ast.parse(_source(entry.value), mode="eval").body, node)
        return node


def _source(value: object) -> str:
    """`repr`, except that infinities and nan have to be spelled as calls."""
    text = repr(value)
    return re.sub(r"\b(inf|nan)\b", r"float('\1')", text) if isinstance(value, float) else text
