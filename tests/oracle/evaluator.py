"""What a program does with given inputs, byte by byte, on one allocator.

Written from what the virtual machine was observed to do, and from nothing of the linter: it is the second
opinion. One function call is followed step by step; what an operation does wrong is noted under its name.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from tests.oracle.memory import Memory, Placed
from tests.oracle.program import (
    Branch,
    Cast,
    Function,
    Guard,
    Helper,
    InPlace,
    Invoke,
    Kernel,
    Kill,
    Other,
    Program,
    Step,
    Storage,
    Tensor,
    View,
)

PAGE = 4096
WORD = 2**64
BITS = {"int8": 8, "uint8": 8, "float32": 32, "float64": 64, "bool": 8, "int32x4": 128, "float16": 16}
ELEMENT = 4


class _Arithmetic:
    max = staticmethod(max)
    min = staticmethod(min)
    And = staticmethod(lambda a, b: a and b)
    Or = staticmethod(lambda a, b: a or b)


@dataclass(frozen=True)
class Point:
    """One call: extents of `x` and `z`, the scalar, the condition."""

    m: int
    n: int
    k: int
    c: bool


class Stop(Exception):
    """The call ends here; the text is what ends it."""


@dataclass
class Outcome:
    """What one call did.

    `wrong` has, by operation, the rules that it breaks; `reached` the operations that were executed; `ends` is
    `ok`, `refused`, `stopped`, `type error`, `crash` or `undefined` (something was broken that nothing
    refuses, and what follows cannot be known). `results` are the values of the result, None where unknown.
    Of `meaningless` tensors an offset, an extent or the storage's size is negative: whether they fit is not asked.
    `unwritten` has the tensor by the operation that breaks RLX205, `returned` what is returned by the kill that
    made it nothing. `still_unwritten` are the tensors that are returned with nothing but what a use before
    is to have mended.
    """

    wrong: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    reached: set[str] = field(default_factory=set)
    ends: str = "ok"
    results: list[list[float | None]] = field(default_factory=list)
    meaningless: set[str] = field(default_factory=set)
    unwritten: dict[str, str] = field(default_factory=dict)
    returned: dict[str, str] = field(default_factory=dict)
    still_unwritten: set[str] = field(default_factory=set)


class Call:
    """Follows one call. With `faithful` it ends where the machine ends; else it goes on after what an
    allocator refuses, as the verdicts do: what they take for granted is only what was checked.
    """

    def __init__(self, program: Program, function: Function, point: Point, allocator: str, *, faithful: bool):
        self._program = program
        self._function = function
        self._point = point
        self._allocator = allocator
        self._faithful = faithful
        self._writes = 0
        self._writers: dict[int, str] = {}
        self._killers: dict[str, str] = {}
        self._values: dict[str, Memory | Placed | None] = {}
        self._registers: dict[str, str] = {}
        self._helped: set[str] = set()
        # What an in-place call makes sits in the register of its argument.
        self._shared: dict[str, str] = {}
        # The views of what was killed, and their copies: the first view is to be mended.
        self._of_nothing: set[str] = set()
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Follow the call to its end."""
        count = self._point.m
        parameter = Memory(ELEMENT * count)
        self._values["x"] = Placed(parameter, 0, count, "float32")
        self._write(self._values["x"], "x", [float(i % 64) for i in range(count)])  # type: ignore[arg-type]
        try:
            self._steps(self._function.steps)
            self._return()
        except Stop as stop:
            self.outcome.ends = str(stop)
        return self.outcome

    def _number(self, expression: str) -> int:
        point = self._point
        return int(eval(expression, {"T": _Arithmetic, "m": point.m, "n": point.n, "k": point.k}))

    def _steps(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            self.outcome.reached.add(step.name)
            self._step(step)

    def _step(self, step: Step) -> None:
        if isinstance(step, Branch):
            self._steps(step.then if self._point.c else step.other)
        elif isinstance(step, Guard):
            if not self._number(step.condition):
                raise Stop("stopped")
        elif isinstance(step, Cast):
            if self._number(step.extent) != self._point.m:
                raise Stop("refused")
        elif isinstance(step, Storage):
            self._storage(step)
        elif isinstance(step, Tensor):
            self._tensor(step)
        elif isinstance(step, Other):
            if step.kind == "alias":
                self._registers[step.name] = self._register(step.source)
            else:
                self._other(step)
        elif isinstance(step, View):
            self._view(step)
        elif isinstance(step, Kill):
            killed = self._shared.get(self._register(step.target), self._register(step.target))
            for name in (killed, *(name for name, register in self._shared.items() if register == killed)):
                self._values[name] = None
                self._killers[name] = step.name
                self._of_nothing.discard(name)
        elif isinstance(step, Kernel):
            self._kernel(step)
        elif isinstance(step, InPlace):
            self._in_place(step)
        elif isinstance(step, Helper):
            self._helper(step)
        else:
            self._invoke(step)

    def _other(self, step: Other) -> None:
        if step.kind == "back":
            self._copy(step.name, self._used(step.name, step.source))
            return
        # A copy of nothing is nothing: whoever looks at it fails.
        register = self._register(step.source)
        self._values[step.name] = self._values[register]
        if register in self._killers:
            self._killers[step.name] = self._killers[register]
        if register in self._of_nothing:
            self._of_nothing.add(step.name)

    def _register(self, name: str) -> str:
        """`b = a` gives `b` the register of `a`."""
        return self._registers.get(name, name)

    def _storage(self, step: Storage) -> None:
        unit = 1 if step.level == "memory" else BITS[step.dtype] // 8
        size = self._number(step.size) * unit
        if size < 0:
            self.outcome.wrong[step.name].add("RLX104")
            self._end("refused")
        self._values[step.name] = Memory(size)

    def _end(self, how: str) -> None:
        if self._faithful:
            raise Stop(how)

    def _tensor(self, step: Tensor) -> None:
        extents = [self._number(extent) for extent in step.shape]
        offset = self._number(step.offset)
        product = 1
        for extent in extents:
            product *= extent
        size = -(-product * BITS[step.dtype] // 8)
        wrong = self.outcome.wrong[step.name]
        if min(extents) < 0:
            wrong.add("RLX104")
        memory: Memory | None = Memory(max(size, 0))
        if step.storage is not None:
            found = self._values[self._register(step.storage)]
            if found is None:
                wrong.add("RLX201")
                self._end("crash")
                found = Memory(0)
            assert isinstance(found, Memory)
            memory = found
            capacity = memory.declared
            if self._allocator == "pooled":
                capacity = -(-capacity // PAGE) * PAGE
            if offset < 0:
                wrong.add("RLX102")
            if wrong or memory.declared < 0:
                self.outcome.meaningless.add(step.name)
            elif offset + size > memory.declared:
                wrong.add("RLX101")
            if (offset + size % WORD) % WORD > capacity:
                self._end("refused")
            elif wrong & {"RLX102", "RLX104"}:
                self._end("undefined")
        elif wrong:
            self._end("undefined" if size >= 0 else "refused")
        assert memory is not None
        self._values[step.name] = Placed(memory, offset, product, step.dtype, name=step.name)

    def _view(self, step: View) -> None:
        source = self._used(step.name, step.source, fails=False)
        if not isinstance(source, Placed):
            self._copy(step.name, None)
            self._end("refused" if step.kind == "view" else "crash")
            return
        count = self._number(step.extent)
        if count < 0 or source.count < 0:
            self.outcome.meaningless.add(step.name)
            self._end("undefined")
        elif count > source.count or (step.kind == "reshape" and count != source.count):
            self.outcome.wrong[step.name].add("RLX304")
            self._end("refused")
        self._values[step.name] = replace(source, count=count)

    def _copy(self, name: str, value: Memory | Placed | None) -> None:
        self._values[name] = value
        if value is None:
            self._of_nothing.add(name)

    def _used(self, name: str, source: str, *, fails: bool = True) -> Memory | Placed | None:
        value = self._values[self._register(source)]
        if value is None:
            if self._register(source) not in self._of_nothing:
                self.outcome.wrong[name].add("RLX201")
            if fails:
                self._end("type error")
        return value

    def _kernel(self, step: Kernel) -> None:
        tensors = [self._used(step.name, argument) for argument in step.arguments]
        if any(tensor is None for tensor in tensors):
            return
        placed = [tensor for tensor in tensors if isinstance(tensor, Placed)]
        if len({tensor.count for tensor in placed}) > 1:
            self._end("refused")
            return
        if step.starts_at_zero and placed[0].offset != 0:
            self.outcome.wrong[step.name].add("RLX303")
            self._end("refused")
        self._require_aligned(step.name, placed)
        target, source = placed[-1], placed[0]
        writes: dict[int, int] = {}
        for index in range(max(target.count, 0)):
            value: float | None = 7.0
            if step.does == "some" and index > 1:
                continue
            if step.does not in ("fill", "some"):
                value = self._read(source, index, step.name)
                value = None if value is None else value * (2 if step.does == "double" else 1)
            if step.does == "accumulate":
                before = self._read(target, index, step.name)
                value = None if value is None or before is None else value + before
            writes[index] = self._store(target, index, value, step.name)
        for version in target.versions:
            version.update(writes)

    def _require_aligned(self, name: str, tensors: list[Placed]) -> None:
        if any(tensor.offset % ELEMENT and tensor.count > 0 for tensor in tensors):
            # The kernel counts in elements: it works on those that begin a little earlier. Of what a helper
            # calls the verdict stands in the helper.
            if name not in self._helped:
                self.outcome.wrong[name].add("RLX303")
            self._end("undefined")

    def _helper(self, step: Helper) -> None:
        """The kernels that a function of the module runs on what it is given."""
        self._helped.add(step.name)
        if step.helper == "put":
            storage = self._values[self._register(step.arguments[0])]
            if storage is None:
                self.outcome.wrong[step.name].add("RLX201")
                self._end("crash")
                storage = Memory(0)
            assert isinstance(storage, Memory)
            capacity = storage.declared
            capacity = -(-capacity // PAGE) * PAGE if self._allocator == "pooled" else capacity
            if ELEMENT * self._point.m > capacity:
                self._end("refused")
            self._values[step.name] = Placed(storage, 0, self._point.m, "float32", name=step.name)
            self._kernel(Kernel(step.name, "double", ("x", step.name)))
            return
        # Each of them is told, not only the first that is nothing.
        if None in [self._used(step.name, argument) for argument in step.arguments]:
            return
        first, last = step.arguments[0], step.arguments[-1]
        if step.helper == "shift" or self._point.c:
            self._kernel(Kernel(step.name, "fill", (last,)))
        if step.helper == "shift":
            self._kernel(Kernel(step.name, "accumulate", (first, last)))

    def _in_place(self, step: InPlace) -> None:
        register = self._register(step.source)
        self._shared[step.name] = self._shared.get(register, register)
        source = self._used(step.name, step.source)
        if not isinstance(source, Placed):
            self._values[step.name] = None
            if register in self._killers:
                self._killers[step.name] = self._killers[register]
            if register in self._of_nothing:
                self._of_nothing.add(step.name)
            return
        self._require_aligned(step.name, [source])
        expected = {}
        for index in range(max(source.count, 0)):
            value = self._read(source, index, step.name)
            expected[index] = self._store(source, index, None if value is None else value * 2, step.name)
        self._values[step.name] = replace(source, expected=expected)
        source.versions.append(expected)

    def _invoke(self, step: Invoke) -> None:
        called = next(f for f in self._program.functions if f.name == step.function)
        call = Call(self._program, called, self._point, self._allocator, faithful=True)
        ends = call.run().ends
        if ends != "ok":
            self._end(ends)

    def _write(self, tensor: Placed, name: str, values: list[float]) -> None:
        tensor.expected = {
            index: self._store(tensor, index, value, name) for index, value in enumerate(values)
        }

    def _store(self, tensor: Placed, index: int, value: float | None, name: str) -> int:
        self._writes += 1
        self._writers[self._writes] = name
        at = tensor.offset + ELEMENT * index
        # Elements that do not lie on a multiple of four overlap two others.
        for near in range(at - ELEMENT + 1, at + ELEMENT):
            tensor.memory.values.pop(near, None)
            if near in tensor.memory.history or near == at:
                tensor.memory.history[near].append(self._writes)
        if value is not None:
            tensor.memory.values[at] = value
        return self._writes

    def _read(self, tensor: Placed, index: int, name: str) -> float | None:
        at = tensor.offset + ELEMENT * index
        expected = tensor.expected.get(index)
        if expected is None:
            self.outcome.wrong[name].add("RLX205")
            self.outcome.unwritten[name] = tensor.name
            # The first use of what was never written is the one to mend: from here on it has its contents.
            self._writes += 1
            tensor.expected[index] = self._writes
            tensor.memory.history[at].append(self._writes)
        else:
            history = tensor.memory.history[at]
            for later in history[history.index(expected) + 1 :]:
                if later in self._writers:
                    self.outcome.wrong[self._writers[later]].add("RLX203")
        return tensor.memory.values.get(at)

    def _return(self) -> None:
        for result in self._function.result:
            name = self._register(result)
            value = self._values[name]
            if not isinstance(value, Placed):
                if name in self._killers:
                    self.outcome.wrong[self._killers[name]].add("RLX201")
                    self.outcome.returned[self._killers[name]] = result
                # Alone it is returned as None; in a tuple it may kill the process.
                self._end("undefined")
            else:
                elements = range(max(value.count, 0))
                used = {value.expected.get(index) for index in elements} - {None}
                if not used <= self._writers.keys():
                    self.outcome.still_unwritten.add(value.name)
                self.outcome.results.append([self._read(value, i, value.name) for i in elements])
