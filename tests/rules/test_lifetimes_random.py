"""Random programs on a few storages: what is reported is what following every path byte by byte finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from relax_lint.results.check import Check
from tests.rules.checking import findings, parse

BYTES = 16
OFFSETS = (0, 8, 16, 32)
Event = tuple[str, str]


@dataclass(frozen=True)
class Write:
    """`copy(x, tensor)`; `name` is the binding."""

    name: str
    tensor: int


@dataclass(frozen=True)
class Read:
    """An operator that reads a tensor, perhaps under another name."""

    name: str
    tensor: int
    alias: bool


@dataclass(frozen=True)
class Branch:
    """An `If`."""

    name: str
    then: tuple[Any, ...]
    other: tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """Tensors (storage, offset) that are all allocated first, then steps."""

    tensors: tuple[tuple[int, int], ...]
    steps: tuple[Any, ...]


@st.composite
def programs(draw: Any) -> Program:
    places = st.tuples(st.integers(0, 1), st.sampled_from(OFFSETS))
    tensors = tuple(draw(st.lists(places, min_size=2, max_size=4)))
    count = iter(range(1000))

    def steps(depth: int, length: int) -> tuple[Any, ...]:
        found: list[Any] = []
        for _ in range(draw(st.integers(1, length))):
            name, kind = f"b{next(count)}", draw(st.integers(0, 7 if depth else 6))
            tensor = draw(st.integers(0, len(tensors) - 1))
            if kind <= 3:
                found.append(Write(name, tensor))
            elif kind <= 6:
                found.append(Read(name, tensor, draw(st.booleans())))
            else:
                found.append(Branch(name, steps(depth - 1, 2), steps(depth - 1, 2)))
        return tuple(found)

    return Program(tensors, steps(2, 7))


def conditions(steps: tuple[Any, ...]) -> Iterator[str]:
    """One for each branch, so that every path is one that a run may take."""
    for step in steps:
        if isinstance(step, Branch):
            yield f"if_{step.name}"
            yield from conditions((*step.then, *step.other))


def text(program: Program) -> str:
    # Each tensor has contents of its own: what writes over another one does not store what is there.
    parameters = [f'x{index}: R.Tensor((4,), "float32")' for index, _ in enumerate(program.tensors)]
    parameters += [f'{name}: R.Tensor((), "bool")' for name in conditions(program.steps)]
    lines = [
        "@T.prim_func(private=True, s_tir=True)",
        "def copy(a: T.handle, b: T.handle):",
        '    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())',
        '    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())',
        "    for i in range(4):",
        "        y[i] = x[i]",
        "@R.function(pure=False)",
        f"def main({', '.join(parameters)}):",
        '    s0 = R.memory.alloc_storage(R.shape([48]), 0, "global", "uint8")',
        '    s1 = R.memory.alloc_storage(R.shape([48]), 0, "global", "uint8")',
    ]
    for index, (storage, offset) in enumerate(program.tensors):
        lines.append(f'    t{index} = R.memory.alloc_tensor(s{storage}, {offset}, R.shape([4]), "float32")')
        lines.append(f"    v{index} = R.memory.view(t{index}, R.shape([2, 2]))")
    lines += written(program.steps, "    ")
    return "\n".join([*lines, "    return x0"])


def written(steps: tuple[Any, ...], margin: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Write):
            lines.append(f"{margin}{step.name} = Module.copy(x{step.tensor}, t{step.tensor})")
        elif isinstance(step, Read):
            name = f"{'v' if step.alias else 't'}{step.tensor}"
            lines.append(f"{margin}{step.name} = R.negative({name})")
            # What nothing uses may be left out, and an unknown function may not look at what it is given.
            lines.append(f'{margin}u_{step.name} = R.print({step.name}, format="")')
        else:
            for head, body in ((f"if if_{step.name}:", step.then), ("else:", step.other)):
                lines += [margin + head, *written(body, margin + "    "), f"{margin}    {step.name} = x0"]
    return lines


def paths(steps: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if not steps:
        yield ()
        return
    first, rest = steps[0], steps[1:]
    for chosen in (*paths(first.then), *paths(first.other)) if isinstance(first, Branch) else ((first,),):
        for after in paths(rest):
            yield (*chosen, *after)


def meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < BYTES


def events(program: Program, path: tuple[Any, ...]) -> tuple[set[Event], set[str]]:
    """The (write, tensor) pairs where a write is over a tensor that is read later, and the tensors that
    are read before they are written.
    """
    since: dict[int, list[str]] = {}
    overwritten: set[Event] = set()
    unwritten: set[str] = set()
    for step in path:
        if isinstance(step, Write):
            for tensor, writes in since.items():
                if tensor != step.tensor and meet(program.tensors[tensor], program.tensors[step.tensor]):
                    writes.append(step.name)
            since[step.tensor] = []
        elif step.tensor in since:
            overwritten |= {(name, f"t{step.tensor}") for name in since[step.tensor]}
        else:
            unwritten.add(f"t{step.tensor}")
            # One report for each tensor: afterwards it counts as written.
            since[step.tensor] = []
    return overwritten, unwritten


def tensor_in(check: Check) -> str:
    """The tensor that a message is about: the first name in the related places, or in the message."""
    first = check.related[0].message if check.related else check.message
    return first.split("`")[1]


def test_reports_are_what_following_every_path_finds() -> None:
    seen: set[tuple[str, str]] = set()
    one_place = ((0, 0), (0, 0))
    wrong = (Write("b0", 0), Write("b1", 1), Read("b2", 0, False), Read("b3", 1, True))
    branch = Branch("b0", (Write("b1", 0),), (Write("b2", 1),))

    @settings(max_examples=20, deadline=None)
    @given(programs())
    @example(Program(one_place, wrong))
    @example(Program(one_place, (branch, Write("b3", 0), Read("b4", 1, False))))
    def are_they(program: Program) -> None:
        seen.update(_compare(program))

    are_they()
    verdicts = ("always-wrong", "needs-runtime-check")
    assert seen == {(rule, verdict) for rule in ("RLX203", "RLX205") for verdict in verdicts}


def _compare(program: Program) -> set[tuple[str, str]]:
    """What is reported against what following every path finds. Returns the rules and verdicts that were seen."""
    found = findings(parse(text(program)), "RLX20")
    all_paths = list(paths(program.steps))
    truth = [events(program, path) for path in all_paths]
    overlaps = {(check.binding, tensor_in(check)) for check in found if check.rule == "RLX203"}
    assert overlaps == set().union(*(overwritten for overwritten, _ in truth))
    for check in found:
        if check.rule == "RLX203":
            executed = [
                index for index, path in enumerate(all_paths) if any(s.name == check.binding for s in path)
            ]
            certain = all((check.binding, tensor_in(check)) in truth[index][0] for index in executed)
            assert (check.verdict.value == "always-wrong") == certain
    unwritten = {tensor_in(check) for check in found if check.rule == "RLX205"}
    assert unwritten == set().union(*(tensors for _, tensors in truth))
    return {(check.rule, check.verdict.value) for check in found if check.rule in ("RLX203", "RLX205")}
