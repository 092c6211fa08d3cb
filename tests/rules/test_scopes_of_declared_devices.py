"""RLX101 in a scope of textures: on the host its bytes are counted, on another device the layout decides."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
I.module_global_infos({{"vdevice": [{devices}]}})
@R.function(pure=False)
def main() -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), {index}, "global.texture", "uint8")
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    return alloc
"""


@pytest.mark.parametrize(
    ("devices", "index", "verdict"),
    [
        (("llvm",), 0, "always-fine"),
        (("opencl",), 0, "needs-runtime-check"),
        (("opencl", "llvm"), 0, "needs-runtime-check"),
        (("opencl", "llvm"), 1, "always-fine"),
        (("llvm", "opencl"), 0, "always-fine"),
        (("llvm", "opencl"), 1, "needs-runtime-check"),
        # There are no such devices.
        (("llvm", "opencl"), 2, "needs-runtime-check"),
        (("opencl", "llvm"), 2, "needs-runtime-check"),
        (("opencl", "llvm"), -1, "needs-runtime-check"),
    ],
)
def test_the_device_of_the_storage_is_the_one_with_its_number(
    devices: tuple[str, ...], index: int, verdict: str
) -> None:
    declared = ", ".join(f'I.vdevice("{kind}", 0)' for kind in devices)
    (check,) = checks(parse(PROGRAM.format(devices=declared, index=index)), "RLX101")
    assert check.verdict.value == verdict


CHOSEN = """
I.module_global_infos({{"vdevice": [I.vdevice("opencl", 0)]}})
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    R.assert_op(n {assertion}, [n], format="n")
    if c:
        s = R.memory.alloc_storage(R.shape([{first[0]}]), 0, "{first[1]}", "uint8")
        either = s
    else:
        t = R.memory.alloc_storage(R.shape([{second[0]}]), 0, "{second[1]}", "uint8")
        either = t
    alloc = R.memory.alloc_tensor(either, 0, R.shape([4]), "float32")
    return alloc
"""
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"


@pytest.mark.parametrize(
    ("first", "second", "assertion", "verdict"),
    [
        ((16, "global"), (16, "global"), ">= 1", FINE),
        ((15, "global"), (15, "global"), ">= 1", WRONG),
        ((16, "global"), (16, "global.texture"), ">= 1", UNSURE),
        ((16, "global.texture"), (16, "global"), ">= 1", UNSURE),
        # The virtual machine refuses what is larger than a texture; of another storage its pages count.
        ((15, "global"), (15, "global.texture"), ">= 1", UNSURE),
        ((15, "global.texture"), (15, "global"), ">= 1", UNSURE),
        ((15, "global.texture"), (15, "global.texture"), ">= 1", WRONG),
        # No input gets there.
        ((15, "global"), (15, "global"), "< 0", None),
        ((15, "global.texture"), (15, "global.texture"), "< 0", None),
    ],
)
def test_each_storage_that_a_branch_chooses_has_a_scope(
    first: tuple[int, str], second: tuple[int, str], assertion: str, verdict: str | None
) -> None:
    module = parse(CHOSEN.format(first=first, second=second, assertion=assertion))
    found = [one.verdict.value for one in checks(module, "RLX101")]
    assert found == ([] if verdict is None else [verdict])
