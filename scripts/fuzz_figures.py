"""Writes what a run of the fuzz targets came to into docs/security.md, from their logs.

usage: fuzz_figures.py [LOGS]     default: build/fuzz/logs, with TARGET.N.log of each start by libFuzzer, TARGET.afl.log by AFL++
"""

import collections
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- fuzzing: scripts/fuzz_figures.py -->\n", "<!-- end of fuzzing -->\n"


def executions_in(text):
    """What libFuzzer counted at the end, or the last number that it printed where it was stopped."""
    final = re.findall(r"^stat::number_of_executed_units: *(\d+)", text, re.MULTILINE)
    seen = re.findall(r"^#(\d+)\s", text, re.MULTILINE)
    return int((final or seen or ["0"])[-1])


def figures_of(folder):
    """(target, executions by libFuzzer, by AFL++, how often something ended it) of each target that ran."""
    executions, finds = collections.Counter(), collections.Counter()
    for log in sorted(folder.glob("*.log")):
        target, engine = log.name.split(".")[0], "AFL++" if log.name.endswith(".afl.log") else "libFuzzer"
        text = log.read_text(errors="replace")
        executions[target, engine] += executions_in(text)
        finds[target] += text.count("\nSUMMARY: ") if engine == "AFL++" else "SUMMARY: " in text
    targets = sorted({target for (target, _), count in executions.items() if count})
    return [(target, executions[target, "libFuzzer"], executions[target, "AFL++"], finds[target]) for target in targets]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/fuzz/logs"
    rows = figures_of(folder)
    if not rows:
        sys.exit(f"{folder}: no log of a fuzz target")
    newest = max(log.stat().st_mtime for log in folder.glob("*.log"))
    day = datetime.datetime.fromtimestamp(newest, datetime.timezone.utc).date()
    table = [f"Counted on {day}:\n", "\n", "| target | executions by libFuzzer | by AFL++ | something found |\n", "|---|---|---|---|\n"]
    table += [f"| `{target}` | {first:,} | {second:,} | {found} |\n" for target, first, second, found in rows]
    page = ROOT / "docs/security.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n" + "".join(table) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
