"""Values and the fields of tuples, and what is known of each field of a tuple apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from relax_lint.model.operations import ValueId
from relax_lint.support.quick_init import quick_init


@quick_init
@dataclass(frozen=True, order=True)
class AccessPath:
    """A value, or (`fields`, outermost first) a field of a tuple that it is."""

    value: ValueId
    fields: tuple[int, ...] = ()


Item = TypeVar("Item")
Other = TypeVar("Other")
Tree: TypeAlias = "frozenset[Item] | tuple[Tree[Item], ...]"
"""One set for a value that is no tuple, else a tree for each field."""


def everything(tree: Tree[Item]) -> frozenset[Item]:
    """The items of all fields."""
    if isinstance(tree, frozenset):
        return tree
    found: set[Item] = set()
    pending: list[Tree[Item]] = [tree]
    seen = {id(tree)}
    while pending:
        one = pending.pop()
        if isinstance(one, frozenset):
            found |= one
            continue
        for field in one:
            # A tuple may be in many others, and twice in each.
            if id(field) not in seen:
                seen.add(id(field))
                pending.append(field)
    return frozenset(found)


def leaves(tree: Tree[Item]) -> Iterable[frozenset[Item]]:
    """The set of each field that is no tuple."""
    if isinstance(tree, frozenset):
        yield tree
    else:
        for field in tree:
            yield from leaves(field)


def at(tree: Tree[Item], fields: tuple[int, ...]) -> Tree[Item]:
    """What is known of a field; that of the whole value where its fields are not known apart."""
    for field in fields:
        if isinstance(tree, frozenset):
            return tree
        tree = tree[field] if field < len(tree) else everything(tree)
    return tree


def joined(one: Tree[Item], other: Tree[Item]) -> Tree[Item]:
    """Everything that is in either, field by field."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(joined(*pair) for pair in zip(one, other, strict=True))
    return everything(one) | everything(other)


def with_each(tree: Tree[Item], more: frozenset[Item]) -> Tree[Item]:
    """The same with more items in the set of every field."""
    if isinstance(tree, frozenset):
        return tree | more
    return tuple(with_each(field, more) for field in tree)


def mapped(
    tree: Tree[Item], change: Callable[[frozenset[Item], tuple[int, ...]], frozenset[Other]]
) -> Tree[Other]:
    """The same tree with other sets; `change` is given each set and where it is."""
    return _mapped(tree, change, ())


def _mapped(
    tree: Tree[Item],
    change: Callable[[frozenset[Item], tuple[int, ...]], frozenset[Other]],
    fields: tuple[int, ...],
) -> Tree[Other]:
    if isinstance(tree, frozenset):
        return change(tree, fields)
    return tuple(_mapped(field, change, (*fields, i)) for i, field in enumerate(tree))


def with_fields(
    tree: Tree[Item], fields: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], frozenset[Item]]]:
    """The set of each field that is no tuple, and where it is."""
    if isinstance(tree, frozenset):
        yield fields, tree
    else:
        for index, field in enumerate(tree):
            yield from with_fields(field, (*fields, index))
