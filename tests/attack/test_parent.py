"""A short run of the fuzzer's targets for what the parent process reads; `make fuzz` is the long one."""

from __future__ import annotations

import json
import random

import pytest

from tests.attack.parent import SEEDS, TARGETS

TURNS = 1500
TOKENS = (
    b"*",
    b"**",
    b"/",
    b"[",
    b"]",
    b"!",
    b"\\",
    b"\n",
    b" ",
    b",",
    b'"',
    b"{",
    b"}",
    b"null",
    b"1e999",
    b"-1",
    b"NaN",
)


def changed(data: bytes, dice: random.Random) -> bytes:
    """The data with some pieces cut out, doubled, or replaced."""
    for _ in range(dice.randint(1, 6)):
        begin = dice.randint(0, len(data))
        end = min(len(data), begin + dice.randint(0, 8))
        piece = dice.choice((b"", data[begin:end] * 2, dice.choice(TOKENS), dice.randbytes(3)))
        data = data[:begin] + piece + data[end:]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_what_is_expected_is_raised(name: str) -> None:
    dice = random.Random(name)
    pool = [*SEEDS[name]]
    for _ in range(TURNS):
        data = changed(dice.choice(pool), dice)
        TARGETS[name](data)
        pool = [*SEEDS[name], *pool[-50:], data] if dice.random() < 0.2 and len(data) < 2000 else pool


def test_a_changed_graph_is_refused_or_is_one() -> None:
    from relax_lint.sources.saved import is_saved_ir, refused_node

    dice = random.Random("saved")
    seed = b'{"root_index":1,"nodes":[{"type":"None"},{"type":"ir.IRModule","data":{"a":[0,1]}}],"attrs":{}}'
    for _ in range(TURNS):
        try:
            graph = json.loads(changed(seed, dice))
        except (ValueError, RecursionError):
            continue
        if is_saved_ir(graph):
            assert refused_node(graph) is None or isinstance(refused_node(graph), str)
