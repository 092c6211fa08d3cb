"""Storages that are reused, by this function or another one, although somebody may have kept what lay there and
writes it later, in this function or another one: RLX203 lists that nobody did, with what the VM returns.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
KEEP, WRITE = "relax_lint.tests.callees.keep", "relax_lint.tests.callees.write"
ADDRESS = "relax_lint.tests.callees.keep_address"
STORAGE = 'R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
TENSOR = 'R.memory.alloc_tensor({}, R.prim_value({}), R.shape([4]), R.dtype("float32"))'
KEPT, WRITTEN = (
    f'k = R.call_packed("{KEEP}", t, ty_args=R.Any)',
    f'l = R.call_packed("{WRITE}", ty_args=R.Any)',
)
READ = f"u = R.call_tir(Module.copy, (b,), {T4})"
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def give_away(a: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    T.evaluate(T.call_packed("{ADDRESS}", T.address_of(x[0])))

@R.function(private=True, pure=False)
def put(s: R.Any, x: {T4}) -> {T4}:
    b = {TENSOR.format("s", 0)}
    w = Module.copy(x, b)
    return b

@R.function(private=True, pure=False)
def keep_there(s: R.Any, x: {T4}) -> {T4}:
    t = {TENSOR.format("s", 0)}
    w = Module.copy(x, t)
    {KEPT}
    return x

@R.function(private=True, pure=False)
def made(x: {T4}) -> R.Any:
    s = {STORAGE}
    t = {TENSOR.format("s", 0)}
    w = Module.copy(x, t)
    {KEPT}
    return s

@R.function(private=True, pure=False)
def write() -> R.Any:
    {WRITTEN}
    return l

@R.function(private=True, pure=False)
def written_then_read(b: {T4}) -> {T4}:
    {WRITTEN}
    {READ}
    return u

@R.function(private=True, pure=False)
def all_of_it(s: R.Any, x: {T4}) -> {T4}:
    b = {TENSOR.format("s", 0)}
    w = Module.copy(x, b)
    {WRITTEN}
    {READ}
    return u

@R.function(pure=False)
def main(x: {T4}, z: {T4}, c: R.Tensor((), "bool")):
    BODY
    return u
"""
T = f"s = {STORAGE}; t = {TENSOR.format('s', 0)}; v = Module.copy(x, t); "
B = f"; b = {TENSOR.format('s', 0)}; w = Module.copy(z, b); "
EITHER = f"""if c:
        {KEPT}
        u = x
    else:
        b = {TENSOR.format("s", 0)}
        w = Module.copy(z, b)
        {WRITTEN}
        v1 = R.call_tir(Module.copy, (b,), {T4})
        u = v1"""
"""Who keeps is in one branch, who reuses in the other."""
Z, NINE = [5, 5, 5, 5], [9, 9, 9, 9]
BY_PACKED = f"`{KEEP}` may read and write its arguments, but does not keep them"


def _module(body: str) -> Any:
    return parse(TEXT.replace("BODY", body.replace("; ", "\n    ")))


def _run(module: Any) -> list[float]:
    kept: list[Any] = []

    def write() -> None:
        for one in kept:
            if isinstance(one, int):
                ctypes.memmove(one, np.full(4, 9, "float32").ctypes.data, 16)
            else:
                one.copyfrom(np.full(4, 9, "float32"))

    def keep_address(where: Any) -> None:
        kept.append(int(getattr(where, "value", where)))

    tvm.register_global_func(KEEP, kept.append, override=True)
    tvm.register_global_func(WRITE, write, override=True)
    tvm.register_global_func(ADDRESS, keep_address, override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, z = np.arange(4, dtype="float32"), np.full(4, 5, "float32")
    return list(machine["main"](*map(tvm.runtime.tensor, (x, z, np.array(False)))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("body", "binding", "assumed"),
    [
        (f"{T}{KEPT}{B}l = Module.write(); {READ}", "b", BY_PACKED),
        (f"{T}{KEPT}{B}u = Module.written_then_read(b)", "b", BY_PACKED),
        (f"{T}{KEPT}; b = Module.put(s, z); {WRITTEN}; {READ}", "b", BY_PACKED),
        (f"{T}{KEPT}; u = Module.all_of_it(s, z)", "u", BY_PACKED),
        (
            f"s = {STORAGE}; k = Module.keep_there(s, x){B}{WRITTEN}; {READ}",
            "b",
            "nobody keeps what `keep_there` passes on",
        ),
        (f"s = Module.made(x){B}{WRITTEN}; {READ}", "b", "nobody keeps what `made` passes on"),
        (
            f"{T}k = Module.give_away(t){B}{WRITTEN}; {READ}",
            "b",
            "nobody keeps the addresses that `give_away` gives away",
        ),
        # Others on the storage, which `b` leaves alone, change nothing.
        (
            f"{T}{KEPT}; o = {TENSOR.format('s', 16)}; q = Module.copy(z, o){B}{WRITTEN}; {READ}; "
            f"r = R.call_tir(Module.copy, (o,), {T4})",
            "b",
            BY_PACKED,
        ),
    ],
    ids=[
        "written by a function",
        "read by a function",
        "put by a function",
        "all of it",
        "kept by a function",
        "made by a function",
        "an address",
        "beside another",
    ],
)
def test_who_keeps_writes_and_reuses_may_be_another_function(body: str, binding: str, assumed: str) -> None:
    module = _module(body)
    found = [
        check for check in checks(module, "RLX203") if (check.function, check.binding) == ("main", binding)
    ]
    assert {text for check in found for text in check.assumes} == {assumed}
    assert _run(module) == NINE


@pytest.mark.vm
@pytest.mark.parametrize(
    "body",
    [
        # Written before it is put there, behind its last use, or never.
        f"{T}{KEPT}; l = Module.write(){B}{READ}",
        f"{T}{KEPT}{B}{READ}; l = Module.write()",
        f"{T}{KEPT}; b = Module.put(s, z); {READ}",
        # Nobody has it, or it lies on another storage.
        f"{T}b = Module.put(s, z); l = Module.write(); {READ}",
        f"{T}{KEPT}; s2 = {STORAGE}; b = Module.put(s2, z); l = Module.write(); {READ}",
        f"{T}k = Module.give_away(x){B}{READ}",
        f"{T}{EITHER}",
    ],
)
def test_nothing_is_assumed_where_nothing_can_happen(body: str) -> None:
    module = _module(body)
    assert not [check for check in checks(module, "RLX203") if check.function == "main" and check.assumes]
    assert _run(module) == Z
