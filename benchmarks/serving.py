"""What serving takes: mlc-llm's estimate, ours, and measured bytes of six decoders at three settings each.

python -m benchmarks.serving [--only NAME]

The decoders are built with TVM's frontend and a paged cache, compiled for the CPU, and run in a subprocess
under the interposer: weights, the cache, one prefill of a whole chunk, one step of a whole batch. Needs Linux
and gcc. mlc-llm's engine estimates with constants in C++; `estimate` says the same in our words.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.runtime import ShapeTuple

import relax_lint
from benchmarks.common import table
from benchmarks.llama import CACHE, Shape, exported
from relax_lint.results.memory_report import MemoryReport
from relax_lint.totals.serving import serving
from tests.totals import interposer

TARGET = "llvm"
SHAPES = (
    Shape("llama, grouped heads", 2, 256, 688, (8, 4), 32, 1000),
    Shape("llama, equal heads", 2, 256, 688, (4, 4), 64, 1000),
    Shape("deep and narrow", 6, 128, 344, (4, 1), 32, 1000),
    Shape("large vocabulary", 2, 128, 344, (4, 2), 32, 32000),
    Shape("wide feed-forward", 2, 256, 4096, (8, 2), 32, 1000),
    Shape("plain feed-forward", 3, 192, 768, (6, 6), 32, 2000, gated=False),
)
SETTINGS = ((1, 512, 64), (4, 4096, 128), (8, 32768, 256))
"""Sequences at one time, tokens of all of them together, tokens of a prefill."""
PAGE = 16
_ROOM = 1 << 50


def bindings_of(batch: int, context: int, chunk: int) -> dict[str, int]:
    """The values of all symbols in a setting."""
    cache = dict(zip(CACHE, (batch, context, chunk, PAGE, 0), strict=True))
    return {"seq_len": chunk, "batch_size": batch, **cache}


def estimate(shape: Shape, totals: MemoryReport, weights: int, setting: tuple[int, int, int]) -> int:
    """What mlc-llm's engine assumes: keys and values have two bytes whatever the cache's dtype is, with 1.25
    bytes beside for each token; the auxiliary arrays are 48 MiB and formulas of the chunk and the batch; the
    temporary buffers are those of the function that plans most, twice.
    """
    batch, context, chunk = setting
    queries, keys = shape.heads
    hidden = shape.size * queries
    token = shape.size * keys * shape.layers * 4 + 1.25
    auxiliary = (
        (batch + 1) * 88
        + chunk * (queries + 1) * 8
        + chunk * shape.size * (queries + keys) * 4
        + 48 * 1024 * 1024
    )
    inputs = chunk * 4 + batch * 4 + (chunk * 2 + batch) * hidden * 2
    logits = batch * 20 + batch * shape.vocabulary * 16.125
    planned = [
        each.planned_static_bytes + (each.planned_dynamic_bytes.value or 0)
        for each in totals
        if each.planned_dynamic_bytes is not None
    ]
    return int(weights + 2 * max(planned) + auxiliary + inputs + logits + token * context)


def predicted(totals: MemoryReport) -> int:
    """Our total, all symbols having their values."""
    (one,) = serving(totals, _ROOM, TARGET)
    assert one.left is not None, one
    return _ROOM - one.left


class Served:
    """One decoder, compiled."""

    def __init__(self, shape: Shape, setting: tuple[int, int, int]) -> None:
        self.shape, self.setting = shape, setting
        self.bindings = bindings_of(*setting)
        bounds = {name: self.bindings[name] for name in ("seq_len", "batch_size")}
        module, parameters = exported(shape, bounds)
        self.extents = [[int(extent) for extent in each.shape] for _, each in parameters]
        target = tvm.target.Target(TARGET)
        with target:
            self.lowered = relax.get_default_pipeline(target)(module)

    @property
    def weights(self) -> int:
        """Bytes of all weights."""
        return sum(4 * prod(extents) for extents in self.extents)

    def run(self, meter: Any) -> dict[str, int]:
        """What was counted over weights, cache, a prefill and a step, from a cold start of all pools."""
        executable = relax.build(self.lowered, TARGET, relax_pipeline=tvm.transform.Sequential([]))
        batch, _, chunk = self.setting
        machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg="pooled")
        take = {name: tvm.get_global_func(f"vm.builtin.{name}") for name in _STATE}
        meter.start()
        weights = [tvm.runtime.tensor(np.zeros(extents, "float32")) for extents in self.extents]
        cache = machine["create_cache"](*(ShapeTuple([self.bindings[name]]) for name in CACHE))
        for number in range(batch):
            take["kv_state_add_sequence"](cache, number)
        prompt = tvm.runtime.tensor(np.zeros((1, chunk, self.shape.hidden), "float32"))
        take["kv_state_begin_forward"](cache, ShapeTuple([0]), ShapeTuple([chunk]))
        result = machine["prefill"](prompt, cache, weights)
        take["kv_state_end_forward"](cache)
        del prompt, result
        step = tvm.runtime.tensor(np.zeros((batch, 1, self.shape.hidden), "float32"))
        take["kv_state_begin_forward"](cache, ShapeTuple(list(range(batch))), ShapeTuple([1] * batch))
        result = machine["decode"](step, cache, weights)
        take["kv_state_end_forward"](cache)
        # While weights and cache live.
        found: dict[str, int] = meter.figures()
        meter.stop()
        del step, result
        return found


_STATE = ("kv_state_add_sequence", "kv_state_begin_forward", "kv_state_end_forward")


def measured(shape: Shape, setting: tuple[int, int, int], meter: Any) -> dict[str, int]:
    """The row of one setting, in the process with the interposer."""
    served = Served(shape, setting)
    totals = relax_lint.memory(served.lowered, served.bindings)
    found: dict[str, int] = {}

    def call() -> None:
        found.update(served.run(meter))

    # Each thread has a workspace pool of its own, which ends with it.
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return {
        "mlc": estimate(shape, totals, served.weights, setting),
        "ours": predicted(totals),
        "measured": found["others"] + found["together"],
        **{name: found[name] for name in ("others", "together", "pool", "peak", "heap")},
    }


def rows(only: str) -> Iterator[dict[str, Any]]:
    """Every row, as the subprocess finds it."""
    from tests.totals.metering import Meter

    meter = Meter()
    for shape in SHAPES:
        if only in shape.name:
            for setting in SETTINGS:
                yield {"model": shape.name, "setting": setting, **measured(shape, setting, meter)}


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    batch, context, chunk = row["setting"]
    real = row["measured"]
    off = (f"{100 * (row[name] - real) / real:+.2f} %" for name in ("mlc", "ours"))
    numbers = (f"{row[name]:,}" for name in ("mlc", "ours", "measured"))
    return row["model"], str(batch), f"{context:,}", str(chunk), *numbers, *off


def main() -> None:
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    if "--measure" in sys.argv:
        for row in rows(only):
            print(json.dumps(row), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("--measure", *(("--only", only) if only else ()))
        found = interposer.run(Path(folder), "benchmarks.serving", *arguments)
    head = ("model", "batch", "context", "chunk", "mlc-llm", "ours", "measured", "mlc-llm off", "ours off")
    print(table(head, map(_line, found)))
    for name in ("mlc", "ours"):
        worst = max(abs(row[name] - row["measured"]) / row["measured"] for row in found)
        print(f"\n{name}: at most {100 * worst:.2f} % off")


if __name__ == "__main__":
    main()
