"""Judges examples and random modules in this process, and prints all that is said of them in three formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tvm

from benchmarks.kernel_callers import called
from relax_lint.judging.problems import problem_checks
from relax_lint.judging.report import check_module, check_parsed
from relax_lint.output.formats import FORMATS
from relax_lint.output.presentation import Presentation
from relax_lint.output.style import Style
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from tests.oracle.kernels import bodies
from tests.oracle.program import text as text_of
from tests.oracle.strategies import some
from tests.soundness import programs

_PATH = "module.py"
_HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n"
_PART = """\
    @R.function
    def part{0}(x: R.Tensor((8,), "float32")):
        a = R.from_later_{0}(x)
        return a

"""


def _with_unread_parts(count: int) -> str:
    """A function that depends on what is not read of others."""
    parts = "".join(_PART.format(number) for number in range(count))
    calls = "".join(f"        a{number} = cls.part{number}(x)\n" for number in range(count))
    return (
        f"{_HEAD}\n\n@I.ir_module\nclass Module:\n{parts}"
        '    @R.function(pure=False)\n    def main(x: R.Tensor((8,), "float32")):\n        cls = Module\n'
        f'{calls}        s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")\n'
        '        b = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")\n        return b\n'
    )


def texts() -> Iterator[str]:
    """The modules that are written as text."""
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.py")):
        yield path.read_text(encoding="utf-8")
    yield _with_unread_parts(8)
    for tidy in (False, True):
        yield from map(text_of, some(2, 3, tidy=tidy))
    yield programs.module(programs.programs(4, 1))


def results() -> Iterator[FileResult]:
    """What is said of each."""
    config = Config()
    for text in texts():
        read = read_units((text if "import" in text else _HEAD + text).encode(), _PATH)
        checks = [*problem_checks(read.problems, _PATH, config)]
        for unit in read.units:
            checks += check_parsed(read_unit(unit), _PATH, config).checks
        yield FileResult(InputStatus(_PATH, 1, "checked"), tuple(checks))
    for body in bodies.some(10, 5):
        found = check_module(called(tvm.script.from_source(bodies.script(body))), config)
        yield FileResult(InputStatus(_PATH, 1, "checked"), found.checks, found.memory)


def main() -> None:
    """Print the report in every format."""
    report = Report(tuple(results()), tvm.__version__)
    for name in ("text", "json", "sarif"):
        print(FORMATS["check"][name](report, Presentation(Style(False), Config())))


if __name__ == "__main__":
    main()
