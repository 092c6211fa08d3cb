"""Write docs/comparison.md: what TVM itself says of the programs on the pages of the rules.

python -m tools.tvm_checks

For the first program on a page with a wrong operation and a run: what TVM's well-formedness check answers (asked here), what the virtual
machine does (the runs on the page, which tests repeat), and the verdict. A test compares where the version of TVM is that of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tvm

from relax_lint.replay.modules import load_module
from relax_lint.rule import load_rules
from relax_lint.vm.versions import ill_formed
from tests.pages.page import Example, Page, pages

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"

_HEAD = """# What TVM itself checks

<!-- Written by `make pages` with TVM {version}: the programs and runs are those on the pages of the rules. -->

TVM has checks of its own. They look at other things, or later:

| check | when | looks at |
|---|---|---|
| TVMScript's parser, `relax.analysis.well_formed` | when a module is parsed or a pass asks | scopes, types and purity of expressions; no sizes, offsets, lifetimes of storages or contents |
| `StaticPlanBlockMemory` | during compilation | plans storages and trusts declared bounds; it does not read what is already planned |
| checks of the virtual machine | during a call | the shapes and dtypes of parameters, the size of an allocation that it serves, the arguments of a kernel |
| sanitizers, `valgrind` | during a call | memory outside of allocations; storages are one allocation each, so tensors that overlap inside are not seen |
| relax-lint | before the first run, for all inputs | every memory operation, with a condition where it depends on the input |

Each row of this table is a program on the page of the rule. The second column is what `relax.analysis.well_formed` answers, the third what calls on the
virtual machine with the inputs of the page do, the last what relax-lint says of the operations.

| rule | well-formed for TVM | calls on the virtual machine | relax-lint |
|---|---|---|---|
"""


def table() -> Iterator[str]:
    """The rows, in the order of codes."""
    rules = load_rules()
    for page in pages():
        if rules[page.code].family == "sources":
            continue
        example = _shown(page)
        if example is not None:
            path = page.path.relative_to(PAGE.parents[1]).as_posix()
            verdicts = ", ".join(f"`{name}`" for name in dict.fromkeys(j.verdict for j in example.judgements))
            cells = (
                f"[{page.code}](../{path}) `{page.name}`",
                _well_formed(example),
                _runs(example),
                verdicts,
            )
            yield f"| {' | '.join(cells)} |\n"


def _shown(page: Page) -> Example | None:
    for example in page.examples:
        wrong = any(one.rule == page.code and one.verdict != "always-fine" for one in example.judgements)
        if wrong and example.runs and not example.planned:
            return example
    return None


def _well_formed(example: Example) -> str:
    return "yes" if ill_formed(load_module(example.text, "script")) is None else "no"


def _runs(example: Example) -> str:
    """How the calls on the page end, each ending once."""
    endings = []
    for run in example.runs:
        expected = run.expected
        if expected.startswith("ok"):
            endings.append("returns")
        elif expected.isupper():
            endings.append(f"crashes ({expected})")
        else:
            endings.append(expected.replace("build fails: ", "build fails, ").partition(":")[0])
    return ", ".join(dict.fromkeys(endings))


def text() -> str:
    """The text of the page."""
    return _HEAD.format(version=tvm.__version__) + "".join(table())


def main() -> int:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
