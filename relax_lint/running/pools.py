"""Worker pools as the configuration wants them, and what the work on a file needs of a worker."""

from __future__ import annotations

import os

from relax_lint.rule import rule_packages
from relax_lint.running.messages import FileData
from relax_lint.running.pool import WorkerPool
from relax_lint.running.starting import Needs
from relax_lint.settings.config import Config


def needs_of(file: FileData | None, config: Config) -> Needs:
    """A model is read where it lies; torch and TVM's folding of constants compile what they run."""
    source = None if file is None else file.source
    trusted = file is not None and file.kind == "pt2"
    return Needs(None if source is None else os.path.dirname(source), config.lower or trusted)


def new_pool(config: Config, tasks: int) -> WorkerPool:
    """The worker processes for so many tasks, with the limits and the sandbox that the configuration sets."""
    return WorkerPool(
        min(config.jobs or _cores(), tasks),
        time_limit_s=config.time_limit,
        memory_limit_bytes=config.memory_limit,
        sandbox=config.sandbox,
        packages=rule_packages(),
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
