"""What is read from a kernel alone, before any call of it is judged: everything that a rule may ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relax_lint.model.kernel_access.accesses import KernelAccess, KernelAccesses, Obligation
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.model.kernels import BufferParameter, Kernel
from tests.strength.claims import WHERE

_SIZES = (0, 1, 2, 5)
_PAIRS = ("elementwise", "copies", "read_before")
_PLACES = ("reads", "writes", "exact_writes", "opaque")


def of_kernel(kernel: Kernel) -> Iterator[str]:
    """Each claim begins with `alone`, so that it is told from those of a call."""
    for claim in (*_of_parameters(kernel), *_of_effects(kernel), *_of_order(kernel), *_of_inside(kernel)):
        yield f"alone {claim}"
    yield from (f"alone {claim}" for claim in _of_accesses(kernel.accesses))


def _of_parameters(kernel: Kernel) -> Iterator[str]:
    for place, one in enumerate(kernel.parameters):
        if not isinstance(one, BufferParameter):
            yield f"{place} {one.name} is {type(one).__name__}"
            continue
        layout = f"from {one.offset}, {one.offset_factor}, {one.compact}, {one.strides}"
        yield f"{place} {one.name} has {_shape(one)} {one.dtype} {layout}"


def _shape(one: BufferParameter) -> str:
    return str(one.shape) if isinstance(one.shape, tuple) else "an unknown shape"


def _of_effects(kernel: Kernel) -> Iterator[str]:
    for name in _PLACES:
        yield f"{name} {sorted(getattr(kernel, name))}"
    for place, condition in kernel.whole_writes.items():
        yield f"{place} is whole{WHERE}{condition}"
    for place, certain in kernel.first_reads.items():
        yield f"{place} is read first, certain: {certain}"
    yield from (f"lookup {one}" for one in kernel.lookups)
    yield from (f"reduction {one}" for one in kernel.reductions)
    yield f"nothing: {kernel.is_stub}, reshape: {kernel.is_reshape}"


def _of_order(kernel: Kernel) -> Iterator[str]:
    for pairs in _PAIRS:
        yield from (f"{pairs} {one} {other}" for one, other in sorted(getattr(kernel, pairs)))
    written = [place for place in sorted(kernel.writes) if _is_tensor(kernel, place)]
    for out in written:
        for other in range(len(kernel.parameters)):
            if other != out and _is_tensor(kernel, other):
                yield from _of_shared(kernel, out, other)


def _is_tensor(kernel: Kernel, place: int) -> bool:
    return place < len(kernel.parameters) and isinstance(kernel.parameters[place], BufferParameter)


def _of_shared(kernel: Kernel, written: int, other: int) -> Iterator[str]:
    """What carrying it out on small numbers tells of two parameters on one memory."""
    repeated = sorted(map(str, kernel.repeated(written, other)))
    if repeated:
        yield f"{written} on {other}: {repeated} only repeat"
    if kernel.differs is None:
        return
    symbols = kernel.accesses.symbols
    for size in _SIZES:
        values = {symbol: size + place for place, symbol in enumerate(symbols)}
        found = [kernel.differs(values, written, other, apart) for apart in (0, 1)]
        yield f"{written} on {other} at {size}: differs {found}"


def _of_inside(kernel: Kernel) -> Iterator[str]:
    inside = kernel.inside
    for race in inside.races:
        yield f"race {race.element} {race.loop} {race.kind} {race.reads} harmless{WHERE}{race.harmless}"
    for early in inside.unwritten_reads:
        yield f"unwritten {early.element} {early.ever} harmless{WHERE}{early.harmless}"
    yield from (f"unused {one.buffer} {one.scope} {one.written}" for one in inside.unused)
    yield from (f"large {one.buffer} {one.scope} {one.bytes} of {one.limit}" for one in inside.large)


def _of_accesses(found: KernelAccesses) -> Iterator[str]:
    for access in found.accesses:
        yield f"{_named(access)}: {_outcome(access)}"
        yield from (f"{_named(access)} leaves {_left(access.terms, one)}" for one in access.obligations)
        if access.memory is not None:
            for one in access.memory.obligations:
                yield f"{_named(access)} leaves the memory {_left(access.terms, one)}"
    yield f"unread: {len(found.unread)}"
    for place, stored in found.values.items():
        ranges = [tuple(_texts(found.terms, ends)) for ends in stored.ranges]
        wraps = [sorted(_texts(found.terms, one)) for one in stored.wraps]
        steps = sorted(_texts(found.terms, (*stored.steps, *stored.reductions)))
        yield f"{place} holds {ranges}, reached: {stored.reached}, unless {wraps}, {steps}"


def _named(access: KernelAccess) -> str:
    return f"{'store' if access.writes else 'load'} {access.text}"


def _outcome(access: KernelAccess) -> str:
    if access.unread:
        return "unread"
    promised = " as promised" if access.assumed else ""
    return f"inside{promised}" if access.proved else f"may leave{promised}"


def _left(terms: Terms, one: Obligation) -> str:
    where = " & ".join(sorted(f"{text} >= 0" for text in _texts(terms, one.outside)))
    more = f"exact: {one.exact}, holds {sorted(one.holds)}, {one.data}, {one.is_limit}"
    return f"axis {one.axis} {'below' if one.below else 'above'}, where {where}; {more}"


def _texts(terms: Terms, polynomials: Sequence[Poly]) -> list[str]:
    return [str(terms.expression(p)) for p in polynomials]
