"""Two layers stand in the way of a text, and each of them alone stops all that it claims to stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import layers
from tests.attack.payloads import EXPRESSIONS
from tests.attack.positions import REFUSED
from tests.attack.rebinding import INSIDE, OUTSIDE, PAYLOADS, PLACES, attacks
from tests.attack.trying import Attack, attempt, matrix

ALONE = layers.MODES[:3]
_COMBINATIONS = len(PAYLOADS) * len({*OUTSIDE, *INSIDE}) * len(PLACES)
_TASKS = {mode: f"tests.attack.layers:{task}" for mode, task in layers._TASKS.items()}
_WALK = "{0.__class__.__getattr__.__globals__[importlib].sys.modules[ctypes].cdll[CANARY.so]}"


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def _file(before: str, signature: str, body: str = "y = x") -> str:
    return (
        "import numpy as np\nimport tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\n"
        f"{before}\n@I.ir_module\nclass Module:\n    @R.function\n    def main({signature}):\n"
        f"        {body}\n        return x\n"
    )


_X = 'x: R.Tensor((4,), "float32")'
# What broke the promise once, each as short as it can be.
BREAKS = {
    # The file's binding counts where the unit names it outside of a text, too.
    "dialect": _file(f"T = {_WALK!r}", 'x: R.Tensor(("T.format(R)",), "float32")', "y = T"),
    "kernel text": (
        f"from tvm.script import ir as I, relax as R, tirx as T\nW = {_WALK!r}\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def k(A: T.Buffer(('W.format(T)',), 'float32')):\n        T.func_attr({'a': W})\n"
        "    @R.function\n    def main(x: R.Tensor((4,), 'float32')):\n        return x\n"
    ),
    "default": (
        f"from tvm.script import ir as I, relax as R\ndef outer(T={_WALK!r}):\n    @I.ir_module\n    class Module:\n"
        "        @R.function\n        def main(x: R.Tensor(('T.format(R)',), 'float32')):\n            y = T\n"
        "            return x\n"
    ),
    "array": _file("", _X, "y = np.zeros(3).tofile('CANARY')"),
    "dump": _file("", _X, "y = np.zeros(3).dump('CANARY')"),
    "alias of a function": _file(
        "", _X, "f = R.add\n        y = f.__globals__['__builtins__']['open']('CANARY', 'w')"
    ),
    "walk of a name": _file(f"W = {_WALK!r}", _X, "y = R.const(W.format(R))"),
    "list of texts": _file(f"W = [{_WALK!r}]", _X, "y = R.const(W[0].format(R))"),
    "closure": _file(f"W = {_WALK!r}", _X, "y = R.emit_te(lambda a, f=W.format: f(R), x)"),
}


@pytest.mark.parametrize("mode", ALONE)
def test_each_layer_alone_stops_what_once_broke_through(mode: str, canary: Path) -> None:
    files = [Attack(name, text.replace("CANARY", str(canary)).encode()) for name, text in BREAKS.items()]
    outcomes = attempt(files, function=_TASKS[mode])
    assert {name: outcome.events for name, outcome in outcomes.items() if outcome.events} == {}
    assert all(outcome.refused for outcome in outcomes.values())
    assert not canary.exists()


def test_without_the_layers_it_breaks_through(canary: Path) -> None:
    # Else the test above would prove nothing.
    files = [Attack(name, text.replace("CANARY", str(canary)).encode()) for name, text in BREAKS.items()]
    outcomes = attempt(files, function=_TASKS["none"])
    assert {name for name, outcome in outcomes.items() if not outcome.events} == set()


@pytest.mark.parametrize("mode", ALONE)
def test_a_name_bound_anew_runs_nothing(mode: str, canary: Path) -> None:
    tally = layers.tallied(attacks(canary, every=97), mode, canary)
    assert tally.examples == {}
    assert set(tally.tried) == set(PAYLOADS)
    assert sum(tally.refused.values()) > 0.9 * sum(tally.tried.values())


@pytest.mark.parametrize("mode", ALONE)
def test_every_expression_is_stopped_by_each_layer(mode: str, canary: Path) -> None:
    places = {name: REFUSED[name] for name in ("value", "parameter_extent", "used_name", "kernel_index")}
    outcomes = attempt(matrix(places, EXPRESSIONS, canary), function=_TASKS[mode])
    assert {name: outcome.events for name, outcome in outcomes.items() if outcome.events} == {}
    assert not canary.exists()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ALONE)
def test_many_names_at_every_place(mode: str, canary: Path) -> None:
    # All of them, which takes half an hour: `python -m tests.attack`.
    tally = layers.tallied(attacks(canary, every=17), mode, canary)
    assert tally.examples == {}
    assert sum(tally.tried.values()) == _COMBINATIONS // 17


def test_every_combination_has_a_name_of_its_own(canary: Path) -> None:
    # The one of two that have the same name would not be tried.
    assert set(OUTSIDE).isdisjoint(INSIDE)
    assert len({attack.name for _, attack in attacks(canary)}) == _COMBINATIONS
