"""Fixes in files as people write them: only what has to change does, byte by byte."""

from __future__ import annotations

from textwrap import dedent

import pytest

from relax_lint.repair.apply import Proposal, apply_edits, compatible, edits_of, fitting, proposals
from relax_lint.results.check import Check, Edit, Fix
from relax_lint.results.location import Location
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config
from tests.fixes.fixing import findings, fixed

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n"
SIZED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(ndim=1, dtype="float32"):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        _ = R.call_packed("fill", alloc, ty_args=R.Tuple())
        return alloc
"""
ASSERT = Config(fix_strategy="assert", select=("RLX1", "RLX3"))
DYNAMIC = Config(fix_strategy="dynamic", select=("RLX1",))
CHECK = 'R.assert_op(m <= 4, [m], format="m = {}, but m <= 4 is needed")'


def module(body: str, decorator: str = "@R.function(pure=False)", header: str = HEADER) -> str:
    """A module of one function."""
    lines = dedent(body).strip("\n").splitlines()
    signature = 'def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(ndim=1, dtype="float32"):'
    inside = "\n".join(f"        {line}" if line else "" for line in lines)
    return f"{header}\n\n@I.ir_module\nclass Module:\n    {decorator}\n    {signature}\n{inside}\n"


def changes(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went and the lines that came, with their ends."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEADER + SIZED, id="as usual"),
        pytest.param((HEADER + SIZED).replace("\n", "\r\n"), id="CRLF"),
        pytest.param((HEADER + SIZED).replace("    ", "\t"), id="tabs"),
        pytest.param((HEADER + SIZED).replace("    ", "  "), id="two spaces"),
        pytest.param(HEADER + "# größer als 16 Bytes: 存储\n" + SIZED, id="not ASCII"),
        pytest.param("# one\r\n# two\n" + HEADER + SIZED, id="mixed line ends"),
        pytest.param((HEADER + SIZED).rstrip("\n"), id="no end of line at the end"),
    ],
)
def test_one_line_comes_and_all_others_stay(text: str) -> None:
    after = fixed(text, ASSERT).text
    gone, came = changes(text, after)
    (line,) = came
    assert not gone
    assert line.strip() == CHECK
    model = next(other for other in text.splitlines(keepends=True) if "m = T.int64()" in other)
    assert line.replace(CHECK, "m = T.int64()") == model
    assert not findings(after, ASSERT)


def test_a_size_is_replaced_in_place() -> None:
    text = HEADER + SIZED.replace('"global", "uint8")', '"global", "uint8")  # größer?')
    assert fixed(text, DYNAMIC).text == text.replace("R.shape([16])", "R.shape([m * 4])")


@pytest.mark.parametrize(
    ("size", "becomes"),
    [
        ("R.shape([16])", "R.shape([m * 4])"),
        ("R.shape((16,))", "R.shape((m * 4,))"),
        ("R.shape([4, 4])", "R.shape([m * 4])"),
        ("R.shape(\n            [16]\n        )", "R.shape(\n            [m * 4]\n        )"),
    ],
)
def test_sizes_as_they_are_written(size: str, becomes: str) -> None:
    text = HEADER + SIZED.replace("R.shape([16])", size)
    assert fixed(text, DYNAMIC).text == text.replace(size, becomes)


def test_the_names_of_the_file_are_used() -> None:
    header = "import tvm.script.relax as rx\nfrom tvm.script import ir, tirx as T\n"
    text = header + SIZED.replace("R.", "rx.").replace("I.ir_module", "ir.ir_module")
    gone, came = changes(text, fixed(text, ASSERT).text)
    assert not gone
    assert [line.strip() for line in came] == [CHECK.replace("R.", "rx.")]


@pytest.mark.parametrize(
    ("decorator", "becomes"),
    [
        ("@R.function", "@R.function(pure=False)"),
        ("@R.function()", "@R.function(pure=False)"),
        ("@R.function(private=True)", "@R.function(private=True, pure=False)"),
        ("@R.function(private=True,)", "@R.function(private=True, pure=False,)"),
        ("@R.function(pure=True)", "@R.function(pure=False)"),
        ("@R.function(pure=False)", "@R.function(pure=False)"),
    ],
)
def test_a_function_is_made_impure_where_it_is_not(decorator: str, becomes: str) -> None:
    body = """
    y = R.memory.view(x, R.shape([4]), "float32", 0)
    return y
    """
    text = module(body, decorator)
    after = fixed(text, ASSERT).text
    assert becomes in after
    assert not findings(after, ASSERT)
    gone, came = changes(text, after)
    assert len(came) - len(gone) == 1


def test_a_function_that_may_do_anything_stays_as_it_is() -> None:
    body = """
    R.func_attr({"relax.force_pure": True})
    y = R.memory.view(x, R.shape([4]), "float32", 0)
    return y
    """
    text = module(body, "@R.function")
    gone, came = changes(text, fixed(text, ASSERT).text)
    assert not gone
    assert len(came) == 1


CALLED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor(("m",), "float32")) -> R.Tensor((4,), "float32"):
        y = R.memory.view(x, R.shape([4]), "float32", 0)
        return y

    @R.function
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = Module.inner(x)
            R.output(y)
        return y
"""


