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


def imported(name: str, *, batch: int | None = 1) -> Any:
    """The model as TVM imports it, its weights as parameters."""
    module = from_exported_program(vision.exported(name, batch=batch), keep_params_as_input=True)
    detached, _ = relax.frontend.detach_params(module)
    return detached


def static(name: str) -> Case:
    """One image."""
    module = imported(name)
    weights = [np.zeros(_extents(p), "float32") for p in module["main"].params[1:]]
    return Case(name, lambda: module, (Run((f32(1, *vision.IMAGE), *weights)),))


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
        yield static(name)


CASES = _cases()
