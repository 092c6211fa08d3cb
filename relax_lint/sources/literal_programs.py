"""String literals that a file gives to TVM's script parser: where they are written, or by a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_READ = frozenset({"from_source", "parse"})
_MODULES = frozenset({"tvm.script", "tvm.script.parser", "tvm.script.parser.core"})


@dataclass
class _Names:
    """What names of a file stand for, in whatever scope: the parser's function, a module that has it, and the
    literals that they are bound to.
    """

    functions: set[str] = field(default_factory=lambda: {"from_source"})
    modules: set[str] = field(default_factory=set)
    literals: dict[str, list[ast.expr]] = field(default_factory=dict)

    def see(self, node: ast.AST) -> None:
        """Note what a statement binds."""
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
                    if isinstance(target, ast.Name):
                        self.literals.setdefault(target.id, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.literals.setdefault(name, []).append(value)

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

    def given(self, node: ast.expr, *, by_name: bool = True) -> Iterator[ast.Constant]:
        """The literals that an argument may be, also under `textwrap.dedent`."""
        match node:
            case ast.Constant(value=str()):
                yield node
            case ast.Call(func=ast.Attribute(attr="dedent") | ast.Name(id="dedent"), args=[inner]):
                yield from self.given(inner, by_name=by_name)
            case ast.Name(id=name) if by_name:
                for value in self.literals.get(name, []):
                    yield from self.given(value, by_name=False)


def find_literals(tree: ast.Module) -> list[ast.Constant]:
    """String literals that are given to `from_source` or `parse` of TVM's script parser, in the order of the
    calls, each once.
    """
    names = _Names()
    calls: list[ast.Call] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            calls.append(node)
        else:
            names.see(node)
    found: dict[ast.Constant, None] = {}
    for call in calls:
        if names.reads(call.func):
            arguments = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "program")]
            found.update(dict.fromkeys(one for argument in arguments for one in names.given(argument)))
    return list(found)
