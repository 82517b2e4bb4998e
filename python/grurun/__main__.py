"""The command grurun: `python -m grurun` and the script of that name."""

from __future__ import annotations

import os
import sys

from grurun._core import run_command


def main() -> int:
    # Other runtimes are run by the interpreter that this package is installed in.
    os.environ.setdefault("GRURUN_PYTHON", sys.executable)
    return run_command(["grurun", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
