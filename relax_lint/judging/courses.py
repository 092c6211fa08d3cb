"""What is under way while TVM compiles a module: the versions of it that passes make, and which of them have
to be judged before a pass erases something. Importing this module imports TVM.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from relax_lint.judging.erased import says_who_works_in_place
from relax_lint.model.equal_kernels import lasting_kernels
from relax_lint.model.prim_funcs import KeptKernels
from relax_lint.results.check import Check
from relax_lint.support.gc_pause import without_collection
from relax_lint.vm import versions

# After the first nothing tells any more that a call was meant to work in place; after the second extents
# stand in a heap at run time. What there is to be said has to be said before.
_REWRITING = "CallTIRRewrite"
_ERASING = frozenset({_REWRITING, "VMShapeLower"})
# They change how a module is written down, not what memory it uses.
_NOTHING_NEW = frozenset({"VMShapeLower", "AttachGlobalSymbol"})


@dataclass
class Version:
    """The module as one pass left it (`made_by` None: as it was given), and what is found in it: `findings`
    is None before it is judged, and where it cannot be analysed.

    `table` is TVM's map of the functions: as long as it is held here, it is copied before it is changed.
    """

    made_by: str | None
    module: Any
    table: Any
    functions: list[Any]
    judged: bool = False
    findings: list[Check] | None = None

    def holds(self, functions: list[Any]) -> bool:
        """Whether this is a module with these very functions."""
        return len(self.functions) == len(functions) and all(map(_same, self.functions, functions))


@dataclass
class Course:
    """What is under way in one context of passes: the passes that run, the outermost first, the versions
    since the last one that was judged, which stands first, and its findings by their numbers. Of a version
    that was `passed_over` a pass was about to run that erases something, but nothing in it.
    """

    running: list[str] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    passed_over: Version | None = None
    declared: dict[str, tuple[int, ...]] = field(default_factory=dict)
    kept: KeptKernels = field(default_factory=lambda: KeptKernels(lasting_kernels()))


class Courses(threading.local):
    """Those of this thread, the innermost last: a pass may open a context of its own, and each thread has its
    own contexts.
    """

    def __init__(self) -> None:
        self.outer: list[Course] = []
        self.now = Course()


def record(course: Course, module: Any, made_by: str | None) -> None:
    """Keep the module if it is another one than the newest version."""
    table, known = module.functions, course.versions
    if known and _same(known[-1].table, table):
        return
    functions = [function for _, function in table.items()]
    if not any(map(versions.is_relax, functions)):
        return
    if known and known[-1].holds(functions):
        known[-1].table = table
        return
    if made_by is None:
        # It has nothing to do with those before.
        vars(course).update(vars(Course()))
    # Passes written in Python may change the module that they were given.
    course.versions.append(Version(made_by, module.clone(), table, functions))


def has_news(course: Course) -> bool:
    """Whether a version that was not judged may use memory in another way than the last one that was."""
    since = course.versions[1:] if course.versions[0].judged else course.versions
    return any(version.made_by not in _NOTHING_NEW for version in since)


def erases(name: str, course: Course) -> bool:
    """Whether a pass erases what there is to be said of the newest version."""
    if name != _REWRITING:
        return name in _ERASING
    newest = course.versions[-1]
    if course.declared or _says_who_works_in_place(newest, course.kept):
        return True
    course.passed_over = newest
    return False


def _says_who_works_in_place(version: Version, kept: KeptKernels) -> bool:
    try:
        with without_collection():
            return says_who_works_in_place(version.module, kept.of(version.module))
    except Exception:
        # Who judges the version meets it again, and tells of it.
        return True


def _same(one: Any, other: Any) -> bool:
    return bool(one.same_as(other))