def test_a_function_that_others_call_counts_as_pure_but_for_its_checks() -> None:
    text = HEADER + CALLED
    after = fixed(text, ASSERT).text
    gone, came = changes(text, after)
    assert not gone
    assert [line.strip() for line in came] == [
        'R.func_attr({"relax.force_pure": True})',
        'R.assert_op(m >= 4, [m], format="m = {}, but m >= 4 is needed")',
    ]
    assert not findings(after, ASSERT)


def test_comments_stay_where_they_are() -> None:
    body = """
    # what it is all about

    m = T.int64()  # the length
    # the memory
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")  # too small
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
    return alloc
    """
    text = module(body)
    expected = text.replace("  # the length\n", f"  # the length\n        {CHECK}\n")
    assert fixed(text, ASSERT).text == expected


def test_attributes_come_first() -> None:
    body = """
    R.func_attr({"tir_var_upper_bound": {"m": 4}})
    # the memory
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
    _ = R.call_packed("fill", alloc, ty_args=R.Tuple())
    return alloc
    """
    text = module(body)
    expected = text.replace('"m": 4}})\n', f'"m": 4}}}})\n        {CHECK}\n')
    assert fixed(text, Config(select=("RLX501",))).text == expected


def test_a_symbol_of_a_match_cast_is_checked_right_behind_it() -> None:
    body = """
    k = T.int64()
    y = R.match_cast(x, R.Tensor((k,), "float32"))
    z = R.add(y, y)
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([k]), "float32")
    return alloc
    """
    text = module(body)
    check = 'R.assert_op(k <= 4, [k], format="k = {}, but k <= 4 is needed")'
    after = fixed(text, ASSERT).text
    assert f'(k,), "float32"))\n        {check}\n        z = ' in after
    # The storage stands behind it, too.
    assert "R.shape([k * 4])" in fixed(text, DYNAMIC).text


def test_nothing_is_hoisted_above_the_definition_of_a_symbol() -> None:
    body = """
    k = T.int64()
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    y = R.match_cast(x, R.Tensor((k,), "float32"))
    alloc = R.memory.alloc_tensor(storage, 0, R.shape([k]), "float32")
    return alloc
    """
    text = module(body)
    after = fixed(text, DYNAMIC).text
    assert "R.shape([16])" in after
    assert '"float32"))\n        R.assert_op(k <= 4' in after


def test_a_branch_is_checked_inside() -> None:
    text = HEADER + dedent("""
        @I.ir_module
        class Module:
            @R.function(pure=False)
            def main(
                x: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")
            ) -> R.Tensor(ndim=1, dtype="float32"):
                m = T.int64()
                storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
                if c:
                    # only here
                    alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
                    r = alloc
                else:
                    r = x
                return r
        """)
    expected = text.replace("            # only here\n", f"            {CHECK}\n            # only here\n")
    assert fixed(text, ASSERT).text == expected


def test_an_import_comes_only_where_it_is_needed() -> None:
    body = """
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
    b = R.memory.alloc_tensor(storage, 16, R.shape([8]), "float32")
    return b
    """
    header = (
        "import os\nfrom tvm.script import ir as I\nfrom tvm.script import relax as R  # Relax\nimport sys\n"
    )
    after = fixed(module(body, header=header), DYNAMIC).text
    assert "# Relax\nfrom tvm.script import tirx as T\nimport sys" in after
    assert "R.shape([T.max(48, m * 4)])" in after
    assert (
        "tirx"
        not in fixed(HEADER.replace(", tirx as T", "") + SIZED.replace("m = T.int64()", "pass"), ASSERT).text
    )


