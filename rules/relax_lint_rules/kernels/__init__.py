"""Kernels and views: does every kernel receive the arguments that it was built for?"""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.kernels import (
    assumed_type,
    constant_index,
    empty_reduction,
    internal_too_large,
    kernel_dtype_mismatch,
    kernel_offset,
    kernel_out_of_bounds,
    kernel_race,
    kernel_shape_mismatch,
    unused_internal,
    unwritten_internal_read,
    view_out_of_bounds,
)

RULES: tuple[Rule, ...] = (
    kernel_shape_mismatch.RULE,
    kernel_dtype_mismatch.RULE,
    kernel_offset.RULE,
    view_out_of_bounds.RULE,
    assumed_type.RULE,
    kernel_out_of_bounds.RULE,
    empty_reduction.RULE,
    constant_index.RULE,
    unwritten_internal_read.RULE,
    kernel_race.RULE,
    unused_internal.RULE,
    internal_too_large.RULE,
)
