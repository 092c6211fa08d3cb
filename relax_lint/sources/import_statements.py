"""What an import statement binds a name to."""

from __future__ import annotations

import ast

from relax_lint.sources.names import DEFAULT_IMPORTS, canonical
from relax_lint.sources.unit import Entry, Imported, Unknown

_SHORT_NAMES = frozenset({"I", "R", "T"})


def imported_module(name: str, node: ast.Import) -> Imported:
    """The module that `import a`, `import a.b` or `import a.b as c` gives a name."""
    for alias in node.names:
        if alias.asname == name:
            return Imported(canonical(alias.name))
    return Imported(name)


def imported_from(name: str, node: ast.ImportFrom) -> Entry:
    """What `from a import b` or `from a import b as c` gives a name."""
    for alias in node.names:
        if (alias.asname or alias.name) == name:
            if alias.name in _SHORT_NAMES and (node.module or "").split(".")[0] != "tvm":
                # From a file of one's own that imports all that is needed.
                return Imported(DEFAULT_IMPORTS[alias.name])
            if node.level:
                return Unknown("imported from a neighbouring file")
            return Imported(canonical(f"{node.module}.{alias.name}"))
    return Unknown("imported by a star import")
