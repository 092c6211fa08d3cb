"""The memory report as one HTML file that needs nothing else: no network, no other file.

Formulas are shipped as data; the script of the page reads them and never runs them. A policy inside the page
lets the browser run that one script and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from relax_lint import __version__
from relax_lint.output.serving_picture import serving_sections
from relax_lint.results.memory_figures import MAX_TIMELINES, Amount, MemoryTotals, Resident, Timeline
from relax_lint.results.report import Report
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE
from relax_lint.support.escaping import json_text, printable
from relax_lint.totals.serving import Serving
from relax_lint.vm.scopes import refused_by_pool

_SCRIPTS = ("1_formula", "2_layout", "3_charts", "4_groups", "5_view", "6_compare", "7_page")


def render_html(report: Report, config: Config, served: Sequence[Serving] = ()) -> str:
    """The page. Its symbols start at the binding of the request; with what serving takes."""
    style = _resource("css")
    script = "\n".join(_resource(f"{name}.js") for name in _SCRIPTS)
    parts = {
        "STYLE_HASH": _hash(style),
        "SCRIPT_HASH": _hash(script),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _in_script(_data(report, config)),
        # After the data, whose place is behind it: no name can stand for a part that is still to come.
        "SERVING": serving_sections(served),
    }
    page = _resource("html")
    for name in parts:
        before, _, after = page.partition(f"@{name}@")
        page = f"{before}{parts[name]}{after}"
    return page


def _resource(name: str) -> str:
    return files(__package__).joinpath(f"memory_report.{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _in_script(data: Any) -> str:
    """JSON that cannot end its enclosing element."""
    return json_text(_shown(data), compact=True).replace("<", "\\u003c")


def _shown(value: Any) -> Any:
    """The data with every text safe to show; a formula of ordinary symbols stays what it is."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def _data(report: Report, config: Config) -> dict[str, Any]:
    tvm = f", TVM {report.tvm_version}" if report.tvm_version else ""
    paths = ", ".join(dict.fromkeys(total.path for total in report.memory))
    starts = {binding.name: binding.high for binding in config.memory.bindings}
    lengths = [max((len(one.steps) for one in total.timelines), default=0) for total in report.memory]
    return {
        "origin": f"{paths or 'no function'} - relax-lint {__version__}{tvm}",
        "values": starts,
        "budgets": [limit for scope, limit in config.max_memory if scope == WHOLE],
        "first": lengths.index(max(lengths)) if lengths else 0,
        "functions": [_function(total, config) for total in report.memory],
    }


def _function(total: MemoryTotals, config: Config) -> dict[str, Any]:
    return {
        "name": ".".join(filter(None, (total.module, total.function))),
        "path": total.path,
        "symbols": [{"name": each.name, "low": each.low, "high": each.high} for each in total.symbols],
        "totals": [
            {
                "name": name,
                "key": key,
                "expr": None if key in total.unknown else expr,
                "reason": total.unknown.get(key),
            }
            for name, key, expr in _totals(total, config)
        ],
        "kept": [{"name": name, "expr": expr} for name, expr in _kept(total)],
        "complete": len(total.timelines) < MAX_TIMELINES and not any(map(refused_by_pool, total.by_scope)),
        "timelines": [_timeline(timeline) for timeline in total.timelines],
    }


def _totals(total: MemoryTotals, config: Config) -> Iterator[tuple[str, str, str | None]]:
    """Name, name in the JSON output, and formula of every total."""
    yield "peak live", "peak_live", _expr(total.peak_live)
    for name in config.allocators:
        yield f"reserved, {name}", f"reserved.{name}", _expr(total.reserved.get(name))
    yield "lower bound", "lower_bound", _expr(total.lower_bound)
    planned = _plus(total.planned_static_bytes, total.planned_dynamic_bytes)
    yield "planned", "planned.dynamic_bytes", planned
    unplanned = _plus(total.unplanned_static_bytes, total.unplanned_dynamic_bytes)
    yield "sum of tensors", "unplanned.dynamic_bytes", unplanned
    yield "parameters", "parameters.bytes", _expr(total.parameter_bytes)
    yield "constants", "constants.bytes", _expr(total.constant_bytes)


def _kept(total: MemoryTotals) -> Iterator[tuple[str, str]]:
    """What is there during the whole call, besides what the VM's allocator hands out."""
    amounts = {"parameters": total.parameter_bytes, "constants": total.constant_bytes}
    if total.packed is not None:
        amounts["caches and states"] = total.packed.device
    for name, amount in amounts.items():
        if amount is not None and amount.expr != "0":
            yield name, amount.expr


def _expr(amount: Amount | None) -> str | None:
    return None if amount is None else amount.expr


def _plus(static: int, dynamic: Amount | None) -> str | None:
    if dynamic is None:
        return None
    if dynamic.expr == "0":
        return str(static)
    return dynamic.expr if static == 0 else f"{dynamic.expr} + {static}"


def _timeline(timeline: Timeline) -> dict[str, Any]:
    return {
        "branches": timeline.branches,
        "steps": timeline.steps,
        "formulas": timeline.formulas,
        "layers": timeline.layers,
        "storages": [
            {
                "name": storage.name,
                "size": storage.size,
                "pooled": storage.pooled,
                "begin": storage.begin,
                "end": storage.end,
                "scope": storage.scope,
                "device": storage.device,
                "line": storage.line,
                "residents": [
                    {
                        "name": tensor.name,
                        "offset": tensor.offset,
                        "size": tensor.size,
                        "begin": tensor.begin,
                        "end": tensor.end,
                        **_words(tensor),
                    }
                    for tensor in storage.residents
                ],
            }
            for storage in timeline.storages
        ],
    }


def _words(tensor: Resident) -> dict[str, Any]:
    """What is known of a tensor besides its bytes; the rest is left out, as a page has thousands."""
    words = {
        "operator": tensor.operator,
        "shape": tensor.shape,
        "dtype": tensor.dtype,
        "line": tensor.line,
    }
    return {name: value for name, value in words.items() if value}
