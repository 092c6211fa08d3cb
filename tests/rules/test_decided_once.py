"""What is asked of operations that are alike is decided once: each thing that a verdict depends on makes two of
them different, and a report is the same where everything is asked anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tvm

from relax_lint.analysis.roots import Roots
from relax_lint.facts import devices, kernel_accesses, kernel_match, on_storage, placement
from relax_lint.judging.report import check_module
from relax_lint.replay.modules import UnreadableModuleError, load_module
from relax_lint.results.check import Check
from relax_lint.results.plain import to_json
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.rules.checking import DOUBLE, checks, parse
from tests.strength.collected import texts

FINE, WRONG, MIXED = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK
STORAGE = 'R.memory.alloc_storage(R.shape([{}]), 0, "global", "uint8")'
TENSOR = 'R.memory.alloc_tensor({storage}, {offset}, R.shape([{shape}]), "{dtype}")'
USUAL = {"storage": "s", "offset": "0", "shape": "4", "dtype": "float32"}


def tensors(*given: dict[str, str], between: str = "") -> Any:
    """A module that puts tensors on a storage of 16 bytes, or on one of 8."""
    lines = [f"s = {STORAGE.format(16)}", f"small = {STORAGE.format(8)}"]
    for number, changed in enumerate(given):
        lines += [between] if number and between else []
        lines.append(f"t{number} = {TENSOR.format(**USUAL | changed)}")
        # Nothing leaves out what is used.
        lines.append(f"k{number} = R.call_packed('tests.use', t{number}, ty_args=R.Tuple)")
    body = "\n                ".join(lines)
    return parse(
        f"""
            @R.function(pure=False)
            def main(x: R.Tensor(("n", "k"), "float32")):
                n, k = T.int64(), T.int64()
                {body}
                return t0
        """
    )


@pytest.mark.parametrize(
    ("code", "changed", "verdict"),
    [
        ("RLX101", {"storage": "small"}, WRONG),
        ("RLX101", {"offset": "4"}, WRONG),
        ("RLX101", {"shape": "5"}, WRONG),
        ("RLX101", {"dtype": "float64"}, WRONG),
        ("RLX101", {"shape": "n"}, MIXED),
        ("RLX102", {"offset": "-4"}, WRONG),
        ("RLX103", {"shape": str(1 << 61)}, WRONG),
        ("RLX103", {"shape": str(1 << 58), "dtype": "float64"}, WRONG),
        ("RLX103", {"offset": str((1 << 63) - 8)}, WRONG),
        ("RLX104", {"shape": "-4"}, WRONG),
        ("RLX104", {"shape": "n - 4"}, MIXED),
    ],
)
def test_a_tensor_is_alike_only_where_nothing_is_different(
    code: str, changed: dict[str, str], verdict: Verdict
) -> None:
    found = checks(tensors({}, changed, {}), code)
    own = {check.binding: check.verdict for check in found if (check.binding or "").startswith("t")}
    assert own == {"t0": FINE, "t1": verdict, "t2": FINE}


def test_a_dtype_alone_makes_a_size_another_one() -> None:
    shape = {"shape": str(1 << 58)}
    found = checks(tensors({**shape, "dtype": "int8"}, {**shape, "dtype": "float64"}), "RLX103")
    assert [check.verdict for check in found if check.binding in ("t0", "t1")] == [FINE, WRONG]


@pytest.mark.parametrize(
    ("code", "tensor"),
    [("RLX101", {"shape": "n"}), ("RLX102", {"offset": "n - 4"}), ("RLX104", {"shape": "n - 4"})],
)
def test_what_holds_makes_two_tensors_different(code: str, tensor: dict[str, str]) -> None:
    """Behind the comparison `n` is 4."""
    between = 'y = R.match_cast(x, R.Tensor((4, k), "float32"))'
    found = checks(tensors(tensor, tensor, between=between), code)
    assert [check.verdict for check in found if check.binding in ("t0", "t1")] == [MIXED, FINE]


class Forgetful(on_storage.Alike):
    """Knows no answer to what was asked before."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, None if name in ("decided", "by_size", "failures") else value)


class Nothing(dict[Any, Any]):
    """Holds nothing for longer than it takes to get it again."""

    def __contains__(self, key: object) -> bool:
        return False


@pytest.fixture
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Every operation is asked about for itself."""
    access_judge, device_facts = kernel_accesses.AccessJudge.__init__, devices.DeviceFacts.__init__

    def judges(self: Any, *arguments: Any) -> None:
        access_judge(self, *arguments)
        self._proved = Nothing()

    def knows(self: Any, *arguments: Any) -> None:
        device_facts(self, *arguments)
        self._of_value = Nothing()

    with monkeypatch.context() as patch:
        patch.setattr(placement, "Alike", Forgetful)
        patch.setattr(placement.PlacementFacts, "_decision", lambda s, op, claim: s._judge.judge(claim(op)))
        patch.setattr(kernel_accesses.AccessJudge, "__init__", judges)
        patch.setattr(devices.DeviceFacts, "__init__", knows)
        patch.setattr(kernel_match.KernelMatch, "starts_at_zero", False)
        patch.setattr(Roots, "has_perhaps", True)
        yield patch


def everything(module: Any) -> list[str]:
    """What is said of a module, and its totals."""
    found = check_module(module, Config(target="llvm"))
    return [to_json(check) for check in found.checks] + [to_json(one) for one in found.memory]


MODULES = dict(list(texts("modules"))[::5])


@pytest.mark.parametrize("name", [*MODULES, "on several storages"])
def test_a_report_is_the_same_where_everything_is_asked_anew(name: str, request: Any) -> None:
    try:
        module = several() if name == "on several storages" else load_module(MODULES[name], "script")
    except UnreadableModuleError:
        if tvm.__version__.startswith("0.27."):
            raise
        pytest.skip("the texts are those of TVM 0.27: an earlier one does not read all of them")
    once = everything(module)
    request.getfixturevalue("asked_anew")
    assert everything(module) == once
    assert once


def several() -> Any:
    """Tensors that are alike and others, kernels at an offset and at none."""
    return parse(
        f"""{DOUBLE}
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 8]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
    b = R.memory.alloc_tensor(s, n * 4, R.shape([n]), "float32")
    c = R.memory.alloc_tensor(s, n * 4, R.shape([n]), "float32")
    d = R.memory.alloc_tensor(s, n * 4, R.shape([n + 1]), "float32")
    e = R.memory.alloc_tensor(s, n * 4, R.shape([n + 1]), "float32")
    _1 = Module.double(x, a)
    _2 = Module.double(a, b)
    _3 = Module.double(b, a)
    _4 = Module.double(a, c)
    return c
"""
    )


def test_only_what_is_different_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten tensors of two kinds are two questions for each rule."""
    asked: list[Check | None] = []
    original = placement.PlacementFacts._fitting

    def counting(self: Any, *arguments: Any) -> Any:
        asked.append(None)
        return original(self, *arguments)

    monkeypatch.setattr(placement.PlacementFacts, "_fitting", counting)
    found = checks(tensors(*[{}, {"shape": "2"}] * 5), "RLX101")
    assert len([check for check in found if check.binding != "s"]) == 10
    assert len(asked) == 2
