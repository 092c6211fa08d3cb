"""When what a run printed may be kept for an equal run, and keeping it."""

from __future__ import annotations

import argparse

from relax_lint.running.cache import Cache
from relax_lint.running.fingerprint import EngineFiles, is_development_build
from relax_lint.running.kept_answers import KEPT_FORMATS, KEPT_OPTIONS, Question
from relax_lint.settings.config import Config
from relax_lint.settings.option import Option
from relax_lint.settings.options import OPTIONS


def may_be_kept(options: argparse.Namespace, command: str, config: Config) -> bool:
    """Whether an equal run prints the same: all results were known, nothing but the named files and the
    configuration was read, and every option that was given is one of which that is certain.
    """
    if not options.all_known or options.output_format not in KEPT_FORMATS:
        return False
    # In which folder a configuration keeps results is not known to an equal run before it has read it.
    folder_is_known = config.cache_dir is None or options.cache_dir is not None
    if not config.cache or not folder_is_known or config.baseline is not None:
        return False
    given = {option.name for option in OPTIONS if command in option.commands and _is_given(option, options)}
    return given <= KEPT_OPTIONS


def _is_given(option: Option, options: argparse.Namespace) -> bool:
    found = getattr(options, option.attribute)
    return bool(found != option.for_argparse["default"])


def keep(question: Question, code: int) -> None:
    """Keep what was printed as the answer to a question."""
    if is_development_build():
        return
    entry = question.entry(code, EngineFiles().places)
    if entry is not None:
        cache = Cache(question.folder, Config())
        cache.keep(*entry)
        cache.close()
