#!/usr/bin/env python3
"""Merges the JSON Lines of simulated shards, and fails where that takes more time of a processor, or more memory, than it may.

usage: bench/merge_lines.py [--cases 1000000] [--most-seconds 60] [--most-memory 500M] [--program build/release/bin/grurun]
"""

import argparse
import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

SHARDS = 8


def case(place):
    """As grurun conformance writes a case with two outputs."""
    output = {"data_set": "test_data_set_0", "name": "Y", "ok": True, "random": False, "actual_type": "tensor(float) [5,1,2,4]",
              "expected_type": "tensor(float) [5,1,2,4]", "problem": "", "rtol": 0.001, "atol": 1e-7, "total": 40, "differing": 0,
              "non_finite": 0, "max_abs": 1.1920928955078125e-07, "max_rel": 2.4e-07, "max_ulp": 2, "first": None, "worst": None}
    return {"name": f"test_{place}", "path": f"suite/kind_{place % 7}/test_{place}", "kind": f"kind_{place % 7}",
            "verdict": "passed", "unexpected": False, "message": "", "seconds": 0.001, "opsets": {"ai.onnx": 14},
            "operators": ["GRU", "Squeeze"], "outputs": [output, output | {"name": "Y_h"}], "diagnosis": [], "warnings": [],
            "place": place}


def write_shard(path, number, cases):
    own = range(number - 1, cases, SHARDS)
    head = {"format": 1, "json_lines": 1, "grurun": "0.1.0", "found": len(own), "stale_expectations": [], "no_cases": {},
            "actual": "grurun", "expected": "the files of the cases",
            "part": {"number": number, "count": SHARDS, "found": cases, "suite": "simulated"}}
    end = {"summary": {}, "flaky": 0, "seconds": 1.0, "unused_rules": [], "ended": "done", "cases_not_run": []}
    with open(path, "w") as file:
        for line in itertools.chain([head], map(case, own), [end]):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def bytes_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--most-seconds", type=float, default=60)
    parser.add_argument("--most-memory", default="500M")
    parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parents[1] / "build/release/bin/grurun"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts = [os.path.join(folder, f"part-{k}.jsonl") for k in range(1, SHARDS + 1)]
        for number, path in enumerate(parts, 1):
            write_shard(path, number, options.cases)
        merged = os.path.join(folder, "merged.jsonl")
        begin = time.monotonic()
        result = subprocess.run([options.program, "report", "merge", *parts, "--report", f"jsonl={merged}"])
        wall = time.monotonic() - begin
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
        with open(merged, "rb") as file:
            lines = sum(1 for _ in file)
    print(f"{options.cases} results of {SHARDS} shards: {seconds:.1f} s of a processor, {wall:.1f} s, {memory / 2**20:.0f} MB")
    if result.returncode != 0 or lines != options.cases + 2:
        sys.exit(f"merge_lines: exit code {result.returncode}, {lines} lines")
    if seconds > options.most_seconds or memory > bytes_of(options.most_memory):
        sys.exit(f"merge_lines: more than {options.most_seconds:g} s or {options.most_memory}")


if __name__ == "__main__":
    main()
