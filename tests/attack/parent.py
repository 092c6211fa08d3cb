"""What the parent process itself reads of untrusted inputs, as targets for a fuzzer: each takes any bytes and
raises nothing that its callers do not expect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress

from relax_lint.running.messages import read_answer
from relax_lint.running.outcome import read_outcome
from relax_lint.settings.config import Config, ConfigError, with_options
from relax_lint.sources.patterns import patterns_in


def try_patterns(data: bytes) -> None:
    """The last line is a path, the others are patterns. The answer is that of git's own rule: what is in an
    ignored folder is ignored, and a pattern and its opposite say the opposite.
    """
    *lines, path = data.split(b"\n")
    patterns = patterns_in(b"\n".join(lines))
    shown = path.decode(errors="surrogateescape")
    ignored = patterns.match_file(shown)
    folder, slash, _ = shown.rpartition("/")
    if slash and patterns.top().verdict(folder.split("/")[0], is_folder=True):
        assert ignored
    assert not patterns_in(b"\n".join([*lines, b"!*", b"!/**/"])).match_file(shown)


def try_outcome(data: bytes) -> None:
    """What a cache or an executor gave, and what a worker answered."""
    text = data.decode(errors="replace")
    with suppress(ValueError):
        read_outcome(text)
    with suppress(ValueError, RecursionError):
        read_answer(json.loads(text))


def try_settings(data: bytes) -> None:
    """The table of a configuration, as JSON."""
    try:
        table = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return
    if isinstance(table, dict):
        with suppress(ConfigError):
            with_options(Config(), table)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "patterns": try_patterns,
    "outcome": try_outcome,
    "settings": try_settings,
}
SEEDS: Mapping[str, tuple[bytes, ...]] = {
    "patterns": (
        b"*.py[co]\n/build/\n!keep.py\n**/a/**/b\nfoo**/x\n\\#a\\ \n[!a-z]?\n[[:alpha:]]*/\na/b/c.py",
        b"**/a/**/a/**/*a*a*b0\na/a/a/a/a/aaaaaaaaaaaaaaaaaaaa",
    ),
    "outcome": (
        b'[[["a.py",1,"checked",null,[]],[],[],[],[[1,"x"]],[]],[],[],true,"0.27.0"]',
        b'["UnitList",[[["a",["a.py",1,1,1,2]]],[],[],[[1,"x"]]]]',
        b'["UnitResult",[[],[],1,["n"],[[1,"x"]],[],[]]]',
    ),
    "settings": (
        b'{"select":["RLX1"],"jobs":2,"time-limit":1.5,"memory-limit":"2 GiB","exclude":["a/"],"assume":["n<=4"]}',
        b'{"severities":{"RLX1":"note"},"max-memory":{"global":"1 MiB"},"assume-in":{"f":["n % 8 == 0"]}}',
    ),
}
