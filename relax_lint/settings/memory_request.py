"""What `relax-lint memory` can report beyond the totals themselves. Imports neither TVM nor sympy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from relax_lint.support.errors import UserError
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.support.nearest import did_you_mean

if TYPE_CHECKING:
    from relax_lint.results.memory_figures import MemoryTotals

_BINDING = r"(?s:(?P<name>[^\W\d]\w*)=(?P<values>.*))"
_SIZE = r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>[A-Za-z]*)"
_UNITS = {
    "B": 1,
    **{f"{prefix}iB": 1 << 10 * power for power, prefix in enumerate("KMGT", start=1)},
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", start=1)},
}
_MOST = 2**63 - 1
_MAX_LENGTH = 100

WHOLE = ""
"""The scope of a budget that is for all memory of a function together."""


class RequestError(UserError, ValueError):
    """A request that cannot be understood."""


@dataclass(frozen=True)
class Binding:
    """Values of one symbol: all from `low` to `high`, both included."""

    name: str
    low: int
    high: int

    @property
    def is_range(self) -> bool:
        """Whether there is more than one value."""
        return self.low != self.high

    def __str__(self) -> str:
        return f"{self.name} = {self.low}..{self.high}" if self.is_range else f"{self.name} = {self.low}"


@dataclass(frozen=True)
class MemoryRequest:
    """`bindings` of symbols; `estimates` asks for what TVM's estimator counts, `timelines` for what lives
    when and where, `details` for the buffers that kernels make themselves, what packed functions take and
    the maxima under declared bounds, `formulas` for formulas beside numbers in the text,
    `device_memory` (in bytes) for what serving takes of it. With `lowers` modules that are not planned are
    lowered first where that is possible.
    """

    bindings: tuple[Binding, ...] = ()
    estimates: bool = False
    timelines: bool = False
    lowers: bool = False
    details: bool = False
    formulas: bool = False
    device_memory: int | None = None

    def named(self, name: str) -> tuple[Binding, ...]:
        """The values of one symbol; nothing where there are none."""
        return tuple(binding for binding in self.bindings if binding.name == name)

    @property
    def point(self) -> dict[str, int]:
        """The symbols that have one value."""
        return {binding.name: binding.low for binding in self.bindings if not binding.is_range}

    @property
    def ranges(self) -> tuple[Binding, ...]:
        """The symbols that have several values."""
        return tuple(binding for binding in self.bindings if binding.is_range)


def read_bindings(texts: Iterable[str]) -> tuple[Binding, ...]:
    """Bindings from `n=128` or `n=1..4096`, one text for each symbol. Raises RequestError."""
    found: dict[str, Binding] = {}
    for text in texts:
        binding = _read_binding(text)
        if binding.name in found:
            raise RequestError(f"the symbol `{binding.name}` is bound twice")
        found[binding.name] = binding
    return tuple(found.values())


def require_known(bindings: Iterable[Binding], memory: Sequence[MemoryTotals]) -> None:
    """Raises RequestError for a bound symbol that no function has."""
    known = dict.fromkeys(symbol.name for total in memory for symbol in total.symbols)
    for binding in bindings if memory else ():
        if binding.name not in known:
            names = ", ".join(f"`{name}`" for name in known) or "none"
            meant = did_you_mean(binding.name, list(known))
            raise RequestError(f"no function has a symbol `{binding.name}`; the symbols are {names}{meant}")


def _read_binding(text: str) -> Binding:
    match = re.fullmatch(_BINDING, text.strip())
    if match is None:
        raise RequestError(f"`{text}` is not of the form `n=128` or `n=1..4096`")
    name, values = match["name"], match["values"].split("..")
    if len(values) > 2:
        raise RequestError(f"`{text}` is not of the form `n=128` or `n=1..4096`")
    low, high = _value(name, values[0]), _value(name, values[-1])
    if low > high:
        raise RequestError(f"the range of `{name}` is empty: {low} is above {high}")
    return Binding(name, low, high)


def _value(name: str, text: str) -> int:
    digits = text.strip()
    if re.fullmatch(r"-[0-9]+", digits, re.ASCII):
        raise RequestError(f"`{name}` cannot be negative: {digits}")
    if not re.fullmatch(r"[0-9]+", digits, re.ASCII):
        raise RequestError(f"the value of `{name}` must be a whole number, not `{digits}`")
    if len(digits) > 19 or int(digits) > _MOST:
        raise RequestError(f"the value of `{name}` is beyond a 64-bit integer: {digits}")
    return int(digits)


def read_budget(text: str) -> tuple[str, int]:
    """A budget in bytes and its scope, from `512MiB` or `global=512MiB`. Raises RequestError."""
    scope, equals, size = text.rpartition("=")
    if equals and not scope.strip():
        raise RequestError(f"the budget `{text}` names no scope")
    return scope.strip(), read_size(size)


def read_size(text: str) -> int:
    """Bytes, from text such as `512 MiB` or `1.5GB`. Raises RequestError."""
    if len(text) > _MAX_LENGTH:
        raise RequestError(f"a budget is a number and a unit, not a text of {len(text):,} characters")
    match = re.fullmatch(_SIZE, text.strip())
    if match is not None and not match["unit"]:
        raise RequestError(f"the budget `{text.strip()}` has no unit: write `{text.strip()}MiB`, say")
    if match is None or match["unit"] not in _UNITS:
        raise RequestError(f"`{text.strip()}` is not a size: write a number and one of {', '.join(_UNITS)}")
    from fractions import Fraction

    size = Fraction(match["number"]) * _UNITS[match["unit"]]
    if not 0 < size <= _MOST:
        raise RequestError(f"a budget must be above 0 and below 2**63 bytes, not `{text.strip()}`")
    return int(size)
