"""Run-time checks as a call of `vm.builtin.match_shape`: what they say, and that they survive a pipeline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import sympy
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.logic.boolalg import Boolean, Or
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline

import relax_lint
from relax_lint.facts.function import FunctionFacts
from relax_lint.fixes.changes import InsertAssert
from relax_lint.fixes.check_form import CheckForm, form_in_memory, form_in_text
from relax_lint.fixes.comparing import comparison
from relax_lint.fixes.module.changed import Inapplicable, apply_changes
from relax_lint.fixes.text.tvmscript import check_call
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Assert
from relax_lint.model.shape_conditions import equality
from relax_lint.repair.module_target import JudgedModule
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.functions import FloorMod, Select
from tests.fixes.fixing import fixed
from tests.fixes.test_module import OVERFLOW, main_of, overflow
from tests.fixes.test_text import HEADER, SIZED
from tests.rules.checking import DOUBLE, findings, parse

m, n = (sympy.Symbol(name, integer=True) for name in "mn")

MODEL = """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 4}})
        with R.dataflow():
            y = R.nn.softmax(x)
            z = R.nn.softmax(y)
            w = R.nn.softmax(z)
            R.output(w)
        return w
"""
TARGET = tvm.target.Target("llvm")
PASSES = [
    *pipeline.library_dispatch_passes(TARGET),
    *pipeline.legalize_passes(TARGET),
    *pipeline.dataflow_lower_passes(TARGET),
    *pipeline.finalize_passes(TARGET),
]
NAMES = [str(one.info.name) for one in PASSES]
PLANNED = NAMES.index("StaticPlanBlockMemory") + 1

CONDITIONS = [
    n <= 4,
    n < 5,
    n >= 2,
    n > 1,
    sympy.Ge(4, n, evaluate=False),
    sympy.Eq(n, 3),
    sympy.Ne(n, 3),
    sympy.Eq(FloorMod(n, 4), 0),
    Or(n <= 2, n >= 9),
    4 * n * m <= 64,
    n <= m,
    n < m,
    sympy.Eq(n, m),
    sympy.Ne(n, m),
    sympy.Eq(FloorMod(n, 2), FloorMod(m, 2)),
    Or(n <= 2, m <= 2),
]


@pytest.mark.parametrize("differences", [True, False])
@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_a_comparison_holds_where_the_condition_does(condition: Boolean, differences: bool) -> None:
    made = comparison(condition, differences=differences)
    symbols = (n, m)
    read = equality(made.value, sympy.Integer(made.allowed))
    holds, again = compile_condition(condition, symbols), compile_condition(read, symbols)
    same = compile_condition(sympy.Eq(made.value, made.allowed), symbols)

    @settings(max_examples=60, deadline=None)
    @given(st.integers(-20, 20), st.integers(-20, 20))
    def agrees(a: int, b: int) -> None:
        assert holds(a, b) == same(a, b) == again(a, b)

    agrees()


def test_what_is_limited_is_read_back_as_the_limit() -> None:
    assert equality(sympy.Max(n, 4), sympy.Integer(4)) == (n <= 4)
    assert equality(sympy.Min(n, 4), sympy.Integer(4)) == (n >= 4)
    assert equality(Select(n > m, sympy.Integer(0), sympy.Integer(1)), sympy.Integer(0)) == (n > m)
    assert equality(Select(n > m, sympy.Integer(0), m), sympy.Integer(0)) == Or(n > m, sympy.Eq(m, 0))


def lowered(passes: list[Any]) -> Any:
    with TARGET:
        return tvm.transform.Sequential(passes)(parse(MODEL))


def insert_checks(module: Any) -> Any:
    return tvm.transform.Sequential([relax_lint.InsertMemoryChecks()])(module)


def run(module: Any, rest: list[Any], mode: str, rows: int) -> None:
    built = relax.build(module, TARGET, relax_pipeline=tvm.transform.Sequential(rest), exec_mode=mode)
    machine = relax.VirtualMachine(built, tvm.cpu())
    machine["main"](tvm.runtime.tensor(np.zeros((rows, 8), "float32")))


def with_check(module: Any) -> Any:
    """The check of `n <= 4` where it belongs: the pass inserts none before memory is planned."""
    function = main_of(module)
    (symbol,) = (info.symbol for info in function.symbols if info.symbol.name == "n")
    check = InsertAssert(symbol <= 4, (symbol,), None, comparison(symbol <= 4, differences=True))
    return apply_changes(module, [(function, check)])


@pytest.mark.long
@pytest.mark.parametrize("at", range(len(PASSES) + 1), ids=lambda at: ["given", *NAMES][at])
def test_a_check_survives_wherever_it_is_inserted(at: int) -> None:
    module = lowered(PASSES[:at])
    checked = with_check(module) if at < PLANNED else insert_checks(module)
    assert "match_shape" in checked.script()
    mode = ("bytecode", "compiled")[at % 2]
    run(checked, PASSES[at:], mode, 4)
    with pytest.raises(RuntimeError, match=r"\(5 vs. 4\) : n <= 4 is needed \(n vs. 4\)"):
        run(checked, PASSES[at:], mode, 5)
    with TARGET:
        done = tvm.transform.Sequential(PASSES[at:])(checked)
    assert not findings(done, "RLX501")
    assert not findings(done, "RLX1")


def test_behind_the_shape_heap_a_kernel_computes_the_number() -> None:
    checked = insert_checks(lowered(PASSES))
    names = [str(var.name_hint) for var in checked.get_global_vars()]
    (name,) = [name for name in names if "memory_check" in name]
    assert checked[name].attrs["tirx.is_host_func"]
    assert insert_checks(checked).same_as(checked)


def test_a_symbol_that_is_in_no_slot_is_said_to_be_missing() -> None:
    module = lowered(PASSES)
    function = main_of(module)
    check = InsertAssert(m <= 4, (m,), None, comparison(m <= 4, differences=True))
    with pytest.raises(Inapplicable, match="no IR variable represents m"):
        apply_changes(module, [(function, check)])
    (symbol,) = (info.symbol for info in function.symbols if info.symbol.name == "n")
    with pytest.raises(Inapplicable, match=r"nothing lowers `R\.assert_op`"):
        apply_changes(module, [(function, InsertAssert(symbol <= 4, (symbol,), None))])


@pytest.mark.parametrize("name", ["cuda", "vulkan"])
def test_in_a_module_for_a_gpu_the_kernel_of_a_check_is_for_the_host(name: str) -> None:
    target = tvm.target.Target(name, host="llvm")
    with target:
        module = relax.get_default_pipeline(target)(parse(MODEL))
    checked = insert_checks(module)
    assert not findings(checked, "RLX501")
    bound = tvm.tirx.transform.BindTarget(target)(checked)
    (kernel,) = [bound[var] for var in bound.get_global_vars() if "memory_check" in str(var.name_hint)]
    assert kernel.attrs["target"].kind.name == "llvm"


def test_the_form_follows_how_far_a_module_is_lowered() -> None:
    by_name = dict(
        zip(["given", *NAMES], (lowered(PASSES[:at]) for at in range(len(PASSES) + 1)), strict=True)
    )
    forms = {name: form_in_memory("auto", module) for name, module in by_name.items()}
    operators = [name for name, form in forms.items() if form is CheckForm.ASSERT_OP]
    assert operators == ["given", "DispatchSampling", "DispatchSortScan"]
    in_text = {name: form_in_text("auto", build_program(module)) for name, module in by_name.items()}
    assert in_text["StaticPlanBlockMemory"] is CheckForm.ASSERT_OP
    assert in_text["LowerRuntimeBuiltin"] is CheckForm.BUILTIN
    assert form_in_text("builtin", build_program(by_name["given"])) is CheckForm.BUILTIN
    assert form_in_memory("assert-op", by_name["VMShapeLower"]) is CheckForm.ASSERT_OP


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="kernel"):
        relax_lint.InsertMemoryChecks(form="kernel")
    with pytest.raises(ValueError, match="check-form"):
        relax_lint.fix(overflow(), {"check-form": "kernel"})


def test_the_text_of_a_builtin_reads_back_as_a_check() -> None:
    config = Config(select=("RLX101",), fix_strategy="assert", check_form="builtin")
    made = fixed(HEADER + SIZED, config)
    (line,) = [line.strip() for line in made.text.splitlines() if "match_shape" in line]
    assert line == (
        'R.call_packed("vm.builtin.match_shape", R.shape([T.max(m, 4)]), R.prim_value(0), R.prim_value(1), '
        'R.prim_value(0), R.prim_value(4), R.str("m <= 4 is needed (m vs. 4);"), ty_args=(R.Tuple,))'
    )
    assert fixed(made.text, config).text == made.text


def test_an_old_dialect_gets_the_keyword_that_it_has() -> None:
    check = InsertAssert(m <= 4, (m,), None, comparison(m <= 4, differences=True))
    assert check_call(check, is_old=True).endswith("sinfo_args=(R.Tuple,))")


def test_a_choice_is_written_in_64_bits() -> None:
    condition = sympy.Ne(FloorMod(m, 4), 0)
    check = InsertAssert(condition, (m,), None, comparison(condition, differences=True))
    assert "T.Select(m % 4 != 0, T.int64(-1), m)" in check_call(check)
    several = Or(n <= 2, m <= 2)
    check = InsertAssert(several, (m, n), None, comparison(several, differences=True))
    assert "T.Select(T.Or(m <= 2, n <= 2), T.int64(0), T.int64(1))" in check_call(check)


def test_the_check_is_an_assertion_of_the_program_before_and_after_lowering() -> None:
    with_it = with_check(lowered([]))
    for passes in ([], PASSES):
        with TARGET:
            module = tvm.transform.Sequential(passes)(with_it)
        facts = [
            op.fact for op in main_of(module).body.walk() if isinstance(op, Assert) and op.fact is not None
        ]
        assert any(str(fact.condition) == "n <= 4" for fact in facts)


@pytest.mark.long
@pytest.mark.vm
@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
def test_an_exported_library_needs_no_python_function(tmp_path: Path, mode: str) -> None:
    """Only the C++ runtime is loaded: no Python package has registered any function of TVM's."""
    module = insert_checks(lowered(PASSES[:PLANNED]))
    rest = tvm.transform.Sequential(PASSES[PLANNED:])
    library = tmp_path / "model.so"
    relax.build(module, TARGET, relax_pipeline=rest, exec_mode=mode).export_library(str(library))
    runtime = next((Path(tvm.__file__).parent / "lib").glob("libtvm_runtime.*"), None)
    if runtime is None:
        pytest.skip("the runtime has no library of its own here")
    done = subprocess.run(
        [sys.executable, "-c", _CLIENT, str(runtime), str(library)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.splitlines()[:2] == ["absent", "4 rows"], done.stderr
    assert "(5 vs. 4) : n <= 4 is needed (n vs. 4)" in done.stdout


_CLIENT = """
import ctypes, sys
import numpy, tvm_ffi
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
print("absent" if tvm_ffi.get_global_func("relax.run.assert_op", allow_missing=True) is None else "present")
machine = tvm_ffi.load_module(sys.argv[2])["vm_load_executable"]()
machine["vm_initialization"](1, 0, 2)
for rows in (4, 5):
    try:
        print(machine["main"](tvm_ffi.from_dlpack(numpy.zeros((rows, 8), "float32"))).shape[0], "rows")
    except RuntimeError as error:
        print(error)
assert "tvm" not in sys.modules
"""


def test_functions_that_a_fix_leaves_alone_are_not_judged_again() -> None:
    module = parse(f"{DOUBLE}{OVERFLOW}{OVERFLOW.replace('main', 'other')}")
    before = JudgedModule(module, Config())
    function = main_of(module)
    (symbol,) = (info.symbol for info in function.symbols if info.symbol.name == "m")
    made = apply_changes(module, [(function, InsertAssert(symbol <= 4, (symbol,), None))])
    with patch.object(FunctionFacts, "__init__", autospec=True, side_effect=FunctionFacts.__init__) as facts:
        after = JudgedModule(made, Config(), before)
    assert {call.args[2].name for call in facts.call_args_list} == {"main"}
    assert after.tally == JudgedModule(made, Config()).tally
