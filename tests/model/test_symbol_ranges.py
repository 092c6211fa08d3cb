"""Which values fit into so many bits, whatever numbers of their types the symbols are."""

from __future__ import annotations

import pytest
import sympy
from tvm import tirx

from relax_lint.model.symbols import SymbolTable

TABLE = SymbolTable(max_extent=1 << 40)
SHORT, WIDE = (
    TABLE.symbol_of(tirx.Var(name, dtype)) for name, dtype in (("short", "int8"), ("wide", "int32"))
)


@pytest.mark.parametrize(
    ("value", "bits", "fits"),
    [
        (sympy.Integer(127), 8, True),
        (sympy.Integer(128), 8, False),
        (sympy.Integer(-128), 8, True),
        (sympy.Integer(-129), 8, False),
        # -128 to 127, with both ends.
        (SHORT, 8, True),
        (SHORT, 7, False),
        (SHORT + 1, 8, False),
        (SHORT - 1, 8, False),
        (-SHORT, 8, False),
        (-SHORT, 9, True),
        (2 * SHORT, 9, True),
        (2 * SHORT + 1, 9, True),
        (2 * SHORT - 1, 9, False),
        (WIDE, 32, True),
        (WIDE, 31, False),
        (WIDE + SHORT, 33, True),
        (WIDE * SHORT, 40, True),
        (WIDE * SHORT, 39, False),
        # What no range is known of.
        (sympy.Pow(2, SHORT), 64, False),
    ],
)
def test_a_value_fits_into_so_many_bits(value: sympy.Expr, bits: int, fits: bool) -> None:
    assert TABLE.fits(value, bits) is fits
