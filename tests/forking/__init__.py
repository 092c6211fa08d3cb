"""Processes for tests without what their start takes: a server has loaded TVM and this tool once, and forks.

What is proved of a start itself (what is imported, the first look, installation, signals, isolation) takes the
ordinary `subprocess`.
"""

from __future__ import annotations

from tests.forking.popen import FORKING, Forked, fork_product, run
from tests.forking.server_process import close_servers

__all__ = ["FORKING", "Forked", "close_servers", "fork_product", "run"]
