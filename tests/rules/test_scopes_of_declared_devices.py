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
    ],
)
def test_the_device_of_the_storage_is_the_one_with_its_number(
    devices: tuple[str, ...], index: int, verdict: str
) -> None:
    declared = ", ".join(f'I.vdevice("{kind}", 0)' for kind in devices)
    (check,) = checks(parse(PROGRAM.format(devices=declared, index=index)), "RLX101")
    assert check.verdict.value == verdict
