"""Kernels with one body under several names are read once, and each is told with its own names."""

from __future__ import annotations

import pytest
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

from relax_lint.model import prim_funcs
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


def kernels(*bodies: dict[str, str]) -> Kernels:
    """The kernels of a module with such bodies, `a`, `b` and so on."""
    functions = {}
    for number, changes in enumerate(bodies):
        name = "abcdef"[number]
        parts = {"name": name, "x": "x", "loop": "i", "more": ""} | changes
        functions[name] = tvm.script.from_source(BODY.format(**parts), {"T": T, "I": I})
    return Kernels(tvm.IRModule(functions))


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
