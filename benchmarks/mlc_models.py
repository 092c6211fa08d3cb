"""mlc-llm's models and its own passes, from a checkout of mlc-ai/mlc-llm, whose Python code is executed.

What it imports and is not installed (torch, transformers, ...), and its binary library, are replaced by
empty stand-ins: loading weights and serving do not work, building a model and its pass pipeline do. Where its
passes expect another TVM than this one they are adapted (`_adapt_passes`, `_spell_older_names`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tvm
from tvm import relax
from tvm.script import tirx as T
from tvm.script.ir_builder.relax import dtype

from benchmarks.mlc_sizes import MODELS, SIZES
from relax_lint.vm import versions

TARGETS: dict[str, Any] = {"cuda": {"kind": "cuda", "arch": "sm_80", "host": "llvm"}}
_FORCE_NARROW = tvm.tirx.transform.ForceNarrowIndexToInt32
_LAST = "CallTIRRewrite"
"""Behind it, calls of kernels no longer tell the shapes of their results."""


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Empty modules for what is not installed; whatever is asked of them is an empty class."""

    names = ("torch", "transformers", "safetensors", "sentencepiece", "tiktoken", "fastapi", "uvicorn")
    more = (
        "shortuuid",
        "prompt_toolkit",
        "openai",
        "datasets",
        "pandas",
        "triton",
        "tqdm",
        "huggingface_hub",
    )

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A stand-in for a module, or for one in a package that is one."""
        if name.partition(".")[0] in (*self.names, *self.more):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """A module that has every name."""
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: _anything(name)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to execute."""


class _Dtypes(type):
    """The class of dtypes as values, which this TVM makes with a function."""

    def __call__(cls, value: str) -> Any:
        return dtype(value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, tvm.ir.GenericConst)


def _spell_older_names() -> None:
    """Names that mlc-llm uses and this TVM spells otherwise."""
    moved: dict[str, Any] = {
        "PrimValue": relax.prim_value,
        "DataTypeImm": _Dtypes("DataTypeImm", (), {}),
        "Constant": tvm.ir.GenericConst,
        "ObjectType": relax.AnyType,
    }

    def elsewhere(name: str) -> Any:
        if name in moved:
            return moved[name]
        return getattr(tvm.ir, name)

    relax.__getattr__ = elsewhere
    tvm.tirx.PrimFunc.buffer_map = property(_buffers)
    tvm.relax.Var.name_hint = property(lambda var: var.name)
    tvm.relax.DataflowVar.name_hint = property(lambda var: var.name)
    tvm.tirx.__getattr__ = lambda name: getattr(tvm.s_tir, name)


def _buffers(kernel: Any) -> dict[Any, Any]:
    return {var: var for var in kernel.params if type(var.ty).__name__ == "BufferType"}


def _anything(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {"__init__": lambda self, *a, **k: None})


