"""What stands in the expressions of kernels, loops of unknown steps, and blocks one behind the other."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.kernel_body.fills import in_a_row
from relax_lint.model.kernel_parts import Fill
from relax_lint.symbolic.parsing import parse_expr
from tests.model.test_kernel_bodies import kernel


@pytest.mark.parametrize(
    "form",
    [
        "T.Cast('float32', T.Cast('int32', {}))",
        "T.Cast('float32', T.bitwise_not(T.Cast('int32', {})))",
        "T.Cast('float32', T.Not({} > T.float32(0)))",
        "T.Select(x[1] > {}, x[0], x[2])",
        "T.Select(x[1] > x[2], {}, x[2])",
        "T.Select(x[1] > x[2], x[0], {})",
        "T.if_then_else(x[1] > {}, x[0], x[2])",
        "T.if_then_else(x[1] > x[2], {}, x[2])",
        "T.if_then_else(x[1] > x[2], x[0], {})",
        *(
            f"T.Select(T.{joined}({first}, {second}), x[0], x[2])"
            for joined in ("And", "Or")
            for first, second in (("x[1] > x[2]", "x[0] > {}"), ("x[1] > {}", "x[0] > x[1]"))
        ),
        *(f"T.Select(x[0] {relation} {{}}, x[0], x[2])" for relation in ("==", "!=", "<", "<=", ">", ">=")),
        *(f"x[0] {operator} {{}}" for operator in "+-*/"),
        *(f"T.{name}(x[0], {{}})" for name in ("min", "max")),
        *(f"T.{name}({{}}, x[0])" for name in ("min", "max")),
        *(
            f"T.Cast('float32', T.{name}(T.Cast('int32', {{}}), 3))"
            for name in (
                *("floordiv", "floormod", "truncdiv", "truncmod"),
                *("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"),
            )
        ),
        "x[T.Cast('int32', {})]",
        "T.exp({})",
        "T.Let({0} * {0}, where={{T.Var('v', 'float32'): {0}}})",
    ],
)
def test_what_stands_in_any_expression_is_read(form: str) -> None:
    assert 1 in kernel(f"x[0] = {form.format('y[0]')}", x="8", y="8").reads
    assert 1 not in kernel(f"x[0] = {form.format('x[3]')}", x="8", y="8").reads


@pytest.mark.parametrize("form", ["T.Broadcast({}, 4)", "T.Ramp(T.Cast('int32', {}), 1, 4)"])
def test_what_stands_in_a_vector_is_read(form: str) -> None:
    for element in ("y[0]", "x[3]"):
        taken = f"T.evaluate(T.call_extern('int32', 'g', {form.format(element)}))"
        assert (1 in kernel(taken, x="8", y="8").reads) is (element == "y[0]")


@pytest.mark.parametrize("step", ["m", "m + 1", "n", "-1", "0"])
def test_a_loop_of_unknown_steps_fills_nothing_for_certain(step: str) -> None:
    found = kernel(f"for i in T.serial(0, n, step={step}):\n    y[i] = x[i]")
    assert found.whole_writes.get(1, sympy.false) != sympy.true
    assert found.reads == {0}


@pytest.mark.parametrize(
    ("blocks", "count", "expected"),
    [
        ([("0", "n"), ("n", "m")], "n + m", True),
        ([("n", "m"), ("0", "n")], "n + m", True),
        ([("0", "n"), ("n", "m")], "n + m + 1", False),
        ([("0", "n"), ("n + 1", "m")], "n + m + 1", False),
        ([("1", "n")], "n", False),
        ([("0", "n"), ("n", "m"), ("n + m", "3")], "n + m", True),
    ],
)
def test_blocks_one_behind_the_other(blocks: list[tuple[str, str]], count: str, expected: bool) -> None:
    symbols = {name: sympy.Symbol(name, integer=True) for name in "nm"}
    fills = [Fill(parse_expr(start, symbols), parse_expr(length, symbols), ()) for start, length in blocks]
    assert in_a_row(fills, parse_expr(count, symbols)) is expected


DATA = "T.Cast('int64', x[0])"


@pytest.mark.parametrize(
    ("loop", "unsure"),
    [
        ("i in range(4)", False),
        (f"i in range({DATA})", True),
        (f"i in T.serial(1, {DATA})", True),
        (f"i in T.serial({DATA}, 4)", True),
        (f"i in T.parallel({DATA})", True),
        (f"i in T.thread_binding({DATA}, thread='threadIdx.x')", True),
        ("i in T.thread_binding(4, thread='threadIdx.x')", False),
    ],
)
def test_what_is_read_in_steps_of_which_data_decides_the_number_may_not_be_read(
    loop: str, unsure: bool
) -> None:
    """Where it is at most 0 the loop makes no step."""
    found = kernel(f"for {loop}:\n    x[1] = y[0]", x="8", y="8")
    assert found.reads >= {1}
    assert (1 in found.unsure_reads) is unsure


@pytest.mark.parametrize(
    ("stored", "unsure"),
    [
        # Only the second step takes it, but each step asks it for the element.
        ("y[T.Cast('int64', x[i]) % 4] = T.if_then_else(i == 1, x[5], T.float32(2))", False),
        ("y[0] = T.if_then_else(i == 1, x[5], T.float32(2))", True),
        # The last step takes it as well.
        ("y[T.Cast('int64', x[i]) % 4] = x[5]", False),
    ],
)
def test_what_one_step_stores_a_later_one_may_replace(stored: str, unsure: bool) -> None:
    found = kernel(f"for i in range(8):\n    if i == 7:\n        break\n    {stored}", x="8", y="8")
    assert 0 in found.reads
    assert (0 in found.unsure_reads) is unsure


@pytest.mark.parametrize(
    ("between", "last", "unsure"),
    [
        ("", "s[0] = s[0]", True),
        ("", "s[0] = s[0] + x[1]", True),
        ("", "y[1] = s[0]", False),
        # Nobody knows what happens to the buffers, or the search does not follow it.
        ("d = T.decl_buffer((8,), 'float32', data=x.data)", "s[0] = s[0]", True),
        ("T.evaluate(T.call_extern('int32', 'g', 1))", "s[0] = s[0]", True),
    ],
)
def test_a_way_out_that_skips_a_store_which_only_its_own_buffer_reads_asks_for_nothing(
    between: str, last: str, unsure: bool
) -> None:
    loop = "for i in range(4):\n    if x[0] > T.float32(0):\n        break\n    s[0] = T.float32(2)"
    lines = ("s = T.alloc_buffer((1,), 'float32')", between, loop, last, "y[0] = T.float32(1)")
    found = kernel("\n".join(filter(None, lines)), x="8", y="8")
    assert (0 in found.unsure_reads) is unsure


@pytest.mark.parametrize(("buffer", "unsure"), [("y", True), ("s", False)])
def test_of_a_parameter_nobody_knows_which_element_is_read(buffer: str, unsure: bool) -> None:
    # `y` comes with contents of its own: with other indices nothing of `x` is taken. An own buffer has none.
    lines = (
        "s = T.alloc_buffer((8,), 'float32')",
        f"{buffer}[0] = x[0]",
        f"y[4] = {buffer}[T.Cast('int32', y[5]) % 2]",
        f"{buffer}[0] = T.float32(0)",
    )
    found = kernel("\n".join(lines), x="8", y="8")
    assert 0 in found.reads
    assert (0 in found.unsure_reads) is unsure
