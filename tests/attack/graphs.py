"""Saved graphs with one thing changed in their structure: an index, a type, a field."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import tvm

from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from tests.attack.trying import Attack

TEXT = """
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("double"):
                v = T.axis.spatial(n, i)
                y[v] = x[v] * T.float32(2)

    @R.function(pure=False)
    def main(
        x: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")
    ) -> R.Tensor(ndim=1, dtype="float32"):
        R.func_attr({"tir_var_upper_bound": {"m": 16}})
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        _ = Module.double(x, a)
        d = R.call_tir(Module.double, (R.const([1.0, 2.0]),), out_ty=R.Tensor((2,), "float32"))
        if c:
            t = R.memory.alloc_storage(
                R.shape([m * 4 // 3]), R.prim_value(0), R.str("global"), R.dtype("uint8")
            )
            b = R.memory.alloc_tensor(t, R.prim_value(0), R.shape([m]), R.dtype("float32"))
            _1 = Module.double(a, b)
            r = b
        else:
            p = (a, x)
            r = p[0]
        k = R.memory.kill_tensor(a)
        return r
"""
"""A function with storages, a branch, a tuple, a constant, a kernel and a declared bound."""

Graph = dict[str, Any]
Place = tuple[Any, Any]
"""A list or a dictionary, and where in it an index of a node may stand."""


def saved() -> Graph:
    """The graph of the module above."""
    (unit,) = read_units(TEXT.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    graph = json.loads(str(tvm.ir.save_json(parsed.ir_module)))
    assert isinstance(graph, dict)
    return graph


def _places(node: Any) -> list[Place]:
    data = node.get("data") if isinstance(node, dict) else None
    if isinstance(data, list):
        return [(data, at) for at in range(len(data))]
    if isinstance(data, dict):
        return [(data, name) for name, value in data.items() if type(value) is int]
    return []


def _numbered(graph: Graph) -> list[int]:
    return [number for number, node in enumerate(graph["nodes"]) if _places(node)]


def _pointed_elsewhere(target: Callable[[random.Random, int, int], Any]) -> Callable[..., None]:
    def change(graph: Graph, choose: random.Random) -> None:
        number = choose.choice(_numbered(graph))
        container, at = choose.choice(_places(graph["nodes"][number]))
        container[at] = target(choose, number, len(graph["nodes"]))

    return change


def _points_at_nothing(graph: Graph, choose: random.Random) -> None:
    container, at = choose.choice(_places(graph["nodes"][choose.choice(_numbered(graph))]))
    container[at] = _nothing(graph)


def _nothing(graph: Graph) -> int:
    """The number of a node that stands for nothing."""
    found = [number for number, node in enumerate(graph["nodes"]) if node["type"] == "None"]
    if not found:
        graph["nodes"].append({"type": "None"})
    return found[0] if found else len(graph["nodes"]) - 1


def without_one_part() -> Iterator[Attack]:
    """Nothing in place of each field and each item, once for each class, field and class of what was there."""
    graph = saved()
    nothing, nodes, seen = _nothing(graph), graph["nodes"], set()
    for number, node in enumerate(nodes):
        for container, at in _places(node):
            index = container[at]
            there = nodes[index]["type"] if 0 <= index < len(nodes) else ""
            name = f"{node['type']}.{at if isinstance(at, str) else 'item'} {there}"
            if index != nothing and name not in seen:
                seen.add(name)
                mutant = copy.deepcopy(graph)
                mutant["nodes"][number]["data"][at] = nothing
                yield Attack(name, json.dumps(mutant).encode(), "json")


def _points_at_another_of_its_type(graph: Graph, choose: random.Random) -> None:
    nodes = graph["nodes"]
    while True:
        container, at = choose.choice(_places(nodes[choose.choice(_numbered(graph))]))
        index = container[at]
        if type(index) is int and 0 <= index < len(nodes):
            alike = [n for n, node in enumerate(nodes) if node["type"] == nodes[index]["type"] and n != index]
            if alike:
                container[at] = choose.choice(alike)
                return


def _items(graph: Graph, choose: random.Random) -> list[Any]:
    nodes = [node["data"] for node in graph["nodes"] if node["type"] == "ffi.Array" and len(node["data"]) > 1]
    chosen = choose.choice(nodes)
    assert isinstance(chosen, list)
    return chosen


def _items_exchanged(graph: Graph, choose: random.Random) -> None:
    items = _items(graph, choose)
    items.insert(0, items.pop())


def _item_taken_out(graph: Graph, choose: random.Random) -> None:
    items = _items(graph, choose)
    items.pop(choose.randrange(len(items)))


def _item_twice(graph: Graph, choose: random.Random) -> None:
    items = _items(graph, choose)
    items.append(choose.choice(items))


def _node_taken_out(graph: Graph, choose: random.Random) -> None:
    graph["nodes"].pop(choose.randrange(len(graph["nodes"])))


def _node_emptied(graph: Graph, choose: random.Random) -> None:
    nodes = graph["nodes"]
    nodes[choose.randrange(len(nodes))] = choose.choice([None, {}, [], 3, {"type": "ir.Var"}, {"data": {}}])


def _type_of_another(graph: Graph, choose: random.Random) -> None:
    node, other = choose.sample(graph["nodes"], 2)
    node["type"] = other["type"]


def _type_unknown(graph: Graph, choose: random.Random) -> None:
    choose.choice(graph["nodes"])["type"] = choose.choice(["relax.Nothing", "ir.", "tirx.Var2", "ffi.Map "])


def _with_fields(graph: Graph, choose: random.Random) -> dict[str, Any]:
    chosen = choose.choice([node["data"] for node in graph["nodes"] if isinstance(node.get("data"), dict)])
    assert isinstance(chosen, dict)
    return chosen


def _field_taken_out(graph: Graph, choose: random.Random) -> None:
    fields = _with_fields(graph, choose)
    if fields:
        del fields[choose.choice(sorted(fields))]


def _field_of_another_kind(graph: Graph, choose: random.Random) -> None:
    fields = _with_fields(graph, choose)
    if fields:
        strange = [None, True, -1, 1.5, "text", [0], {"a": 0}, 2**63, 10**30, float("inf")]
        fields[choose.choice(sorted(fields))] = choose.choice(strange)


def _data_of_another(graph: Graph, choose: random.Random) -> None:
    node, other = choose.sample(graph["nodes"], 2)
    node["data"] = copy.deepcopy(other.get("data"))


def _root_elsewhere(graph: Graph, choose: random.Random) -> None:
    graph["root_index"] = choose.choice([-1, len(graph["nodes"]), "0", None, choose.randrange(20, 200)])


CHANGES: dict[str, Callable[[Graph, random.Random], None]] = {
    "points at itself": _pointed_elsewhere(lambda choose, number, size: number),
    "points ahead": _pointed_elsewhere(lambda choose, number, size: choose.randrange(number, size)),
    "points at another": _pointed_elsewhere(lambda choose, number, size: choose.randrange(size)),
    "points outside": _pointed_elsewhere(
        lambda choose, number, size: choose.choice([-1, size, 2**31, 2**63, -(2**40)])
    ),
    "points at nothing": _points_at_nothing,
    "points at another of its type": _points_at_another_of_its_type,
    "items exchanged": _items_exchanged,
    "item taken out": _item_taken_out,
    "item twice": _item_twice,
    "node taken out": _node_taken_out,
    "node emptied": _node_emptied,
    "type of another": _type_of_another,
    "type unknown": _type_unknown,
    "field taken out": _field_taken_out,
    "field of another kind": _field_of_another_kind,
    "data of another": _data_of_another,
    "root elsewhere": _root_elsewhere,
}


def changed(seed: int, each: int) -> Iterator[Attack]:
    """Each change `each` times, at places that follow from the seed."""
    graph = saved()
    for name, change in CHANGES.items():
        for number in range(each):
            mutant = copy.deepcopy(graph)
            change(mutant, random.Random(f"{name} {seed} {number}"))
            yield Attack(f"{name} {seed}.{number}", json.dumps(mutant).encode(), "json")
