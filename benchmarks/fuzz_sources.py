"""Coverage-guided fuzzing of what reads untrusted text: from bytes to units, through the gate; and of what
the parent process reads: patterns of paths, settings, kept results.

    python -m benchmarks.fuzz_sources [--corpus FOLDER] [ATHERIS OPTIONS, such as -max_total_time=300]

Needs the extra `fuzz`. The first byte of an input chooses what the rest is taken for. Found is whatever
raises an exception, takes longer than `-timeout`, or goes through the gate with something in it that an
independent look refuses. TVM is not involved: what the gate lets through is parsed in workers only.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import atheris

with atheris.instrument_imports(
    include=["relax_lint.sources", "relax_lint.suppressions", "relax_lint.settings", "relax_lint.support"]
):
    from relax_lint.sources.gate import check_unit
    from relax_lint.sources.prefilter import may_contain_relax
    from relax_lint.sources.reading import read_units
    from relax_lint.sources.shape_text import check_shape_text
    from relax_lint.sources.unit import Unit
    from tests.attack.parent import SEEDS, TARGETS

KINDS = ("python", "markdown", "notebook")


def let_through(unit: Unit) -> None:
    """Raises AssertionError if a unit that passed the gate holds what no TVMScript has."""
    for statement in unit.node.body:
        if _is_python(statement):
            continue
        for node in ast.walk(statement):
            assert not isinstance(node, ast.Import | ast.Await | ast.Yield | ast.NamedExpr | ast.Try)
            if isinstance(node, ast.Attribute) and _is_evaluated(node, unit):
                assert not node.attr.startswith("__"), ast.unparse(node)


def _is_python(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and any(
        ast.unparse(decorator).endswith("pyfunc") for decorator in statement.decorator_list
    )


def _is_evaluated(node: ast.Attribute, unit: Unit) -> bool:
    """Whether the root of an attribute is a name that has a value: the parser stops at one that has none."""
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in unit.environment


def try_input(data: bytes) -> None:
    """Read one input as a worker does before TVM is asked."""
    if not data:
        return
    kind, content = data[0] % (len(KINDS) + 1 + len(TARGETS)), data[1:]
    if kind > len(KINDS):
        # What the parent process reads itself: patterns of paths, settings, results of earlier runs.
        list(TARGETS.values())[kind - len(KINDS) - 1](content)
        return
    if kind == len(KINDS):
        check_shape_text(content.decode("utf-8", "replace"))
        return
    if not may_contain_relax(content):
        content = b"# tvm function ir_module\n" + content
    for unit in read_units(content, "a.py", KINDS[kind]).units:
        if check_unit(unit) is None:
            let_through(unit)


def seeds(folder: Path) -> None:
    """Write the corpus of attacks, and a few proper files, as inputs to begin with."""
    from tests.attack import disguises
    from tests.attack.payloads import EXPRESSIONS
    from tests.attack.positions import HARMLESS, REFUSED
    from tests.attack.trying import placed

    number = {kind: bytes([index]) for index, kind in enumerate(KINDS)}
    texts = [
        number["python"] + placed(t, "n + 1", folder).encode()
        for t in (*REFUSED.values(), *HARMLESS.values())
    ]
    texts += [number["python"] + placed(REFUSED["value"], e, folder).encode() for e in EXPRESSIONS.values()]
    texts += [number[attack.kind] + attack.data for attack in disguises.all_attacks(folder / "canary")]
    texts += [bytes([len(KINDS)]) + text for text in (b"n * 2", b"T.max(n, 1)", b"(n + 15) // 16")]
    for number_of_target, name in enumerate(TARGETS, len(KINDS) + 1):
        texts += [bytes([number_of_target]) + seed for seed in SEEDS[name]]
    for index, text in enumerate(texts):
        (folder / f"seed{index}").write_bytes(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", help="where inputs are kept from run to run")
    options, rest = parser.parse_known_args()
    folder = Path(options.corpus or tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(exist_ok=True)
    seeds(folder)
    atheris.Setup([sys.argv[0], str(folder), "-max_len=8192", "-timeout=20", *rest], try_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
