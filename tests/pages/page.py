"""Reading a rule page: its headings, its examples with the judgements marked in them, and its stated runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from relax_lint.replay import Line, parse_line

RULES = Path(__file__).resolve().parents[2] / "rules"
SECTIONS = (
    "What it catches",
    "What happens at run time",
    "Examples",
    "What the verdicts mean",
    "How to fix it",
    "How to suppress it",
)

_TITLE = re.compile(r"# (?P<code>RLX\d{3}) (?P<name>[a-z-]+)\n\n(?P<summary>[^\n]+)\n\n")
_FENCE = re.compile(
    r"^```(?P<language>\w*) ?(?P<options>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_MARKER = re.compile(
    r"# (?P<rule>RLX\d{3}): (?P<verdict>always-wrong|always-fine|needs-runtime-check)"
    r"(?:, safe iff (?P<condition>.+))?$"
)


@dataclass(frozen=True, order=True)
class Judgement:
    """What a rule says of the operation on one line (1-based); `condition` is the safe region."""

    line: int
    rule: str
    verdict: str
    condition: str = ""


@dataclass(frozen=True)
class Example:
    """A Python block. `options` are settings of `[tool.relax-lint]` by name, from its info string; with
    `planned=true` there the module is linted as TVM's memory planner leaves it.
    """

    name: str
    text: str
    options: tuple[tuple[str, str], ...]
    runs: tuple[Line, ...]
    planned: bool = False

    @property
    def judgements(self) -> list[Judgement]:
        """The markers. One that has a line of its own is about the next line of code."""
        found, waiting = [], []
        for number, line in enumerate(self.text.splitlines(), start=1):
            match = _MARKER.search(line)
            if match is not None:
                waiting.append(match)
            if match is not None and line.lstrip().startswith("#"):
                continue
            found += [Judgement(number, m["rule"], m["verdict"], m["condition"] or "") for m in waiting]
            waiting = []
        return found


@dataclass(frozen=True)
class Page:
    """The page of one rule; `settings` are its TOML blocks."""

    path: Path
    code: str
    name: str
    summary: str
    sections: tuple[str, ...]
    examples: tuple[Example, ...]
    settings: tuple[str, ...]


def read_page(path: Path) -> Page:
    """The page in a file. Raises ValueError where it is not built as a page is."""
    text = path.read_text(encoding="utf-8")
    title = _TITLE.match(text)
    if title is None:
        raise ValueError(f"{path}: no title of the form `# RLX101 name` and a line of summary")
    return Page(
        path=path,
        code=title["code"],
        name=title["name"],
        summary=title["summary"],
        sections=tuple(re.findall(r"^## (.+)$", _FENCE.sub("", text), re.MULTILINE)),
        examples=tuple(_examples(title["code"], text)),
        settings=tuple(fence["text"] for fence in _FENCE.finditer(text) if fence["language"] == "toml"),
    )


def pages() -> list[Page]:
    """Every page, in the order of codes."""
    return sorted((read_page(path) for path in RULES.rglob("*.md")), key=lambda page: page.code)


def examples() -> list[Example]:
    """Every example of every page."""
    return [example for page in pages() for example in page.examples]


def _examples(code: str, text: str) -> list[Example]:
    found: list[Example] = []
    for fence in _FENCE.finditer(text):
        if fence["language"] == "python":
            options = [option.split("=", 1) for option in fence["options"].split()]
            name = f"{code}_{len(found) + 1}"
            settings = tuple((key, value) for key, value in options if key != "planned")
            found.append(Example(name, fence["text"], settings, (), len(settings) < len(options)))
        elif fence["language"] == "run":
            example = found.pop()
            runs = tuple(parse_line(line) for line in fence["text"].splitlines())
            found.append(replace(example, runs=runs))
    return found
