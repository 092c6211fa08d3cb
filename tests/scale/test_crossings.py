"""Counts that are the same on every machine: proofs that are tried, and reads of fields of TVM's objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import tvm_ffi

from benchmarks.growth import work
from relax_lint.symbolic import backend
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.search import Search

SIZES = 8, 16
READS_PER_STEP = {"storages": 31, "kills": 46, "sequential Ifs": 60, "views": 18}
"""How many fields one more step of a direction reads at most; a tenth more than it was."""

PROVERS = (
    (Links, "_prove"),
    (Knowledge, "proves"),
    (Search, "smallest"),
    (backend, "analyzer_proves"),
    (backend, "z3_proves"),
)


def _classes(parent: type) -> Iterator[type]:
    children: list[type] = parent.__subclasses__()
    for child in children:
        yield child
        yield from _classes(child)


@contextmanager
def _reads_counted() -> Iterator[list[int]]:
    """The number of fields of TVM's objects that are read meanwhile: each read crosses into C++."""
    reads = [0]
    kept: list[tuple[type, str, Any]] = []

    def counting(field: Any) -> property:
        def read(node: Any) -> Any:
            reads[0] += 1
            return field.__get__(node, type(node))

        return property(read)

    for one in set(_classes(tvm_ffi.Object)):
        for name, field in list(vars(one).items()):
            if isinstance(field, property) and type(field.fget).__name__ == "FieldGetter":
                kept.append((one, name, field))
                setattr(one, name, counting(field))
    try:
        yield reads
    finally:
        for one, name, field in kept:
            setattr(one, name, field)


def _provers_run(direction: str, size: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    run: Counter[str] = Counter()

    def counted(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            run[name] += 1
            return original(*arguments)

        return counting

    judge = work(direction, size)
    with monkeypatch.context() as patch:
        for owner, name in PROVERS:
            patch.setattr(owner, name, counted(name, getattr(owner, name)))
        judge()
    return run


@pytest.mark.parametrize(
    ("direction", "at_all"), [("casts", True), ("symbols apart", True), ("storages", False)]
)
def test_a_claim_is_proved_once(direction: str, at_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that differ in names only are one question, and constants are none."""
    few, many = (_provers_run(direction, size, monkeypatch) for size in SIZES)
    assert few == many
    assert bool(few) is at_all
    assert few["analyzer_proves"] == few["z3_proves"] == 0


@pytest.mark.parametrize("direction", READS_PER_STEP)
def test_fields_of_nodes_are_read_so_often_and_not_more(direction: str) -> None:
    found = []
    for size in SIZES:
        judge = work(direction, size)
        with _reads_counted() as reads:
            judge()
        found.append(reads[0])
    few, many = found
    assert few > 0
    assert (many - few) / (SIZES[1] - SIZES[0]) <= READS_PER_STEP[direction]


def test_reads_are_counted() -> None:
    from tvm.ir import IRModule

    module = IRModule({})
    with _reads_counted() as reads:
        module.attrs  # noqa: B018
    assert reads == [1]
    module.attrs  # noqa: B018
    assert reads == [1]
