"""Measures how far the functions of one number are from their true values, and writes the table of docs/instruction-sets.md.

The test Accuracy of engine_tests measures, and fails beyond 2 units in the last place; this script puts its figures into
the page, with the date and the processor.

usage: accuracy_table.py     after `make test`, or a build of the target engine_tests
"""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "instruction-sets.md"
BEGIN, END = "<!-- accuracy_table.py -->", "<!-- end -->"


def processor():
    """The processor's name, as the system has it."""
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def main():
    build = ROOT / "build" / "release"
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows"
        environment = dict(os.environ, GRURUN_ACCURACY_TABLE=str(rows), GRURUN_SOURCE_DIR=str(ROOT), GRURUN_BUILD_DIR=str(build))
        test = subprocess.run([build / "tests" / "engine_tests", "--gtest_filter=Accuracy.*"], env=environment)
        if test.returncode != 0:
            return test.returncode
        table = (
            f"Measured on {datetime.date.today()}, {processor()}, the worst of its instruction sets:\n\n"
            "| operator | float16 | bfloat16 | float32 | float64 |\n|---|--:|--:|--:|--:|\n" + rows.read_text()
        )
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
