"""The command grurun: `python -m grurun` and the script of that name."""

from __future__ import annotations

import sys

from grurun._core import run_command


def main() -> int:
    return run_command(["grurun", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
