"""PrimFuncs -> kernels: signatures, effects and ranges of indices, each function read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from relax_lint.model.kernels import (
    BufferParameter,
    Kernel,
    KernelParameter,
    OpaqueParameter,
    ScalarParameter,
)
from relax_lint.model.loops import Loops
from relax_lint.model.read_types import read_dtype
from relax_lint.model.tir_body import BodyReader
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions


class Kernels(Mapping[str, Kernel]):
    """The PrimFuncs of a module by name; each is read when it is first asked for."""

    def __init__(self, module: Any) -> None:
        self._functions = dict(versions.prim_functions(module))
        self._read: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> Kernel:
        kernel = self._read.get(name)
        if kernel is None:
            kernel = self._read[name] = read_kernel(name, self._functions[name])
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


def read_kernel(name: str, prim_func: Any) -> Kernel:
    """The kernel that a PrimFunc is."""
    loops = Loops()
    translator = Translator(loops.symbol_of)
    parameters = tuple(_parameter(var, translator, loops) for var in prim_func.params)
    loops.close_signature()
    reader = BodyReader(prim_func.params, parameters, translator, loops)
    reader.statement(prim_func.body)
    return Kernel(
        name,
        parameters,
        frozenset(reader.effects.reads),
        frozenset(reader.effects.writes),
        reader.effects.whole_writes,
        reader.flow.elementwise(parameters, reader.effects.opaque),
        reader.flow.copies(parameters),
        reader.effects.read_before,
        dict(sorted(reader.effects.first_reads.items())),
        dict(sorted(reader.effects.opaque.items())),
        tuple(dict.fromkeys(reader.accesses)),
        tuple(dict.fromkeys(reader.lookups)),
        tuple(dict.fromkeys(reader.reductions)),
    )


def _parameter(var: Any, translator: Translator, loops: Loops) -> KernelParameter:
    name = str(var.name)
    kind = type(var.ty).__name__
    if kind == "BufferType":
        return BufferParameter(
            name,
            _shape(var.shape, translator),
            read_dtype(var.dtype),
            _offset(var.elem_offset, translator),
            int(var.offset_factor),
        )
    if kind == "PrimType" and str(var.ty.dtype).startswith(("int", "uint")):
        return ScalarParameter(name, loops.symbol_of(var))
    return OpaqueParameter(name)


def _shape(extents: Sequence[Any], translator: Translator) -> tuple[sympy.Expr, ...] | Unknown:
    try:
        return tuple(translator.expr(extent) for extent in extents)
    except Untranslatable:
        return Unknown("the kernel's buffer has an extent that is no integer expression")


def _offset(offset: Any, translator: Translator) -> sympy.Expr:
    try:
        return translator.expr(offset)
    except (Untranslatable, AttributeError):
        return sympy.Integer(0)
