"""What is said of each access of a kernel, in a word."""

from __future__ import annotations

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.kernels import Kernel


def said_of_accesses(kernel: Kernel) -> str:
    """By buffer: `exact` ones are outside in some call, whether `held` ones are depends on what parameters hold, of
    `open` ones that is not known.
    """
    found: dict[str, list[str]] = {}
    for one in kernel.accesses.accesses:
        found.setdefault(one.buffer.name, []).append(_word(one))
    return ", ".join(f"{name} {' '.join(words)}" for name, words in found.items())


def _word(one: KernelAccess) -> str:
    if one.unread:
        return "unread"
    if one.proved:
        return "assumed" if one.assumed else "proved"
    if any(part.exact for part in one.obligations):
        return "exact"
    return "held" if all(part.holds for part in one.obligations) else "open"
