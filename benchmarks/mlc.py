"""mlc-llm's models through mlc-llm's own passes, with the linter watching. The sources are kept elsewhere.

python -m benchmarks.mlc FOLDER [--target cuda] [--only llama,qwen2] [--quantization q4f16_1]

FOLDER is a checkout of mlc-ai/mlc-llm. Its Python code is executed. What it imports and is not installed
(torch, transformers, ...), and its binary library, are replaced by empty stand-ins: loading weights and
serving do not work, building a model and its pass pipeline do. Where its passes expect another TVM than this
one they are adapted (`_adapt_passes`, `_spell_older_names`). The models are small in layers, not in kind. The
table says what `MemoryLint` finds at default settings, by severity, how many bounds the model declares, and
where the pipeline stops.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import time
import types
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tvm
from tvm import relax
from tvm.script import tirx as T
from tvm.script.ir_builder.relax import dtype

import relax_lint
from benchmarks.common import options, table

SIZES: dict[str, Any] = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 1024,
    "head_dim": 64,
    "rms_norm_eps": 1e-5,
    "context_window_size": 768,
    "prefill_chunk_size": 256,
    "max_batch_size": 8,
    "tensor_parallel_shards": 1,
}
"""What is asked of each configuration that has the field."""
MODELS: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window_size": -1},
    "qwen2": {"hidden_act": "silu", "rope_theta": 10000, "tie_word_embeddings": False},
    "qwen3": {"hidden_act": "silu", "attention_bias": False, "rope_theta": 10000},
    "gemma": {"hidden_activation": "gelu_pytorch_tanh", "attention_bias": False},
    "gemma2": {
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
        "query_pre_attn_scalar": 64,
        "sliding_window": 256,
    },
    "phi3": {
        "model_type": "phi3",
        "original_max_position_embeddings": 768,
        "max_position_embeddings": 768,
        "rope_theta": 10000,
    },
    "gpt2": {"n_embd": 256, "n_layer": 2, "n_head": 4, "layer_norm_epsilon": 1e-5},
    "gpt_neox": {"use_parallel_residual": True, "layer_norm_eps": 1e-5, "rotary_pct": 0.25},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "stablelm": {"layer_norm_eps": 1e-5, "partial_rotary_factor": 0.25, "rope_theta": 10000},
    "internlm2": {
        "max_position_embeddings": 768,
        "rope_theta": 10000,
        "bias": False,
        "use_cache": True,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    },
}
"""Further fields by model type; a model whose configuration takes others is reported as such."""


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


def _declares(function: Any) -> bool:
    return function.attrs is not None and "tir_var_upper_bound" in function.attrs


def judged(model_type: str, quantization: str, target: Any, cuda_graph: bool) -> tuple[Any, int, str]:
    """What the linter finds in one model, how many bounds it declares, and where the pipeline stopped."""
    lint = relax_lint.MemoryLint(fail_on=None)
    stopped, bounds = "", 0
    settings = {"relax.backend.use_cuda_graph": cuda_graph, "tirx.disable_cse_tir": True}
    with target:
        model, config, module, parameters = built(model_type, quantization)
        steps = pipeline(model, config, target, quantization, parameters)
        with tvm.transform.PassContext(config=settings, instruments=[lint]):
            try:
                functions = steps(module).functions.values()
                maps = [f.attrs["tir_var_upper_bound"] for f in functions if _declares(f)]
                bounds = len({str(name) for declared in maps for name in declared})
            except Exception as error:
                stopped = " ".join(str(error).split())[:160] or type(error).__name__
    return lint, bounds, stopped


def row(model_type: str, quantization: str, target: Any, cuda_graph: bool) -> tuple[list[str], Any]:
    """The line of the table about one model."""
    started = time.time()
    try:
        lint, bounds, stopped = judged(model_type, quantization, target, cuda_graph)
    except Exception as error:
        words = " ".join(str(error).split())[:90]
        return [model_type, *["-"] * 6, f"not built: {type(error).__name__}: {words}"], None
    counts = Counter(found.check.severity.value for found in lint.findings)
    numbers = [str(counts[severity]) for severity in ("error", "warning", "note")]
    failures = str(len(lint.failures))
    return [
        model_type,
        *numbers,
        str(bounds),
        failures,
        f"{time.time() - started:.0f} s",
        stopped or "whole pipeline",
    ], lint


def show(model_type: str, lint: Any, severities: Sequence[str]) -> None:
    """Every finding of some severities."""
    for found in lint.findings if lint is not None else ():
        check = found.check
        if check.severity.value in severities:
            print(f"  {model_type}: {check.severity.value}[{check.rule}] {check.function}: {check.message}")
            print(f"    introduced by {found.introduced_by}; {'; '.join(check.notes)[:160]}")
    for failure in lint.failures if lint is not None else ():
        print(f"  {model_type}: {failure.message}")


def main() -> None:
    arguments = options(__doc__, "folder", target="cuda", only="", quantization="q4f16_1", graph=1, notes=0)
    (folder,) = arguments.folder
    load(folder)
    chosen = arguments.only.split(",") if arguments.only else list(MODELS)
    text = {"cuda": {"kind": "cuda", "arch": "sm_80", "host": "llvm"}}.get(arguments.target, arguments.target)
    target = tvm.target.Target(text)
    warnings.simplefilter("ignore")
    rows = []
    for model_type in chosen:
        line, lint = row(model_type, arguments.quantization, target, bool(arguments.graph))
        rows.append(line)
        print("  ".join(line), flush=True)
        show(model_type, lint, ("error", "warning", "note") if arguments.notes else ("error", "warning"))
    print()
    header = ("model", "errors", "warnings", "notes", "bounds", "failures", "time", "pipeline")
    print(table(header, rows))


if __name__ == "__main__":
    main()
