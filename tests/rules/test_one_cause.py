"""One finding for one cause, and no alarm about what is meant, or about a machine that nobody named."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint import check as checked
from relax_lint.results.check import Check, is_finding
from tests.rules.checking import DOUBLE, findings, parse, stages

BOUND = '{"tir_var_upper_bound": {"n": 8, "k": 4, "typo": 3}}'
BOUNDED = """
@R.function(pure=False)
def %s(x: R.Tensor(("%s",), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": 8, "k": 4, "typo": 3}})
    %s = T.int64()
    storage = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([%s]), "float32")
    Module.double(x, a)
    return a
"""
ALLOCATOR = """
@R.function(pure=False)
def make():
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    return a
"""


def found(body: str, code: str, **options: Any) -> list[Check]:
    """What is reported of a module."""
    report = checked(parse(body), {"select": [code], **options})
    return [check for check in report.checks if is_finding(check)]


def bounded(name: str, symbol: str) -> str:
    """A function with the map of bounds that every function has."""
    return BOUNDED % (name, symbol, symbol, symbol)


def test_one_map_of_bounds_is_one_statement() -> None:
    body = DOUBLE + bounded("first", "n") + bounded("second", "n") + bounded("third", "k")
    (unknown,) = found(body, "RLX502")
    assert "names `typo`" in unknown.message
    assert unknown.notes == ("the same in 2 more functions: `second`, `third`",)
    relied = found(body, "RLX501")
    assert [(check.function, check.severity.value) for check in relied] == [("first", "warning")] * 1 + [
        ("third", "warning")
    ]
    assert "the same in 1 more function: `second`" in relied[0].notes


def test_a_lower_bound_of_an_unknown_name_is_a_note() -> None:
    body = DOUBLE + bounded("first", "n").replace("upper_bound", "lower_bound").replace('"k": 4, ', "")
    assert {check.severity.value for check in found(body, "RLX502")} == {"note"}


def test_an_unknown_name_where_no_symbol_is_without_bound_is_a_note() -> None:
    def severities(body: str) -> set[str]:
        return {check.severity.value for check in found(DOUBLE + body, "RLX502")}

    assert severities(bounded("first", "n")) == {"note"}
    assert severities(bounded("first", "m")) == {"warning"}
    assert severities(bounded("first", "n") + bounded("second", "m")) == {"warning"}
    static = bounded("first", "n").replace("    n = T.int64()\n", "").replace('"n",', "8,")
    assert severities(static.replace("R.shape([n])", "R.shape([8])")) == {"note"}


def test_what_an_allocator_returns_is_for_its_callers_to_write() -> None:
    (alone,) = found(ALLOCATOR, "RLX205")
    assert (alone.verdict.value, alone.severity.value) == ("always-wrong", "note")
    assert alone.notes == ("`make` only allocates: those who call it, which are not known, have to write it",)
    caller = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    a = Module.make()
    {}
    return a
"""
    assert found(DOUBLE + ALLOCATOR + caller.format("Module.double(x, a)"), "RLX205") == []
    (unfilled,) = found(DOUBLE + ALLOCATOR + caller.format("b = a"), "RLX205")
    assert (unfilled.function, unfilled.severity.value) == ("main", "error")


ALLOCATING = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    output = R.builtin.alloc_tensor(R.shape([n * 2 + 1, {extent}]), R.dtype("uint8"), 0, R.str("global"))
    return output
"""


@pytest.mark.parametrize("extent", ["n", "4"])
def test_a_function_that_only_allocates_is_one_at_every_stage(extent: str) -> None:
    """VMShapeLower adds a heap, checks of types and kernels that compute shapes."""
    for stage, module in stages(parse(ALLOCATING.format(extent=extent))):
        (check,) = findings(module, "RLX205")
        assert check.severity.value == "note", stage


CACHED = """
@R.function(private=True)
def alloc():
    s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    return (s,)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    t = R.call_builtin_with_ctx(
        "vm.builtin.cuda_graph.get_cached_alloc", (Module.alloc, 0), ty_args=R.Tuple(R.Object)
    )
    s = t[0]
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    {}
    return a
"""


def test_storages_of_a_cuda_graph_are_allocated_as_well() -> None:
    (alone,) = found(CACHED.format("b = a"), "RLX205")
    assert (alone.function, alone.severity.value) == ("main", "note")
    assert found(DOUBLE + CACHED.format("Module.double(x, a)"), "RLX205") == []


def test_a_stub_is_named_and_makes_no_error() -> None:
    stub = """
@T.prim_func(private=True)
def later(a: T.Buffer((4,), "float32")):
    T.evaluate(0)

@R.function(pure=False)
def main():
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.later(a)
    return a
"""
    (told,) = found(stub, "RLX205")
    assert told.severity.value == "note"
    # It may receive other tensors, too.
    other = stub.replace("later(a:", 'later(x: T.Buffer((4,), "float32"), a:')
    (same,) = found(
        other.replace("main()", 'main(x: R.Tensor((4,), "float32"))').replace("(a)\n", "(x, a)\n"), "RLX205"
    )
    assert (same.message, same.severity) == (told.message, told.severity)
    assert told.message == "nothing writes `a` before it is returned: `later`, which receives it, is a stub"
    assert found(stub, "RLX205", strict=True)[0].severity.value == "error"


def test_a_stub_that_another_function_calls_is_not_named() -> None:
    program = """
@T.prim_func(private=True)
def later(a: T.Buffer((4,), "float32")):
    T.evaluate(0)

@R.function(private=True, pure=False)
def made():
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    CALL
    return a

@R.function(private=True, pure=False)
def other(x: R.Tensor((4,), "float32")):
    Module.later(x)
    return x

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    b = Module.made()
    c = Module.other(x)
    d = R.add(b, c)
    return d
"""
    with_it = program.replace("CALL", "Module.later(a)")
    for text, is_named in ((program.replace("    CALL\n", ""), False), (with_it, True)):
        told = [check for check in found(text, "RLX205") if check.function == "main"]
        assert told
        assert all(("`later`" in check.message) == is_named for check in told)


@pytest.mark.parametrize(("code", "device", "scope"), [("RLX401", 1, "global"), ("RLX403", 0, "shared")])
def test_a_machine_that_nobody_named_is_no_reason_for_an_error(code: str, device: int, scope: str) -> None:
    body = ALLOCATOR.replace('0, "global"', f'{device}, "{scope}"')
    settings: dict[str, dict[str, Any]] = {"": {}, "target": {"target": "llvm"}, "strict": {"strict": True}}
    severities = {
        name: [check.severity.value for check in found(body, code, **options)]
        for name, options in settings.items()
    }
    assert severities == {"": ["note"], "target": ["error"], "strict": ["error"]}
    (assumed,) = found(body, code)
    assert "no target is named" in assumed.assumes[0] or "no device or target is named" in assumed.assumes[0]


CAPTURED = """
@R.function(pure=False)
def capture(x: R.Tensor((4,), "float32"), storage: R.Object):
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.double(x, a)
    return (a,)

@R.function(pure=False)
def make():
    first = R.vm.alloc_storage(R.shape([8]), 0, "uint8")
    second = R.vm.alloc_storage(R.shape([16]), 0, "uint8")
    return (first, second)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    gv = R.call_builtin_with_ctx(
        "vm.builtin.cuda_graph.get_cached_alloc", (Module.make, R.prim_value(0)),
        ty_args=[R.Tuple(R.Object, R.Object)],
    )
    storage = gv[FIELD]
    passed = (x, storage)
    done = R.call_builtin_with_ctx(
        "vm.builtin.cuda_graph.run_or_capture", (Module.capture, passed, R.prim_value(0)), ty_args=[R.Object]
    )
    return done
"""


@pytest.mark.parametrize(("field", "expected"), [("0", "always-wrong"), ("1", "always-fine")])
def test_a_storage_that_is_a_parameter_is_judged_with_the_calls(field: str, expected: str) -> None:
    report = checked(parse(DOUBLE + CAPTURED.replace("FIELD", field)), {"select": ["RLX101"]})
    (check,) = [check for check in report.checks if check.function == "capture"]
    assert check.verdict.value == expected
    assert check.assumes == ("`storage` is what the calls of `capture` in this module pass",)


def test_what_the_program_computes_is_one_note_for_each_source() -> None:
    module = tvm.script.from_source(
        """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((8, 9), "float32"), begin: R.Tensor((2,), "int64"), end: R.Tensor((2,), "int64"),
        strides: R.Tensor((2,), "int64"),
    ) -> R.Tensor("float32", ndim=2):
        gv = R.dynamic_strided_slice(x, begin, end, strides)
        return gv
"""
    )
    report = checked(module, {"lower": True, "select": ["RLX1"]})
    (told,) = [check for check in report.checks if is_finding(check)]
    assert told.severity.value == "note"
    assert "2 checks depend on what is computed here" in told.notes


SYMBOLIC = """
@R.function(pure=False, private=True)
def put(x: R.Tensor(("k",), "float32"), storage: R.Object):
    k = T.int64()
    a = R.memory.alloc_tensor(storage, 0, R.shape([k]), "float32")
    Module.double(x, a)
    return a

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": BOUND}})
    storage = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
    return Module.put(x, storage)
"""


@pytest.mark.parametrize(
    ("bound", "expected"), [(8, ("always-fine", "none")), (9, ("needs-runtime-check", "note"))]
)
def test_what_a_caller_declares_holds_for_the_storage_that_it_passes(
    bound: int, expected: tuple[str, str]
) -> None:
    report = checked(parse(DOUBLE + SYMBOLIC.replace("BOUND", str(bound))), {"select": ["RLX101"]})
    (check,) = report.checks
    assert (check.verdict.value, check.severity.value) == expected
    assert bool(check.assumes) == (bound == 8)
