"""Reading a rule page: its headings, its examples with the judgements marked in them, and its stated runs."""

from __future__ import annotations

import ast
import re
import textwrap
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
# Whatever looks like a marker must be one.
_MEANT_AS_MARKER = re.compile(
    r"#(?!\s*relax-lint:).*(?:\bRLX\d|\brlx|always[- ]\w|needs[- ]runtime|safe (?:iff|if|when)\b)",
    re.IGNORECASE,
)
_SUPPRESSED = re.compile(r'`ignore = \["(?P<code>RLX\d{3})"\]`')
# What an example leaves out that shows only members of `Module`: all before the members of the first example.
_HEAD = re.compile(r".*?^class Module:", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, order=True)
class Judgement:
    """What a rule says of the operation on one line (1-based); `condition` is the safe region."""

    line: int
    rule: str
    verdict: str
    condition: str = ""


@dataclass(frozen=True)
class Example:
    """A Python block, completed to a program. `options` are settings of `[tool.relax-lint]` by name, from its
    info string; with `planned=true` there the module is linted as TVM's memory planner leaves it.
    """

    name: str
    text: str
    options: tuple[tuple[str, str], ...] = ()
    runs: tuple[Line, ...] = ()
    planned: bool = False

    @property
    def judgements(self) -> list[Judgement]:
        """The markers. A marker on a line of its own is about the next line of code. Raises ValueError for a
        comment that looks like a marker and is not one, and for a marker that no code follows.
        """
        found, waiting = [], []
        for number, line in enumerate(self.text.splitlines(), start=1):
            match = _MARKER.search(line)
            if match is not None:
                waiting.append(match)
            elif _MEANT_AS_MARKER.search(line):
                raise ValueError(f"{self.name}: not a marker: {line.strip()}")
            if match is not None and line.lstrip().startswith("#"):
                continue
            found += [Judgement(number, m["rule"], m["verdict"], m["condition"] or "") for m in waiting]
            waiting = []
        if waiting:
            raise ValueError(f"{self.name}: no code after the marker {waiting[0][0]}")
        return found


@dataclass(frozen=True)
class Page:
    """The page of one rule; `settings` are its TOML blocks, `ignored` the codes its `ignore = [...]` names."""

    path: Path
    code: str
    name: str
    summary: str
    sections: tuple[str, ...]
    examples: tuple[Example, ...]
    settings: tuple[str, ...]
    ignored: tuple[str, ...]


def read_page(path: Path) -> Page:
    """The page in a file. Raises ValueError where it is not built as a page is."""
    text = path.read_text(encoding="utf-8")
    title = _TITLE.match(text)
    if title is None:
        raise ValueError(f"{path}: no title of the form `# RLX101 name` and a line of summary")
    fences = tuple(_FENCE.finditer(text))
    prose = _FENCE.sub("", text)
    if "```" in prose:
        raise ValueError(f"{path}: a fence that is not closed")
    return Page(
        path=path,
        code=title["code"],
        name=title["name"],
        summary=title["summary"],
        sections=tuple(re.findall(r"^## (.+)$", prose, re.MULTILINE)),
        examples=tuple(_examples(title["code"], fences)),
        settings=tuple(fence["text"] for fence in fences if fence["language"] == "toml"),
        ignored=tuple(match["code"] for match in _SUPPRESSED.finditer(prose)),
    )


def pages() -> list[Page]:
    """Every page, in the order of codes."""
    return sorted((read_page(path) for path in RULES.rglob("*.md")), key=lambda page: page.code)


def examples() -> list[Example]:
    """Every example of every page."""
    return [example for page in pages() for example in page.examples]


def _examples(code: str, fences: tuple[re.Match[str], ...]) -> list[Example]:
    program = _Program()
    examples: list[Example] = []
    for before, fence in zip((None, *fences), fences, strict=False):
        language, text = fence["language"], fence["text"]
        if language == "python":
            name = f"{code}_{len(examples) + 1}"
            examples.append(_example(name, program.completed(text), fence["options"]))
        elif language == "run":
            if before is None or before["language"] != "python":
                raise ValueError(f"{code}: a run without an example before it: {text}")
            examples.append(replace(examples.pop(), runs=tuple(map(parse_line, text.splitlines()))))
        elif language != "toml":
            raise ValueError(f"{code}: a block of the language `{language}`")
    return examples


def _example(name: str, text: str, info: str) -> Example:
    options = dict(option.split("=", 1) for option in info.split())
    planned = options.pop("planned", "false") == "true"
    return Example(name, text, tuple(options.items()), planned=planned)


class _Program:
    """The module of a page: its head, and each kernel as the page showed it last."""

    def __init__(self) -> None:
        self.head = ""
        self.kernels: dict[str, str] = {}

    def completed(self, text: str) -> str:
        """The program that an example is part of. One without imports shows members of `Module`; what it leaves
        out are the import, the class, and the kernels that the page has shown before.
        """
        if not re.search(r"^(?:from|import) ", text, re.MULTILINE):
            members = "\n".join((*self._used(text), text))
            text = f"{self.head}\n{textwrap.indent(members, '    ')}"
        head = _HEAD.match(text)
        self.head = self.head or (head[0] if head else "")
        self.kernels |= _kernels(text)
        return text

    def _used(self, text: str) -> list[str]:
        return [
            kernel
            for name, kernel in self.kernels.items()
            if re.search(rf"\bModule\.{name}\b", text) and f"def {name}(" not in text
        ]


def _kernels(text: str) -> dict[str, str]:
    """The kernels in the modules of a program, by name."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        # The page of RLX901 shows such a program.
        return {}
    lines = text.splitlines(keepends=True)
    return {
        function.name: textwrap.dedent(
            "".join(lines[function.decorator_list[0].lineno - 1 : function.end_lineno])
        )
        for module in tree.body
        if isinstance(module, ast.ClassDef)
        for function in module.body
        if isinstance(function, ast.FunctionDef) and "prim_func" in ast.unparse(function.decorator_list[0])
    }
