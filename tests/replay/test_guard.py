"""What the guard sees that the virtual machine does not say."""

from __future__ import annotations

import pytest

from relax_lint.replay import (
    Damage,
    GuardUnavailableError,
    Machine,
    Module,
    Outcome,
    RunResult,
    Tensor,
    guard,
)
from tests.guarded import guarded_machine

pytestmark = pytest.mark.vm

# The kernels write as many elements as `x` has, behind and in front of what `y` has room for.
KERNELS = Module(
    """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
        for i in range(n):
            y[i] = x[i]

    @T.prim_func(private=True)
    def fill_before(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
        for i in range(n):
            y[-1 - i] = x[i]

    @R.function(pure=False)
    def behind(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        _ = Module.fill(x, alloc)
        return alloc

    @R.function(pure=False)
    def in_front(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        _ = Module.fill_before(x, alloc)
        return alloc

    @R.function(pure=False)
    def unwritten() -> R.Tensor((2,), "float32"):
        storage = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
        never = R.memory.alloc_tensor(storage, 0, R.shape([2]), "float32")
        storage_1 = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage_1, 0, R.shape([2]), "float32")
        _ = Module.fill(never, alloc)
        return alloc
"""
)


machine = pytest.fixture(scope="module")(guarded_machine)


def run(machine: Machine, function: str, *extents: int, fill: int = 0x7F) -> RunResult:
    inputs = [Tensor("float32", extents)] if extents else []
    return machine.run(KERNELS, function, inputs, allocator="naive", fill=fill)


def test_what_stays_inside_is_no_damage(machine: Machine) -> None:
    result = run(machine, "behind", 4)
    assert result.outcome is Outcome.OK
    assert result.outputs[0].values == (0, 1, 2, 3)
    assert result.damage is None
    assert not result.left_out


def test_a_write_of_one_element_behind_a_storage_is_found(machine: Machine) -> None:
    # Blocks start at multiples of 64 bytes, so the page that nobody may touch comes 48 bytes later.
    result = run(machine, "behind", 5)
    assert result.outcome is Outcome.OK
    assert result.damage == Damage("write", at=16, size=16)


def test_a_long_write_behind_a_storage_dies_at_once(machine: Machine) -> None:
    result = run(machine, "behind", 4096)
    assert (result.outcome, result.signal) == (Outcome.SIGNAL, "SIGSEGV")
    assert result.damage is not None
    assert result.damage.size == 16
    assert result.damage.at == 64


def test_a_write_in_front_of_a_storage_is_found(machine: Machine) -> None:
    result = run(machine, "in_front", 2)
    assert result.damage is not None
    assert (result.damage.at < 0, result.damage.size) == (True, 16)
    assert "before" in str(result.damage)


def test_what_was_never_written_is_the_fill(machine: Machine) -> None:
    one, other = run(machine, "unwritten"), run(machine, "unwritten", fill=0)
    assert one.outputs[0].values == pytest.approx((3.3961514e38,) * 2)
    assert other.outputs[0].values == (0, 0)


def test_without_the_guard_a_short_overrun_goes_unseen() -> None:
    with Machine() as plain:
        result = run(plain, "behind", 5)
    assert (result.outcome, result.damage) == (Outcome.OK, None)


def test_without_a_compiler_there_is_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    guard._library.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(GuardUnavailableError, match="C compiler"):
        Machine(guarded=True)
    guard._library.cache_clear()
