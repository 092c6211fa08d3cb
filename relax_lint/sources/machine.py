"""What TVM asks the machine while it builds a target, answered without asking. Importing this module imports
TVM.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress

import tvm_ffi

# A target that names no architecture has TVM look for one. For ROCm that is a function of Python that starts
# programs. These are the values that TVM takes where it finds nothing.
_ANSWERS: Mapping[str, str] = {"tvm_callback_rocm_get_arch": "gfx900"}
# Where releases of TVM register those functions. A module that is loaded later would register its own.
_MODULES = ("tvm.support.rocm", "tvm.contrib.rocm")


def keep_to_the_text() -> None:
    """Let a target of a text mean the same on every machine: nothing is started to find out what is there.

    For a process that does nothing but linting: TVM's own functions are replaced for good.
    """
    for module in _MODULES:
        with suppress(ImportError):
            importlib.import_module(module)
    for name, answer in _ANSWERS.items():
        tvm_ffi.register_global_func(name, _answering(answer), override=True)


def _answering(answer: str) -> object:
    def respond(*_: object) -> str:
        return answer

    return respond
