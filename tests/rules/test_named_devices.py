"""RLX401: which devices a VM has follows from what the module declares, then from the configuration; only where nobody
names any it is assumed that there is one.
"""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

PROGRAM = """
{declared}
@R.function(pure=False)
def main() -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), {index}, "global", "uint8")
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    return alloc
"""
LLVM = 'I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})'
BOTH = 'I.module_global_infos({"vdevice": [I.vdevice("opencl", 0), I.vdevice("llvm", 0)]})'
FINE, WRONG = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG
DECLARED = ("the VM is started with the devices that the module declares",)
ASSUMED = ("the VM has 1 device (no device or target is named)",)


@pytest.mark.parametrize(
    ("declared", "index", "options", "verdict", "words", "assumes"),
    [
        ("", 0, {}, FINE, "is on a device of the VM", ()),
        ("", 1, {}, WRONG, "is on device 1, but no device is declared", ASSUMED),
        ("", 1, {"devices": 1}, WRONG, "is on device 1, but the VM has 1 device", ()),
        ("", 1, {"devices": 2}, FINE, "is on a device of the VM", ()),
        ("", 1, {"target": "llvm"}, WRONG, "is on device 1, but the VM has 1 device", ()),
        # No VM has it, whatever is assumed.
        ("", -1, {}, WRONG, "is on device -1, but no device is declared", ()),
        (LLVM, 0, {}, FINE, "is on a device of the VM", ()),
        (LLVM, 1, {}, WRONG, "is on device 1, but the VM has 1 device", DECLARED),
        (LLVM, 1, {"devices": 1}, WRONG, "is on device 1, but the VM has 1 device", ()),
        # A machine may be started with more devices than a module declares.
        (LLVM, 1, {"devices": 2}, FINE, "is on a device of the VM", ()),
        (LLVM, 2, {"devices": 2}, WRONG, "is on device 2, but the VM has 2 devices", ()),
        (BOTH, 1, {}, FINE, "is on a device of the VM", ()),
        (BOTH, 2, {}, WRONG, "is on device 2, but the VM has 2 devices", DECLARED),
    ],
)
def test_what_the_module_declares_is_not_assumed(
    declared: str, index: int, options: dict[str, Any], verdict: Verdict, words: str, assumes: tuple[str, ...]
) -> None:
    (check,) = checks(parse(PROGRAM.format(declared=declared, index=index)), "RLX401", **options)
    assert (check.verdict, check.message, check.assumes) == (verdict, f"`storage` {words}", assumes)
