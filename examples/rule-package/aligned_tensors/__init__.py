"""Rules about the DMA engine of our accelerator."""

from __future__ import annotations

from aligned_tensors import unaligned_tensor
from relax_lint.rules import Rule

RULES: tuple[Rule, ...] = (unaligned_tensor.RULE,)
