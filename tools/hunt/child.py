"""The process that compiles and runs programs. Requests and replies are lines of JSON. It may crash; the
campaign then starts another one. Importing this module imports TVM.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any

import tvm
from tvm import relax

from relax_lint.instrument import MemoryLint
from relax_lint.judging.report import check_module
from relax_lint.replay.modules import load_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tools.hunt.changes import Changes
from tools.hunt.memory import differences, meter
from tools.hunt.pipelines import Way, judged_only, lifted, pipelines, reference
from tools.hunt.program import Program
from tools.hunt.running import agree, arguments, register, results, results_for
from tools.hunt.stored import read
from tools.hunt.writing import text

FINDINGS = ("always-wrong", "needs-runtime-check")


def judge(program: Program, names: list[str], say: Any) -> None:
    """Compile and run a program in each of the ways, and say what came of each."""
    register()
    script = text(program)
    say({"begin": "reference"})
    try:
        module = lower(load_module(script, "script"), program, Way((), reference()), [])
        right = results(built(module), program)
    except Exception as error:
        say({"pipeline": "reference", "ends": "refused", "message": message(error)})
        return
    say({"pipeline": "reference", "ends": "same"})
    ways, only = pipelines(program.symbol_value), judged_only()
    is_first = True
    for name in names:
        say({"begin": name})
        lint, changes = MemoryLint(fail_on=None), Changes()
        reply: dict[str, Any] = {"pipeline": name}
        instruments = [changes, lint]
        try:
            if name in only:
                module = load_module(text(program, scheduled=True), "script")
                judge_only(module, program, only[name], instruments)
                reply["ends"] = "judged"
            else:
                say({"begin": name, "findings": []})
                way = ways[name]
                lowered = lower(load_module(script, "script"), program, way, instruments)
                say({"begin": name, "findings": said(lint)})
                run(lowered, program, way, right, reply)
                if reply["ends"] == "same" and is_first and way.is_measured:
                    is_first = False
                    count(lowered, program, way, reply)
        except Exception as error:
            reply |= {"ends": "refused", "message": message(error)}
        reply["findings"] = said(lint)
        reply["failures"] = [failure.message for failure in lint.failures]
        reply["ran"], reply["changed"] = dict(changes.ran), dict(changes.changed)
        reply["rewrites"] = dict(changes.rewrites)
        say(reply)


def lower(module: Any, program: Program, way: Way, instruments: list[Any]) -> Any:
    """The module as it is handed to code generation."""
    passes = [*way.passes, way.pipeline]
    context = tvm.transform.PassContext(
        opt_level=way.opt_level, required_pass=["LambdaLift"], config=way.config, instruments=instruments
    )
    with tvm.target.Target("llvm"), context:
        return tvm.transform.Sequential(lifted(passes) if program.has_closures else passes)(module)


def judge_only(module: Any, program: Program, target_and_pass: Any, instruments: list[Any]) -> None:
    """Judge the passes for a device that is not here."""
    target, pipeline = target_and_pass
    with target, tvm.transform.PassContext(instruments=instruments):
        tvm.transform.Sequential(lifted([pipeline]) if program.has_closures else [pipeline])(module)


def built(lowered: Any, exec_mode: str = "bytecode") -> Any:
    """The executable. The target is that of this machine."""
    nothing = tvm.transform.Sequential([])
    with tvm.target.Target("llvm"):
        return relax.build(lowered, "llvm", relax_pipeline=nothing, exec_mode=exec_mode)


def run(lowered: Any, program: Program, way: Way, right: dict[int, list[Any]], reply: dict[str, Any]) -> None:
    """Compare what the machine returns."""
    executable = built(lowered, way.exec_mode)
    extents = program.extents[:1] if way.is_bound else program.extents
    good = all(
        agree(right[extent], results_for(executable, program, extent), way.tolerance) for extent in extents
    )
    reply["ends"] = "same" if good else "differs"


def count(lowered: Any, program: Program, way: Way, reply: dict[str, Any]) -> None:
    """What the linter says of every operation of a module that is right, and of its memory."""
    checks = check_module(lowered, Config(), path="", totals=False).checks
    reply["points"] = dict(Counter(check.verdict.value for check in checks))
    reply["alarms"] = sorted({c.rule for c in checks if c.verdict is Verdict.ALWAYS_WRONG})
    extents = program.extents[:1] if way.is_bound else program.extents
    calls = {extent: list(arguments(program, extent)) for extent in extents}
    executable = built(lowered, way.exec_mode)
    if program.has_packed_aliases or program.has_devices:
        return
    reply["memory"] = list(differences(lowered, executable, way.exec_mode, calls))


def said(lint: MemoryLint) -> list[tuple[str, str, str]]:
    """The passes, rules and verdicts of what the linter found."""
    found = ((f.introduced_by or "", f.check.rule, f.check.verdict.value) for f in lint.findings)
    return sorted({finding for finding in found if finding[2] in FINDINGS})


def message(error: Exception) -> str:
    """The last line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Kernels ask the interposer for their workspaces from here on.
    meter()

    def say(reply: dict[str, Any]) -> None:
        print(json.dumps(reply), file=replies, flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        judge(read(request["program"]), request["pipelines"], say)
        say({"done": True})


if __name__ == "__main__":
    main()
