"""The process that compiles and runs programs. Requests and replies are lines of JSON. It may crash; the
campaign then starts another one. Importing this module imports TVM.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from relax_lint.instrument import MemoryLint
from relax_lint.replay.modules import load_module
from tools.hunt.pipelines import judged_only, pipelines, reference
from tools.hunt.program import Program, Tensor, text
from tools.hunt.stored import read

FINDINGS = ("always-wrong", "needs-runtime-check")


@tvm.instrument.pass_instrument
class Changes:
    """Which passes ran, and which of them changed the module."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self._before: list[list[Any]] = []

    def run_before_pass(self, module: Any, info: Any) -> None:
        """A pass is about to run."""
        self._before.append([function for _, function in module.functions.items()])

    def run_after_pass(self, module: Any, info: Any) -> None:
        """A pass has run."""
        before = self._before.pop() if self._before else []
        after = [function for _, function in module.functions.items()]
        same = len(before) == len(after) and all(map(_same, before, after))
        self.ran[str(info.name)] += 1
        self.changed[str(info.name)] += not same


def _same(one: Any, other: Any) -> bool:
    return bool(one.same_as(other)) or bool(tvm_ffi.structural_equal(one, other, map_free_vars=True))


def register() -> None:
    """The packed functions that programs call."""

    def increment(values: Any) -> Any:
        values.copyfrom(values.numpy() + 1)
        return values

    tvm.register_global_func("hunt.increment", increment, override=True)
    tvm.register_global_func(
        "hunt.twice", lambda values: tvm.runtime.tensor(values.numpy() * 2), override=True
    )
    tvm.register_global_func("hunt.into", lambda values, out: out.copyfrom(values.numpy() * 3), override=True)


def arguments(program: Program) -> Iterator[list[Any]]:
    """The arguments of each call, as arrays."""
    for extent in program.extents:
        for condition in (True, False):
            numbers = np.random.default_rng(7)
            values = []
            for _, kind in program.main.parameters:
                assert isinstance(kind, Tensor)
                shape = tuple(extent if isinstance(e, str) else e for e in kind.shape)
                if kind.dtype == "bool":
                    values.append(np.array(condition))
                else:
                    values.append(numbers.standard_normal(shape).astype(kind.dtype))
            yield values


def flat(value: Any) -> list[Any]:
    """The arrays in a result."""
    if isinstance(value, tvm.runtime.Tensor):
        return [value.numpy().copy()]
    return [array for item in value for array in flat(item)]


def results(module: Any, program: Program) -> list[Any]:
    """What two calls with each of the arguments return, and what became of the arguments."""
    machine = relax.VirtualMachine(module, tvm.cpu())
    found: list[Any] = []
    for values in arguments(program):
        for _ in range(2):
            given = [tvm.runtime.tensor(value) for value in values]
            found += flat(machine["main"](*given))
            found += [tensor.numpy() for tensor in given]
    return found


def compiled(module: Any, pipeline: Any) -> Any:
    """The executable. The target is that of this machine."""
    with tvm.target.Target("llvm"):
        return tvm.compile(module, target="llvm", relax_pipeline=pipeline)


def agree(one: list[Any], other: list[Any]) -> bool:
    """Whether two lists of arrays are the same numbers, as far as another order of operations allows."""
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=2e-3, atol=2e-3, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def judge(program: Program, names: list[str], say: Any) -> None:
    """Compile and run a program in each of the ways, and say what came of each."""
    register()
    script = text(program)
    say({"begin": "reference"})
    try:
        right = results(compiled(load_module(script, "script"), reference()), program)
    except Exception as error:
        say({"pipeline": "reference", "ends": "refused", "message": message(error)})
        return
    say({"pipeline": "reference", "ends": "same"})
    ways, only = pipelines(), judged_only()
    for name in names:
        say({"begin": name})
        lint, changes = MemoryLint(fail_on=None), Changes()
        reply: dict[str, Any] = {"pipeline": name}
        try:
            module = load_module(script, "script")
            with tvm.target.Target("llvm"), tvm.transform.PassContext(instruments=[changes, lint]):
                if name in only:
                    only[name](module)
                    reply["ends"] = "judged"
                else:
                    passes, pipeline = ways[name]
                    built = compiled(tvm.transform.Sequential([*passes, pipeline])(module), _nothing())
            if name not in only:
                say({"begin": name, "findings": said(lint)})
                found = results(built, program)
                reply["ends"] = "same" if agree(right, found) else "differs"
        except Exception as error:
            reply |= {"ends": "refused", "message": message(error)}
        reply["findings"] = said(lint)
        reply["failures"] = [failure.message for failure in lint.failures]
        reply["ran"], reply["changed"] = dict(changes.ran), dict(+changes.changed)
        say(reply)


def said(lint: MemoryLint) -> list[tuple[str, str, str]]:
    """The passes, rules and verdicts of what the linter found."""
    found = ((f.introduced_by or "", f.check.rule, f.check.verdict.value) for f in lint.findings)
    return sorted({finding for finding in found if finding[2] in FINDINGS})


def _nothing() -> Any:
    return tvm.transform.Sequential([])


def message(error: Exception) -> str:
    """The last line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(reply: dict[str, Any]) -> None:
        print(json.dumps(reply), file=replies, flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        judge(read(request["program"]), request["pipelines"], say)
        say({"done": True})


if __name__ == "__main__":
    main()
