"""Runs and what is expected of them, one per line, as the rule pages write them.

    main(x: float32[5]) on naive: InternalError: the message of the error
    main(x: float32[4]) on naive and pooled: ok
    main(x: float32[2], n: 3, s: shape(3, -4)) on naive compiled: ok, float32[2] = 0.0, 2.0

Left of the last ` on ` stands the call: a public function and all its arguments by name (values: see
`relax_lint.replay.values`); then the allocators, and `compiled` where the function is not run as bytecode.
Right of the colon stands what happens:

- `ok`: the function returned; after a comma follows what it returned, each tensor with its values;
- `SomeError: text`: it raised SomeError with this text (its first line);
- `build fails: SomeError: text`: the module was not built;
- `SIGSEGV` or the name of another signal: the process died.
"""

from __future__ import annotations

import re

from relax_lint.replay.machine import Outcome, RunResult
from relax_lint.replay.values import Input, Output, parse_input, split_outside_brackets
from relax_lint.support.lazy_dataclass import dataclass

_LINE = re.compile(
    r"(?P<function>\w+)\((?P<arguments>.*)\) on (?P<allocators>naive|pooled|naive and pooled)"
    r"(?P<compiled> compiled)?: (?P<expected>.+)"
)
_ARGUMENT = re.compile(r"(?P<name>\w+): (?P<value>.+)")


@dataclass(frozen=True)
class Line:
    """One call on one or two allocators, and what is expected to happen, in words."""

    function: str
    names: tuple[str, ...]
    inputs: tuple[Input, ...]
    allocators: tuple[str, ...]
    exec_mode: str
    expected: str

    def agrees_with(self, result: RunResult) -> bool:
        """Whether a run did what the line says."""
        if self.expected == "ok":
            return result.outcome is Outcome.OK
        return self.expected == describe(result)


def parse_line(text: str) -> Line:
    """The run that a line of text states.

    Raises ValueError when it is not written in the notation.
    """
    match = _LINE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a run: {text!r}")
    arguments = [_parse_argument(part) for part in split_outside_brackets(match["arguments"])]
    return Line(
        function=match["function"],
        names=tuple(name for name, _ in arguments),
        inputs=tuple(value for _, value in arguments),
        allocators=tuple(match["allocators"].split(" and ")),
        exec_mode="compiled" if match["compiled"] else "bytecode",
        expected=match["expected"],
    )


def _parse_argument(text: str) -> tuple[str, Input]:
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"not an argument: {text!r}")
    return match["name"], parse_input(match["value"])


def describe(result: RunResult) -> str:
    """What happened in a run, in the notation."""
    if result.outcome is Outcome.OK:
        return ", ".join(["ok", *map(_describe_output, result.outputs)])
    if result.outcome is Outcome.SIGNAL:
        return str(result.signal)
    if result.outcome is Outcome.TIMEOUT:
        return "timeout"
    message = (result.message or "").split("\n", 1)[0]
    text = f"{result.error_type}: {message}".removesuffix(": ")
    return f"build fails: {text}" if result.stage == "build" else text


def _describe_output(output: Output) -> str:
    if output.values is None or not output.text.endswith("]"):
        return output.text
    return f"{output.text} = {', '.join(str(value).lower() for value in output.values)}".rstrip(" =")
