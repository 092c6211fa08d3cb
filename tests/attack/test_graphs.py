"""Saved graphs that are no graphs of a module any more: each is refused or judged, and the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import relax_lint
from relax_lint.results.check import is_finding
from tests.api.programs import OVERFLOW
from tests.attack import graphs
from tests.attack.trying import Attack, Outcome, attempt


def tried(seed: int, each: int) -> dict[str, Outcome]:
    """What came of the changed graphs; TVM may crash on one, and nothing of ours may fail."""
    outcomes = attempt(graphs.changed(seed, each), limit_s=10.0)
    for name, outcome in outcomes.items():
        assert not outcome.events, (name, outcome)
        assert outcome.failure.split(":")[0] in ("", "crash"), (name, outcome)
        assert outcome.refused or outcome.functions, (name, outcome)
    return outcomes


def test_a_change_of_the_structure_is_refused_or_judged() -> None:
    outcomes = tried(seed=1, each=2)
    assert len(outcomes) == 2 * len(graphs.CHANGES)
    assert any(outcome.functions for outcome in outcomes.values())
    assert any(outcome.rules for outcome in outcomes.values())


@pytest.mark.slow
def test_a_part_that_is_missing_is_refused_or_judged() -> None:
    outcomes = attempt(graphs.without_one_part(), limit_s=10.0)
    assert len(outcomes) > 150
    for name, outcome in outcomes.items():
        assert not outcome.events, (name, outcome)
        assert outcome.failure.split(":")[0] in ("", "crash"), (name, outcome)
        assert outcome.refused or outcome.functions, (name, outcome)


def without_the_value_of_a_binding(graph: graphs.Graph) -> None:
    _emptied(graph, "VarBinding", "value")


def without_a_result(graph: graphs.Graph) -> None:
    _emptied(graph, "SeqExpr", "body")


def without_an_operator(graph: graphs.Graph) -> None:
    _emptied(graph, "Call", "op")


def without_a_body_of_a_kernel(graph: graphs.Graph) -> None:
    _emptied(graph, "PrimFunc", "body")


def without_an_argument(graph: graphs.Graph) -> None:
    args = graph["nodes"][first(graph, "Call")]["data"]["args"]
    graph["nodes"][args]["data"][0] = _number_of_nothing(graph)


def _emptied(graph: graphs.Graph, kind: str, field: str) -> None:
    graph["nodes"][first(graph, kind)]["data"][field] = _number_of_nothing(graph)


def _number_of_nothing(graph: graphs.Graph) -> int:
    return next(number for number, node in enumerate(graph["nodes"]) if node["type"] == "None")


INCOMPLETE = (
    *(without_the_value_of_a_binding, without_a_result, without_an_operator),
    *(without_a_body_of_a_kernel, without_an_argument),
)


@pytest.mark.parametrize("change", INCOMPLETE)
def test_what_is_incomplete_is_refused(change: Callable[[graphs.Graph], None]) -> None:
    graph = graphs.saved()
    change(graph)
    outcome = attempt([Attack("changed", json.dumps(graph).encode(), "json")])["changed"]
    assert (outcome.rules, outcome.failure, outcome.events) == ({"RLX901"}, "", [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_changes(seed: int) -> None:
    tried(seed, each=20)


def first(graph: graphs.Graph, kind: str) -> int:
    """The number of the first node of a type that has data. Releases of TVM group the types differently."""
    nodes = enumerate(graph["nodes"])
    return next(n for n, node in nodes if node["type"].rpartition(".")[2] == kind and node.get("data"))


def a_cycle(graph: graphs.Graph) -> None:
    number = first(graph, "Array")
    graph["nodes"][number]["data"][0] = number


def a_longer_cycle(graph: graphs.Graph) -> None:
    number = first(graph, "ShapeExpr")
    values = graph["nodes"][number]["data"]["values"]
    graph["nodes"][values]["data"][0] = number


def a_missing_node(graph: graphs.Graph) -> None:
    graph["nodes"].pop()


def a_wrong_index(graph: graphs.Graph) -> None:
    graph["nodes"][first(graph, "Array")]["data"][0] = len(graph["nodes"]) + 7


def a_negative_index(graph: graphs.Graph) -> None:
    graph["nodes"][first(graph, "Array")]["data"][0] = -1


def another_node(graph: graphs.Graph) -> None:
    number = first(graph, "Function")
    graph["nodes"][number]["data"]["body"] = graph["nodes"][number]["data"]["attrs"]


def an_unknown_type(graph: graphs.Graph) -> None:
    graph["nodes"][first(graph, "Function")]["type"] = "relax.Nothing"


def the_type_of_another(graph: graphs.Graph) -> None:
    graph["nodes"][first(graph, "GlobalVar")]["type"] = "ir.Var"


BROKEN: tuple[Callable[[graphs.Graph], None], ...] = (
    *(
        a_cycle,
        a_longer_cycle,
        a_missing_node,
        a_wrong_index,
        a_negative_index,
        another_node,
        an_unknown_type,
    ),
    the_type_of_another,
)


def a_field_too_far(graph: graphs.Graph) -> None:
    graph["nodes"][first(graph, "TupleGetItem")]["data"]["index"] = 300


def shapes_without_extents(graph: graphs.Graph) -> None:
    types = [node["data"] for node in graph["nodes"] if node["type"].rpartition(".")[2] == "TensorType"]
    scalar = next(one for one in types if one["ndim"] == 0)
    for one in types:
        one["shape"] = scalar["shape"]


def an_argument_less(graph: graphs.Graph) -> None:
    number = max(
        n for n, node in enumerate(graph["nodes"]) if node.get("data") == "relax.memory.alloc_tensor"
    )
    for node in graph["nodes"]:
        if node["type"].rpartition(".")[2] == "Call" and node["data"]["op"] == number:
            graph["nodes"][node["data"]["args"]]["data"].pop(1)


@pytest.mark.parametrize("change", [a_field_too_far, shapes_without_extents, an_argument_less])
def test_what_tvm_loads_all_the_same_is_judged(change: Callable[[graphs.Graph], None]) -> None:
    graph = graphs.saved()
    change(graph)
    outcome = attempt([Attack("changed", json.dumps(graph).encode(), "json")])["changed"]
    assert (outcome.functions, outcome.failure) == (1, "")


def test_the_other_files_of_the_run_are_judged(tmp_path: Path) -> None:
    for change in BROKEN:
        graph = graphs.saved()
        change(graph)
        (tmp_path / f"{change.__name__}.json").write_text(json.dumps(graph))
    (tmp_path / "whole.json").write_text(json.dumps(graphs.saved()))
    (tmp_path / "zz.py").write_text(OVERFLOW)
    report = relax_lint.check(tmp_path, {"time-limit": 20, "jobs": 1})
    found = {
        Path(file.input.path).stem: {check.rule for check in file.checks if is_finding(check)}
        for file in report.files
    }
    assert found.pop("zz") == {"RLX101"}
    assert "RLX101" in found.pop("whole")
    for name, rules in found.items():
        assert len(rules) == 1, name
        # TVM itself crashes on some cycles.
        assert rules <= ({"RLX901", "RLX904"} if "cycle" in name else {"RLX901"}), name
    assert len(found) == len(BROKEN)
