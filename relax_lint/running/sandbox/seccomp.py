"""The filter of system calls that a worker puts on itself.

The filter lists what is refused: what starts or touches another process, the network, the owner and mode of
files, the administration of the kernel, the taking back of limits. A call that is newer than the list does
not exist (ENOSYS). What is on the list fails with EPERM, so that a library that tries what it can do without
goes on; a system call of another architecture ends the process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Mapping

from relax_lint.running.sandbox.syscalls import (
    AUDIT_ARCHITECTURES,
    NEWEST,
    numbers,
    pointer,
    prctl,
    system_call,
)

_REFUSED = (
    # Other programs and processes.
    *("execve", "execveat", "fork", "vfork", "uselib", "ptrace", "process_vm_readv", "process_vm_writev"),
    *("process_madvise", "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal"),
    *("tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setpgid", "setsid", "setpriority", "ioprio_set"),
    *("sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages"),
    # The network, and messages to other processes.
    *("socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"),
    *("shmget", "shmat", "msgget", "semget", "mq_open", "mq_unlink"),
    # Those that others made are there for whoever says the right number.
    *("shmctl", "msgctl", "msgsnd", "msgrcv", "semctl", "semop", "semtimedop"),
    # What Landlock does not cover of files.
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "truncate", "file_setattr"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr"),
    *("removexattrat", "name_to_handle_at", "open_by_handle_at"),
    *("fanotify_init", "inotify_init", "inotify_init1", "lookup_dcookie"),
    # Doors that other filters do not watch.
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "memfd_create", "memfd_secret"),
    *("bpf", "perf_event_open", "keyctl", "add_key", "request_key"),
    # The administration of the machine, for a worker that runs as root.
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "open_tree_attr"),
    *("move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"),
    *("swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "sethostname", "setdomainname"),
    *(
        "settimeofday",
        "clock_settime",
        "clock_adjtime",
        "adjtimex",
        "ioperm",
        "iopl",
        "modify_ldt",
        "vhangup",
    ),
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid"),
    *("setfsgid", "capset", "setrlimit"),
)

_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _TSYNC = 1, 1
_CLONE_THREAD = 0x10000
_PROT_EXEC = 4
_QUERY_PERSONALITY = 0xFFFFFFFF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
# With an owner and a signal of one's choice, whatever happens at a descriptor is a signal to anybody.
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY = 8, 10, 15, 1024, 1026
_FIOSETOWN, _SIOCSPGRP, _FIOASYNC = 0x8901, 0x8902, 0x5452
_NEW_NAMESPACES = 0x7E020080
# Names of threads and of anonymous memory, and questions: what libraries do without need of more.
_HARMLESS_PRCTL = (3, 15, 16, 23, 27, 38, 39, 0x53564D41)

_LOAD, _IF_EQUAL, _IF_GREATER, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS

_Step = tuple[int, int, int, int]


def has_filter(machine: str) -> bool:
    """Whether there is a table of system calls for this machine, as `os.uname` names it."""
    return machine in AUDIT_ARCHITECTURES


def refuse_calls(machine: str) -> None:
    """Refuse, for this process from now on, whatever is on the list. Raises OSError."""
    _install(_general(machine, numbers(machine), os.getpid()))


def refuse_executable_memory(machine: str) -> None:
    """Refuse new executable memory: no library can be loaded and no code made. Raises OSError."""
    known = numbers(machine)
    steps = [*_of_architecture(machine)]
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        steps += _case(known[name], [*_refused_with_bit(2, _PROT_EXEC)])
    _install([*steps, _give(_ALLOW)])


def _general(machine: str, known: Mapping[str, int], process: int) -> list[_Step]:
    steps = [*_of_architecture(machine)]
    # The numbers of the x32 interface of x86_64 are above all others.
    steps += [(_IF_GREATER, 0, 1, NEWEST), _give(_UNKNOWN)]
    for name in _REFUSED:
        if name in known:
            steps += _case(known[name], [_give(_REFUSE)])
    for name, answer in _cases(process):
        steps += _case(known[name], answer)
    return [*steps, _give(_ALLOW)]


def _cases(process: int) -> Iterator[tuple[str, list[_Step]]]:
    """The calls whose arguments decide."""
    # What a thread is started with lies in memory, where a filter cannot look: glibc then uses `clone`.
    yield "clone3", [_give(_UNKNOWN)]
    yield (
        "clone",
        [
            *(_load(0), (_IF_ANY_BIT, 0, 1, _NEW_NAMESPACES), _give(_REFUSE)),
            *((_IF_ANY_BIT, 1, 0, _CLONE_THREAD), _give(_REFUSE), _give(_ALLOW)),
        ],
    )
    # `abort` sends a signal to its own process.
    yield "kill", _only(0, process)
    yield "tgkill", _only(0, process)
    # Libraries bind a thread of their own, by its number or by 0: by a number it may be anybody's.
    yield "sched_setaffinity", _only(0, 0)
    yield "prctl", _only(0, *_HARMLESS_PRCTL)
    yield "personality", _only(0, _QUERY_PERSONALITY)
    yield "ioctl", _refused_if(1, _TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP, _FIOASYNC)
    yield "fcntl", _refused_if(1, _F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY)
    # Asking for a limit is fine, setting one is not.
    yield (
        "prlimit64",
        [
            *(_load(2), (_IF_EQUAL, 1, 0, 0), _give(_REFUSE)),
            *(_load(2, high=True), (_IF_EQUAL, 1, 0, 0), _give(_REFUSE), _give(_ALLOW)),
        ],
    )


def _of_architecture(machine: str) -> list[_Step]:
    """End the process at a call of another architecture, then load the number of the call."""
    native = (_IF_EQUAL, 1, 0, AUDIT_ARCHITECTURES[machine])
    return [(_LOAD, 0, 0, _ARCHITECTURE_AT), native, _give(_KILL_PROCESS), (_LOAD, 0, 0, _NUMBER_AT)]


def _case(number: int, answer: list[_Step]) -> list[_Step]:
    """The answer for one number; every path through it ends."""
    return [(_IF_EQUAL, 0, len(answer), number), *answer]


def _only(argument: int, *values: int) -> list[_Step]:
    """Allow the call where the lower half of an argument has one of the values."""
    left = range(len(values) - 1, -1, -1)
    tests = [(_IF_EQUAL, more + 1, 0, value) for value, more in zip(values, left, strict=True)]
    return [_load(argument), *tests, _give(_REFUSE), _give(_ALLOW)]


def _refused_if(argument: int, *values: int) -> list[_Step]:
    left = range(len(values) - 1, -1, -1)
    tests = [(_IF_EQUAL, more + 1, 0, value) for value, more in zip(values, left, strict=True)]
    return [_load(argument), *tests, _give(_ALLOW), _give(_REFUSE)]


def _refused_with_bit(argument: int, bit: int) -> list[_Step]:
    return [_load(argument), (_IF_ANY_BIT, 0, 1, bit), _give(_REFUSE), _give(_ALLOW)]


def _load(argument: int, *, high: bool = False) -> _Step:
    # Both machines of the table are little-endian.
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument + (4 if high else 0))


def _give(answer: int) -> _Step:
    return (_RETURN, 0, 0, answer)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _install(steps: list[_Step]) -> None:
    # A filter may be installed by a process that can gain no rights by starting another program.
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    code = pointer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = _Program(len(steps), code)
    number = numbers(os.uname().machine)["seccomp"]
    # With TSYNC every thread of the process gets it; the answer is the number of one that could not.
    if system_call(number, _SET_MODE_FILTER, _TSYNC, ctypes.cast(ctypes.pointer(program), ctypes.c_void_p)):
        raise OSError(errno.ESRCH, "a thread could not take over the filter")
