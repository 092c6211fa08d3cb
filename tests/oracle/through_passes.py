"""Random functions for the passes of TVM that decide what shares memory: RewriteDataflowReshape (kernels that only
reshape become views), FuseOps with FuseTIR (several kernels become one) and LambdaLift (functions inside of functions
become functions of the module, and what they capture becomes parameters).

python -m tests.oracle.through_passes [--minutes 10] [--programs N] [--seed N]

A program is right if it returns what it would if every call returned something new. It is judged as it is
written and behind each pass; each of these verdicts has to hold on the virtual machine.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, TypeAlias

import numpy as np
import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.oracle.passing import FIRST, Disagreement, Unusable, searched

RULES = Config(select=("RLX203", "RLX205", "RLX206"))
JUDGED = (
    "LegalizeOps",
    "FuseTIR",
    "RewriteDataflowReshape",
    "LambdaLift",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
)
"""The passes behind which a module is judged."""
Value: TypeAlias = "np.ndarray[Any, Any]"
Shape: TypeAlias = tuple[int, ...]
Meaning: TypeAlias = Callable[[dict[str, Value]], Value]
_SHAPES: tuple[Shape, ...] = ((4,), (2, 2), (1, 4))


def _type(shape: Shape) -> str:
    return f'R.Tensor(({", ".join(map(str, shape))},), "float32")'


def _buffer(shape: Shape) -> str:
    return f'T.Buffer(({", ".join(map(str, shape))},), "float32")'


def _name(shape: Shape) -> str:
    return "x".join(map(str, shape))


def _twice(shape: Shape) -> str:
    """A kernel that doubles its buffer where it is."""
    axes = [f"v{axis}" for axis in range(len(shape))]
    index = ", ".join(axes)
    return f"""
@T.prim_func(private=True, s_tir=True)
def twice_{_name(shape)}(x: {_buffer(shape)}):
    for i in range(4):
        with T.sblock("b"):
{indent(_axes(shape, axes), " " * 12)}
            x[{index}] = x[{index}] * T.float32(2)
"""


def _axes(shape: Shape, names: list[str]) -> str:
    lines, width = [], 4
    for extent, name in zip(shape, names, strict=True):
        width //= extent
        lines.append(f"{name} = T.axis.spatial({extent}, i // {width} % {extent})")
    return "\n".join(lines)


def _reshaped(one: Shape, other: Shape, *, unused: bool) -> str:
    """A kernel that gives its first buffer another shape; `unused`: it gets a second one and leaves it alone."""
    more = f", u: {_buffer((4,))}" if unused else ""
    flat = {1: "i", 2: f"i // {other[-1]}, i % {other[-1]}"}[len(other)]
    source = {1: "i", 2: f"i // {one[-1]}, i % {one[-1]}"}[len(one)].replace("i", "v")
    return f"""
@T.prim_func(private=True, s_tir=True)
def reshape_{_name(one)}_{_name(other)}{"_unused" if unused else ""}(x: {_buffer(one)}{more}, y: {_buffer(other)}):
    for i in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(4, i)
            y[{flat.replace("i", "v")}] = x[{source}]
