"""Devices, scopes and dtypes, where the pages do not reach: compiler output and settings."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("named", "verdict"),
    [("", "needs-runtime-check"), (", R.prim_value(0)", "needs-runtime-check"), (", R.prim_value(1)", None)],
)
def test_a_device_that_may_be_left_out_is_none_that_is_named(named: str, verdict: str | None) -> None:
    module = on_two_devices(
        f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32", "llvm:1")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(1), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"){named})
    _ = Module.double(x, t)
    return t
"""
    )
    assert [check.verdict.value for check in findings(module, "RLX402")] == ([verdict] if verdict else [])


@pytest.mark.parametrize(
    ("value", "assumed"),
    [
        (
            'R.call_packed("my.move", t, ty_args=R.Tensor((4,), "float32"))',
            "`u` is on the device of the others",
        ),
        (
            'R.call_packed("my.move", t, ty_args=R.Tensor((4,), "float32", "llvm:0"))',
            "`u` is on device 0 (declared, not checked)",
        ),
        ("y", "`y` is on device 0 (declared, not checked)"),
        ("t", None),
    ],
)
def test_where_nothing_says_where_an_argument_is(value: str, assumed: str | None) -> None:
    module = on_two_devices(
        f"""
@T.prim_func(private=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@R.function(pure=False)
def main(y: R.Tensor((4,), "float32", "llvm:0")):
    t = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
    u = {value}
    o = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
    v = Module.add(t, u, o)
    return o
"""
    )
    (check,) = checks(module, "RLX402")
    assert check.verdict.value == "always-fine"
    assert check.assumes == (() if assumed is None else (assumed,))


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


def test_scopes_are_those_of_the_target() -> None:
    texture = allocation(0, "global.texture")
    assert verdicts(findings(texture, "RLX403")) == [("RLX403", "always-wrong", None)]
    assert checks(texture, "RLX403", target="cuda") == []
    assert verdicts(checks(texture, "RLX403", target="opencl")) == [("RLX403", "always-fine", None)]
    odd = allocation(0, "global.texture-odd")
    assert verdicts(checks(odd, "RLX403", target="opencl")) == [("RLX403", "always-wrong", None)]
    assert verdicts(checks(texture, "RLX403", target="hexagon")) == [("RLX403", "always-wrong", None)]


@pytest.mark.parametrize(
    ("allocators", "verdict"),
    [
        (("naive",), "always-fine"),
        (("pooled",), "always-wrong"),
        (("naive", "pooled"), "needs-runtime-check"),
    ],
)
def test_the_pooled_allocator_of_a_hexagon_has_no_scopes(allocators: tuple[str, ...], verdict: str) -> None:
    """`PooledAllocator::Alloc` refuses a scope; the naive one hands it to the device."""
    found = checks(allocation(0, "global.vtcm"), "RLX403", target="hexagon", allocators=allocators)
    assert verdicts(found) == [("RLX403", verdict, None)]


SCOPED = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([{size}]), 0, "{scope}", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([{extent}]), "float32")
    return a
"""


@pytest.mark.parametrize(
    ("scope", "size", "extent", "verdict"),
    [
        # Exactly the bytes that were asked for: no page hides what is too large.
        ("global.vtcm", "n * 4", "n", "always-fine"),
        ("global.vtcm", "16", "5", "always-wrong"),
        ("global.ddr", "16", "n", "needs-runtime-check"),
        # A table of 4 regions, and tensors would lie on the table.
        ("global.vtcm", "4, n", "n", "needs-runtime-check"),
        ("global.texture", "n * 4", "n", "needs-runtime-check"),
        ("global.texture", "16", "5", "always-wrong"),
        ("shared.dyn", "n * 4", "n", "needs-runtime-check"),
        ("shared.dyn", "16", "5", "needs-runtime-check"),
        ("global", "n * 4", "n", "always-fine"),
    ],
)
@pytest.mark.parametrize("allocators", [("naive",), ("pooled",), ("naive", "pooled")])
def test_what_fits_a_storage_is_up_to_its_scope(
    scope: str, size: str, extent: str, verdict: str, allocators: tuple[str, ...]
) -> None:
    module = parse(SCOPED.format(scope=scope, size=size, extent=extent))
    (found,) = checks(module, "RLX101", allocators=allocators, target="hexagon")
    assert found.verdict.value == verdict
    if scope == "global.ddr":
        assert found.safe_when == "n <= 4"
        assert {str(failure.first_failure) for failure in found.allocators.values()} == {"{'n': 5}"}
    if verdict == "needs-runtime-check" and scope != "global.ddr":
        assert found.undecided
        assert found.safe_when is None
        assert any("undecided: " in note for note in found.notes)


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


OFFSET = """
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = T.float32(1)

@R.function(pure=False)
def main():
    s = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 64, R.shape([4]), "float32")
    Module.fill(a)
    return a
"""


def test_a_hexagon_moves_the_pointer_of_a_tensor() -> None:
    """Other devices keep the offset, which a kernel without one refuses."""
    assert verdicts(checks(parse(OFFSET), "RLX303")) == [("RLX303", "always-wrong", None)]
    (found,) = checks(parse(OFFSET), "RLX303", target="hexagon")
    assert (found.verdict.value, found.undecided) == ("needs-runtime-check", True)


def test_what_symbols_are_multiplied_with_may_overflow() -> None:
    """No factor is left out of account because others are extents of real tensors, which have a limit."""
    sides = []
    for most in (2**12, 2**30):
        module = parse(
            f"""
            @R.function(pure=False)
            def main(x: R.Tensor(("n",), "float32")) -> R.Object:
                n = T.int64()
                storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
                alloc = R.memory.alloc_tensor(storage, 0, R.shape([n, {most}]), "float32")
                return alloc
            """
        )
        sides.append(verdicts(findings(module, "RLX103")))
    # From 2**64 bits on the runtime takes it for a small one.
    assert sides == [[], [("RLX103", "needs-runtime-check", "n <= 536870911")]]
