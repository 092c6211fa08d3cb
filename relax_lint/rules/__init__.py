"""What a rule package imports: the names in `__all__`, and `relax_lint.rules.testing` for its tests.

These names are stable (docs/rule-packages.md states the policy); everything else in `relax_lint` may change
in any release. Importing this package imports neither TVM nor sympy: a name is loaded when it is first asked
for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relax_lint.facts.claims import Claim, all_of, equal, multiple_of
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.facts.placement import Placement
    from relax_lint.facts.remedies import (
        CheckAtRunTime,
        DelayKill,
        Drop,
        DropAllocation,
        MakeRoom,
        RemedyRequest,
    )
    from relax_lint.model.operations import (
        AllocStorage,
        AllocTensor,
        Assert,
        FunctionCall,
        KernelCall,
        Kill,
        MatchCast,
        Op,
        OperationId,
        ValueId,
        View,
    )
    from relax_lint.model.types import DType
    from relax_lint.results.confirmation import (
        FAILURE,
        MISBEHAVIOUR,
        NOTHING_TO_SEE,
        OTHER_RESULTS,
        Symptom,
    )
    from relax_lint.results.location import Location
    from relax_lint.results.verdict import Severity, Verdict
    from relax_lint.rule import WARNINGS, Acceptance, FixAvailability, Judgement, Kind, Message, Rule
    from relax_lint.symbolic.decision import Decision
    from relax_lint.symbolic.domain import Domain
    from relax_lint.symbolic.functions import FloorDiv, FloorMod
    from relax_lint.symbolic.quantity import Shape, Size, Unknown
    from relax_lint.symbolic.relations import at_least_zero, at_most

__all__ = [
    # what a rule declares and says
    "Rule",
    "Kind",
    "FixAvailability",
    "Acceptance",
    "Severity",
    "Verdict",
    "WARNINGS",
    "Symptom",
    "FAILURE",
    "OTHER_RESULTS",
    "MISBEHAVIOUR",
    "NOTHING_TO_SEE",
    "Judgement",
    "Message",
    "Location",
    # remedies that it asks for
    "RemedyRequest",
    "CheckAtRunTime",
    "MakeRoom",
    "Drop",
    "DropAllocation",
    "DelayKill",
    # the facts of a function, and its operations
    "FunctionFacts",
    "Placement",
    "Decided",
    "Op",
    "OperationId",
    "ValueId",
    "AllocStorage",
    "AllocTensor",
    "View",
    "KernelCall",
    "FunctionCall",
    "Kill",
    "MatchCast",
    "Assert",
    "DType",
    # claims
    "Claim",
    "Decision",
    "Domain",
    "Size",
    "Shape",
    "Unknown",
    "at_most",
    "at_least_zero",
    "equal",
    "multiple_of",
    "all_of",
    "FloorDiv",
    "FloorMod",
]

STABLE_FACTS = (
    "operations",
    "storages",
    "tensors",
    "placements",
    "entry",
    "domain_at",
    "judge",
    "totals",
    "config",
    "name_of",
    "bytes",
    "elements",
    "shape_label",
)
"""The members of `FunctionFacts` that are as stable as the names in `__all__`."""

_MODULES = {
    "relax_lint.rule": (
        "RemedyRequest "
        "Rule Kind FixAvailability Acceptance Severity Verdict WARNINGS Symptom FAILURE OTHER_RESULTS "
        "MISBEHAVIOUR NOTHING_TO_SEE Judgement Message CheckAtRunTime MakeRoom Drop DropAllocation DelayKill"
    ),
    "relax_lint.results.location": "Location",
    "relax_lint.facts.function": "FunctionFacts",
    "relax_lint.facts.placement": "Placement",
    "relax_lint.facts.judge": "Decided",
    "relax_lint.facts.claims": "Claim equal multiple_of all_of",
    "relax_lint.model.operations": (
        "Op OperationId ValueId AllocStorage AllocTensor View KernelCall FunctionCall Kill MatchCast Assert"
    ),
    "relax_lint.model.types": "DType",
    "relax_lint.symbolic.decision": "Decision",
    "relax_lint.symbolic.domain": "Domain",
    "relax_lint.symbolic.quantity": "Size Shape Unknown",
    "relax_lint.symbolic.relations": "at_most at_least_zero",
    "relax_lint.symbolic.functions": "FloorDiv FloorMod",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
