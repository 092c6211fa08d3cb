"""A program as TVMScript."""

from __future__ import annotations

from collections.abc import Iterator

from tools.hunt.program import Closure, Function, Program, Statement, Tensor, all_statements

DEVICES = '    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})'
IMPURE = ("R.call_inplace_packed", "R.call_packed")


def text(program: Program, *, scheduled: bool = False) -> str:
    """The program as TVMScript. `scheduled`: its kernels say that they are, so that what TVM refuses to
    schedule for a GPU, a kernel that reads what it writes, comes through.
    """
    lines = [
        "from tvm.script import ir as I",
        "from tvm.script import relax as R",
        "from tvm.script import tirx as T",
        "",
        "",
        "@I.ir_module",
        "class Module:",
        *([DEVICES] if program.has_devices else []),
        *_kernels(program, scheduled),
    ]
    for function in program.functions:
        lines += [f"    {line}".rstrip() for line in _function(function)]
    return "\n".join(lines) + "\n"


def kernel_name(tensor: Tensor) -> str:
    """The name of the in-place kernel for tensors of this type."""
    return "_".join(("increment", tensor.dtype, *map(str, tensor.shape)))


def _kernels(program: Program, scheduled: bool) -> Iterator[str]:
    types = {
        kernel_name(s.type): s.type
        for s in program.statements
        if s.consumes and "cls." in s.template and isinstance(s.type, Tensor)
    }
    for name, tensor in sorted(types.items()):
        yield from (f"    {line}".rstrip() for line in _kernel(name, tensor, scheduled))


def _kernel(name: str, tensor: Tensor, scheduled: bool) -> Iterator[str]:
    axes = [f"i{axis}" for axis in range(len(tensor.shape))]
    extents = ", ".join(f"T.int64({e})" if isinstance(e, int) else e for e in tensor.shape)
    loops = f"T.grid({extents})" if len(axes) > 1 else f"range({extents})"
    blocked = ", ".join(f"v{axis}" for axis in axes)
    yield "@T.prim_func(private=True, s_tir=True)"
    if tensor.is_static:
        yield f'def {name}(values: T.Buffer(({extents},), "{tensor.dtype}")):'
    else:
        yield f"def {name}(given: T.handle):"
        yield from (f"    {symbol} = T.int64()" for symbol in tensor.shape if isinstance(symbol, str))
        yield f'    values = T.match_buffer(given, ({extents},), "{tensor.dtype}")'
    if scheduled:
        yield '    T.func_attr({"tirx.is_scheduled": True})'
    yield f"    for {', '.join(axes)} in {loops}:"
    yield '        with T.sblock("increment"):'
    yield f'            {blocked} = T.axis.remap("{"S" * len(axes)}", [{", ".join(axes)}])'
    yield f"            values[{blocked}] = values[{blocked}] + T.{tensor.dtype}(1)"
    yield ""


def _function(function: Function) -> Iterator[str]:
    pure = not any(s.template.startswith(IMPURE) for s in all_statements(function.statements))
    options = [*(["private=True"] if function.private else []), *([] if pure else ["pure=False"])]
    yield f"@R.function({', '.join(options)})" if options else "@R.function"
    parameters = ", ".join(f"{name}: {kind.in_signature}" for name, kind in function.parameters)
    result = f" -> {function.declared_result}" if function.result_type is not None else ""
    yield f"def {function.name}({parameters}){result}:"
    attributes = {}
    if function.bound is not None:
        attributes["tir_var_upper_bound"] = f'{{"n": {function.bound}}}'
    if function.plans_output:
        attributes["relax.memory_plan_dynamic_func_output"] = "True"
    if attributes:
        written = ", ".join(f'"{name}": {value}' for name, value in attributes.items())
        yield f"    R.func_attr({{{written}}})"
    if any('"n"' in kind.in_signature for _, kind in function.parameters):
        yield "    n = T.int64()"
    for statement in all_statements(function.statements):
        for symbol in statement.symbols:
            yield f"    {symbol} = T.int64()"
    if any("cls." in statement.template for statement in all_statements(function.statements)):
        yield "    cls = Module"
    yield from _body(function)
    results = function.results
    yield f"    return {results[0]}" if len(results) == 1 else f"    return ({', '.join(results)})"
    yield ""


def _body(function: Function) -> Iterator[str]:
    waiting = list(function.statements)
    while waiting:
        if not function.dataflow or not waiting[0].flow:
            yield from (f"    {line}" for line in _statement(waiting.pop(0)))
            continue
        block = []
        while waiting and waiting[0].flow:
            block.append(waiting.pop(0))
        needed = {name for statement in waiting for name in statement.used()}.union(function.results)
        outputs = [s.name for s in block if s.name in needed] or [block[-1].name]
        yield "    with R.dataflow():"
        for statement in block:
            yield from (f"        {line}" for line in _statement(statement))
        yield f"        R.output({', '.join(outputs)})"


def _statement(statement: Statement) -> Iterator[str]:
    if statement.closure is not None:
        yield from _closure(statement.name, statement.closure)
        return
    if statement.branches is None:
        yield f"{statement.name} = {statement.template.format(*statement.operands)}"
        return
    branches = statement.branches
    for head, body, result in zip(
        (f"if {branches.condition}:", "else:"), branches.bodies, branches.results, strict=True
    ):
        yield head
        for inner in body:
            yield from (f"    {line}" for line in _statement(inner))
        yield f"    {statement.name} = {result}"


def _closure(name: str, closure: Closure) -> Iterator[str]:
    parameters = ", ".join(
        f"{parameter}: {kind.erased if closure.erased else kind}" for parameter, kind in closure.parameters
    )
    result = f" -> {closure.erased.erased}" if closure.erased is not None else ""
    yield "@R.function"
    yield f"def {name}({parameters}){result}:"
    for statement in closure.statements:
        yield from (f"    {line}" for line in _statement(statement))
    yield f"    return {closure.result}"
