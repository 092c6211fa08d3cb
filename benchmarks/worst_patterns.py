"""A search for the `.gitignore` that costs most: patterns are changed at random, what takes longer stays.

    python -m benchmarks.worst_patterns [--seconds 60]

Prints the longest time for one path that was found, with the sizes of the patterns and of the path, and the
time for patterns that were hostile to a matcher with backtracking.
"""

from __future__ import annotations

import argparse
import random
import time

from relax_lint.sources.patterns import MAX_WILD, path_patterns

PIECES = ("*a", "a*", "**/", "/**/a/", "?", "[!b]", "[a-z]", "a", "/", "*", "b0", "\\a")
KNOWN = ("**/a/**/a/**/*a*a*b0", "*a" * 40 + "b0", "**/a/" * 20 + "*a*a*b0")


def seconds(patterns: list[str], path: str) -> float:
    compiled = path_patterns(patterns)
    begin = time.perf_counter()
    compiled.match_file(path)
    return time.perf_counter() - begin


def changed(patterns: list[str], dice: random.Random) -> list[str]:
    found = [*patterns, "".join(dice.choices(PIECES, k=dice.randint(1, 200)))]
    dice.shuffle(found)
    return found[: dice.randint(1, 400)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    limit = parser.parse_args().seconds
    dice = random.Random(0)
    deep = "/".join([*"a" * 60, "a" * 200])
    for pattern in KNOWN:
        print(f"{seconds([pattern], deep):10.5f} s  {pattern[:60]}")
    path = "/".join(["a" * 254] * 15)
    worst, most, tried = [KNOWN[0]], 0.0, 0
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        candidate = changed(worst, dice)
        taken = seconds(candidate, path)
        tried += 1
        if taken > most:
            worst, most = candidate, taken
    size = path_patterns(worst).size
    print(
        f"{most:10.5f} s  the worst of {tried} tried: {size} of {MAX_WILD} states, {len(path)} bytes of path"
    )


if __name__ == "__main__":
    main()
