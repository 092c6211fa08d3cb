"""A module in a literal that TVM's parser gets is read, or it is said that it is not."""

from __future__ import annotations

import pytest

from relax_lint.results.problem import ProblemKind
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
FUNCTION = '@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    y = R.add(x, x)\n    return y\n'
TEXT = f'"""\n{IMPORTS}{FUNCTION}"""'

HANDED_ON = {
    "stripped": "from_source({0}.strip())",
    "cleaned": "from_source(inspect.cleandoc({0}))",
    "parameter": "def read(text):\n    return from_source(text)\nread({0})",
    "keyword": "def read(a, *, text):\n    return from_source(text)\nread(1, text={0})",
    "method": "class A:\n    def read(self, text):\n        return from_source(text)\nA().read({0})",
    "default": "def read(text={0}):\n    return from_source(text)\n",
    "test_parameter": "@pytest.mark.parametrize('text', [{0}])\ndef test(text):\n    from_source(text)\n",
    "result": "def text():\n    return {0}\nfrom_source(text())",
    "loop": "for text in [{0}]:\n    from_source(text)",
    "loop_of_pairs": "for name, text in (('a', {0}),):\n    from_source(text)",
    "comprehension": "modules = [from_source(text) for text in ({0},)]",
    "dictionary": "TEXTS = {{'a': {0}}}\nfrom_source(TEXTS['a'])",
    "attribute": "class A:\n    text = {0}\nfrom_source(A.text)",
    "own_attribute": "class A:\n    def __init__(self):\n        self.text = {0}\n    def f(self):\n        from_source(self.text)",
    "pair": "A, B = 'a', {0}\nfrom_source(B)",
    "name_of_a_name": "A = {0}\nB = A\nfrom_source(B)",
    "named_in_place": "from_source(A := {0})",
    "starred": "from_source(*[{0}])",
    "choice": "from_source({0} if x else '')",
    "alternative": "from_source(x or {0})",
    "other_name": "read = tvm.script.from_source\nread({0})",
}
PUT_TOGETHER = {
    "sum": ('from_source({0} + "# end")', 0),
    "sum_of_names": ("HEAD = {1!r}\nBODY = HEAD + {2!r}\nfrom_source(BODY)", 0),
    "numbers": ("N = 4\nfrom_source(f{3})", 0),
    "text_in_text": ("HEAD = {1!r}\nfrom_source(f'''{{HEAD}}{2}''')", 0),
    "formatted": ("from_source({3}.format(N=n))", 1),
    "replaced": ("from_source({0}.replace('4', n))", 1),
    "percent": ("from_source({0} % n)", 1),
    "joined": ("from_source('\\n'.join([{0}, '']))", 1),
    "template": ("from_source(string.Template({0}).substitute(n=4))", 1),
    "more_and_more": ("text = {1!r}\ntext += {2!r}\nfrom_source(text)", 1),
    "unknown_number": ("from_source(f{3})", 1),
    "rendered": ("from_source(render({0}))", 1),
    "repeated": ("from_source({0} * n)", 1),
}
NOT_GIVEN = (
    "TEXT = {0}\nfrom_source(other)",
    "module = from_source(build().script())\nEXPECTED = {0}\nassert module.script() == EXPECTED",
    "def check(module, expected):\n    from_source(module.script())\ncheck(1, {0})",
    "from_source(open('a.py').read())\n'''{2}'''",
)


def read(form: str) -> FileUnits:
    numbered = TEXT.replace("(4,)", "({N},)")
    text = "import tvm\nfrom tvm.script import from_source\n" + form.format(TEXT, IMPORTS, FUNCTION, numbered)
    return read_units(text.encode(), "a.py")


@pytest.mark.parametrize("form", HANDED_ON.values(), ids=HANDED_ON.keys())
def test_a_text_is_followed_to_the_parser(form: str) -> None:
    found = read(form)
    assert [unit.name for unit in found.units] == ["f"]
    assert found.problems == ()
    unit = found.units[0]
    place = unit.text.location(unit.node)
    # The line of the literal that it stands in, and not that of the call.
    line = ("import tvm\nx\n" + form[: form.index("{0}")]).count("\n") + 3
    assert (place.line, place.column) == (line + 1, 1)


@pytest.mark.parametrize(("form", "unread"), PUT_TOGETHER.values(), ids=PUT_TOGETHER.keys())
def test_what_is_put_together_is_read_or_said(form: str, unread: int) -> None:
    found = read(form)
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNRESOLVED_NAME] * unread
    assert [unit.name for unit in found.units] == ["f"] * (1 - unread)


@pytest.mark.parametrize("form", NOT_GIVEN)
def test_other_literals_are_only_literals(form: str) -> None:
    assert read(form) == FileUnits()


def test_texts_that_grow_at_every_step_end() -> None:
    lines = [f"A0 = {TEXT}"] + [f"A{n + 1} = A{n} + A{n} + f'{{A{n}}}'" for n in range(60)]
    found = read_units("\n".join(["import tvm", *lines, "tvm.script.from_source(A60)"]).encode(), "a.py")
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNRESOLVED_NAME]
    circle = "import tvm\nA = B + 'tvm'\nB = A + 'R.function'\ntvm.script.from_source(A)\n"
    assert read_units(circle.encode(), "a.py") == FileUnits()
