"""How the subprocess of a replay starts: it confines itself, then loads TVM and answers.

It may make executable memory, which is what running a module takes. All else is refused to it as it is to a
worker.
"""

from __future__ import annotations

import json
import os
import sys

from relax_lint.running.sandbox.entering import Wanted, enter
from relax_lint.running.sandbox.gaps import REQUIRE
from relax_lint.running.sandbox.limits import limit_resources


def main() -> None:
    """Enter the sandbox and serve. Arguments: the memory limit in bytes, the mode of the sandbox, the entries
    of the import path that the user named, as JSON.
    """
    memory_limit, mode, trusted_paths = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    limit_resources(memory_limit)
    gaps = enter(Wanted(mode, os.getcwd(), trusted_paths=tuple(trusted_paths), executable=True))
    os.write(1, json.dumps(gaps).encode() + b"\n")
    if gaps and mode == REQUIRE:
        os._exit(1)
    # Only now: a thread that a library begins has to begin inside.
    from relax_lint.replay.child import main as serve

    serve()


if __name__ == "__main__":
    main()
