"""What is treated as granted that is not a condition on symbols."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.support.lazy_dataclass import record

_BETWEEN = "; "


@record(frozen=True)
class Presumption:
    """An unchecked fact that a verdict relies on, such as the type that a call declares. `text` is
    what people read in the list of assumptions. `is_environment`: it is about the machine, of which neither
    the input nor the configuration says anything. `is_contents`: it is about the elements of a tensor.
    """

    text: str
    is_environment: bool = False
    is_contents: bool = False


def together(texts: Iterable[str]) -> Presumption | None:
    """What is presumed where several facts are relied on, some of them perhaps several already; None where
    none is. In the order of the texts.
    """
    found = sorted({one for text in texts for one in text.split(_BETWEEN)})
    return Presumption(_BETWEEN.join(found)) if found else None
