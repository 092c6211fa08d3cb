"""Modules that are written by hand, with two kernels of four elements, and what the rules about lifetimes say of them."""

from __future__ import annotations

from typing import Any

from tests.rules.checking import findings, parse

PREFIX = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]
"""


def by_hand(body: str) -> Any:
    """A module with two kernels and the functions of `body`."""
    return parse(PREFIX + body)


def said(module: Any, code: str = "RLX20") -> list[tuple[str, str, str | None]]:
    """Code, verdict and binding of what is reported, without the rule about missing kills."""
    found = findings(module, code)
    return [(check.rule, check.verdict.value, check.binding) for check in found if check.rule != "RLX207"]
