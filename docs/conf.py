"""The site: the README, the guides of this folder and the page of every rule, as they lie in the repository.

    make docs

builds it into `build/site`. Every warning is an error there, a link that leads nowhere included.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]

project = "relax-lint"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/decisions/*.md",
    "editors/*/*.md",
    "rules/**/*.md",
]
exclude_patterns = [".*", "build", "dist", "examples", "relax_lint", "tests", "editors/*/node_modules"]
html_static_path = ["static"]
html_css_files = ["relax-lint.css"]
html_theme = "furo"
html_title = "relax-lint"
html_show_copyright = False
# Headings that links may lead to.
myst_heading_anchors = 3

# In the order in which they are needed; other guides follow by name.
_FIRST = (
    "getting-started",
    "tutorial",
    "rules",
    "cli",
    "ci",
    "pre-commit",
    "github",
    "gitlab",
    "compile-script",
    "pytest",
    "serving",
    "editor",
    "vscode",
    "neovim",
    "python-api",
    "configuration",
    "fixes",
    "suppressions",
    "memory",
    "verdicts",
    "proofs",
    "replay",
    "rule-packages",
)


def setup(app: Sphinx) -> None:
    """Give the landing page the table of contents, and the fences of rule pages a name."""
    app.add_lexer("run", TextLexer)
    app.connect("source-read", _add_contents)


def _add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] += _contents("Guides", _guides()) + _contents("Rules", _rules())
        source[0] += _contents("For contributors", _contributing())


def _contents(caption: str, pages: Iterable[str]) -> str:
    return "\n".join(("", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""))


def _guides() -> list[str]:
    names = [path.stem for path in (ROOT / "docs").glob("*.md") if path.stem != "index"]
    known = [name for name in _FIRST if name in names]
    found = [f"/docs/{name}" for name in (*known, *sorted({*names} - {*known}))]
    return [*found, "/README", "/editors/vscode/README", "/CHANGELOG"]


def _contributing() -> list[str]:
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return [
        "/CONTRIBUTING",
        "/SECURITY",
        "/docs/decisions/README",
        *(f"/docs/decisions/{path.stem}" for path in pages),
    ]


def _rules() -> list[str]:
    """The pages of the rules by code, which is the first word of their heading."""
    pages = sorted((ROOT / "rules").rglob("*.md"), key=lambda path: path.read_text(encoding="utf-8")[:8])
    return [f"/{path.relative_to(ROOT).with_suffix('').as_posix()}" for path in pages]