def load(folder: str) -> None:
    """Make `mlc_llm` importable: the package itself is not initialised, as that loads its library."""
    source = Path(folder) / "python" / "mlc_llm"
    if not source.is_dir():
        raise SystemExit(f"no python/mlc_llm in {folder}")
    _spell_older_names()
    sys.path.insert(0, str(source.parent))
    sys.meta_path.append(_StandIns())
    for name in ("mlc_llm", "mlc_llm.serve", "mlc_llm.protocol"):
        package = types.ModuleType(name)
        package.__path__ = [str(source.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


def built(model_type: str, quantization: str) -> tuple[Any, Any, Any, Any]:
    """The model, its configuration, its module and its parameters."""
    models = importlib.import_module("mlc_llm.model").MODELS
    quantizations = importlib.import_module("mlc_llm.quantization").QUANTIZATION
    model, chosen = models[model_type], quantizations[quantization]
    fields = {field.name for field in dataclasses.fields(model.config)}
    wanted = {**SIZES, **MODELS.get(model_type, {})}
    config = model.config(**{name: value for name, value in wanted.items() if name in fields})
    made, _ = model.quantize[chosen.kind](config, chosen)
    module, parameters, _ = made.export_tvm(spec=made.get_default_spec(), allow_extern=True)
    for _, parameter in parameters:
        parameter.attrs.setdefault("preprocs", [])
        parameter.attrs.setdefault("pipeline_stages", [0])
    return model, config, module, parameters


def bounds_of(config: Any) -> dict[str, int]:
    """The bounds that mlc-llm declares for a model."""
    if hasattr(config, "sliding_window_size") and config.sliding_window_size > 0:
        window = config.sliding_window_size
        return {
            "rolling_cache_len": window,
            "kv_seq_len": window + config.prefill_chunk_size,
            "seq_len": config.prefill_chunk_size,
            "batch_size": config.max_batch_size,
        }
    return {
        "total_seq_len": config.context_window_size,
        "seq_len": config.prefill_chunk_size,
        "batch_size": config.max_batch_size,
    }


@T.prim_func(private=True, s_tir=True)  # type: ignore[untyped-decorator]
def _full(value: T.int64, filled: T.handle) -> None:
    batch_size = T.int32()
    result = T.match_buffer(filled, (batch_size, 1), "int32")
    for i in range(batch_size):
        with T.sblock("block"):
            vi = T.axis.spatial(batch_size, i)
            result[vi, 0] = T.Cast("int32", value)


def _adapt_passes() -> None:
    """What mlc-llm's passes expect of TVM and this TVM does otherwise: the order of the arguments of a kernel
    with a number, which it refuses, and how kernels hold their buffers.
    """
    sampler: Any = importlib.import_module("mlc_llm.compiler_pass.attach_sampler")
    sampler.full = _full
    passes: Any = importlib.import_module("mlc_llm.compiler_pass.pipeline")
    nothing = tvm.transform.Sequential([])
    passes.LiftTIRGlobalBufferAlloc = lambda: nothing
    tvm.tirx.transform.ForceNarrowIndexToInt32 = _narrows_what_it_can


def _narrows_what_it_can() -> Any:
    """The pass that makes indices of 32 bits, without the kernels that it refuses."""

    @tvm.transform.module_pass(opt_level=0, name="ForceNarrowIndexToInt32")  # type: ignore[untyped-decorator]
    def narrowed(module: Any, context: Any) -> Any:
        for name, kernel in versions.prim_functions(module):
            variable = module.get_global_var(name)
            with contextlib.suppress(Exception):
                narrow = _FORCE_NARROW()(tvm.IRModule({variable: kernel}))
                module.update_func(variable, narrow[variable])
        return module

    return narrowed


def pipeline(model: Any, config: Any, target: Any, quantization: str, parameters: Any) -> Any:
    """mlc-llm's pipeline for a model."""
    _adapt_passes()
    metadata = {
        "model_type": model.name,
        "quantization": quantization,
        "context_window_size": config.context_window_size,
        "sliding_window_size": getattr(config, "sliding_window_size", -1),
        "attention_sink_size": getattr(config, "attention_sink_size", -1),
        "prefill_chunk_size": config.prefill_chunk_size,
        "tensor_parallel_shards": 1,
        "pipeline_parallel_stages": 1,
        "disaggregation": False,
        "kv_state_kind": "kv_cache",
        "max_batch_size": config.max_batch_size,
        "active_vocab_size": None,
        "model_task": model.model_task,
        "params": [
            {
                "name": name,
                "shape": [s if isinstance(s, int) else s.name for s in parameter.shape],
                "dtype": str(parameter.dtype),
                "preprocs": parameter.attrs["preprocs"],
                "pipeline_stages": parameter.attrs["pipeline_stages"],
            }
            for name, parameter in parameters
        ],
    }
    hints = {"batch_decode": ["batch_size"], "batch_verify": ["batch_size", "seq_len"]}
    return relax.get_pipeline(
        "mlc_llm",
        target=target,
        variable_bounds=bounds_of(config),
        cuda_graph_symbolic_capture_hints=hints,
        metadata=metadata,
    )


def target_of(name: str) -> Any:
    """A target by name."""
    return tvm.target.Target(TARGETS.get(name, name))


@dataclasses.dataclass
class Compilation:
    """A model before mlc-llm's pipeline, which may change the module in place: it serves one run."""

    model_type: str
    target: Any
    quantization: str = "q4f16_1"
    cuda_graph: bool = True

    def __post_init__(self) -> None:
        with self.target:
            made = built(self.model_type, self.quantization)
            self.model, self.config, self.module, self.parameters = made

    def run(self, *instruments: Any) -> Any:
        """What the pipeline makes of it."""
        settings = {"relax.backend.use_cuda_graph": self.cuda_graph, "tirx.disable_cse_tir": True}
        with self.target:
            steps = pipeline(self.model, self.config, self.target, self.quantization, self.parameters)
            with tvm.transform.PassContext(config=settings, instruments=list(instruments)):
                return steps(self.module)


@tvm.instrument.pass_instrument
class _Keeps:
    """Keeps the module as the passes on kernels have left it."""

    def __init__(self) -> None:
        self.module: Any = None

    def run_before_pass(self, module: Any, info: Any) -> None:
        if info.name == _LAST:
            self.module = module.clone()


def with_kernels(target: str, only: Sequence[str] = (), quantization: str = "q4f16_1") -> Iterator[Any]:
    """Names of models, and their modules as mlc-llm's passes on kernels leave them for a target; None and the
    reason where that fails.
    """
    for model_type in only or MODELS:
        keeps = _Keeps()
        try:
            Compilation(model_type, target_of(target), quantization).run(keeps)
        except Exception as error:
            if keeps.module is None:
                yield model_type, None, f"{type(error).__name__}: {' '.join(str(error).split())}"
                continue
        yield model_type, keeps.module, ""
