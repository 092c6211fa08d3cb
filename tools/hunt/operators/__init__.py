"""The statements that a random program is made of, each with the types that it needs and gives."""

from __future__ import annotations

from tools.hunt.operators import calls, elementwise, indexing, layout, networks
from tools.hunt.operators.base import Family

VIEWS = frozenset(
    {"view", "field", "pair", "split", "zero_offset", "symbolic", "offset_view", "same_bytes", "same"}
)
"""Families whose result may share the memory of an operand."""

FAMILIES: tuple[tuple[float, Family], ...] = (
    (3.0, elementwise.unary),
    (4.0, elementwise.binary),
    (1.5, elementwise.scalar),
    (0.7, elementwise.select),
    (2.5, elementwise.new),
    (1.0, elementwise.reduction),
    (0.5, elementwise.narrowed),
    (0.8, elementwise.converted),
    (0.3, elementwise.quantised),
    (0.4, elementwise.compared),
    (0.5, elementwise.masked),
    (2.0, indexing.opaque),
    (0.5, indexing.indices),
    (0.6, indexing.take),
    (0.6, indexing.gather),
    (0.4, indexing.largest),
    (0.3, indexing.counted),
    (0.5, indexing.scattered),
    (0.4, indexing.chosen),
    (0.2, indexing.bucketed),
    (1.2, networks.matmul),
    (0.5, networks.transposed_matmul),
    (0.5, networks.product_of_sum),
    (0.7, networks.layers),
    (0.3, networks.batch_normed),
    (0.4, networks.normed),
    (1.0, layout.transposed),
    (1.5, layout.view),
    (1.2, layout.same_shape),
    (0.2, layout.zero_offset),
    (1.2, layout.joined),
    (0.8, layout.sliced),
    (0.4, layout.padded),
    (0.8, layout.split),
    (0.3, layout.parts),
    (0.2, layout.nested),
    (1.2, layout.pair),
    (2.0, layout.field),
    (1.5, layout.symbolic),
    (0.3, layout.offset_view),
    (0.2, layout.same_bytes),
    (0.6, layout.rearranged),
    (0.6, calls.packed),
    (0.3, calls.same),
)
"""How often a family is tried, and what it makes."""
