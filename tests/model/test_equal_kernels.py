"""Kernels with one body under several names are read once, and each is told with its own names."""

from __future__ import annotations

import gc
from threading import Thread

import pytest
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

from relax_lint.model import equal_kernels, prim_funcs
from relax_lint.model.equal_kernels import LastingKernels, lasting_kernels
from relax_lint.model.prim_funcs import Kernels

BODY = """\
@T.prim_func(private=True)
def {name}({x}_: T.handle, y_: T.handle):
    n = T.int64()
    {x} = T.match_buffer({x}_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    for {loop} in range(n):
        y[{loop}] = {x}[{loop}{more}]
"""


def kernels(*bodies: dict[str, str], lasting: LastingKernels | None = None) -> Kernels:
    """The kernels of a module with such bodies, `a`, `b` and so on."""
    functions = {}
    for number, changes in enumerate(bodies):
        name = "abcdef"[number]
        parts = {"name": name, "x": "x", "loop": "i", "more": ""} | changes
        functions[name] = tvm.script.from_source(BODY.format(**parts), {"T": T, "I": I})
    return Kernels(tvm.IRModule(functions), lasting=lasting)


def accesses_of(*bodies: dict[str, str], lasting: LastingKernels) -> list[list[str]]:
    """What is open in each kernel of a module."""
    found = kernels(*bodies, lasting=lasting)
    return [[access.text for access in found[name].accesses.open] for name in found]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels whose bodies were read."""
    names: list[str] = []
    whole = prim_funcs.read_kernel

    def counted(name: str, *rest: object) -> object:
        names.append(name)
        return whole(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(prim_funcs, "read_kernel", counted)
    return names


def test_equal_bodies_are_read_once_under_each_name(read: list[str]) -> None:
    found = kernels({}, {}, {"loop": "j"})
    assert [found[name].name for name in "abc"] == ["a", "b", "c"]
    assert all(one.proved for name in "abc" for one in found[name].accesses.accesses)
    assert [len(found[name].accesses.accesses) for name in "abc"] == [2, 2, 2]
    assert read == ["a"]


def test_another_body_or_another_signature_is_read_for_itself(read: list[str]) -> None:
    found = kernels({}, {"more": " + 1"}, {"x": "data"})
    assert [bool(found[name].accesses.open) for name in "abc"] == [False, True, False]
    assert found["c"].parameters[0].name == "data"
    assert read == ["a", "b", "c"]


def test_an_access_that_is_told_has_the_names_of_its_own_body() -> None:
    found = kernels({"more": " + 1"}, {"more": " + 1", "loop": "j"})
    texts = [[one.text for one in found[name].accesses.open] for name in "ab"]
    assert texts == [["x[i + T.int64(1)]"], ["x[j + T.int64(1)]"]]


OPEN = {"more": " + 1"}


def test_a_kernel_outlasts_its_module(read: list[str]) -> None:
    lasting = LastingKernels()
    assert accesses_of({}, OPEN, lasting=lasting) == [[], ["x[i + T.int64(1)]"]]
    assert accesses_of(OPEN, {}, lasting=lasting) == [["x[i + T.int64(1)]"], []]
    assert read == ["a", "b"]


def test_one_with_other_names_inside_is_read_where_they_are_seen(read: list[str]) -> None:
    lasting = LastingKernels()
    accesses_of({}, OPEN, lasting=lasting)
    found = accesses_of({"loop": "j"}, OPEN | {"loop": "j"}, lasting=lasting)
    assert found == [[], ["x[j + T.int64(1)]"]]
    assert read == ["a", "b", "b"]


def test_what_was_not_asked_for_longest_is_forgotten(read: list[str]) -> None:
    lasting = LastingKernels(most=2)
    for more in ("", " + 1", "", " + 2"):
        accesses_of({"more": more}, lasting=lasting)
    assert len(lasting) == 2
    assert read == ["a"] * 3
    accesses_of({}, lasting=lasting)
    assert read == ["a"] * 3
    accesses_of(OPEN, lasting=lasting)
    assert read == ["a"] * 4


CALLS = """\
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def inner(a: T.handle("float32"), k: T.int64):
        A = T.decl_buffer((k,), "float32", data=a)
        A[k - {back}] = T.float32(1)

    @T.prim_func(private=True, s_tir=True)
    def outer(x_: T.handle):
        x = T.match_buffer(x_, (4,), "float32")
        Module.inner(x.data, T.int64(4))
"""


def test_a_kernel_that_calls_another_is_that_of_one_module() -> None:
    lasting = LastingKernels()
    proved = []
    for back in (1, 0, 1):
        module = tvm.script.from_source(CALLS.format(back=back), check_well_formed=False)
        found = Kernels(module, lasting=lasting)["outer"].accesses.accesses
        proved.append(all(access.proved for access in found))
    assert proved == [True, False, True]
    assert len(lasting) == 0


def test_each_thread_has_its_own() -> None:
    others: list[LastingKernels] = []
    thread = Thread(target=lambda: others.append(lasting_kernels()))
    thread.start()
    thread.join()
    assert lasting_kernels() is lasting_kernels() is not others[0]


def test_of_a_module_only_the_kernels_that_were_read_are_held() -> None:
    lasting = LastingKernels()
    found = kernels({}, OPEN, lasting=lasting)
    assert found["a"].accesses.accesses
    others = [one for one in gc.get_objects() if type(one) is equal_kernels._Others]
    assert not any(one._functions is found._functions for one in others)
