"""The buffers of kernels in the report, and why a total is missing."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint.sources import kernel_lowering
from relax_lint.sources.kernel_lowering import KernelLoweringError
from relax_lint.totals import lowered_kernels
from relax_lint.vm.workspaces import is_on_stack
from tests.memory.conftest import Memory
from tests.memory.programs import HEADER, SYMBOLIC
from tests.report_schema import report_validator

# The kernel has 8 bytes on the stack and one buffer of `n` rows; what it does in a loop or a branch varies.
KERNEL = (
    HEADER
    + """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(p: T.handle, q: T.handle):
        n = T.int64()
        x = T.match_buffer(p, (n, 64), "float32")
        y = T.match_buffer(q, (n, 64), "float32")
        few = T.alloc_buffer((2,), "float32")
        rows = T.alloc_buffer((n, 64), "float32")
        for i in T.serial(2):
            few[i] = T.float32(i)
        for i, j in T.grid(n, 64):
            rows[i, j] = x[i, j] + few[j % 2]
        for i, j in T.grid(n, 64):
            y[i, j] = rows[i, 63 - j]

    @R.function(pure=False)
    def main(x: R.Tensor(("n", 64), "float32")):
        n = T.int64()
        cls = Module
        s = R.memory.alloc_storage(R.shape([n * 256]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n, 64]), R.dtype("float32"))
        done = cls.twice(x, a)
        return a
"""
)


def test_what_a_kernel_requests_is_a_total_of_its_own(memory: Memory) -> None:
    found = memory(KERNEL, "--bind", "n=20", "--output-format", "json").report
    report_validator().validate(found)
    workspaces = found["memory"][0]["workspaces"]
    assert workspaces["requested"] == {"expr": "256*n", "value": 5120}
    assert workspaces["held"]["value"] == 8192
    assert workspaces["calls"] == [
        {"callee": "twice", "binding": "done", "line": 26, "requested": {"expr": "256*n", "value": 5120}}
    ]
    assert workspaces["on_chip"] == [
        {"kernel": "twice", "scope": "stack", "bytes": {"expr": "8", "value": 8}, "limit": None}
    ]
    assert workspaces["per_worker"] == {"expr": "0", "value": 0}


def test_the_text_lists_the_calls_that_request_most(memory: Memory) -> None:
    found = memory(KERNEL, "--bind", "n=20", "--formulas").out
    assert "8,192 bytes (8 KiB) = 4096*Max((n + 15)//16, 1)\n" in found.partition("kernel workspaces")[2]
    assert "`twice` for `done`, line 26: 5,120 bytes (5 KiB) = 256*n\n" in found
    assert "kernels' stack" in found


def test_a_module_whose_kernels_make_no_buffers_has_no_row(memory: Memory) -> None:
    assert "workspaces" not in memory(SYMBOLIC).out


def test_a_parallel_loop_requests_for_each_thread(memory: Memory) -> None:
    threads = KERNEL.replace(
        "        for i, j in T.grid(n, 64):\n            y[i, j] = rows[i, 63 - j]",
        "        for i in T.parallel(n):\n"
        "            line = T.alloc_buffer((300,), 'float32')\n"
        "            for j in T.serial(300):\n"
        "                line[j] = rows[i, 63 - j % 64]\n"
        "            for j in T.serial(64):\n"
        "                y[i, j] = line[63 - j]",
    )
    found = memory(threads, "--bind", "n=20", "--output-format", "json").report["memory"][0]
    assert found["workspaces"]["per_worker"]["value"] == 4096
    assert found["workspaces"]["requested"]["value"] == 5120 + 1200
    assert "4,096 bytes (4 KiB) for each further thread" in memory(threads, "--bind", "n=20").out


def test_a_kernel_that_tvm_cannot_lower_is_named_and_not_counted_as_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise KernelLoweringError("a pass fails")

    monkeypatch.setattr(lowered_kernels, "lowered_kernel", refuse)
    module = tvm.script.from_source(KERNEL.removeprefix(HEADER))
    (found,) = relax_lint.memory(module)
    assert found.workspaces is not None
    assert found.workspaces.held is None
    assert found.unknown["workspaces.held"].startswith("TVM cannot lower the kernel `twice`: ")


def test_a_kernel_that_two_versions_of_a_module_share_is_lowered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lowered: list[str] = []

    def counted(name: str, *rest: Any) -> Any:
        lowered.append(name)
        return kernel_lowering.lowered_kernel(name, *rest)

    monkeypatch.setattr(lowered_kernels, "lowered_kernel", counted)
    # At another line it is a kernel that no other test has.
    module = tvm.script.from_source("\n" * 9 + KERNEL.removeprefix(HEADER))
    first = relax_lint.memory(module)
    assert relax_lint.memory(module.with_attr("version", 2)) == first
    assert lowered == ["twice"]
    # Another target may leave other buffers.
    relax_lint.memory(module, config={"target": "c"})
    assert lowered == ["twice", "twice"]


def test_a_target_that_tvm_does_not_know_is_a_wrong_request(memory: Memory) -> None:
    done = memory(KERNEL, "--target", "nothing")
    assert done.code == 2
    assert "nothing" in done.err


def test_where_a_buffer_of_a_cpu_kernel_lies() -> None:
    assert is_on_stack("global", 1023)
    assert not is_on_stack("global", 1024)
    assert not is_on_stack("global", None)
    # Only buffers of the scope `global` are left on the stack.
    assert not is_on_stack("local", 4)


PACKED = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 8), "float32")):
        cache = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([4, 8]), 0, ty_args=[R.Any])
        more = R.call_packed("vm.builtin.attention_kv_cache_append", cache, x, ty_args=[R.Any])
        mine = R.call_packed("mine.something", x, ty_args=[R.Any])
        return more
"""
)