@pytest.mark.parametrize("quotes", ["'''", '"""'])
def test_text_inside_of_text_is_only_told(quotes: str) -> None:
    text = f"import tvm\n\nmodule = tvm.script.from_source({quotes}{HEADER}{SIZED}{quotes})\n"
    found = [fix for finding in findings(text, ASSERT) for fix in finding.fixes]
    assert {(fix.applicability, fix.edits) for fix in found} == {("display", ())}


OLD = """
from tvm.script import relax as R, tir as T, ir as I

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.var("int64")
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "float32")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        _ = R.call_packed("fill", x, alloc, sinfo_args=(R.Tuple(),))
        return alloc
"""


def test_an_old_dialect_stays_an_old_dialect() -> None:
    text = OLD
    gone, came = changes(text, fixed(text, ASSERT).text)
    assert (gone, [line.strip() for line in came]) == ([], [CHECK])
    assert fixed(text, DYNAMIC).text == text.replace("[16]", "[m * 4]")


# -- which fixes go together ---------------------------------------------------------------------

TWO = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(
        x: R.Tensor(("m",), "float32"), y: R.Tensor(("n",), "float32")
    ) -> R.Tensor(ndim=1, dtype="float32"):
        m = T.int64()
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        b = R.memory.alloc_tensor(storage, 0, R.shape([m * 2]), "float32")
        c = R.memory.alloc_tensor(storage, 8, R.shape([n]), "float32")
        d = R.memory.alloc_tensor(storage, 0, R.shape([m + n]), "float32")
        return d
"""


def test_the_checks_are_the_fewest_and_weakest() -> None:
    text = HEADER + TWO
    file = fixed(text, ASSERT)
    _, came = changes(text, file.text)
    conditions = {line.strip().split(",")[0] for line in came}
    assert conditions == {"R.assert_op(m <= 2", "R.assert_op(n <= 2"}
    assert not findings(file.text, ASSERT)
    for line in came:
        assert findings(file.text.replace(line, ""), ASSERT), line


def test_a_bound_that_is_relied_on_from_now_on_is_checked_next() -> None:
    body = """
    R.func_attr({"tir_var_upper_bound": {"m": 8}})
    k = T.int64()
    y = R.match_cast(x, R.Tensor((k,), "float32"))
    storage = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
    b = R.memory.alloc_tensor(storage, 0, R.shape([m + k]), "float32")
    return b
    """
    config = Config(select=("RLX101", "RLX501"), fix_strategy="assert")
    file = fixed(module(body), config)
    assert not findings(file.text, config)


UNUSED = """
    m = T.int64()
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    spare = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
    R.memory.kill_tensor(spare)
    R.memory.kill_storage(storage)
    return x
"""


def test_what_goes_is_not_checked_first() -> None:
    text = module(UNUSED)
    file = fixed(text, Config())
    assert file.text == module("m = T.int64()\nreturn x")
    assert not findings(file.text)


def test_edits_never_overlap() -> None:
    text = HEADER + TWO
    offered = proposals(findings(text, Config(fix_strategy="dynamic")), unsafe=True)
    together = compatible(offered)
    assert len(together) > 1
    apply_edits(text, edits_of(together))


def test_a_fix_for_a_place_that_is_not_there_is_an_error() -> None:
    (finding,) = findings(HEADER + SIZED, ASSERT)
    fix: Fix = finding.fixes[0]
    with pytest.raises(ValueError, match="no line"):
        apply_edits("one line\n", fix.edits)


@pytest.mark.parametrize(
    "edit",
    [
        Edit(Location("other.py", 1, 1, 1, 2), "x"),
        Edit(Location("a.py", 99, 1, 99, 2), "x"),
        Edit(Location("a.py", -1, -1, -1, -1), "x"),
        Edit(Location("a.py", 1, 0, 1, 1), "x"),
        Edit(Location("a.py", 1, 5, 1, 2), "x"),
        Edit(Location("a.py", 1, 1, 1, 99), "x"),
        Edit(Location("a.py", 1, 1, 1, 2), "\ud800"),
    ],
)
def test_an_edit_that_no_text_can_take_is_not_made(edit: Edit) -> None:
    # No rule offers one: a worker that was taken over may.
    fix = Fix("t", "safe", (edit,))
    check = Check("RLX101", "n", Verdict.ALWAYS_WRONG, Severity.ERROR, "m", "a.py", None, None, fixes=(fix,))
    whole = Proposal(check, Fix("t", "safe", (Edit(Location("a.py", 1, 1, 2, 4), "x"),)))
    assert fitting([Proposal(check, fix), whole], "a.py", "abc\ndef") == [whole]
