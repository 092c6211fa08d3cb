"""What runs on the virtual machine is compiled as it is: to make it fast takes LLVM three times as long, and nothing of
it is run often.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import tvm

# A function of the same name hides the module.
_BUILD = sys.modules.get("tvm.tirx.build")
_compiled: Callable[[Any, Any], Any] | None = getattr(_BUILD, "codegen_build", None)


def install() -> None:
    """From now on LLVM makes nothing faster for those who do not ask for it."""
    if _compiled is not None:
        vars(_BUILD)["codegen_build"] = _as_it_is


def _as_it_is(module: Any, target: Any) -> Any:
    """In the place of `codegen_build`."""
    assert _compiled is not None
    if target.kind.name == "llvm" and "opt-level" not in target.attrs:
        target = tvm.target.Target({**target.export(), "opt-level": 0})
    return _compiled(module, target)
