"""The command `doctor`: what is installed, and what of it works."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from relax_lint import __version__
from relax_lint.commands.terminal import write
from relax_lint.output.tables import count
from relax_lint.rule import load_rules, rule_packages, unreadable_codes
from relax_lint.running.cache import default_folder
from relax_lint.running.runner import judge_inputs
from relax_lint.settings.config import Config
from relax_lint.sources.inputs import HeldInput
from relax_lint.support.byte_text import bytes_text
from relax_lint.support.errors import RunError, UserError
from relax_lint.support.escaping import printable
from relax_lint.vm.tested import TESTED, is_tested

EXTRAS = {"onnx": "onnx", "torch": "torch", "dask": "distributed", "lsp": "pygls", "watch": "watchfiles"}
"""The package that each extra is for."""

# The storage has 16 bytes: safe iff m <= 4. Whoever says so has parsed, modelled and proved.
_PROGRAM = b"""\
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return alloc
"""
_REGION = "m <= 4"
_BROKEN = 1


def examine(options: argparse.Namespace) -> int:
    """Print what of the installation works; 0 where a module can be judged, else 1."""
    usable, rules = _rules()
    works, tvm = _tvm() if usable else (False, [])
    rows = [
        ("relax-lint", f"{__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"),
        *tvm,
        ("rules", rules),
        ("cache", _cache()),
        *_extras(),
    ]
    width = max(len(name) for name, _ in rows)
    write("".join(f"{name:{width}}  {printable(words)}\n" for name, words in rows))
    return 0 if works else _BROKEN


def _rules() -> tuple[bool, str]:
    try:
        return True, f"{len(load_rules())} in {', '.join(rule_packages())}"
    except UserError as error:
        return False, str(error)


def _tvm() -> tuple[bool, list[tuple[str, str]]]:
    """Whether a module can be judged, and what there is to say of TVM and of the sandbox."""
    try:
        installed = version("apache-tvm")
    except PackageNotFoundError:
        installed = None
    config = Config(cache=False, jobs=1)
    try:
        report = judge_inputs([HeldInput("<doctor>", "python", None, True, _PROGRAM)], config)
    except RunError as error:
        return False, [("TVM", f"{installed or 'not installed'}: {error}")]
    found = report.tvm_version or installed or "none"
    unread = [check.message for check in report.checks if check.rule in unreadable_codes()]
    works = not unread and any(check.safe_when == _REGION for check in report.findings)
    words = "works" if works else f"does not work: {unread[0] if unread else 'a known verdict is missing'}"
    tested = "" if is_tested(found) else f"; not a tested version ({', '.join(TESTED)})"
    gaps = next((note for note in report.notes if "sandbox" in note), None)
    return works, [("TVM", f"{found}, {words}{tested}"), ("sandbox", gaps or "complete")]


def _cache() -> str:
    folder = default_folder()
    sizes = [
        os.path.getsize(os.path.join(above, name)) for above, _, names in os.walk(folder) for name in names
    ]
    return f"{folder}: {count(len(sizes), 'file')}, {bytes_text(sum(sizes))}" if sizes else f"{folder}: empty"


def _extras() -> Iterator[tuple[str, str]]:
    for extra, package in EXTRAS.items():
        try:
            yield extra, f"{package} {version(package)}"
        except PackageNotFoundError:
            yield extra, f"not installed: `pip install 'relax-lint[{extra}]'`"
