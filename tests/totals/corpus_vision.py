"""Image classifiers to measure, imported from torch. They are made one after the other: together they are large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

from tests.programs import vision
from tests.totals.cases import Case, Run, f32

SYMBOLIC_BATCHES = (1, 2, 3)


def imported(name: str, *, batch: int | None = 1, constant_weights: bool = False) -> Any:
    """The model as TVM imports it, its weights as parameters or constants."""
    program = vision.exported(name, batch=batch)
    module = from_exported_program(program, keep_params_as_input=not constant_weights)
    return module if constant_weights else relax.frontend.detach_params(module)[0]


def static(name: str, *, constant_weights: bool = False) -> Case:
    """One image."""
    module = imported(name, constant_weights=constant_weights)
    weights = [np.zeros(_extents(p), "float32") for p in module["main"].params[1:]]
    label = f"{name}, constant weights" if constant_weights else name
    return Case(label, lambda: module, (Run((f32(1, *vision.IMAGE), *weights)),))


def symbolic(name: str) -> Case:
    """A symbolic number of images."""
    module = imported(name, batch=None)
    images, *parameters = module["main"].params
    (batch,) = (str(extent.name) for extent in _described(images).shape.values if hasattr(extent, "name"))
    weights = [np.zeros(_extents(p), "float32") for p in parameters]
    runs = tuple(Run((f32(n, *vision.IMAGE), *weights), {batch: n}) for n in SYMBOLIC_BATCHES)
    return Case(f"{name}, symbolic batch", lambda: module, runs)


def _described(parameter: Any) -> Any:
    # 0.27 calls the structure info of a variable its type.
    return parameter.ty if hasattr(parameter, "ty") else parameter.struct_info


def _extents(parameter: Any) -> list[int]:
    return [int(extent) for extent in _described(parameter).shape.values]


def _cases() -> Iterator[Case]:
    yield symbolic("mobilenet_v3_small")
    for name in vision.MODELS:
        for constant_weights in (False, True):
            yield static(name, constant_weights=constant_weights)


CASES = _cases()
