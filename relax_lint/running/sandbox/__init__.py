"""What the operating system keeps a worker process from doing, whatever it is told to run.

Linux only: Landlock for files, a seccomp filter for system calls, resource limits. Each part works without
the others, and without the gate. `entering` puts them together; `gaps` names what a machine lacks.
"""
