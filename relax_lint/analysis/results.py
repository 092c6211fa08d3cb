"""Where the result of a call may lie: in memory of its own, or in that of an argument."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath, Tree, with_fields
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.calls import CallKind


@record(frozen=True)
class New:
    """A tensor that a function makes: on memory of its own, or on one of the `storages` that come from
    outside of the function. It is only `presumed` not to lie in the memory of one of `perhaps`. Two fields of
    a result that are `made` at one place of the function are one tensor; `inside` are the storages of the
    function's own that it may be on. A `constant` is new to the caller alone: every call returns the same
    one.
    """

    storages: frozenset[AccessPath] = frozenset()
    perhaps: frozenset[AccessPath] = frozenset()
    presumed: Presumption | None = None
    made: AccessPath | None = None
    constant: bool = False
    inside: frozenset[AccessPath] = frozenset()


Source: TypeAlias = AccessPath | New
"""What a result of a function is: something of its caller's, or something new."""


def shared_inside(result: Tree[Source], call: ValueId) -> dict[AccessPath, frozenset[AccessPath]]:
    """The storages of a function's own on which several fields of its result are, or that it returns as well:
    for each the field of the result of `call` that it is, or one that nothing else is, and the fields that it
    may be, among others.
    """
    on: dict[AccessPath, set[AccessPath | None]] = defaultdict(set)
    returned: dict[AccessPath, AccessPath] = {}
    perhaps: dict[AccessPath, set[AccessPath]] = defaultdict(set)
    for fields, sources in with_fields(result):
        for source in sources:
            if isinstance(source, New):
                for storage in source.inside:
                    on[storage].add(source.made)
                if source.made is not None and len(sources) == 1:
                    returned.setdefault(source.made, AccessPath(call, fields))
                elif source.made is not None:
                    perhaps[source.made].add(AccessPath(call, fields))
    shared = [key for key in sorted(on) if len(on[key]) > 1 or key in returned or key in perhaps]
    return {
        key: frozenset({returned.get(key, AccessPath(call, (-1 - i,)))} | perhaps.get(key, set()))
        for i, key in enumerate(shared)
    }


Result: TypeAlias = "Tree[Source] | None"
"""The result of a function; None where none of its paths is known yet."""


def returns_something_new(call: KernelCall | FunctionCall) -> Presumption | None:
    """What is assumed about the result of a call with unknown effects; None for a call of which
    it is known where its result lies.
    """
    unknown = (CallKind.PACKED, CallKind.BUILTIN)
    if isinstance(call, KernelCall) and (call.kind not in unknown or call.callee in BUILTINS):
        return None
    return Presumption(f"`{call.callee}` returns a new tensor, none that it was given or has kept")