def test_the_text_has_what_is_held_and_what_is_not_counted(memory: Memory) -> None:
    found = memory(PACKED).out
    held = "`vm.builtin.attention_kv_cache_create` for `cache`: 128 bytes\n"
    assert held in found.partition("held by an object")[2]
    assert "`mine.something`: what it allocates, and what it keeps of its arguments, is not known\n" in found
    assert "`vm.builtin.attention_kv_cache_append`: it doubles the cache where that is full\n" in found


def test_calls_request_the_same_only_where_kernel_and_shapes_are(memory: Memory) -> None:
    """Of the same kernel with the same shapes it is asked once."""
    head, rest = KERNEL.split("    @T.prim_func")
    kernel, function = rest.split("    @R.function")
    other = (
        kernel.replace("def twice", "def wide").replace("(n, 64)", "(n, 128)", 3).replace("63 - j", "127 - j")
    )
    other = other.replace("(n, 128)", "(n, 64)", 2).replace("grid(n, 64)", "grid(n, 128)", 1)
    other = other.replace("x[i, j]", "x[i, j % 64]")
    again = function.replace('x: R.Tensor(("n", 64), "float32")', CALLED).replace(
        "        return a\n",
        "        b = R.memory.alloc_tensor(t, R.prim_value(0), R.shape([m, 64]), R.dtype('float32'))\n"
        "        other = cls.twice(y, b)\n        more = cls.wide(x, a)\n        same = cls.twice(x, a)\n"
        "        return a\n",
    )
    again = again.replace("cls = Module\n", f"m = T.int64()\n        cls = Module\n        t = {STORAGE}\n")
    text = f"{head}    @T.prim_func{kernel}    @T.prim_func{other}    @R.function{again}"
    found = memory(text, "--output-format", "json").report["memory"][0]["workspaces"]["calls"]
    sizes = {call["binding"]: call["requested"]["expr"] for call in found}
    assert sizes == {"done": "256*n", "other": "256*m", "more": "512*n", "same": "256*n"}


CALLED = 'x: R.Tensor(("n", 64), "float32"), y: R.Tensor(("m", 64), "float32")'
STORAGE = 'R.memory.alloc_storage(R.shape([m * 256]), R.prim_value(0), R.str("global"), R.dtype("float32"))'


VECTORS = """\
@T.prim_func(s_tir=True)
def f(x: T.Buffer((32,), "float32"), p: T.Buffer((8,), "int32"), k: T.int32):
    s = T.alloc_buffer((64,), "float32")
    for i in T.vectorized(8):
        s[T.Ramp({}, 1, 4)] = T.Broadcast(T.float32(1), 4)
"""


@pytest.mark.parametrize("base", ["i", "i * 4", "7 - i", "4 + 2 * i", "k", "p[0]", "T.Cast('int32', i)"])
def test_vectors_of_indices_in_a_vectorised_loop(base: str) -> None:
    assert kernel_lowering.lowered_kernel("f", tvm.script.from_source(VECTORS.format(base)), "llvm")


@pytest.mark.parametrize("base", ["i // 2", "i % 4", "p[i]", "T.min(i, k)"])
def test_those_that_end_the_process_in_tvm_are_refused(base: str) -> None:
    with pytest.raises(KernelLoweringError, match="vector of indices"):
        kernel_lowering.lowered_kernel("f", tvm.script.from_source(VECTORS.format(base)), "llvm")
