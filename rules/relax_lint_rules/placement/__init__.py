"""Placement: devices, scopes and dtypes that the VM can allocate."""

from __future__ import annotations

from relax_lint.rule import Rule
from relax_lint_rules.placement import device_mismatch, unknown_device, unsupported_dtype, unsupported_scope

RULES: tuple[Rule, ...] = (
    unknown_device.RULE,
    device_mismatch.RULE,
    unsupported_scope.RULE,
    unsupported_dtype.RULE,
)
