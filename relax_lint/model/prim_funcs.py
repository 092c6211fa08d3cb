"""PrimFuncs -> kernels: signatures, effects and ranges of indices, each function read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.equal_kernels import EqualKernels, LastingKernels
from relax_lint.model.kernel_access.reading import read_accesses
from relax_lint.model.kernel_body.confirmed import confirmed
from relax_lint.model.kernel_body.coverage import Coverage
from relax_lint.model.kernel_body.data_flow import same_width
from relax_lint.model.kernel_body.dependences import Dependences
from relax_lint.model.kernel_body.left_alone import left_alone
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.matters import Matters
from relax_lint.model.kernel_body.narrow import Widths
from relax_lint.model.kernel_body.parts import parts_of
from relax_lint.model.kernel_body.quick_reader import QuickReader
from relax_lint.model.kernel_body.reader import BodyReader
from relax_lint.model.kernel_body.sure_reads import of_kernel
from relax_lint.model.kernel_body.touches import stays
from relax_lint.model.kernel_body.trial import Trial
from relax_lint.model.kernel_inside.reading import read_inside
from relax_lint.model.kernel_parts import Parts
from relax_lint.model.kernels import (
    BufferParameter,
    Kernel,
    KernelParameter,
    OpaqueParameter,
    ScalarParameter,
)
from relax_lint.model.partly_written import partly_written
from relax_lint.model.positions import NoPositions, Positions
from relax_lint.model.read_types import read_dtype
from relax_lint.symbolic.quantity import Shape, Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes, versions
from relax_lint.vm.reshapes import is_reshape

_KEPT = 4
"""Versions of a module: where a finding came in is searched for by halves."""


class Kernels(Mapping[str, Kernel]):
    """The PrimFuncs of a module by name; each body is read when it is first asked for."""

    def __init__(
        self,
        module: Any,
        positions: Positions | None = None,
        before: Kernels | None = None,
        lasting: LastingKernels | None = None,
    ) -> None:
        self._positions = positions or NoPositions()
        self._functions = dict(versions.prim_functions(module))
        self._read: dict[str, Kernel] = {} if before is None else dict(before._read)
        self._equal: EqualKernels = EqualKernels(lasting) if before is None else before._equal

    def __getitem__(self, name: str) -> Kernel:
        kernel = self._read.get(name)
        if kernel is None:
            kernel = self._read[name] = self._kernel(name, self._functions[name])
        return kernel

    def _kernel(self, name: str, function: Any) -> Kernel:
        own = partial(read_kernel, name, function, self._positions)
        return self._equal.named(name, function, own, self._functions)

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def is_of(self, functions: Mapping[str, Any]) -> bool:
        """Whether these very objects are the PrimFuncs that are read here."""
        return self._functions.keys() == functions.keys() and self.are_among(functions)

    def are_among(self, functions: Mapping[str, Any]) -> bool:
        """Whether the PrimFuncs that are read here are among these very objects. One of them may call
        another, so what was read holds for all of them or for none."""
        return all(bool(own.same_as(functions.get(name))) for name, own in self._functions.items())


class KeptKernels:
    """The kernels of the versions of a module that were judged: most passes leave them alone. Those of other
    modules are `lasting`.
    """

    def __init__(self, lasting: LastingKernels | None = None) -> None:
        self._kept: list[Kernels] = []
        self._lasting = lasting

    def of(self, module: Any) -> Kernels:
        """The kernels of a module that was not read from a text."""
        functions = dict(versions.prim_functions(module))
        found = next((kernels for kernels in self._kept if kernels.is_of(functions)), None)
        if found is None:
            # Passes that lower the computation of extents add PrimFuncs and leave the others alone.
            before = next((kernels for kernels in self._kept if kernels.are_among(functions)), None)
            found = Kernels(module, before=before, lasting=self._lasting)
            self._kept = [found, *self._kept[: _KEPT - 1]]
        return found


def read_kernel(
    name: str,
    prim_func: Any,
    positions: Positions | None = None,
    functions: Mapping[str, Any] = MappingProxyType({}),
) -> Kernel:
    """The kernel that a PrimFunc is."""
    reader, parameters, shapes, loops, translator = _read_by(QuickReader, prim_func)
    effects = reader.effects
    coverage = Coverage(reader.touches, shapes, loops)
    trial = Trial(prim_func, shapes, loops.signature)
    elementwise, read_before = _in_place(reader, parameters, loops)
    reads = frozenset(effects.reads | {p for p in range(len(parameters)) if coverage.is_read(p)})
    return Kernel(
        name,
        parameters,
        reads,
        frozenset(effects.writes),
        {p: _whole(p, reader, coverage, trial) for p in sorted(effects.writes)},
        frozenset(reader.filled),
        elementwise,
        reader.flow.copies(parameters),
        read_before,
        dict(sorted(effects.first_reads.items())),
        dict(sorted(effects.opaque.items())),
        tuple(one for one in dict.fromkeys(reader.lookups) if one.indices not in effects.writes),
        tuple(dict.fromkeys(reader.reductions)),
        trial.differs if all(map(_in_order, parameters)) else None,
        nodes.does_nothing(prim_func.body),
        partial(read_accesses, prim_func, loops.signature, functions),
        positions or NoPositions(),
        look=partial(
            read_inside,
            prim_func,
            loops.signature,
            translator.fits,
            partial(partly_written, prim_func, _read_by),
        ),
        reshapes=partial(is_reshape, prim_func),
        repeated=trial.repeated,
        lent=dict(sorted(effects.lent.items())),
        sure=partial(_sure_reads, prim_func, reads),
        tried=cache(partial(_tried, prim_func)),
        loads=cache(partial(_loaded, prim_func)),
        left=cache(partial(_left_alone, prim_func)),
        part_by_part=partial(_parts, prim_func),
    )


Read: TypeAlias = "tuple[BodyReader, tuple[KernelParameter, ...], list[_Extents], Loops, Translator]"
_Extents: TypeAlias = "tuple[sympy.Expr, ...] | None"


def _read_by(kind: type[BodyReader], prim_func: Any) -> Read:
    """A body that was walked over, with the parameters and what is known of their extents."""
    loops = Loops()
    translator = Translator(loops.symbol_of)
    variables = prim_func.params[:]
    parameters = tuple([read_parameter(var, translator, loops) for var in variables])
    shapes = [_known_shape(parameter) for parameter in parameters]
    loops.close_signature(extent for shape in shapes for extent in shape or ())
    widths = Widths(loops, shapes)
    translator.fits = widths.fits
    reader = kind(variables, parameters, translator, loops, prim_func.body)
    reader.held_if = widths.held_if
    reader.statement(prim_func.body)
    return reader, parameters, shapes, loops, translator


def _sure_reads(prim_func: Any, reads: frozenset[int]) -> Mapping[int, Boolean]:
    """When parameters are read for sure, of which contents from before the call may be seen."""
    reader, _, shapes, loops, _ = _read_by(BodyReader, prim_func)
    if reader.takes_unknown:
        return {}
    told = of_kernel(reader.effects.sure, shapes, loops)
    stay = partial(stays, touches=reader.touches)
    written = sorted(reader.effects.writes)
    sure = confirmed(prim_func, told, reads, written, shapes, loops.signature, stay)
    matters = Matters(prim_func, shapes, loops.signature, written)
    return {p: matters.where(p, when) if p in reads and written else when for p, when in sure.items()}


def _tried(prim_func: Any, outputs: frozenset[int], alike: frozenset[int]) -> Matters:
    """A PrimFunc to be carried out, of which some outputs are looked at."""
    _, _, shapes, loops, _ = _read_by(BodyReader, prim_func)
    return Matters(prim_func, shapes, loops.signature, sorted(outputs), alike)


def _loaded(prim_func: Any) -> frozenset[int]:
    """The parameters of which every element is loaded."""
    reader, _, shapes, loops, _ = _read_by(BodyReader, prim_func)
    loads = Coverage([replace(one, writes=not one.writes) for one in reader.touches], shapes, loops)
    return frozenset(p for p in range(len(shapes)) if loads.whole(p) == sympy.true)


def _parts(prim_func: Any) -> Parts:
    """What a PrimFunc does to parts of its parameters, whose address it gives to nobody."""
    reader, parameters, shapes, loops, _ = _read_by(QuickReader, prim_func)
    if reader.effects.opaque or reader.effects.lent or not all(map(_in_order, parameters)):
        return Parts()
    return parts_of(reader.touches, shapes, loops)


def _left_alone(prim_func: Any, position: int) -> Boolean:
    """When a call is certain to leave some element of a parameter that has elements as it was."""
    reader, _, shapes, loops, _ = _read_by(QuickReader, prim_func)
    if position in reader.effects.opaque or position in reader.filled:
        return sympy.false
    if position in Trial(prim_func, shapes, loops.signature).left:
        return sympy.true
    touches = [touch for touch in reader.touches if touch.parameter == position]
    return left_alone(touches, shapes[position], loops)


def _whole(position: int, reader: BodyReader, coverage: Coverage, trial: Trial) -> Boolean:
    """When all of a parameter is written: loops that are left early may still get to its end."""
    found = reader.filled.get(position, coverage.whole(position))
    if found == sympy.true or position in reader.filled or position not in trial.filled:
        return found
    return sympy.true


def _in_order(parameter: KernelParameter) -> bool:
    return not isinstance(parameter, BufferParameter) or parameter.compact


Pairs: TypeAlias = "frozenset[tuple[int, int]]"


def _in_place(reader: BodyReader, parameters: Sequence[KernelParameter], loops: Loops) -> tuple[Pairs, Pairs]:
    """The pairs (read, written) that may be the same memory in any order of the loops, and as they stand."""
    dependences = Dependences(reader.touches, loops)
    plain = reader.effects.opaque.keys()
    elementwise, read_before = set(), set()
    for source in dependences.read:
        for target in dependences.written:
            if source in dependences.written or not plain.isdisjoint((source, target)):
                continue
            width = same_width(parameters[source], parameters[target])
            order = dependences.order(source, target, same_width=width)
            if order.kept and width and (order.together or reader.flow.per_element(source, target)):
                elementwise.add((source, target))
            elif order.kept:
                read_before.add((source, target))
    return frozenset(elementwise), frozenset(read_before)


def _known_shape(parameter: KernelParameter) -> tuple[sympy.Expr, ...] | None:
    if not isinstance(parameter, BufferParameter) or isinstance(parameter.shape, Unknown):
        return None
    return parameter.shape


def read_parameter(var: Any, translator: Translator, loops: Loops) -> KernelParameter:
    """What a parameter of a PrimFunc asks of its argument."""
    name = str(var.name)
    kind = type(var.ty).__name__
    if kind == "BufferType":
        shape = _shape(var.shape, translator)
        return BufferParameter(
            name,
            shape,
            read_dtype(var.dtype),
            _offset(var.elem_offset, translator),
            int(var.offset_factor),
            _is_compact(getattr(var, "strides", ()), shape, translator),
            _strides(getattr(var, "strides", ()), translator),
        )
    dtype = str(var.ty.dtype) if kind == "PrimType" else ""
    if dtype.startswith(("int", "uint")):
        return ScalarParameter(name, loops.symbol_of(var), dtype)
    return OpaqueParameter(name, "" if dtype == "handle" else dtype)


def _shape(extents: Sequence[Any], translator: Translator) -> tuple[sympy.Expr, ...] | Unknown:
    try:
        return tuple([translator.expr(extent) for extent in extents[:]])
    except Untranslatable:
        return Unknown("the kernel's buffer has an extent that is not an integer expression")


def _is_compact(strides: Sequence[Any], shape: Shape, translator: Translator) -> bool:
    """Whether the strides of a buffer, where it has any, are those of row-major order."""
    if len(strides) == 0:
        return True
    if isinstance(shape, Unknown) or len(strides) != len(shape):
        return False
    width = sympy.Integer(1)
    for stride, extent in reversed(list(zip(strides, shape, strict=True))):
        try:
            if sympy.expand(translator.expr(stride) - width) != 0:
                return False
        except Untranslatable:
            return False
        width *= extent
    return True


def _strides(strides: Sequence[Any], translator: Translator) -> tuple[sympy.Expr, ...] | None:
    try:
        return tuple(translator.expr(stride) for stride in strides)
    except Untranslatable:
        return None


def _offset(offset: Any, translator: Translator) -> sympy.Expr:
    try:
        return translator.expr(offset)
    except (Untranslatable, AttributeError):
        return sympy.Integer(0)
