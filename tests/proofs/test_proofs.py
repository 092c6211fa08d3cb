"""Proof records, checked again by a Z3 that is not the one in TVM."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import metadata
from itertools import product
from pathlib import Path

import pytest
import sympy

from relax_lint.cli import main
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.asked import Plain
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.smtlib import Inexpressible, script


def _z3() -> str | None:
    """The executable: that of the package, wherever its environment is, or else one of the system."""
    try:
        files = metadata.files("z3-solver") or []
    except metadata.PackageNotFoundError:
        files = []
    own = (shutil.which(str(file.locate())) for file in files if file.stem == "z3")
    return next(filter(None, own), None) or shutil.which("z3")


Z3 = _z3()
n, m = sympy.symbols("n m", integer=True)


def answers(text: str) -> list[str]:
    """What Z3 says to each `check-sat`."""
    assert Z3 is not None
    done = subprocess.run([Z3, "-in", "-T:60"], input=text, capture_output=True, text=True, check=False)
    return done.stdout.split()


def domain(*conditions: sympy.Basic) -> Domain:
    return Domain((n, m), tuple(Fact(c, FactKind.ENFORCED, str(c)) for c in conditions))


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "TruncDiv", "TruncMod"])
def test_divisions_mean_in_a_record_what_they_mean_here(name: str) -> None:
    ours = getattr(f, name.lower().replace("div", "_div").replace("mod", "_mod"))
    values = [-7, -4, -1, 1, 3, 4]
    points = [
        sympy.Implies(sympy.Eq(n, a) & sympy.Eq(m, b), sympy.Eq(getattr(f, name)(n, m), ours(a, b)))
        for a, b in product([*values, 0], values)
    ]
    claim = sympy.And(*(sympy.Or(sympy.Not(p.args[0]), p.args[1]) for p in points))
    assert answers(script([(Plain(claim), domain())], (), always_holds=True)) == ["unsat"]


def test_a_claim_that_does_not_hold_is_not_proved() -> None:
    four = f.FloorDiv(n + 3, 4) * 4
    assert answers(script([(Plain(sympy.Ge(four, n)), domain(n >= 0))], (), always_holds=True)) == ["unsat"]
    assert answers(script([(Plain(sympy.Ge(n, four)), domain(n >= 0))], (), always_holds=True)) == ["sat"]
    never = sympy.Lt(sympy.Max(n, 1), sympy.Min(n, 1))
    assert answers(script([(Plain(never), domain())], (), always_holds=False)) == ["unsat"]


def test_an_assumption_counts_only_where_the_verdict_needed_it() -> None:
    bound = Fact(sympy.Le(n, 4), FactKind.ASSUMED, "n <= 4 (declared)")
    claim, where = sympy.Le(n * n, 16), Domain((n,), (Fact(n >= 0, FactKind.ENFORCED, "extent"), bound))
    assert answers(script([(Plain(claim), where)], (bound,), always_holds=True)) == ["unsat"]
    assert answers(script([(Plain(claim), where)], (), always_holds=True)) == ["sat"]


_WORDS = """
and or xor not ite let _ forall exists distinct true false par as div mod abs min max floor_div floor_mod trunc_div trunc_mod
assert push pop exit a b
"""
"""What means something in a record."""


def test_names_of_symbols_do_no_harm() -> None:
    odd = [
        sympy.Symbol(name, integer=True) for name in ("a|b", "seq len", "x)(exit", "größe", *_WORDS.split())
    ]
    claim = sympy.Or(*(sympy.Le(s, 0) for s in odd), sympy.Ge(sum(odd), 5))
    assert answers(script([(Plain(claim), Domain(tuple(odd)))], (), always_holds=True)) == ["unsat"]


def test_bits_are_not_for_integers() -> None:
    with pytest.raises(Inexpressible):
        script([(Plain(sympy.Ge(f.BitAnd(n, m), 0)), domain())], (), always_holds=True)


def test_every_certain_verdict_of_the_transformer_has_a_record_that_z3_confirms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "proofs"
    example = Path(__file__).resolve().parents[2] / "examples" / "planned_transformer.py"
    main(["check", "--proofs", str(folder), "--output-format", "json", str(example)])
    checks = json.loads(capsys.readouterr().out)["checks"]
    certain = [check for check in checks if check["verdict"] != "needs-runtime-check"]
    files = [Path(check["proof"]["file"]) for check in certain]
    assert len(set(files)) == len(certain) > 300
    assert sorted(files) == sorted(folder.iterdir())
    scripts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".smt2"]
    found = answers("\n(reset)\n".join(scripts))
    assert len(scripts) > 150
    assert set(found) == {"unsat"}
    assert len(found) >= len(scripts)


def test_a_record_names_its_check_and_its_assumptions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "proofs"
    example = Path(__file__).resolve().parents[2] / "examples" / "planned_transformer.py"
    main(["check", "--proofs", str(folder), "--select", "RLX101", "--output-format", "json", str(example)])
    checks = json.loads(capsys.readouterr().out)["checks"]
    check = next(c for c in checks if c["verdict"] == "always-fine" and c["assumes"])
    text = Path(check["proof"]["file"]).read_text(encoding="utf-8")
    assert f"; relax-lint 0.1.0: RLX101 storage-overflow, always-fine\n; {check['path']}:" in text
    assert f"; assumes {check['assumes'][0]}\n" in text
    assert f"; {check['assumes'][0]}\n(assert (<= n 2048))\n" in text


ASKED = """from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([8]), R.dtype("float32"))
        b = R.memory.alloc_tensor(s, R.prim_value(48), R.shape([8]), R.dtype("float32"))
        t = R.memory.alloc_storage(R.shape([n * 4 + 16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        d = R.memory.alloc_tensor(t, R.prim_value(16), R.shape([n]), R.dtype("float32"))
        return (b, d)
"""


def test_a_record_holds_the_claim_as_it_was_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "asked.py"
    source.write_text(ASKED, encoding="utf-8")
    folder = tmp_path / "proofs"
    main(["check", "--proofs", str(folder), "--select", "RLX101", "--output-format", "json", str(source)])
    checks = json.loads(capsys.readouterr().out)["checks"]
    proofs = {check["binding"]: check["proof"] for check in checks}
    assert proofs["a"]["claims"] == [
        {
            "condition": "16 + 32 <= 64",
            "terms": {"offset of `a`": "16", "bytes of `a`": "32", "size of `s`": "64"},
        }
    ]
    assert proofs["b"]["claims"][0]["condition"] == "48 + 32 <= 64"
    assert proofs["d"]["claims"][0]["condition"] == "16 + 4*n <= 4*n + 16"
    texts = {name: Path(proof["file"]).read_text(encoding="utf-8") for name, proof in proofs.items()}
    assert "(assert (not (<= (+ 16 32) 64)))" in texts["a"]
    assert "(assert (<= (+ 48 32) 64))" in texts["b"]
    asked = "; asked: 16 + 32 <= 64 (offset of `a`: 16, bytes of `a`: 32, size of `s`: 64)\n"
    assert asked in texts["a"]
    assert set(answers("\n(reset)\n".join(texts.values()))) == {"unsat"}


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    example = Path(__file__).resolve().parents[2] / "examples" / "planned_transformer.py"
    code = main(["check", "--proofs", str(file), "--select", "RLX101", str(example)])
    assert (code, capsys.readouterr().err) == (
        2,
        f"relax-lint: error: cannot write proofs to {file}: File exists\n",
    )
