"""The buffers of kernels, and the memory of packed functions, as rows of the text report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from relax_lint.output.amounts import amount_text
from relax_lint.output.tables import count
from relax_lint.results.memory_figures import Amount, CallWorkspace, OnChipMemory, PackedFunctions, Workspaces
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.escaping import printable

_CALLS_SHOWN = 5


Text: TypeAlias = Callable[..., str]
"""Of an amount, and optionally the name of the total in the JSON output and whether to be brief."""


Most: TypeAlias = Callable[["Amount | None", str], int]
"""The largest value of an amount, -1 where it is not known, by the name of the total."""


def workspace_rows(
    found: Workspaces, text: Text, most: Most, allocators: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """What kernels request beside the VM's allocator; nothing where they request nothing."""
    if found.calls:
        yield "kernel workspaces", text(found.held, "workspaces.held")
        asked = text(found.requested, "workspaces.requested", brief=True).removeprefix("at most ")
        yield "", f"{count(len(found.calls), 'call')}, one alone: at most {asked}"
        yield from (("", row) for row in _largest_calls(found, text, most))
        if _positive(found.per_worker):
            further = text(found.per_worker, "workspaces.per_worker")
            yield "", f"and {further} for each further thread of parallel loops"
        for name in allocators:
            if name in found.together:
                together = text(found.together[name], f"workspaces.together.{name}")
                yield f"with workspaces, {name}", together
    for scope in dict.fromkeys(each.scope for each in found.on_chip):
        yield _on_chip(scope, [each for each in found.on_chip if each.scope == scope])


def packed_rows(found: PackedFunctions, text: Text) -> Iterator[tuple[str, str]]:
    """What packed functions take besides the VM's allocator, and whose memory is in no total."""
    for number, call in enumerate(found.calls):
        for word, key, amount in (("", "device", call.device), ("host: ", "host", call.host)):
            if not _positive(amount):
                continue
            where = f"`{printable(call.callee)}` for `{printable(call.binding)}`"
            size = text(amount, f"packed.calls.{number}.{key}")
            most = "" if size.startswith("at most ") else "at most "
            yield (
                ("scratch of a call", f"{where}: {word}{most}{size}")
                if call.scratch
                else ("held by an object", f"{where}: {word}{size}")
            )
    for name, reason in found.not_counted.items():
        yield "not counted", f"`{printable(name)}`: {printable(reason)}"


def _value(amount: Amount | None) -> int:
    return -1 if amount is None or amount.value is None else amount.value


def _largest_calls(found: Workspaces, text: Text, most: Most) -> Iterator[str]:
    def size(numbered: tuple[int, CallWorkspace]) -> int:
        return most(numbered[1].requested, f"workspaces.calls.{numbered[0]}")

    for number, call in sorted(enumerate(found.calls), key=size, reverse=True)[:_CALLS_SHOWN]:
        where = "" if call.line is None else f", line {call.line}"
        asked = text(call.requested, f"workspaces.calls.{number}", brief=True)
        yield f"`{printable(call.callee)}` for `{printable(call.binding)}`{where}: {asked}"


def _positive(amount: Amount | None) -> bool:
    return amount is None or amount.expr != "0"


def _on_chip(scope: str, found: Sequence[OnChipMemory]) -> tuple[str, str]:
    """The kernel with the most of it: none of this is memory of the device."""
    most = max(found, key=lambda each: _value(each.bytes))
    of = "" if most.limit is None else f" of {bytes_text(most.limit)} for a block"
    label = "kernels' stack" if scope == "stack" else f"on chip, {printable(scope)}"
    return label, f"at most {amount_text(most.bytes)}{of}, in `{printable(most.kernel)}`"
