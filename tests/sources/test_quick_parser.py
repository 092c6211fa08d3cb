"""What the tests do to TVM's parser changes nothing of what it makes, and nothing of what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import tvm
from tvm.script.parser.core import entry

from tests import quick_parser
from tests.strength.collected import texts

pytestmark = pytest.mark.skipif(
    not quick_parser.IS_UNDERSTOOD, reason="the parser of this release of TVM is left as it is"
)

EVERY = 12
REFUSED = {
    "an unknown name": "R.zeros(missing, 'float32')",
    "an unknown attribute": "R.there_is_no_such_operator(x)",
    "a wrong number of arguments": "R.add(x)",
    "a value that is no function": "'text'(x)",
}


@pytest.fixture(autouse=True)
def _() -> Iterator[None]:
    yield
    quick_parser.remove()


def _made(text: str, *, quickly: bool) -> str:
    (quick_parser.install if quickly else quick_parser.remove)()
    try:
        return str(tvm.ir.save_json(tvm.script.from_source(text, check_well_formed=False)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", ["modules", "kernels"])
def test_it_makes_the_same_of_every_text(kind: str) -> None:
    some = [text for _, text in islice(texts(kind), 0, None, EVERY)]
    made = [_made(text, quickly=False) for text in some]
    assert sum(one.startswith("{") for one in made) > 20
    # The second time each kernel is one that was kept.
    assert [_made(text, quickly=True) for text in some for _ in range(2)] == [
        one for one in made for _ in range(2)
    ]


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_it_refuses_the_same(expression: str) -> None:
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = {expression}
        return y
"""
    refused = _made(text, quickly=False)
    assert refused.startswith("DiagnosticError: ")
    assert _made(text, quickly=True) == refused


KERNEL = """
@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(N):
            x[i] = NUMBER
"""


def test_a_kernel_that_sees_more_than_tvm_is_parsed_again() -> None:
    quick_parser.install()
    text = KERNEL.replace("NUMBER", "T.float32(1)")
    lengths = [
        tvm.script.from_source(text, {**entry._default_globals(), "N": length})["f"].body.extent
        for length in (2, 3)
    ]
    assert lengths == [2, 3]


def test_a_kernel_is_kept_with_its_place_and_its_text() -> None:
    quick_parser.install()

    def f(number: int, lines: int = 0) -> Any:
        text = KERNEL.replace("N)", "4)").replace("NUMBER", f"T.float32({number})")
        return tvm.script.from_source("\n" * lines + text)["f"]

    assert f(1).same_as(f(1))
    assert f(2).body.body.value.value == 2
    assert f(1, lines=1).body.span.line == f(1).body.span.line + 1


def test_a_module_with_a_kept_kernel_can_be_changed() -> None:
    quick_parser.install()
    text = KERNEL.replace("N)", "4)").replace("NUMBER", "T.float32(3)")
    changed = tvm.script.from_source(text)
    changed["f"] = changed["f"].with_attr("seen", 1)
    assert "seen" not in tvm.script.from_source(text)["f"].attrs
