"""Nodes of kernels under one name for all versions, and the ways out of statements."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.vm import nodes
from relax_lint.vm.exits import exit_of, exits_in
from relax_lint.vm.nodes import BitOperation
from tests.vm.nodes_of import call, evaluate, node, number, sequence, text

A, B = node("Var", name="a"), node("Var", name="b")
LOAD = node("BufferLoad", buffer=A, indices=())
NEW_LOAD = node("TensorLoad", source=A, indices=())


@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (LOAD, "BufferLoad"),
        (NEW_LOAD, "BufferLoad"),
        (A, "Var"),
        (node("LShift", a=A, b=B), "LShift"),
        (call("tirx.shift_left", A, B), "LShift"),
        (call("tir.if_then_else", A, A, B), "Select"),
        (call("tirx.exp", A), "call of exp"),
        (node("Call", op="a closure", args=()), "call of a closure"),
    ],
)
def test_an_expression_has_the_name_of_today(expr: Any, kind: str) -> None:
    assert nodes.expression_kind(expr) == kind


@pytest.mark.parametrize(
    ("expr", "found"),
    [
        (call("tir.shift_right", A, B), BitOperation("RShift", A, B)),
        (call("tir.bitwise_not", A), BitOperation("BitwiseNot", A)),
        (call("tir.if_then_else", A, A, B), None),
        (call("tir.exp", A), None),
        (A, None),
    ],
)
def test_a_call_of_an_operation_on_bits_is_one(expr: Any, found: BitOperation | None) -> None:
    assert nodes.bit_operation(expr) == found


def test_loads_and_regions_say_what_they_read_in_both_versions() -> None:
    assert [nodes.is_load(one) for one in (LOAD, NEW_LOAD, A)] == [True, True, False]
    assert nodes.loaded_buffer(LOAD) is nodes.loaded_buffer(NEW_LOAD) is A
    assert nodes.region_source(node("BufferRegion", buffer=B)) is B
    assert nodes.region_source(node("TensorRegion", source=B)) is B


def test_constants() -> None:
    assert nodes.is_kernel_constant(number(1))
    assert nodes.is_kernel_constant(node("FloatImm", value=1.0))
    assert not nodes.is_kernel_constant(A)
    assert nodes.is_saved_constant(node("Constant"))
    assert nodes.is_saved_constant(node("GenericConst"))
    assert not nodes.is_saved_constant(node("Var"))


def test_data_pointers_and_addresses_are_told_from_other_expressions() -> None:
    assert nodes.data_of_buffer(call("tirx.buffer_data", A)) is A
    assert nodes.data_of_buffer(call("tirx.address_of", A)) is None
    assert nodes.data_of_buffer(A) is None
    assert nodes.data_of_buffer(node("Call", op=B, args=(A,))) is None
    assert nodes.addressed(call("tirx.address_of", LOAD)) is LOAD
    assert nodes.addressed(call("tirx.address_of", A)) is None
    assert nodes.addressed(call("tirx.buffer_data", LOAD)) is None
    assert nodes.addressed(LOAD) is None
    assert nodes.addressed(node("Call", op=B, args=(LOAD,))) is None


def test_a_hint_is_taken_off_a_condition() -> None:
    assert nodes.without_hint(call("tirx.likely", A)) is A
    for other in (call("tirx.isnan", A), node("Call", op=B, args=(A,)), A):
        assert nodes.without_hint(other) is other


@pytest.mark.parametrize(
    ("loop", "tag"),
    [
        (node("For", kind=4, thread_binding=node("IterVar", thread_tag="threadIdx.x")), "threadIdx.x"),
        (node("For", kind=4, thread_binding=node("IterVar", thread_tag="vthread.x")), "vthread.x"),
        (node("For", kind=4, thread_binding=node("IterVar", thread_tag="vthread")), None),
        (node("For", kind=4, thread_binding=None), None),
        (node("For", kind=0, thread_binding=node("IterVar", thread_tag="threadIdx.x")), None),
        (node("AttrStmt", node=node("IterVar", thread_tag="blockIdx.y")), "blockIdx.y"),
        (node("AttrStmt", node=A), None),
    ],
)
def test_loops_over_one_thread_are_one_loop(loop: Any, tag: str | None) -> None:
    assert nodes.shared_thread(loop) == tag


@pytest.mark.parametrize(
    ("condition", "expected"), [(number(1), True), (number(0), False), (node("Cast", value=1), False)]
)
def test_only_a_constant_is_constant(condition: Any, expected: bool) -> None:
    assert nodes.is_constant_true(condition) is expected


NOTHING, STORE = evaluate(number(0)), node("BufferStore")


def _block(body: Any, name: str = "SBlockRealize") -> Any:
    return node(name, block=node("SBlock", body=body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (NOTHING, True),
        (evaluate(node("FloatImm", value=0.5)), True),
        (evaluate(call("tirx.ret", number(0))), False),
        (STORE, False),
        (sequence(NOTHING, NOTHING), True),
        (sequence(NOTHING, STORE), False),
        (sequence(STORE, NOTHING), False),
        (_block(NOTHING), True),
        (_block(NOTHING, "BlockRealize"), True),
        (_block(STORE), False),
    ],
)
def test_a_body_of_constants_does_nothing(body: Any, expected: bool) -> None:
    assert nodes.does_nothing(body) is expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (None, False),
        ({}, False),
        ({"tirx.noalias": True}, True),
        ({"tir.noalias": True}, True),
        ({"tirx.noalias": False, "tir.noalias": True}, False),
        ({"global_symbol": "f"}, False),
    ],
)
def test_a_kernel_promises_that_nothing_aliases(attributes: Any, expected: bool) -> None:
    assert nodes.says_no_alias(node("PrimFunc", attrs=attributes)) is expected


BREAK, CONTINUE, RETURN = node("Break"), node("Continue"), node("Return", value=A)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (BREAK, "break"),
        (CONTINUE, "continue"),
        (RETURN, "return"),
        (evaluate(call("tirx.break_loop")), "break"),
        (evaluate(call("tir.continue_loop")), "continue"),
        (evaluate(call("tirx.ret", A)), "return"),
        (evaluate(call("tirx.thread_return")), "return"),
        (evaluate(call("tirx.exp", A)), None),
        (evaluate(A), None),
        (evaluate(text("tirx.ret")), None),
        (evaluate(node("Call", op=A, args=())), None),
        (STORE, None),
    ],
)
def test_the_statement_that_leads_out(statement: Any, found: str | None) -> None:
    assert exit_of(statement) == found
    assert exits_in(statement) == ({found} if found else set())


def _branch(then: Any, other: Any = None) -> Any:
    return node("IfThenElse", then_case=then, else_case=other)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (sequence(BREAK, STORE, RETURN), {"break", "return"}),
        (sequence(), set()),
        (node("For", body=sequence(BREAK, CONTINUE, RETURN)), {"return"}),
        (node("While", body=CONTINUE), set()),
        (node("While", body=RETURN), {"return"}),
        (_branch(BREAK), {"break"}),
        (_branch(BREAK, CONTINUE), {"break", "continue"}),
        (_branch(STORE, RETURN), {"return"}),
        (node("AttrStmt", body=BREAK), {"break"}),
        (node("SBlockRealize", block=node("SBlock", body=CONTINUE)), {"continue"}),
    ],
)
def test_the_ways_out_of_what_holds_statements(statement: Any, found: set[str]) -> None:
    assert exits_in(statement) == found
