"""`quick_init` gives the constructor that `dataclasses` would have written."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from relax_lint.support.quick_init import quick_init


@quick_init
@dataclass(frozen=True)
class Base:
    """One field without and one with a default."""

    first: int
    second: str = "two"


@quick_init
@dataclass(frozen=True)
class Derived(Base):
    """A factory, and a field that only a keyword gives."""

    many: list[int] = field(default_factory=list)
    last: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Plain:
    """As `Derived`, by `dataclasses` alone."""

    first: int
    second: str = "two"
    many: list[int] = field(default_factory=list)
    last: int = field(default=0, kw_only=True)


def test_it_takes_and_stores_what_the_plain_one_does() -> None:
    for arguments, keywords in (((1,), {}), ((1, "b", [2]), {"last": 3}), ((), {"first": 4, "many": [5]})):
        made, plain = Derived(*arguments, **keywords), Plain(*arguments, **keywords)
        assert vars(made) == vars(plain)
    assert list(inspect.signature(Derived).parameters) == list(inspect.signature(Plain).parameters)


def test_a_factory_makes_one_for_each() -> None:
    assert Derived(1).many is not Derived(1).many


def test_what_is_missing_or_unknown_is_refused() -> None:
    for keywords in ({}, {"first": 1, "other": 2}):
        with pytest.raises(TypeError):
            Derived(**keywords)  # type: ignore[arg-type]


def test_it_stays_frozen_and_can_be_copied() -> None:
    made = Derived(1, last=2)
    with pytest.raises(FrozenInstanceError):
        made.first = 2  # type: ignore[misc]
    assert replace(made, second="b") == Derived(1, "b", last=2)
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(Base(1)) == hash(Base(1))


def test_a_field_that_the_constructor_leaves_is_refused() -> None:
    @dataclass(frozen=True)
    class Computed:
        """A field that is not given."""

        later: int = field(init=False, default=0)

    with pytest.raises(TypeError):
        quick_init(Computed)
