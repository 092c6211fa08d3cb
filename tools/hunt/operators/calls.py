"""Packed functions and in-place kernels."""

from __future__ import annotations

from random import Random

from tools.hunt.operators.base import Choice, Values, floats, one_of
from tools.hunt.program import Tensor
from tools.hunt.writing import kernel_name


@one_of(floats)
def packed(values: Values, random: Random, name: str) -> Choice:
    """A packed function, pure or with its output as an argument."""
    if random.random() < 0.5:
        return f'R.call_dps_packed("hunt.into", ({{0}},), out_ty={values[name]})', (name,), values[name]
    return f'R.call_pure_packed("hunt.twice", {{0}}, ty_args={values[name]})', (name,), values[name]


def increment_template(tensor: Tensor) -> str:
    """An in-place call of a kernel of the module."""
    return f"R.call_tir_inplace(cls.{kernel_name(tensor)}, ({{0}},), inplace_indices=[0], out_ty={tensor})"


def packed_increment_template(tensor: Tensor) -> str:
    """An in-place call of a packed function."""
    return f'R.call_inplace_packed("hunt.increment", {{0}}, inplace_indices=[0], ty_args={tensor})'


@one_of(floats)
def same(values: Values, random: Random, name: str) -> Choice:
    """A packed function that returns its argument."""
    return f'R.call_pure_packed("hunt.same", {{0}}, ty_args={values[name]})', (name,), values[name]
