"""Dataclasses whose methods are written later are as those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from relax_lint.support.lazy_dataclass import dataclass as lazy
from relax_lint.support.lazy_dataclass import record
from relax_lint.support.quick_init import quick_init


def _classes(make: Callable[..., Any]) -> tuple[Any, Any, Any]:
    @make(frozen=True)
    class Point:
        x: int
        y: int = 2
        names: tuple[str, ...] = field(default_factory=tuple, compare=False)
        hidden: int = field(default=0, repr=False, kw_only=True)

    @make(frozen=True, eq=False)
    class Handle:
        x: int

    @make(frozen=True)
    class Checked:
        """Refuses what is negative, and shows itself."""

        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

        def __repr__(self) -> str:
            return f"<{self.x}>"

    return Point, Handle, Checked


@pytest.fixture(params=[lazy, dataclasses.dataclass], ids=["lazy", "usual"])
def classes(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    return _classes(request.param)


def test_values(classes: tuple[Any, Any, Any]) -> None:
    point, _, _ = classes
    one = point(1, names=("a",), hidden=3)
    assert (one.x, one.y, one.names, one.hidden) == (1, 2, ("a",), 3)
    assert repr(one).endswith("Point(x=1, y=2, names=('a',))")
    assert one == point(1, 2, ("b",), hidden=3) != point(1)
    assert hash(one) == hash(point(1, 2, ("b",), hidden=3)) == hash((1, 2, 3))
    assert one != (1, 2, 3)
    assert dataclasses.replace(one, x=5) == point(5, hidden=3)
    assert [each.name for each in dataclasses.fields(point)] == ["x", "y", "names", "hidden"]
    assert copy.copy(one) == one
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "names": ("a",), "hidden": 3}
    match one:
        case point(x, y):
            assert (x, y) == (1, 2)


def test_what_is_refused(classes: tuple[Any, Any, Any]) -> None:
    point, _, checked = classes
    one = point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    for arguments, named in (((), {}), ((1, 2, (), 4), {}), ((1,), {"z": 1})):
        with pytest.raises(TypeError):
            point(*arguments, **named)
    with pytest.raises(ValueError, match="negative"):
        checked(-1)
    assert repr(checked(1)) == "<1>"


def test_without_equality_each_instance_is_itself(classes: tuple[Any, Any, Any]) -> None:
    _, handle, _ = classes
    one = handle(1)
    assert one == one
    assert one != handle(1)
    assert hash(one) == object.__hash__(one)


def test_classes_that_are_derived(classes: tuple[Any, Any, Any]) -> None:
    point: Any
    point, _, _ = classes

    class Plain(point):  # type: ignore[misc]
        pass

    @dataclasses.dataclass(frozen=True)
    class Wider(point):  # type: ignore[misc]
        z: int = 7

    assert Plain(1).y == 2
    assert Plain(1) != point(1)
    assert (Wider(1).x, Wider(1).z) == (1, 7)
    assert point(3).x == 3


@lazy(frozen=True)
class AtTheTop:
    """Can be found by its name."""

    x: int


def test_it_can_be_sent() -> None:
    assert pickle.loads(pickle.dumps(AtTheTop(3))) == AtTheTop(3)


def test_a_field_that_the_constructor_does_not_set_is_refused() -> None:
    class Counting:
        """Has one."""

        count: int = field(default=0, init=False)

    with pytest.raises(TypeError, match="Counting has a field that its constructor does not set"):
        lazy(frozen=True)(Counting)


def test_fields_may_have_any_name() -> None:
    names = ["values", "cls", "made", "fields", "arguments", "named", "keywords", "constructor", "stored"]
    cls: Any = dataclasses.make_dataclass("Names", [*names, ("rest", tuple, field(default_factory=tuple))])
    for make in (lazy(frozen=True), quick_init):
        kept = type(
            "Names",
            (),
            {"__annotations__": dict.fromkeys([*names, "rest"], Any), "rest": field(default_factory=tuple)},
        )
        made: Any = make(kept if make is not quick_init else dataclasses.dataclass(frozen=True)(kept))
        first, second = (made(**{name: name for name in names}) for _ in range(2))
        for one in (first, second):
            assert {name: getattr(one, name) for name in names} == {name: name for name in names}
            assert one.rest == ()
        assert dataclasses.astuple(first) == dataclasses.astuple(cls(*names))


def _derived(make: Callable[..., Any]) -> tuple[Any, Any]:
    @make(frozen=True)
    class Base:
        x: int

        def __repr__(self) -> str:
            return f"<{self.x}>"

    @make(frozen=True)
    class Derived(Base):
        y: tuple[int, ...] = field(default_factory=tuple)

    return Base, Derived


@pytest.mark.parametrize("make", [lazy, record, dataclasses.dataclass])
def test_a_class_that_is_derived_has_the_fields_of_both(make: Callable[..., Any]) -> None:
    base, derived = _derived(make)
    one = derived(1, (2,))
    assert (one.x, one.y, derived(1).y) == (1, (2,), ())
    assert one == derived(1, y=(2,)) != base(1)
    assert hash(one) == hash(derived(1, (2,)))
    assert repr(one).endswith("Derived(x=1, y=(2,))")
    assert repr(base(1)) == "<1>"
    assert dataclasses.replace(one, x=3) == derived(3, (2,))
    assert copy.deepcopy(one) == one


def test_a_guard_is_what_a_record_lacks() -> None:
    for one in (cls(1) for cls in _derived(lazy)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.x = 2
    for one in (cls(1) for cls in _derived(record)):
        one.x = 2
        assert one.x == 2
