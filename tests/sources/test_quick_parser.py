"""What the tests do to TVM's parser changes nothing of what it makes, and nothing of what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
import tvm

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
    assert [_made(text, quickly=True) for text in some] == made


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
