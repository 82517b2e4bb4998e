#!/usr/bin/env python3
"""Measures what a run that reports JSON Lines alone keeps of each case, and fails where that is more than it may be.

usage: bench/run_lines.py [--cases 20000] [--most-bytes 1200] [--program build/release/bin/grurun]

Runs a quarter of the cases and all of them: the memory that the rest takes is theirs.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASE = ROOT / "testdata/recurrent/test_gru_14_float"


def make_cases(folder, numbers, files):
    for number in numbers:
        case = folder / f"kind_{number % 7}" / f"test_{number:07}"
        (case / "test_data_set_0").mkdir(parents=True)
        for file in files:
            os.link(folder.parent / "case" / file, case / file)


def kept(program, folder):
    """The greatest resident memory of a run, in bytes."""
    script = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; " \
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    command = [program, "conformance", "suite", "--report", "jsonl=lines.jsonl", "-j", "1"]
    done = subprocess.run([sys.executable, "-c", script, *command], cwd=folder, capture_output=True, text=True, check=True)
    code, memory = map(int, done.stdout.split())
    if code != 0:
        sys.exit(f"run_lines: grurun ended with {code}")
    return memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--most-bytes", type=float, default=1200)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/grurun"))
    options = parser.parse_args()
    files = [str(file.relative_to(CASE)) for file in CASE.rglob("*") if file.is_file()]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        shutil.copytree(CASE, scratch / "case")
        first = options.cases // 4
        make_cases(scratch / "suite", range(first), files)
        before = kept(options.program, scratch)
        make_cases(scratch / "suite", range(first, options.cases), files)
        each = (kept(options.program, scratch) - before) / (options.cases - first)
    print(f"{options.cases} cases: {before / 2**20:.0f} MB, and {each:.0f} bytes for each case beyond {first}")
    if each > options.most_bytes:
        sys.exit(f"run_lines: more than {options.most_bytes:g} bytes for each case")


if __name__ == "__main__":
    main()
