"""Lay the files of a new rule.

python -m tools.new_rule CODE NAME FAMILY

writes the rule, its page and a test, and registers the rule in its family. The rule judges nothing yet: the
test, the marked example of the page and the test of what a rule declares fail until it does. `make rule`
runs it; CONTRIBUTING.md says how to go on.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES = Path("rules", "relax_lint_rules")
RAISED_ELSEWHERE = "sources"
"""The family of rules without a check."""


class RefusedError(Exception):
    """What cannot be laid, in one line."""


def lay(root: Path, code: str, name: str, family: str) -> list[Path]:
    """Write the files and register the rule; the paths that are new, and last the one that changed. Raises
    RefusedError, and has then written nothing.
    """
    codes = _codes(root)
    _refuse(codes, code, name, family)
    stem = name.replace("-", "_")
    package = RULES / family
    test = Path("tests", "rules", f"test_{stem}.py")
    words = {"CODE": code, "NAME": name, "FAMILY": family, "SINCE": _version(root)}
    texts = {
        package / f"{stem}.py": _filled("rule.py", words),
        package / f"{stem}.md": _filled("page.md", words),
        test: _filled("test.py", words),
    }
    if taken := [path for path in texts if (root / path).exists()]:
        raise RefusedError(f"{taken[0]} exists")
    registration = root / package / "__init__.py"
    registered = _registered(
        registration.read_text(encoding="utf-8"), family, stem, codes[family] | {stem: code}
    )
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")
    registration.write_text(registered, encoding="utf-8")
    return [*texts, package / "__init__.py"]


def _codes(root: Path) -> dict[str, dict[str, str]]:
    """The code of each rule by family and module."""
    found: dict[str, dict[str, str]] = {}
    for registration in sorted((root / RULES).glob("*/__init__.py")):
        family = found.setdefault(registration.parent.name, {})
        for file in registration.parent.glob("*.py"):
            if match := re.search(r'^    code="(\w+)",$', file.read_text(encoding="utf-8"), re.MULTILINE):
                family[file.stem] = match[1]
    return found


def _refuse(codes: Mapping[str, Mapping[str, str]], code: str, name: str, family: str) -> None:
    families = [each for each in codes if each != RAISED_ELSEWHERE]
    if family == RAISED_ELSEWHERE:
        raise RefusedError(f"rules of `{family}` have no check: the sources raise them")
    if family not in families:
        raise RefusedError(f"no family `{family}`; there are {', '.join(families)}")
    if not re.fullmatch(r"RLX\d{3}", code):
        raise RefusedError(f"`{code}` is not a code: `RLX` and three digits")
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name):
        raise RefusedError(f"`{name}` is not a name: lower-case words with hyphens between them")
    prefix = min(codes[family].values())[:4]
    if not code.startswith(prefix):
        raise RefusedError(f"the codes of `{family}` begin with {prefix}")
    for modules in codes.values():
        for module, taken in modules.items():
            if taken == code or module == name.replace("-", "_"):
                raise RefusedError(f"{taken} {module.replace('_', '-')} exists")


def _version(root: Path) -> str:
    package = (root / "relax_lint" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"$', package, re.MULTILINE)
    assert match is not None
    return match[1]


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = Path(__file__).with_name("templates").joinpath(f"{template}.txt").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: words[match[1]], text)


def _registered(text: str, family: str, stem: str, codes: Mapping[str, str]) -> str:
    """The text of a family with one rule more: its modules by name, its rules by code."""
    imports = f"from relax_lint_rules.{family} import ({', '.join(sorted(codes))})\n"
    rules = "".join(f"    {module}.RULE,\n" for module in sorted(codes, key=lambda each: codes[each]))
    text = re.sub(
        rf"^from relax_lint_rules\.{family} import (?:\([^)]*\)|[^\n]*)\n", imports, text, flags=re.MULTILINE
    )
    text = re.sub(r"^(RULES: .* = )\([^)]*\)$", rf"\1(\n{rules})", text, flags=re.MULTILINE)
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", __file__, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Lay the files that the arguments ask for, and say which."""
    parser = argparse.ArgumentParser(prog="make rule", description="Lay the files of a new rule.")
    for argument in ("code", "name", "family"):
        parser.add_argument(argument)
    options = parser.parse_args()
    try:
        laid = lay(ROOT, options.code, options.name, options.family)
    except RefusedError as error:
        print(f"make rule: {error}", file=sys.stderr)
        return 2
    for path in laid:
        print(path.as_posix())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
