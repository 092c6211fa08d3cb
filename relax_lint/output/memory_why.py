"""Why a function needs what it needs, as rows of the text report."""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.output.tables import count
from relax_lint.results.memory_why import LiveTensor, Why
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable


def why_rows(why: Why) -> Iterator[tuple[str, str]]:
    """The largest tensors where most is needed, remarks, and what changes would save."""
    at = ", ".join(f"{printable(name)} = {value}" for name, value in why.at.items())
    where = "" if why.line is None else f", line {why.line}"
    most = f"{bytes_text(why.needed)} in {count(why.number, 'tensor')}"
    yield "most needed at", f"`{printable(why.binding)}`{where}: {most}{f', at {at}' if at else ''}"
    for tensor in why.tensors:
        yield "", _tensor(tensor)
    for remark in why.remarks:
        yield "remark", printable(remark)
    for change in why.changes:
        yield f"saved, {change.kind}", f"{bytes_text(change.saves)}: {printable(change.text)}"


def _tensor(tensor: LiveTensor) -> str:
    where = "" if tensor.line is None else f", line {tensor.line}"
    by = "" if tensor.operator is None else f" of `{printable(tensor.operator)}`"
    kind = f"{printable(tensor.shape)} {printable(tensor.dtype)}"
    return f"{bytes_text(tensor.bytes)}: `{printable(tensor.name)}`{by}, {kind}{where}"
