"""What a program does in one call, byte by byte, written from what the virtual machine was observed to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.oracle.handed.contents import Chain, Contents, Outcome, Point, Senseless, Stop
from tests.oracle.handed.program import (
    FILL_KEPT,
    FIRST,
    KEEP,
    TWINS,
    Assert,
    Branch,
    Call,
    Cast,
    Closure,
    Field,
    Function,
    InPlace,
    Invoke,
    Kernel,
    Kill,
    Output,
    Packed,
    Pair,
    Place,
    Program,
    Rename,
    Step,
    Store,
    symbol,
)
from tests.oracle.memory import Memory, Placed

TWIN = 4


@dataclass(frozen=True)
class _Bound:
    """A function with the values that it captures or holds."""

    function: Function
    held: tuple[Any, ...] = ()
    outside: dict[str, Any] | None = None
    path: str = ""


class Run(Contents):
    """Follows one call."""

    def __init__(self, program: Program, point: Point) -> None:
        super().__init__()
        self._program = program
        self._functions = {function.name: function for function in program.functions}
        self._point = point
        self._kept: Any = None

    def call(self) -> Outcome:
        """Follow it to its end. Raises `Senseless`."""
        x = self._new(self._point.n, [float(i + 1) for i in range(self._point.n)])
        y = self._new(4, [float(10 * i + 5) for i in range(4)])
        condition = self._new(1, [float(self._point.c)])
        values: dict[str, Any] = {"x": x, "y": y, "c": condition, "#n": self._point.n}
        try:
            self._steps(self._program.steps, values, "main", ())
            found = [self._value(values, name) for name in self._program.result]
            for name, value in zip(self._program.result, found, strict=True):
                if value is None:
                    # The machine returns nothing in its place.
                    self.outcome.wrong["main", name].append("RLX201")
                    raise Stop("undefined")
                if not isinstance(value, Placed):
                    raise Senseless
                read = [self._read(value, i, ()) for i in range(value.count)]
                self.outcome.results.append(read)
        except Stop as stop:
            self.outcome.ends = str(stop)
        except (KeyError, IndexError, AttributeError, TypeError, RecursionError) as error:
            raise Senseless from error
        return self.outcome

    # -- steps -------------------------------------------------------------------------------------

    def _steps(self, steps: Sequence[Step], values: dict[str, Any], path: str, chain: Chain) -> None:
        for step in steps:
            where = path, step.name
            here = (*chain, where)
            self.outcome.reached[where].append(here)
            values[step.name] = self._step(step, values, path, here)

    def _value(self, values: dict[str, Any], name: str) -> Any:
        return values[name]

    def _number(self, extent: str, values: dict[str, Any]) -> int:
        names = {name.removeprefix("#"): value for name, value in values.items() if name.startswith("#")}
        found = eval(extent, {"__builtins__": {}}, names)
        if found < 0:
            raise Senseless
        return int(found)

    def _used(self, values: dict[str, Any], name: str, chain: Chain) -> Any:
        value = self._value(values, name)
        if value is None:
            self.outcome.wrong[chain[-1]].append("RLX201")
            raise Stop("refused")
        return value

    def _step(self, step: Step, values: dict[str, Any], path: str, here: Chain) -> Any:
        match step:
            case Store():
                return Memory(self._number(step.size, values))
            case Place():
                return self._place(step, values, here)
            case Kernel():
                return self._kernel(step.kernel, self._tensors(step.arguments, values, here), here)
            case Output():
                made = self._new(self._number(step.extent, values))
                self._kernel(step.kernel, [*self._tensors(step.arguments, values, here), made], here)
                return made
            case InPlace():
                return self._in_place(step, values, here)
            case Rename():
                if step.view is None:
                    # Another name for what was killed is as empty as that.
                    return self._value(values, step.source)
                source = self._used(values, step.source, here)
                if self._number(step.view, values) != source.count:
                    raise Senseless
                return source
            case Pair():
                return tuple(self._used(values, item, here) for item in step.items)
            case Field():
                return values[step.tuple][step.index]
            case Call():
                return self._call(step, values, here)
            case Closure():
                held = [self._value(values, name) for name in (*step.held, "c")]
                return _Bound(self._functions[step.function], tuple(held), path=step.function)
            case Invoke():
                given = [self._used(values, name, here) for name in step.arguments]
                return self._invoke(values[step.closure], given, here)
            case Packed():
                return self._packed(step, values, here)
            case Cast():
                return self._cast(step, values, here)
            case Kill():
                if values[step.target] is None:
                    # Another rule tells what is killed twice.
                    raise Senseless
                values[step.target] = None
            case Assert():
                return self._assert(step, values, here)
            case Branch():
                # What is bound in a branch is bound there alone.
                taken = values["c"].memory.values[0]
                inside = dict(values)
                self._steps(step.then if taken else step.other, inside, path, here[:-1])
                return inside[step.then_result if taken else step.other_result]
            case Function():
                return _Bound(step, outside=values, path=f"{path}.{step.name}")
        return None

    def _tensors(self, names: Sequence[str], values: dict[str, Any], here: Chain) -> list[Placed]:
        found = [self._value(values, name) for name in names]
        if any(value is None for value in found):
            self.outcome.wrong[here[-1]].append("RLX201")
            raise Stop("refused")
        if not all(isinstance(value, Placed) for value in found):
            raise Senseless
        return found

    def _place(self, step: Place, values: dict[str, Any], here: Chain) -> Placed:
        storage = values[step.storage]
        if not isinstance(storage, Memory):
            raise Senseless
        count = 1 if step.flag else self._number(step.extent, values)
        if step.offset + count * (1 if step.flag else 4) > storage.declared:
            self.outcome.wrong[here[-1]].append("RLX101")
            raise Stop("refused")
        return Placed(storage, step.offset, count, "bool" if step.flag else "float32")

    # -- kernels -----------------------------------------------------------------------------------

    def _in_place(self, step: InPlace, values: dict[str, Any], here: Chain) -> Placed:
        """What it makes is new, and what it overwrites is not what it was; of what it does not declare neither is."""
        tensors = self._tensors(step.arguments, values, here)
        self._declared = True
        try:
            self._kernel(step.kernel, tensors, here)
        finally:
            self._declared = False
        found = replace(tensors[0], expected=self._made)
        tensors[0].versions.append(self._made)
        return found

    # -- functions ---------------------------------------------------------------------------------

    def _call(self, step: Call, values: dict[str, Any], here: Chain) -> Any:
        given = [self._used(values, name, here) for name in step.arguments]
        if step.inner:
            return self._invoke(values[step.function], given, here)
        bound = _Bound(self._functions[step.function], (values["c"],), path=step.function)
        return self._invoke(bound, given, here)

    def _invoke(self, bound: _Bound, given: list[Any], here: Chain) -> Any:
        function = bound.function
        if len(here) > 30:
            raise Senseless
        values = dict(bound.outside or {})
        if bound.outside is not None:
            values = {name: value for name, value in values.items() if not name.startswith("#")}
        arguments = [*given, *bound.held]
        names = [*function.parameters, *(["c"] if bound.outside is None else [])]
        if len(arguments) != len(names) or (bound.outside is None and "c" in function.parameters):
            raise Senseless
        values.update(zip(names, arguments, strict=True))
        for name, kind, value in zip(function.parameters, function.types, arguments, strict=False):
            if kind == "closure" and isinstance(value, _Bound):
                continue
            if not isinstance(value, Placed):
                raise Senseless
            if kind == "own":
                values[f"#{symbol(name)}"] = value.count
            elif kind == "4" and value.count != 4:
                raise Stop("refused")
        if function.recursive and values["c"].memory.values[0]:
            values["c"] = self._new(1, [0.0])
            where = bound.path, f"{function.name}_v"
            return self._invoke(
                _Bound(function, (values["c"],), path=bound.path),
                [values[name] for name in function.parameters],
                (*here, where),
            )
        self._steps(function.steps, values, bound.path, here)
        return values[function.result]

    def _packed(self, step: Packed, values: dict[str, Any], here: Chain) -> Any:
        given = [self._used(values, name, here) for name in step.arguments]
        if step.function == TWINS:
            if given[0].count != TWIN:
                raise Senseless
            read = [self._read(given[0], index, here) for index in range(TWIN)]
            return self._new(TWIN, read), self._new(TWIN, [8.0] * TWIN)
        for value in given:
            self._presume_written(value, here)
        if step.function == FIRST:
            return given[0]
        if step.function == KEEP:
            self._kept = given[0]
            return given[0]
        if self._kept is None:
            raise Senseless
        if step.function == FILL_KEPT:
            writes = {i: self._store(self._kept, i, 9.0, here) for i in range(self._kept.count)}
            self._update(self._kept, writes)
            return given[0]
        return self._kept

    def _presume_written(self, tensor: Placed, here: Chain) -> None:
        """An unknown function writes what nothing has written, as TVM's calling convention has it."""
        made = {
            index: self._store(tensor, index, None, here)
            for index in range(tensor.count)
            if index not in tensor.expected
        }
        self._update(tensor, made)

    def _cast(self, step: Cast, values: dict[str, Any], here: Chain) -> Any:
        source = self._used(values, step.source, here)
        if step.extent.isdigit():
            if source.count != int(step.extent):
                raise Stop("refused")
        else:
            values[f"#{step.extent}"] = source.count
        return source

    def _assert(self, step: Assert, values: dict[str, Any], here: Chain) -> None:
        condition = self._used(values, step.condition, here)
        shown = [values[name] for name in step.shown]
        if condition.count != 1:
            raise Senseless
        held = self._read(condition, 0, here)
        if held is None:
            raise Stop("undefined")
        if held:
            return
        # What is shown is only looked at here.
        if None in shown:
            self.outcome.wrong[here[-1]].append("RLX201")
        for tensor in shown:
            for index in range(tensor.count if tensor is not None else 0):
                self._read(tensor, index, here)
        raise Stop("stopped")
