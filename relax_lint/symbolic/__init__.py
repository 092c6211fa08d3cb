"""Integers: expressions, quantities, relations, domains, provers, safe regions, examples.

Everything here answers for integers and conditions on them; nothing knows Relax, memory or text. `translate`
reads TVM's primitive expressions, `backend` asks TVM's own analyzer. May import `vm` (how TVM's versions
differ) and `support`.
"""

from __future__ import annotations

import os
import sys

_SIZE = "SYMPY_CACHE_SIZE"
KEPT_BY_SYMPY = 1 << 14
"""How many results sympy keeps of each of its functions: of its usual 1,000 a function with a hundred symbols
needs more, and then every expression is made anew each time.
"""

if "sympy" not in sys.modules and _SIZE not in os.environ:
    # It is read while sympy is imported; what the process starts later does not see it.
    os.environ[_SIZE] = str(KEPT_BY_SYMPY)
    try:
        import sympy as sympy
    finally:
        del os.environ[_SIZE]
