#!/usr/bin/env python3
"""What the sandbox costs: processor time of grurun with --sandbox auto and off, in turns, on the same work.

usage: bench/compare_sandbox.py [--rounds N] [--suite DIR] [--json FILE] [--write]

Counted is what the system counts of a process and those that it waited for: times of a busy machine are no measure. Told is the
median over the rounds, and the median of the differences of a round with the range that half of them lie in. --write puts the table
into docs/security.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNEL = platform.release().split("-")[0]
BEGIN, END = "<!-- what the sandbox costs: bench/compare_sandbox.py -->\n", "<!-- end of what the sandbox costs -->\n"


def processor_time(command):
    """Seconds of the process and of those that it waited for."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime


def compare(command, rounds):
    """Seconds with and without, a pair for each round; who comes first changes."""
    pairs = []
    for turn in range(rounds + 1):
        times = {mode: processor_time([*command, "--sandbox", mode]) for mode in (("auto", "off") if turn % 2 else ("off", "auto"))}
        if turn > 0:  # the first one reads files from the disk
            pairs.append((times["auto"], times["off"]))
    return pairs


def row(name, pairs):
    lower, middle, upper = statistics.quantiles([auto - off for auto, off in pairs], n=4)
    off = statistics.median(off for _, off in pairs)
    return {
        "what": name, "rounds": len(pairs), "off_ms": off * 1e3, "more_ms": middle * 1e3, "more_percent": middle / off * 100,
        "more_ms_from": lower * 1e3, "more_ms_to": upper * 1e3,
    }  # fmt: skip


def table(rows):
    lines = ["| what | rounds | without, ms | more with it, ms | half of the rounds, ms | % |\n", "|---|---|---|---|---|---|\n"]
    for r in rows:
        lines.append(
            f"| {r['what']} | {r['rounds']} | {r['off_ms']:.1f} | {r['more_ms']:.2f} | {r['more_ms_from']:.2f} to {r['more_ms_to']:.2f} "
            f"| {r['more_percent']:.1f} |\n"
        )
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grurun", default=str(ROOT / "build/release/bin/grurun"))
    parser.add_argument("--rounds", type=int, default=60, help="of a start; of what takes long a fifth of them")
    parser.add_argument("--suite", default=str(ROOT / "testdata/official/onnx-1.22.0"))
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    flags = parser.parse_args()
    small = next(path for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx")))
    run = [flags.grurun, small, "--inputs", small.parent / "test_data_set_0", "-q", "--threads", "1"]
    large = max(pathlib.Path(flags.suite).rglob("*.onnx"), key=lambda path: path.stat().st_size)
    few = max(flags.rounds // 5, 4)
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        works = [
            ("start of a run", run, flags.rounds),
            ("start of a run that saves outputs", [*run, "--save-outputs", pathlib.Path(folder) / "out.npz"], flags.rounds),
            ("start of a check", [flags.grurun, "check", small], flags.rounds),
            (f"a large model ({large.stem})", [flags.grurun, large, "-q", "--threads", "1"], few),
            ("the official cases, two workers", [flags.grurun, "conformance", flags.suite, "-j", "2"], few),
        ]
        rows = [row(name, compare(command, rounds)) for name, command, rounds in works]
    print(table(rows), end="")
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps({"date": day, "kernel": KERNEL, "rows": rows}, indent=1) + "\n")
    if flags.write:
        page = ROOT / "docs/security.md"
        before, rest = page.read_text().split(BEGIN)
        page.write_text(before + BEGIN + f"\nCounted on {day}, Linux {KERNEL}:\n\n" + table(rows) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
