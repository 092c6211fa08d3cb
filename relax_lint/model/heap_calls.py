"""What a call of a function of the module does to shape heaps that it is given, and which one it returns."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.model.heap_contents import Contents, Given
from relax_lint.model.heap_state import Heaps
from relax_lint.model.operations import ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class _Call:
    """A call; `roots` are the heaps of the caller by what they are to the callee, `before` what they held."""

    ours: Heaps
    theirs: Heaps
    roots: dict[Given, ValueId]
    before: dict[Given, Contents]
    returned: dict[ValueId, ValueId]
    """By the heap of the callee, the name that the caller has for it."""


def follow_call(heaps: Heaps, callee: Function, arguments: Sequence[ValueId], result: ValueId) -> bool:
    """Go on behind a call. Whether it was followed: not where arguments are heaps for which the callee has no
    parameter.
    """
    theirs = callee.heaps
    roots: dict[Given, ValueId] = {}
    for parameter, argument in zip(callee.parameters, arguments, strict=False):
        for own, given in theirs.received(parameter):
            root = heaps.heap_of(argument, given.fields)
            if root is not None:
                roots[given] = root
            if theirs.is_known(own):
                heaps.use(root)
    if len(callee.parameters) != len(arguments) or not heaps.among(arguments) <= set(roots.values()):
        return False
    before = {given: heaps.contents(root) for given, root in roots.items()}
    call = _Call(heaps, theirs, roots, before, {})
    _write(call)
    _return(call, callee.result, result)
    return True


def _write(call: _Call) -> None:
    """What the callee does to the heaps that it is given."""
    for given, root in call.roots.items():
        own = call.theirs.heap_of(given.parameter, given.fields)
        assert own is not None
        after = call.theirs.contents(own)
        call.ours.put(root, after.behind(call.before), after)
        if call.theirs.is_kept(own):
            call.ours.keep(root)


def _return(call: _Call, value: ValueId, result: ValueId) -> None:
    """What it returns: one of these, one that it allocated, one of several, or a tuple."""
    theirs, ours = call.theirs, call.ours
    root = theirs.heap_of(value)
    if root is None:
        fields = theirs.fields(value)
        if fields:
            names = tuple(ours.unnamed() for _ in fields)
            ours.pack(result, names)
            for field, name in zip(fields, names, strict=True):
                _return(call, field, name)
        return
    given = theirs.given(root)
    is_given = len(given) == len(theirs.bases(root)) == 1
    known = call.roots.get(given[0]) if is_given else call.returned.get(root)
    if known is not None:
        ours.rename(result, known)
    elif not is_given and all(one in call.roots for one in given):
        call.returned[root] = result
        bases = {result}.union(*(ours.bases(call.roots[one]) for one in given))
        contents = theirs.contents(root).behind(call.before)
        ours.add(result, theirs.slots(root), contents, known=theirs.is_known(root), bases=bases)
        if theirs.is_kept(root):
            ours.keep(result)
