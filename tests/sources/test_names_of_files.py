"""What the names around a unit are bound to. Python runs each file, too: no module may be other than what was read
without that being listed.
"""

from __future__ import annotations

import json
import runpy
import sys
import textwrap
from pathlib import Path

import pytest

import relax_lint
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import Literal, ParsedUnit

HEAD = """\
import math, os, sys
import numpy as np
from tvm.script import ir as I, relax as R
MODULES = []
"""
UNIT = """\
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([N]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return t
MODULES.append(M)
"""


def written(text: str, folder: Path) -> Path:
    """The file of a text, with a unit of a storage of N bytes at each line of `UNIT`; 16 are needed."""
    lines = [
        textwrap.indent(UNIT, line.removesuffix("UNIT")) if line.strip() == "UNIT" else line + "\n"
        for line in text.splitlines()
    ]
    path = folder / "written.py"
    path.write_text(HEAD + "".join(lines))
    return path


def really(path: Path) -> list[int]:
    """The bytes of the storages of the modules that the file makes when Python runs it."""
    modules = runpy.run_path(str(path), run_name="written")["MODULES"]
    bindings = [made["main"].body.blocks[0].bindings for made in modules]
    return [int(first.value.args[0].values[0]) for first, *_ in bindings]


def said(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """The verdicts about the storages, with what they assume."""
    report = relax_lint.check(str(path), {"select": ["RLX101"]})
    return [(one.verdict.value, one.assumes) for one in report.checks if one.rule == "RLX101"]


def is_listed(text: str, assumed: str, folder: Path) -> None:
    """The file makes a module that is wrong, and what is said of it names what it was taken to be."""
    path = written(text, folder)
    assert min(really(path)) < 16
    ((verdict, assumes),) = said(path)
    assert verdict != "always-wrong"
    assert len(assumes) == 1
    assert assumed in assumes[0]


def is_certain(text: str, folder: Path) -> None:
    """The file makes the module that was read, and nothing is assumed."""
    path = written(text, folder)
    verdicts = ["always-fine" if size >= 16 else "always-wrong" for size in really(path)]
    assert said(path) == [(verdict, ()) for verdict in verdicts]


UNKNOWN = "the value of `N` is unknown"

CHANGED = {
    "item": "S = [64]\nS[0] = 4\nN = S[0]\nUNIT",
    "item of an item": "S = {'a': {'n': 64}}\nS['a']['n'] = 4\nN = S['a']['n']\nUNIT",
    "one of several targets": "S = [64]\nA, S[0] = 1, 4\nN = S[0]\nUNIT",
    "array": "A = np.full((1,), 64)\nA[0] = 4\nN = int(A[0])\nUNIT",
    "shape": "A = np.zeros(64)\nA.shape = (4, 16)\nN = A.shape[0]\nUNIT",
    "deleted": "S = [64, 4]\ndel S[0]\nN = S[0]\nUNIT",
    "appended": "S = [64]\nS.append(4)\nN = S[-1]\nUNIT",
    "popped": "S = [4, 64]\nS.pop()\nN = S[-1]\nUNIT",
    "sorted": "S = [64, 4]\nS.sort()\nN = S[0]\nUNIT",
    "updated": "C = {'n': 64}\nC.update(n=4)\nN = C['n']\nUNIT",
    "filled": "A = np.full((1,), 64)\nA.fill(4)\nN = int(A[0])\nUNIT",
    "filled by a function": "A = np.full((1,), 64)\nnp.put(A, 0, 4)\nN = int(A[0])\nUNIT",
    "on one way": "S = [64]\nif MODULES == []:\n    S.append(4)\nN = S[-1]\nUNIT",
    "in a function": "def get():\n    S = [64]\n    S.append(4)\n    N = S[-1]\n    UNIT\nget()",
}
NOT_CHANGED = {
    "name in an index": "N = 4\nD = {}\nD[N] = 64\nUNIT",
    "name in an index of a right file": "N = 64\nD = {}\nD[N] = 4\nUNIT",
    "name in a slice": "A = np.zeros(64)\nN = 64\nA[:N] = 4\nUNIT",
    "name in an inner index": "N = 64\nD = {64: [1]}\nD[N][0] = 4\nUNIT",
    "attribute of what is bound anew": "class C: pass\nN = C()\nN.size = 64\nN = 4\nUNIT",
    "item of what is bound anew": "S = [4]\nS[0] = 2\nS = [64]\nN = S[0]\nUNIT",
    "read before": "S = [64]\nN = S[0]\nS[0] = 4\nUNIT",
    "another way to bind it": "C = {}\nC['n'] = N = 64\nUNIT",
    "attribute of a module": "sys.ps1 = 'N'\nnp.N = 4\nN = int(np.prod((8, 8)))\nUNIT",
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_value_that_was_changed_in_place_is_unknown(name: str, tmp_path: Path) -> None:
    is_listed(CHANGED[name], UNKNOWN, tmp_path)


@pytest.mark.parametrize("name", NOT_CHANGED)
def test_an_index_or_an_attribute_binds_no_name(name: str, tmp_path: Path) -> None:
    is_certain(NOT_CHANGED[name], tmp_path)


OTHER_WAYS = {
    "default of a parameter": (
        "def get(N=4):\n    if N is None:\n        N = 64\n    UNIT\nget()",
        "N = 64 (line 7)",
    ),
    "parameter": ("def get(N):\n    if N is None:\n        N = 64\n    UNIT\nget(4)", "N = 64 (line 7)"),
    "parameter and an error": (
        "def get(N=4):\n    try:\n        int(N)\n    except TypeError:\n        N = 64\n    UNIT\nget()",
        "N = 64 (line 9)",
    ),
    "computed": (
        "N = 4\nif MODULES:\n    N = math.prod((8, 8))\nUNIT",
        "N = math.prod((8, 8)) (line 7)",
    ),
    "computed on both ways": (
        "if not MODULES:\n    N = math.prod((2, 2))\nelse:\n    N = math.prod((8, 8))\nUNIT",
        "N = math.prod((8, 8)) (line 8)",
    ),
    "computed of such a one": (
        "K = 4\nif MODULES:\n    K = math.prod((8, 8))\nN = K\nUNIT",
        "K = math.prod((8, 8)) (line 7)",
    ),
    "imported": (
        "try:\n    from sys import maxunicode as N\n    N = 4\nexcept ImportError:\n    N = math.prod((8, 8))\nUNIT",
        "N = math.prod((8, 8)) (line 9)",
    ),
    "name of a module": (
        "from types import SimpleNamespace\nnp = SimpleNamespace(prod=lambda a: 4)\nif MODULES:\n    import numpy as np\n"
        "N = np.prod((8, 8))\nUNIT",
        "np = numpy (line 8)",
    ),
    "an error that is held back": (
        "import contextlib\nN = 4\nwith contextlib.suppress(ValueError):\n    int('a')\n    N = 64\nUNIT",
        "N = 64 (line 9)",
    ),
    "an error before it, at the end": (
        "N = 4\ntry:\n    try:\n        int('a')\n        N = 64\n    finally:\n        UNIT\nexcept ValueError:\n    pass",
        "N = 64 (line 9)",
    ),
    "an error in a block before it, at the end": (
        "N = 4\ntry:\n    try:\n        with open(__file__):\n            int('a')\n            N = 64\n    finally:\n"
        "        UNIT\nexcept ValueError:\n    pass",
        "N = 64 (line 10)",
    ),
    "other scope": (
        "N = 4\ndef get():\n    global N\n    if MODULES:\n        N = 64\n    UNIT\nget()",
        "N = 64 (line 9)",
    ),
}
ONE_WAY = {
    "on the way to the unit": "def get(N=4):\n    if N:\n        N = 64\n        UNIT\nget()",
    "as much on each way": "N = math.prod((8, 8))\nif MODULES:\n    N = math.prod((8, 8))\nUNIT",
    "bound by try": "N = 4\ntry:\n    N = 64\nfinally:\n    MODULES.clear()\nUNIT",
    "bound at the end": "N = 4\ntry:\n    N = 4\nfinally:\n    N = 64\n    UNIT",
    "bound by try, in a try": "N = 4\ntry:\n    try:\n        N = 64\n    finally:\n        pass\n    UNIT\nfinally:\n    pass",
    "an error that is not held back": "N = 4\nwith open(__file__) as file:\n    N = 64\nUNIT",
    "in the block of the unit": "import contextlib\nN = 4\nwith contextlib.suppress(ValueError):\n    N = 64\n    UNIT",
    "undefined on the other": "if not MODULES:\n    N = 64\nUNIT",
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_a_value_that_another_way_does_not_give_is_an_assumption(name: str, tmp_path: Path) -> None:
    is_listed(*OTHER_WAYS[name], tmp_path)


@pytest.mark.parametrize("name", ONE_WAY)
def test_a_value_that_every_way_gives_is_certain(name: str, tmp_path: Path) -> None:
    is_certain(ONE_WAY[name], tmp_path)


SIBLING = """\
def build(n=64):
    @R.function
    def inner(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return t
"""
CALLER = """\
    @R.function
    def {name}(x: R.Tensor((4,), "float32")):
        y = {called}(x)
        return y
"""


def test_what_a_definition_assumes_those_assume_that_name_it() -> None:
    callers = [("middle", "inner"), ("main", "middle")]
    text = SIBLING + "".join(CALLER.format(name=name, called=called) for name, called in callers)
    units = read_units(f"from tvm.script import relax as R\n{text}".encode(), "a.py").units
    parsed = [parse_unit(unit) for unit in units]
    assert [one.assumptions for one in parsed if isinstance(one, ParsedUnit)] == [("n = 64 (default)",)] * 3


def test_a_definition_that_another_way_does_not_give_is_an_assumption() -> None:
    inner = "    @R.function\n    def inner(x: R.Tensor((N,))):\n        return x\n"
    one, other = (textwrap.indent(inner.replace("N", n), "    ") for n in "84")
    ways = f"    if x:\n{one}    else:\n{other}"
    text = f"def get(x):\n{ways}{CALLER.format(name='main', called='inner')}"
    units = read_units(
        f"from tvm.script import relax as R\n{text}".replace("{n}", "4").encode(), "a.py"
    ).units
    parsed = parse_unit(units[-1])
    assert isinstance(parsed, ParsedUnit)
    assert parsed.assumptions == ("inner = the definition (line 9)",)


MAY_CHANGE = {
    "by another name": (
        "S = [64]\nB = S\nB[0] = 4\nN = S[0]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "added to by another name": (
        "S = [64]\nB = S\nB += [4]\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "a view": (
        "A = np.full((2,), 64)\nB = A[1:]\nB[0] = 4\nN = int(A[1])\nUNIT",
        "(line 5; line 6 may change it)",
    ),
    "in a function": (
        "C = {'n': 64}\ndef setup():\n    C['n'] = 4\nsetup()\nN = C['n']\nUNIT",
        "C = {'n': 64} (line 5; line 7 may change it)",
    ),
    "by a function": (
        "C = {'n': 64}\ndef setup(c):\n    c['n'] = 4\nsetup(C)\nN = C['n']\nUNIT",
        "C = {'n': 64} (line 5; line 8 may change it)",
    ),
    "in an expression": (
        "S = [4, 64]\nlast = S.pop()\nN = S[-1]\nUNIT",
        "S = [4, 64] (line 5; line 6 may change it)",
    ),
    "an item of it": (
        "S = [[64]]\nfor item in S:\n    item[0] = 4\nN = S[0][0]\nUNIT",
        "S = [[64]] (line 5; line 6 may change it)",
    ),
    "below, for a function above": (
        "S = [64]\ndef get():\n    N = S[0]\n    UNIT\nS[0] = 4\nget()",
        "S = [64] (line 5; line 16 may change it)",
    ),
    "in a loop": (
        "S = [64]\nfor _ in range(2):\n    N = S[0]\n    UNIT\n    S[0] = 4\nMODULES.pop(0)",
        "S = [64] (line 5; line 16 may change it)",
    ),
    "put into a tuple of a loop": (
        "A = {'n': 64}\nB = {'n': 32}\nfor c in (A, B):\n    c['n'] = 4\nN = A['n']\nUNIT",
        "A = {'n': 64} (line 5; line 7 may change it)",
    ),
    "put into a tuple": (
        "S = [64]\nT = (S,)\nT[0][0] = 4\nN = S[0]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "put into a dictionary": (
        "S = [64]\nD = {1: S}\nD[1].append(4)\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "put into a dictionary by its call": (
        'S = [64]\nD = dict(s=S)\nD.get("s").append(4)\nN = S[-1]\nUNIT',
        "S = [64] (line 5; line 6 may change it)",
    ),
    "put into a list that is added to": (
        "S = [64]\nD = []\nD += [S]\nD[0].append(4)\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 7 may change it)",
    ),
    "in pairs": (
        "S = [64]\nfor s, n in zip([S], [4]):\n    s.append(n)\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "counted": (
        "S = [64]\nfor i, s in enumerate([S]):\n    s[i] = 4\nN = S[0]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "in a comprehension": (
        "S = [64]\nL = [s.append(4) for s in (S,)]\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "named in an expression": (
        "S = [64]\n(B := S).append(4)\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "written to by numpy": (
        "A = np.full((1,), 64)\nnp.sum(np.ones((1, 4)), axis=1, out=A)\nN = int(A[0])\nUNIT",
        "(line 5; line 6 may change it)",
    ),
    "not copied by numpy": (
        "A = np.full((1,), 64)\nB = np.array(A, copy=None)\nB[0] = 4\nN = int(A[0])\nUNIT",
        "(line 5; line 6 may change it)",
    ),
    "not copied by a method": (
        "A = np.full((1,), 64)\nA.astype(A.dtype, copy=False)[0] = 4\nN = int(A[0])\nUNIT",
        "(line 5; line 6 may change it)",
    ),
    "as a key": (
        "S = [64]\nmax([4], key=S.append)\nN = S[-1]\nUNIT",
        "S = [64] (line 5; line 6 may change it)",
    ),
    "an attribute of a class": (
        "C = {'n': 64}\nclass T:\n    config = C\n    def run(self):\n        self.config['n'] = 4\nT().run()\nN = C['n']\nUNIT",
        "C = {'n': 64} (line 5; line 7 may change it)",
    ),
    "of the name that it was made of": (
        "B = [64]\nS = B\nB[0] = 4\nN = S[0]\nUNIT",
        "S = [64] (line 6; line 7 may change it)",
    ),
    "of a name of that one": (
        "A = [64]\nB = A\nS = B\nA[0] = 4\nN = S[0]\nUNIT",
        "S = [64] (line 7; line 8 may change it)",
    ),
    "of a part": (
        "BASE = {'n': 64}\nALL = {'a': BASE}\nBASE['n'] = 4\nN = ALL['a']['n']\nUNIT",
        "ALL = {'a': {'n': 64}} (line 6; line 7 may change it)",
    ),
    "of a name of the file, in a function": (
        "BASE = {'n': 64}\ndef get():\n    C = BASE\n    BASE['n'] = 4\n    N = C['n']\n    UNIT\nget()",
        "line 8 may change it)",
    ),
}
ONLY_READ = {
    "a copy of what changes": "B = [64]\nS = list(B)\nT = {**{'n': B[0]}}\nB[0] = 4\nN = S[0] + T['n']\nUNIT",
    "a copy of what numpy makes of it": (
        "B = np.full((1,), 64)\nA = np.asarray(B).astype('int32')\nB[0] = 4\nN = int(A[0])\nUNIT"
    ),
    "of a name that changes below": "B = [64]\nS = B\nN = S[0]\nUNIT\nB[0] = 4",
    "of a name that is bound anew": "B = [64]\nS = B\nB = [4]\nN = S[0]\nUNIT",
    "copied by numpy": "A = np.full((1,), 64)\nB = np.array(A, copy=True)\nB[0] = 4\nN = int(A[0])\nUNIT",
    "an attribute of a class that is read": (
        "C = {'n': 64}\nclass T:\n    config = C\n    def run(self):\n        return self.config['n']\nT().run()\nN = C['n']\nUNIT"
    ),
    "walked through with others": "A = [64]\nfor a in (A, [4]):\n    print(a[0])\nL = [a[0] for a in (A, [4])]\nN = A[0]\nUNIT",
    "put into others": "S = [64]\nD = {'s': S, **{}}\nprint(D['s'][0], dict(s=S))\nN = D['s'][0]\nUNIT",
    "copied": "C = {'n': 64}\nD = {**C}\nD['n'] = 4\nE = dict(**C, k=4)\nL = [*C]\nL[0] = 4\nN = C['n']\nUNIT",
    "read": "S = [64]\nK = len(S) + max(S) + S[0]\nprint(S, *S)\nN = S[0]\nUNIT",
    "walked through": "S = [64]\nfor s in S:\n    print(s)\nL = [s + 1 for s in S]\nN = S[0]\nUNIT",
    "given to numpy": "A = np.full((2,), 64)\nB = np.sum(A) + A.sum() + A[0]\nN = int(A[0])\nUNIT",
    "given to tvm": "import tvm\nA = np.full((2,), 64)\nB = tvm.runtime.tensor(A)\nN = int(A[0])\nUNIT",
    "read by another name": "S = [64]\nB = S\nprint(B[0])\nN = S[0]\nUNIT",
    "given away below": "def run(s):\n    s[0] = 4\nS = [64]\nN = S[0]\nUNIT\nrun(S)",
    "of another function": "S = [64]\ndef other():\n    S = [1]\n    S[0] = 4\nother()\nN = S[0]\nUNIT",
    "not changeable": "S = (64,)\ndef run(s):\n    return s\nrun(S)\nN = S[0]\nUNIT",
    "of an object of a class": "class C:\n    N = [1]\nC.N.append(4)\nN = 64\nUNIT",
}
AGAIN = {
    "below, for a function above": (
        "N = 64\ndef get():\n    UNIT\nN = 4\nget()",
        "N = 64 (line 5; line 15 binds it too)",
    ),
    "below, in a function": (
        "def outer():\n    N = 64\n    def get():\n        UNIT\n    N = 4\n    get()\nouter()",
        "N = 64 (line 6; line 16 binds it too)",
    ),
    "in a loop": (
        "N = 64\nfor _ in range(2):\n    UNIT\n    N = 4\nMODULES.pop(0)",
        "N = 64 (line 5; line 15 binds it too)",
    ),
    "in the loop, for what it is made of": (
        "K = 64\nfor _ in range(2):\n    N = K\n    UNIT\n    K = 4\nMODULES.pop(0)",
        "K = 64 (line 5; line 16 binds it too)",
    ),
    "global": (
        "N = 64\ndef setup():\n    global N\n    N = 4\nsetup()\nUNIT",
        "N = 64 (line 5; line 8 may bind it too)",
    ),
    "global, under a decorator of another": (
        "class my:\n    function = staticmethod(lambda f: f)\nN = 64\n@my.function\ndef setup():\n    global N\n    N = 4\n"
        "setup()\nUNIT",
        "N = 64 (line 7; line 11 may bind it too)",
    ),
    "nonlocal": (
        "def get():\n    N = 64\n    def setup():\n        nonlocal N\n        N = 4\n    setup()\n    UNIT\nget()",
        "N = 64 (line 6; line 9 may bind it too)",
    ),
    "global, by an import": (
        "N = 64\ndef setup():\n    global N\n    from os import SEEK_END as N\nsetup()\nUNIT",
        "N = 64 (line 5; line 8 may bind it too)",
    ),
    "global, by a pattern": (
        "N = 64\ndef setup():\n    global N\n    match 4:\n        case N:\n            pass\nsetup()\nUNIT",
        "N = 64 (line 5; line 9 may bind it too)",
    ),
    "global, in a class": (
        "N = 64\nclass C:\n    global N\n    N = 4\nUNIT",
        "N = 64 (line 5; line 8 may bind it too)",
    ),
    "exec": ("N = 64\nexec('N = 4')\nUNIT", "N = 64 (line 5; line 6 may bind it too)"),
    "globals": ("N = 64\nglobals()['N'] = 4\nUNIT", "N = 64 (line 5; line 6 may bind it too)"),
    "update of globals": ("N = 64\nglobals().update(N=4)\nUNIT", "N = 64 (line 5; line 6 may bind it too)"),
    "setattr": (
        "N = 64\nsetattr(sys.modules[__name__], 'N', 4)\nUNIT",
        "N = 64 (line 5; line 6 may bind it too)",
    ),
    "star": (
        "sys.path.insert(0, os.path.dirname(__file__))\nN = 64\nfrom sizes_of_names import *\nUNIT",
        "N = 64 (line 6; line 7 may bind it too)",
    ),
    "parameter, below": (
        "def get(N=64):\n    def inner():\n        UNIT\n    N = 4\n    inner()\nget()",
        "N = 64 (default); N = 64 (line 5; line 15 binds it too)",
    ),
    "parameter, nonlocal": (
        "def get(N=64):\n    def setup():\n        nonlocal N\n        N = 4\n    setup()\n    UNIT\nget()",
        "N = 64 (default); N = 64 (line 5; line 8 may bind it too)",
    ),
    "an attribute of the module": (
        "N = 64\nsys.modules[__name__].N = 4\nUNIT",
        "N = 64 (line 5; line 6 may bind it too)",
    ),
    "an attribute of the module by a name": (
        "N = 64\nthis = sys.modules[__name__]\nthis.N = 4\nUNIT",
        "N = 64 (line 5; line 6 may bind it too)",
    ),
    "the names of the module": (
        "N = 64\nvars(sys.modules[__name__])['N'] = 4\nUNIT",
        "N = 64 (line 5; line 6 may bind it too)",
    ),
    "the dictionary of the module": (
        "N = 64\nsys.modules[__name__].__dict__.update(N=4)\nUNIT",
        "N = 64 (line 5; line 6 may bind it too)",
    ),
    "locals": ("N = 64\nlocals()['N'] = 4\nUNIT", "N = 64 (line 5; line 6 may bind it too)"),
    "exec of builtins": (
        "N = 64\nimport builtins\nbuiltins.exec('N = 4')\nUNIT",
        "N = 64 (line 5; line 7 may bind it too)",
    ),
    "star before, on one way": (
        "sys.path.insert(0, os.path.dirname(__file__))\nfrom sizes_of_names import *\n"
        "if 'N' not in globals():\n    N = 64\nUNIT",
        "N = 64 (line 8; line 6 may bind it too)",
    ),
    "exec before an error": (
        "exec('N = 4')\ntry:\n    N\nexcept NameError:\n    N = 64\nUNIT",
        "N = 64 (line 9; line 5 may bind it too)",
    ),
    "between two that are the same": (
        "N = 64\nexec('N = 4')\nif MODULES:\n    N = 64\nUNIT",
        "N = 64 (line 8; line 6 may bind it too)",
    ),
    "changed between two that are the same": (
        "S = [64]\nS[0] = 4\nif MODULES:\n    S = [64]\nN = S[0]\nUNIT",
        "S = [64] (line 8; line 6 may change it)",
    ),
}
ONCE = {
    "read from the module": "N = 64\nprint(sys.modules[__name__].__dict__['N'], getattr(sys.modules[__name__], 'N'))\nUNIT",
    "locals of a function": "N = 64\ndef other():\n    locals()['N'] = 4\nother()\nUNIT",
    "another module": "N = 64\nsys.modules['os'].N = 4\ndel sys.modules['os'].N\nUNIT",
    "exec before the first of two": "exec('N = 4')\nN = 64\nif MODULES:\n    N = 64\nUNIT",
    "exec below": "if not MODULES:\n    N = 64\nUNIT\nexec('N = 4')",
    "below": "N = 64\nUNIT\nN = 4",
    "the same below": "N = 64\ndef get():\n    UNIT\nN = 64\nget()",
    "of another function": "N = 64\ndef other():\n    N = 4\ndef get():\n    UNIT\nget()",
    "above": "N = 4\nN = 64\ndef get():\n    UNIT\nget()",
    "in another loop": "N = 64\nUNIT\nfor _ in range(2):\n    N = 4",
    "anew in each step": "for _ in range(2):\n    N = 64\n    UNIT\n    N = 4\nMODULES.pop(0)",
    "read from globals": "N = 64\nprint(globals()['N'])\nUNIT",
    "an attribute": "class C: pass\nN = 64\nsetattr(C, 'N', 4)\nUNIT",
    "star before": "from math import *\nN = 64\nUNIT",
    "star of tvm": "N = 64\nfrom tvm.script.relax import *\nUNIT",
    "global, in a class above": "class C:\n    global N\n    N = 4\nN = 64\nUNIT",
    "global, in the file's own scope": "if MODULES == []:\n    global N\nN = 64\nUNIT",
    "global, but not bound": "N = 64\ndef read():\n    global N\n    return N\nread()\nUNIT",
}
BOUND_INSIDE = {
    "in a condition": "N = 64\nif (N := 4):\n    pass\nUNIT",
    "in an argument": "N = 64\nprint((N := 4))\nUNIT",
    "captured": "N = 64\nmatch 4:\n    case N:\n        pass\nUNIT",
    "captured by a sequence": "N = 64\nmatch (1, 4):\n    case (_, N):\n        pass\nUNIT",
    "captured by a mapping": "K = 64\nmatch {'a': 1, 'b': 4}:\n    case {'a': 1, **K}:\n        pass\nN = K['b']\nUNIT",
}


@pytest.mark.parametrize("name", MAY_CHANGE)
def test_a_value_that_may_be_changed_in_place_is_an_assumption(name: str, tmp_path: Path) -> None:
    is_listed(*MAY_CHANGE[name], tmp_path)


@pytest.mark.parametrize("name", ONLY_READ)
def test_a_value_that_is_only_read_is_certain(name: str, tmp_path: Path) -> None:
    is_certain(ONLY_READ[name], tmp_path)


@pytest.mark.parametrize("name", AGAIN)
def test_a_name_that_may_be_bound_again_is_an_assumption(name: str, tmp_path: Path) -> None:
    (tmp_path / "sizes_of_names.py").write_text("N = 4\n")
    is_listed(*AGAIN[name], tmp_path)


def test_a_parameter_is_not_what_is_bound_below_the_unit(tmp_path: Path) -> None:
    path = written("def get(N=4):\n    def inner():\n        UNIT\n    inner()\n    N = 64\nget()", tmp_path)
    assert really(path) == [4]
    assert said(path) == [("always-wrong", ("N = 4 (default); N = 4 (line 5; line 16 binds it too)",))]


@pytest.mark.parametrize("name", ONCE)
def test_a_name_that_is_not_bound_again_is_certain(name: str, tmp_path: Path) -> None:
    is_certain(ONCE[name], tmp_path)


@pytest.mark.parametrize("name", BOUND_INSIDE)
def test_a_name_that_an_expression_or_a_pattern_binds_is_unknown(name: str, tmp_path: Path) -> None:
    is_listed(BOUND_INSIDE[name], UNKNOWN, tmp_path)


@pytest.mark.parametrize(
    ("first", "assumption"),
    [
        (["N = 64\n", "%run sizes.py"], "N = 64 (line 3; line 4 may bind it too)"),
        (["N = 64\n", "%matplotlib inline"], None),
        (["%run sizes.py\n", "N = 64"], None),
    ],
)
def test_a_file_that_a_notebook_runs_may_bind_a_name_again(first: list[str], assumption: str | None) -> None:
    unit = ["@R.function\n", "def main(x: R.Tensor((N,))):\n", "    return x"]
    sources = (["import tvm\n", "from tvm.script import relax as R"], first, unit)
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (found,) = read_units(json.dumps({"cells": cells}).encode(), "a.ipynb", "notebook").units
    assert found.environment["N"] == Literal(64, assumption)


IN_UNIT = UNIT.replace("[N]", "[max(64, 2)]")
SHADOWED = {
    "a function": ("def max(a, b):\n    return 4\nN = max(64, 2)\nUNIT", UNKNOWN),
    "a function, in the unit": (
        f"def max(a, b):\n    return 4\n{IN_UNIT}",
        "the value of `max` is unknown: a function of the file",
    ),
    "an import": ("from names_of_files import max\nN = max(64, 2)\nUNIT", UNKNOWN),
    "an import, in the unit": (
        f"from names_of_files import max\n{IN_UNIT}",
        "the value of `max` is unknown: imported as `names_of_files.max`",
    ),
    "a lambda, in the unit": (f"max = lambda a, b: 4\n{IN_UNIT}", "the value of `max` is unknown"),
    "a star": (
        "from names_of_files import *\nN = max(64, 2)\nUNIT",
        "max = max (Python's own; line 5 may bind it too)",
    ),
    "a star, in the unit": (
        f"from names_of_files import *\n{IN_UNIT}",
        "max = max (Python's own; line 5 may bind it too)",
    ),
    "a module": (
        "from types import SimpleNamespace\nmath = SimpleNamespace(pi=1)\nN = int(math.pi * 8)\nUNIT",
        UNKNOWN,
    ),
}
NOT_SHADOWED = {
    "a lambda": "len = lambda s: 64\nN = len((1, 2))\nUNIT",
    "a method": "class C:\n    def max(self):\n        return 4\nN = max(64, 2)\nUNIT",
    "another scope": "def other():\n    max = 4\nN = max(64, 2)\nUNIT",
    "a star of Python's": f"from math import *\nN = max(64, 2)\n{IN_UNIT}",
    "a star below": f"N = max(64, 2)\n{IN_UNIT}from names_of_files import *",
}


@pytest.fixture
def other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a file beside it that has a function `max` of its own."""
    (tmp_path / "names_of_files.py").write_text("def max(a, b):\n    return 4\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "names_of_files", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", SHADOWED)
def test_a_function_under_the_name_of_one_of_python_is_not_pythons(name: str, other_file: Path) -> None:
    is_listed(*SHADOWED[name], other_file)


@pytest.mark.parametrize("name", NOT_SHADOWED)
def test_a_function_of_python_is_certain(name: str, other_file: Path) -> None:
    is_certain(NOT_SHADOWED[name], other_file)


IN_ANNOTATIONS = """\
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((N,), "uint8")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return t
"""


@pytest.mark.parametrize("head", ["def made():", "class Made:"])
@pytest.mark.parametrize("value", [64, 4])
def test_a_name_of_the_file_may_be_the_one_that_tvm_takes(head: str, value: int, tmp_path: Path) -> None:
    text = f"N = 4\n{head}\n    N = {value}\n" + textwrap.indent(
        IN_ANNOTATIONS + "MODULES.append(M)\n", "    "
    )
    path = tmp_path / "written.py"
    path.write_text(HEAD + text + ("made()\n" if head.startswith("def") else ""))
    (module,) = runpy.run_path(str(path), run_name="written")["MODULES"]
    assert int(module["main"].params[0].ty.shape[0]) == 4
    ((_, assumes),) = said(path)
    assert len(assumes) == (value != 4)
    assert all("N = 64 (line 5 binds it in the file)" in one for one in assumes)
