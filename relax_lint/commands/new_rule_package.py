"""The command `new-rule-package`: a folder with a rule of one's own that works, and its tests."""

from __future__ import annotations

import argparse
import keyword
import os
import re
import sys
from pathlib import Path

from relax_lint import __version__
from relax_lint.commands.terminal import UsageError, write

TEMPLATE = Path(__file__).with_name("rule_package")
RESERVED = "RLX"
TAKEN = frozenset(("relax_lint", "relax_lint_rules", "tests", "tvm", "tvm_ffi", "numpy", "sympy", "pytest"))
"""Modules that the package of that name would hide from itself."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def lay(options: argparse.Namespace) -> int:
    """Write the package `options.name` into a new folder of that name. Raises UsageError, and has then
    written nothing, for a name that is not one and for a folder that exists.
    """
    name: str = options.name
    if not _NAME.fullmatch(name):
        raise UsageError(f"`{name}` is not a package name: lower-case words with hyphens between them")
    prefix = name.partition("-")[0].upper()
    if prefix.startswith(RESERVED):
        raise UsageError(f"the prefix `{RESERVED}` is reserved: the name decides the codes of the rules")
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package in TAKEN:
        raise UsageError(
            f"`{package}` is taken: a module of that name would hide another one, or is a keyword"
        )
    root = Path(name)
    if os.path.lexists(root):
        raise UsageError(f"`{name}` exists")
    words = {
        "PROJECT": name,
        "PACKAGE": package,
        "CODE": f"{prefix}{'' if prefix[-1].isalpha() else 'X'}101",
        "VERSION": __version__,
    }
    for file, target in _targets(root, package).items():
        text = (TEMPLATE / f"{file}.txt").read_text(encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"@([A-Z]+)@", lambda match: words[match[1]], text), encoding="utf-8")
    return write(
        f"{name}/ has a rule, its page and a test. Next:\n\n"
        f"  pip install -e './{name}[test]'\n  pytest {name}\n  relax-lint explain {words['CODE']}\n"
    )


def _targets(root: Path, package: str) -> dict[str, Path]:
    """Where each file of the template goes."""
    return {
        "pyproject.toml": root / "pyproject.toml",
        "README.md": root / "README.md",
        "init.py": root / package / "__init__.py",
        "large_storage.py": root / package / "large_storage.py",
        "large_storage.md": root / package / "large_storage.md",
        "test_rules.py": root / "tests" / "test_rules.py",
    }
