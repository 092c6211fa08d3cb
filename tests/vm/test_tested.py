"""Which versions of TVM are those that the tests run with."""

from __future__ import annotations

import pytest

from relax_lint.vm.tested import is_tested


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.26", True),
        ("0.26.0", True),
        ("0.27.1", True),
        ("0.27.0.post1", True),
        ("0.27.dev0", False),
        ("0.27.dev123+g0", False),
        ("0.28.dev1", False),
        ("0.28.0", False),
        ("0.2", False),
        ("0.260", False),
        ("10.26.0", False),
        ("1.0.27", False),
    ],
)
def test_releases(version: str, expected: bool) -> None:
    assert is_tested(version) is expected
