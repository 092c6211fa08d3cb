"""RLX401 and RLX403 for each number of a device: which devices a virtual machine is started with, and of what kind."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
{declared}
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), {number}, "global.texture", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    return t
"""
DECLARED: tuple[tuple[str, ...], ...] = ((), ("opencl",), ("llvm",), ("opencl", "llvm"), ("llvm", "opencl"))
OFFERED = {"opencl": "always-fine", "llvm": "always-wrong"}


@cache
def _module(declared: tuple[str, ...], number: int) -> Any:
    devices = ", ".join(f'I.vdevice("{kind}", 0)' for kind in declared)
    head = f'I.module_global_infos({{"vdevice": [{devices}]}})' if declared else ""
    return parse(PROGRAM.format(declared=head, number=number))


def _devices(declared: tuple[str, ...], count: int | None, target: str | None) -> list[str]:
    """What a machine is started with: all that are declared, more where that is said, and the host comes last where
    no device is the host.
    """
    found = [*declared, *([target or "llvm"] * ((count or 0 if declared else count or 1) - len(declared)))]
    return found if found[-1] == "llvm" else [*found, "llvm"]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("target", [None, "llvm", "opencl"])
def test_a_device_is_one_of_those_of_the_machine(declared: tuple[str, ...], target: str | None) -> None:
    for count in (None, 1, 2, 3):
        devices = _devices(declared, count, target)
        for number in range(-1, 5):
            module, given = _module(declared, number), {"devices": count, "target": target}
            (known,) = checks(module, "RLX401", **given)
            there = 0 <= number < len(devices)
            assert known.verdict.value == ("always-fine" if there else "always-wrong"), (count, number)
            offered = [one.verdict.value for one in checks(module, "RLX403", **given)]
            assert offered == ([OFFERED[devices[number]]] if there else []), (count, number)


@pytest.mark.parametrize("declared", DECLARED)
def test_what_nothing_names_is_assumed(declared: tuple[str, ...]) -> None:
    """The number of devices where there are fewer, the kind where it does not offer the scope."""
    for count, target in ((None, None), (1, None), (None, "llvm"), (1, "llvm")):
        unnamed = not declared and target is None
        (known,) = checks(_module(declared, 3), "RLX401", devices=count, target=target)
        assert bool(known.assumes) is ((unnamed or bool(declared)) and count is None)
        by_module = ("the VM is started with the devices that the module declares",)
        if declared and count is None:
            assert known.assumes == by_module
        (below,) = checks(_module(declared, -1), "RLX401", devices=count, target=target)
        assert below.assumes == ()
        (offered,) = checks(_module(declared, 0), "RLX403", devices=count, target=target)
        said = ("device 0 is `llvm` (no target is named)",)
        assert offered.assumes == (said if unnamed else ())


NAMED = """
{declared}
@T.prim_func(private=True)
def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
    for i in range(4):
        b[i] = a[i]

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), {first}, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32"{named})
    q = R.memory.alloc_storage(R.shape([16]), {second}, "global", "uint8")
    u = R.memory.alloc_tensor(q, 0, R.shape([4]), "float32", {second})
    _ = Module.copy(t, u)
    return u
"""


def _said(declared: tuple[str, ...], first: int, named: int | None, second: int) -> dict[str, str]:
    devices = ", ".join(f'I.vdevice("{kind}", {n})' for n, kind in enumerate(declared))
    head = f'I.module_global_infos({{"vdevice": [{devices}]}})' if declared else ""
    name = "" if named is None else f", {named}"
    module = parse(NAMED.format(declared=head, first=first, named=name, second=second))
    return {str(check.binding): check.verdict.value for check in checks(module, "RLX402", devices=3)}


@pytest.mark.parametrize("declared", [(), ("llvm", "llvm", "llvm")])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("named", [None, 0, 1, 2])
def test_a_tensor_names_the_device_of_its_storage(
    declared: tuple[str, ...], first: int, named: int | None
) -> None:
    """Left out it is 0, which counts where devices are declared; the second tensor names its own storage's."""
    found = _said(declared, first, named, 1)
    if named or declared:
        assert found["t"] == ("always-fine" if (named or 0) == first else "needs-runtime-check")
    else:
        assert "t" not in found
    assert found["u"] == "always-fine"
    assert found["_"] == ("always-fine" if first == 1 else "always-wrong")


def test_numbers_of_devices_that_are_not_declared_are_compared_as_they_are() -> None:
    for first, second in ((3, 3), (2, 3), (3, 2), (0, 3)):
        found = _said(("llvm", "llvm", "llvm"), first, first, second)
        assert found["_"] == ("always-fine" if first == second else "always-wrong")
