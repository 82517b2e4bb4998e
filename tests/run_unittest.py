"""Runs the tests of one file as `python -m unittest -v FILE` does, but for the exit status where tests were skipped and none ran: 77,
which ctest takes for a skipped test.

usage: run_unittest.py FILE
"""

import os
import sys
import unittest

ALL_SKIPPED = 77


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.path[0] = os.getcwd()
    result = unittest.main(module=None, argv=["python -m unittest", "-v", sys.argv[1]], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    # What skips a whole module or class skips it before any test is counted.
    if result.skipped and result.testsRun <= len(result.skipped):
        sys.exit(ALL_SKIPPED)


if __name__ == "__main__":
    main()