"""


_HEAD = "".join(map(_twice, _SHAPES)) + "".join(
    _reshaped(one, other, unused=unused) for one in _SHAPES for other in _SHAPES for unused in (False, True)
)


@dataclass
class Program:
    """Lines with what each means when every call returns something new, and the shapes of the values; a block
    of dataflow comes first, and what follows it uses `visible` alone.
    """

    inside: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    meanings: list[tuple[str, Meaning]] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=lambda: {"x": (4,), "y": (4,)})
    visible: list[str] = field(default_factory=list)
    fused: bool = True
    """Whether FuseOps and FuseTIR run. They take no in-place call in a block of dataflow."""

    @property
    def text(self) -> str:
        """The module."""
        kept = self.kept
        ends = [f"r{i} = R.reshape({name}, R.shape([4]))" for i, name in enumerate(kept)]
        ends += [
            "s1 = R.add(r0, R.multiply(r1, R.const(3.0)))",
            "s2 = R.add(s1, R.multiply(r2, R.const(5.0)))",
        ]
        ends = [*ends, "return s2"]
        body = ["with R.dataflow():", *(f"    {line}" for line in self.inside)]
        body += [f"    R.output({', '.join(self.visible)})", *self.outside, *ends]
        main = f"\n@R.function(pure=False)\ndef main(x: {_type((4,))}, y: {_type((4,))}) -> {_type((4,))}:\n"
        used = [part for part in re.split(r"(?=\n@T\.prim_func)", _HEAD) if self._uses(part, body)]
        return "@I.ir_module\nclass Module:\n" + indent(
            "".join(used) + main + indent("\n".join(body), "    "), "    "
        )

    @staticmethod
    def _uses(kernel: str, body: list[str]) -> bool:
        name = re.search(r"def (\w+)\(", kernel)
        return name is not None and any(f"Module.{name.group(1)}," in line for line in body)

    @property
    def kept(self) -> list[str]:
        """The three values that the result is made of."""
        names = [*self.visible, *(name for name, _ in self.meanings if name not in self.visible)]
        last = [name for name in names if self._is_outside(name)]
        return (["x", "y", *last])[-3:]

    def _is_outside(self, name: str) -> bool:
        return name in self.visible or any(re.match(rf"\s*{name}\b.* = ", line) for line in self.outside)

    @property
    def has_dead_code(self) -> bool:
        """Whether nothing uses some result: TVM leaves such a call out."""
        text = re.sub(r"R\.output\(.*\)", "", self.text)
        return any(len(re.findall(rf"\b{name}\b", text)) == 1 for name, _ in self.meanings)

    def meant(self, x: Value, y: Value) -> Value:
        """What it returns when every call returns something new."""
        values = {"x": x, "y": y}
        for name, meaning in self.meanings:
            values[name] = meaning(values)
        one, two, three = (values[name].reshape(4) for name in self.kept)
        total: Value = one + two * 3 + three * 5
        return total


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        program = Program(fused=chance.random() < 0.5)
        _add(program, "a", "R.add(x, y)", (4,), lambda v: v["x"] + v["y"], dataflow=True)
        for step in range(chance.randint(2, 5)):
            _any(program, chance, f"t{step}", list(program.shapes), dataflow=True)
        # What nothing uses in the block has to leave it.
        made = [name for name, _ in program.meanings]
        program.visible = sorted({*chance.sample(made, min(2, len(made))), made[-1]}, key=made.index)
        for step in range(chance.randint(0, 3)):
            names = ["x", *program.visible, *(n for n, _ in program.meanings if n.startswith("o"))]
            if chance.random() < 0.35:
                _inner(program, chance, f"o{step}", names)
            else:
                _any(program, chance, f"o{step}", names, dataflow=False)
        yield program


def _add(program: Program, name: str, code: str, shape: Shape, meaning: Meaning, *, dataflow: bool) -> None:
    (program.inside if dataflow else program.outside).append(f"{name} = {code}")
    program.shapes[name] = shape
    program.meanings.append((name, meaning))


def _any(program: Program, chance: random.Random, name: str, names: list[str], *, dataflow: bool) -> None:
    own = [value for value in names if value not in ("x", "y")]
    one = chance.choice(own or names)
    shape = program.shapes[one]
    if own and not (dataflow and program.fused) and chance.random() < 0.4:
        code = f"R.call_tir_inplace(Module.twice_{_name(shape)}, ({one},), [0], {_type(shape)})"
        _add(program, name, code, shape, lambda v: v[one] * 2, dataflow=dataflow)
        return
    other = chance.choice(_SHAPES)
    if chance.random() < 0.4:
        unused = chance.random() < 0.5
        kernel = f"reshape_{_name(shape)}_{_name(other)}{'_unused' if unused else ''}"
        code = f"R.call_tir(Module.{kernel}, ({one}, {'y' if unused else ''}), {_type(other)})"
        _add(program, name, code, other, lambda v: v[one].reshape(other), dataflow=dataflow)
        return
    form, shape, meaning = chance.choice(_operators(one, shape, other))
    _add(program, name, form, shape, meaning, dataflow=dataflow)


def _operators(one: str, shape: Shape, other: Shape) -> list[tuple[str, Shape, Meaning]]:
    """Operators of which some become kernels that only reshape."""
    back: Shape = tuple(reversed(shape))
    same: Meaning = lambda v: v[one]  # noqa: E731
    found: list[tuple[str, Shape, Meaning]] = [
        (
            f"R.reshape({one}, R.shape([{', '.join(map(str, other))}]))",
            other,
            lambda v: v[one].reshape(other),
        ),
        (f"R.flatten({one})", (4,), lambda v: v[one].reshape(4)),
        (f"R.multiply({one}, R.const(1.0))", shape, same),
        (f"R.multiply({one}, R.const(3.0))", shape, lambda v: v[one] * 3),
        (f"R.add({one}, R.const(0.0))", shape, same),
        (f"R.negative({one})", shape, lambda v: -v[one]),
        (f"R.grad.no_grad({one})", shape, same),
        (f'R.astype({one}, "float32")', shape, same),
        (f"R.broadcast_to({one}, R.shape([{', '.join(map(str, shape))}]))", shape, same),
        (f"R.concat(({one},), axis=0)", shape, same),
        (f"R.flip({one}, axis=0)", shape, lambda v: np.flip(v[one], 0)),
        (f"R.tile({one}, [1])", shape, same),
        (f"R.nn.leakyrelu({one}, 1.0)", shape, same),
        (f"R.collapse_sum_to({one}, R.shape([{', '.join(map(str, shape))}]))", shape, same),
    ]
    if back in _SHAPES:
        found.append((f"R.permute_dims({one})", back, lambda v: v[one].T))
    return found


def _inner(program: Program, chance: random.Random, name: str, names: list[str]) -> None:
    """A function inside, which captures a value, and a call of it."""
    own = [value for value in names if value != "x"]
    held, given = chance.choice(own), chance.choice(names)
    shape, shape_2 = program.shapes[held], program.shapes[given]
    type_ = _type(shape)
    bodies: list[tuple[list[str], Meaning]] = [
        ([f"{name}_r = R.add({held}, R.const(1.0))"], lambda v: v[held] + 1),
        (
            [f"{name}_r = R.call_tir_inplace(Module.twice_{_name(shape)}, ({held},), [0], {type_})"],
            lambda v: v[held] * 2,
        ),
        ([f"{name}_r = {held}"], lambda v: v[held]),
    ]
    if shape == shape_2:
        bodies.append(([f"{name}_r = R.add({held}, {name}_p)"], lambda v: v[held] + v[given]))
    lines, meaning = chance.choice(bodies)
    program.outside += [
        "@R.function(pure=False)",
        f"def {name}_f({name}_p: {_type(shape_2)}) -> {type_}:",
        *(f"    {line}" for line in lines),
        f"    return {name}_r",
    ]
    # TVM forgets the type of what a closure returns, also behind a cast.
    program.outside.append(f"{name}_c: {type_} = {name}_f({given})")
    code = f'R.call_packed("{FIRST}", {name}_c, {name}_c, ty_args={type_})'
    _add(program, name, code, shape, meaning, dataflow=False)


def compare(program: Program) -> Counter[str]:
    """Judge one program behind each pass and run it: what was found. Raises `Disagreement` or `Unusable`."""
    tvm.register_global_func(FIRST, lambda one, other: one, override=True)
    try:
        behind = dict(stages(tvm.script.from_source(program.text), fused=program.fused))
        machine = relax.VirtualMachine(
            relax.build(behind[""], "llvm", relax_pipeline=tvm.transform.Sequential([])), tvm.cpu()
        )
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(str(error)) from None
    numbers = np.random.default_rng(1)
    x, y = numbers.random(4, "float32"), numbers.random(4, "float32")
    found = machine["main"](tvm.runtime.tensor(x.copy()), tvm.runtime.tensor(y.copy())).numpy()
    right = bool(np.allclose(found, program.meant(x, y), rtol=1e-4))
    seen: Counter[str] = Counter()
    told = ""
    for stage, module in behind.items():
        if not stage:
            continue
        checks = check_module(module, RULES).checks
        said = [check for check in checks if check.verdict is not Verdict.ALWAYS_FINE]
        wrong = any(check.verdict is Verdict.ALWAYS_WRONG and not check.assumes for check in said)
        relies = any(check.assumes for check in checks)
        told = told or stage * bool(said or relies)
        if right and wrong and not program.has_dead_code:
            raise Disagreement(f"{stage}: wrong, and it returns what is meant")
        if not right and not told:
            raise Disagreement(f"{stage}: fine, and it returns something else")
        seen[f"{'right' if right else 'wrong'}, {'a finding' if said else 'fine'}"] += 1
    return seen


def stages(module: Any, *, fused: bool) -> Iterator[tuple[str, Any]]:
    """The module as it is written and behind each of the passes; without a name what is built."""
    yield "as written", module
    target = tvm.target.Target("llvm")
    with target:
        for step in (
            *(step for step in pipeline.legalize_passes(target) if fused or "Fuse" not in step.info.name),
            relax.transform.LambdaLift(),
            *pipeline.dataflow_lower_passes(target),
            *pipeline.finalize_passes(target),
        ):
            module = step(module)
            if str(step.info.name) in JUDGED:
                yield str(step.info.name), module
    yield "", module


def main() -> int:
    """Each program as it is written and behind every stage."""
    return searched(__doc__, some, lambda program, _: compare(program))


if __name__ == "__main__":
    sys.exit(main())
