"""Devices, scopes and dtypes, where the pages do not reach: compiler output and settings."""

from __future__ import annotations

from typing import Any

from tests.rules.checking import DOUBLE, checks, findings, parse, stages, verdicts

DEVICES = """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})
"""


def on_two_devices(body: str) -> Any:
    import tvm

    lines = "".join(f"    {line}\n" for line in (DOUBLE + body).splitlines())
    return tvm.script.from_source(DEVICES + lines, check_well_formed=False)


def allocation(device: int, scope: str = "global") -> Any:
    return parse(
        f"""
        @R.function(pure=False)
        def main() -> R.Tensor((4,), "float32"):
            storage = R.memory.alloc_storage(R.shape([16]), {device}, "{scope}", "uint8")
            alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
            return alloc
        """
    )


def test_the_planner_reuses_a_storage_of_another_device() -> None:
    """Device 0's storages are free when device 1's tensors are allocated; the planner compares sizes only."""
    module = on_two_devices(
        """
@R.function
def main(x: R.Tensor((4,), "float32", "llvm:0"), z: R.Tensor((4,), "float32", "llvm:1")):
    with R.dataflow():
        a = R.call_tir(Module.double, (x,), R.Tensor((4,), "float32", "llvm:0"))
        b = R.call_tir(Module.double, (a,), R.Tensor((4,), "float32", "llvm:0"))
        c = R.call_tir(Module.double, (b,), R.Tensor((4,), "float32", "llvm:0"))
        d = R.call_tir(Module.double, (z,), R.Tensor((4,), "float32", "llvm:1"))
        e = R.call_tir(Module.double, (d,), R.Tensor((4,), "float32", "llvm:1"))
        R.output(c, e)
    return (c, e)
"""
    )
    found = dict(stages(module))
    assert findings(found["CallTIRRewrite"], "RLX402") == []
    messages = [check.message for check in findings(found["StaticPlanBlockMemory"], "RLX402")]
    assert any("is declared on device 1, its storage `storage" in message for message in messages)


TWO_SCOPES = """
I.module_global_infos({
    "vdevice": [I.vdevice("opencl", 0, "global"), I.vdevice("opencl", NUMBER, "global.texture-weight")]
})

@T.prim_func(private=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@R.function
def main(
    x: R.Tensor((4,), "float32", "opencl:0:global"),
    y: R.Tensor((4,), "float32", "opencl:NUMBER:global.texture-weight"),
):
    with R.dataflow():
        z = R.call_tir(Module.add, (x, y), R.Tensor((4,), "float32", "opencl:0:global"))
        R.output(z)
    return z
"""


def test_a_device_that_is_declared_for_two_scopes_is_one_device() -> None:
    """TVM declares an OpenCL device once for each kind of memory: Adreno's textures beside buffers."""
    assert findings(parse(TWO_SCOPES.replace("NUMBER", "0")), "RLX402") == []
    assert len(findings(parse(TWO_SCOPES.replace("NUMBER", "1")), "RLX402")) == 1


def test_the_setting_says_how_many_devices_there_are() -> None:
    assert verdicts(findings(allocation(1), "RLX401")) == [("RLX401", "always-wrong", None)]
    assert findings(allocation(1), "RLX401", devices=2) == []


def test_the_host_stands_behind_a_device_that_is_not_the_host() -> None:
    assert findings(allocation(1), "RLX401", target="cuda") == []
    assert len(findings(allocation(2), "RLX401", target="cuda")) == 1


def test_scopes_of_other_targets_are_not_judged() -> None:
    texture = allocation(0, "global.texture")
    assert verdicts(findings(texture, "RLX403")) == [("RLX403", "always-wrong", None)]
    assert checks(texture, "RLX403", target="opencl") == []


def test_a_bit_tensor_needs_a_byte_for_each_element() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "uint1"):
            n = T.int64()
            storage = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
            alloc = R.memory.alloc_tensor(storage, 0, R.shape([n]), "uint1")
            return alloc
        """
    )
    assert verdicts(findings(module, "RLX404")) == [("RLX404", "needs-runtime-check", "n <= 8")]


def test_a_constant_size_is_bounded_also_where_its_bytes_wrap() -> None:
    module = parse(
        """
        @R.function(pure=False)
        def main() -> R.Tensor((4611686018427387904,), "float32"):
            storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
            alloc = R.memory.alloc_tensor(storage, 0, R.shape([4611686018427387904]), "float32")
            return alloc
        """
    )
    assert verdicts(findings(module, "RLX506")) == []
    assert verdicts(findings(module, "RLX103")) == [("RLX103", "always-wrong", None)]
