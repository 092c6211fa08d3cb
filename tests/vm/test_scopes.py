"""What TVM's allocators hand out in the memory scopes of devices."""

from __future__ import annotations

import pytest

from relax_lint.vm.allocators import Allocator
from relax_lint.vm.scopes import counts_bytes, has_pages, offered, unknown_room
from relax_lint.vm.workspaces import is_on_stack


@pytest.mark.parametrize(
    ("scope", "pages"),
    [
        ("", True),
        ("global", True),
        ("ipc_memory", True),
        ("global.ddr", False),
        ("global.vtcm", False),
        ("global.texture", False),
        ("global.texture-weight", False),
        ("shared", True),
    ],
)
def test_only_what_devices_lay_out_themselves_has_no_pages(scope: str, pages: bool) -> None:
    assert has_pages(scope) is pages
    assert counts_bytes(scope) is not pages


@pytest.mark.parametrize(
    ("scope", "axes", "why"),
    [
        ("", 3, None),
        ("global", None, None),
        ("ipc_memory", 2, None),
        ("global.ddr", 1, None),
        ("global.vtcm", 1, None),
        ("global.ddr", 2, "a table of regions"),
        ("global.vtcm", None, "a table of regions"),
        ("global.texture", 1, "rows are padded"),
        ("shared", 1, "is up to the device"),
    ],
)
def test_the_room_in_a_storage_is_known_where_it_is_the_bytes_asked_for(
    scope: str, axes: int | None, why: str | None
) -> None:
    found = unknown_room(scope, axes)
    assert (found is None) if why is None else (found is not None and why in found)


@pytest.mark.parametrize(
    ("target", "scope", "allocator", "expected"),
    [
        ("hexagon", "global.vtcm", Allocator.NAIVE, True),
        ("hexagon", "global.ddr", Allocator.NAIVE, True),
        ("hexagon", "global.vtcm", Allocator.POOLED, False),
        ("hexagon", "global.texture", Allocator.NAIVE, False),
        ("opencl", "global.texture", Allocator.POOLED, True),
        ("opencl", "global.texture-nhwc", Allocator.NAIVE, True),
        ("opencl", "global.vtcm", Allocator.NAIVE, False),
        ("cuda", "global.texture", Allocator.NAIVE, None),
    ],
)
def test_who_offers_a_scope(target: str, scope: str, allocator: Allocator, expected: bool | None) -> None:
    assert offered(target, scope, allocator) is expected


@pytest.mark.parametrize(
    ("scope", "size", "expected"),
    [
        ("global", 1, True),
        ("global", 1023, True),
        ("global", 1024, False),
        ("global", 0, False),
        ("global", -1, False),
        ("global", None, False),
        ("shared", 16, False),
    ],
)
def test_small_buffers_of_constant_size_lie_on_the_stack(
    scope: str, size: int | None, expected: bool
) -> None:
    assert is_on_stack(scope, size) is expected
