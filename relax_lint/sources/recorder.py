"""Which statement made which binding: TVM's parser, watched while it works.

The only place that reaches into the parser. Everything it replaces is put back when the parse ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tvm.error import DiagnosticError
from tvm.relax.script import builder as relax_builder
from tvm.script.parser.core import doc
from tvm.script.parser.core.diagnostics import Source
from tvm.script.parser.core.error import ParserError
from tvm.script.parser.core.parser import Parser

from relax_lint.sources.evaluation import evaluate
from relax_lint.sources.facade import Marker
from relax_lint.sources.reasons import without_addresses
from relax_lint.sources.sites import closed


class ParseFailure(DiagnosticError):  # type: ignore[misc]
    """TVM's parser gave up: its reason, and the node of the text that it was at."""

    def __init__(self, message: str, node: Any, cause: Any) -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.cause = cause


@dataclass
class Emission:
    """One binding that a statement made. `target` is the name it was assigned to; `frame` is that of an `if`,
    whose variable is known only when it ends. `var` is None for a returned value.
    """

    statement: Any
    target: str | None = None
    var: Any = None
    frame: Any = None


@dataclass
class Recording:
    """Emissions in the order in which the parser made them, by the top-level function they belong to."""

    functions: dict[str, list[Emission]] = field(default_factory=dict)


class TreeSource(Source):  # type: ignore[misc]
    """A syntax tree as the source of TVM's parser: nothing is read from disk, positions are the tree's."""

    def __init__(self, name: str, content: str, tree: Any) -> None:
        # TVM takes no name that is not UTF-8, and nobody reads this one again.
        self.source_name = name.encode(errors="backslashreplace").decode()
        self.start_line = 1
        self.start_column = 0
        self.source = content
        self.full_source = content
        self.tree = tree

    def as_ast(self) -> Any:
        """The tree, as TVM's own kind of nodes."""
        return self.tree


class RecordingParser(Parser):  # type: ignore[misc]
    """TVM's parser, taking notes."""

    def __init__(self, source: TreeSource) -> None:
        super().__init__(source, {})
        self.recording = Recording()
        self.statement: Any = None
        self.target: str | None = None
        self.emissions: list[Emission] = []

    def visit(self, node: Any) -> None:
        """Visit a node, remembering the statement that is being read."""
        if not isinstance(node, doc.stmt):
            super().visit(node)
            return
        outer, self.statement = self.statement, node
        if isinstance(node, doc.FunctionDef) and not self.inside_function:
            self.emissions = self.recording.functions.setdefault(node.name, [])
        try:
            super().visit(node)
        finally:
            self.statement = outer

    def eval_expr(self, node: Any, extra_vars: Mapping[str, Any] | None = None) -> Any:
        """The value of an expression: ours, where TVM would have Python evaluate it."""
        return self.annotate_current_source_span(evaluate(self, node, extra_vars))

    def get_dispatch_token(self, node: Any) -> Any:
        """The dialect of a function, which only our own stand-ins for decorators tell."""
        decorator = self.eval_expr(node.decorator_list[-1]) if node.decorator_list else None
        if type(decorator) is not Marker:
            words = "The parser does not understand the decorator"
            self.report_error(node, words if node.decorator_list else "Function must be decorated")
        assert isinstance(decorator, Marker)
        return decorator.dispatch_token

    def eval_assign(
        self,
        target: Any,
        source: Any,
        bind_value: Callable[..., Any],
        allow_shadowing: bool = False,
    ) -> Any:
        """Assign, remembering the target that is being bound."""

        def bind(parser: Any, node: Any, name: str, value: Any) -> Any:
            self.target = name
            try:
                return bind_value(parser, node, name, value)
            finally:
                self.target = None

        return super().eval_assign(target, source, bind, allow_shadowing)

    def report_error(self, node: Any, err: Any) -> None:
        """Raise ParseFailure in place of TVM's formatted text."""
        if isinstance(err, ParseFailure):
            raise err
        at = err.node if isinstance(err, ParserError) else node
        if getattr(at, "lineno", 0) in (0, None):
            at = node if getattr(node, "lineno", 0) else self.statement
        raise ParseFailure(without_addresses(_message(err)), at, err)

    def note(self, var: Any = None, frame: Any = None) -> None:
        """Remember what the statement under way has just made."""
        self.emissions.append(Emission(self.statement, self.target, var, frame))


def _message(error: Any) -> str:
    if isinstance(error, RuntimeError):
        # TVM puts the C++ stack above the reason.
        lines = [line for line in str(error).split("\n") if line.strip()]
        return lines[-1] if lines else type(error).__name__
    if isinstance(error, KeyError):
        return f"KeyError: {error}"
    return str(error) or type(error).__name__


@contextmanager
def watching(parser: RecordingParser) -> Iterator[None]:
    """Let `parser` know what Relax's builder emits, and close the places that evaluate text meanwhile."""
    with closed():
        yield from _watching(parser)


def _watching(parser: RecordingParser) -> Iterator[None]:
    def emitting(original: Callable[..., Any]) -> Callable[..., Any]:
        def emit(*args: Any, **kwargs: Any) -> Any:
            var = original(*args, **kwargs)
            parser.note(var=var)
            return var

        return emit

    def start_if(condition: Any) -> Any:
        frame = originals["If"](condition)
        # The frame's variable is emitted after those of both branches; the note is put in order later.
        parser.note(frame=frame)
        return frame

    def return_value(value: Any) -> Any:
        parser.note()
        return originals["func_ret_value"](value)

    originals: dict[str, Callable[..., Any]] = {
        name: getattr(relax_builder, name)
        for name in ("emit", "emit_match_cast", "emit_var_binding", "If", "func_ret_value")
    }
    replaced: Mapping[str, Callable[..., Any]] = {
        **{name: emitting(originals[name]) for name in ("emit", "emit_match_cast", "emit_var_binding")},
        "If": start_if,
        "func_ret_value": return_value,
    }
    for name, function in replaced.items():
        setattr(relax_builder, name, function)
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(relax_builder, name, function)
