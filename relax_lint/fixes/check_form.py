"""How a run-time check is written, which depends on how far a module is lowered."""

from __future__ import annotations

from enum import Enum
from typing import Any

from relax_lint.model.program import Program
from relax_lint.vm import versions


class CheckForm(Enum):
    """`R.assert_op` is an operator: `LegalizeOps` makes a call of it, which TVM's Python package answers.
    `vm.builtin.match_shape` is part of the virtual machine and may be called at any point of a pipeline.
    """

    ASSERT_OP = "assert-op"
    BUILTIN = "builtin"


def form_in_text(wanted: str, program: Program) -> CheckForm:
    """The form in the text of a module. `auto` is the operator, which people write, as long as the text has
    nothing of the virtual machine's own level: what is above that is lowered when it is built.
    """
    if wanted != "auto":
        return CheckForm(wanted)
    callees = (name for function in program.functions for name in function.callees)
    return CheckForm.BUILTIN if any(map(versions.is_of_vm_level, callees)) else CheckForm.ASSERT_OP


def form_in_memory(wanted: str, module: Any) -> CheckForm:
    """The form in a module that is being compiled. `auto` is the operator only where `LegalizeOps` has not
    run: nothing else lowers it.
    """
    if wanted != "auto":
        return CheckForm(wanted)
    return CheckForm.ASSERT_OP if versions.has_operators_to_lower(module) else CheckForm.BUILTIN
