#!/usr/bin/env python3
"""Draws the roofline of the kernels: what each reaches against what the machine was measured to allow.

usage: roofline.py BENCHMARKS.json OUT.svg      the first by grurun_bench --benchmark_out=BENCHMARKS.json
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

matplotlib.rcParams |= {"svg.hashsalt": "grurun", "svg.fonttype": "none"}  # text as text

MOST_NAMED = 20  # members of a group, whose names can be read beside each other


def main(source, target):
    with open(source) as file:
        report = json.load(file)
    machine = report["context"]
    peak = float(machine["peak FLOP/s"])
    figure, axes = pyplot.subplots(figsize=(9, 6))
    intensities = [2 ** (k / 16) for k in range(-5 * 16, 10 * 16 + 1)]
    for level in ("L1", "L2", "memory"):
        bandwidth = float(machine[f"{level} B/s"])
        axes.plot(intensities, [min(peak, bandwidth * x) / 1e9 for x in intensities], color="0.6")
        axes.annotate(f"{level}, {bandwidth / 1e9:.0f} GB/s", (intensities[0], bandwidth * intensities[0] / 1e9),
                      rotation=32, color="0.4", fontsize=8, va="bottom")
    axes.annotate(f"{peak / 1e9:.0f} GFLOP/s ({machine['isa']})", (intensities[-1], peak / 1e9), color="0.4", fontsize=8,
                  ha="right", va="bottom")
    groups = {}
    for each in report["benchmarks"]:
        if each.get("run_type") != "aggregate" and "FLOP/s" in each:
            groups.setdefault(each["name"].split("/")[0], []).append(each)
    for group, members in groups.items():
        xs = [each["FLOP/s"] / each["B/s"] for each in members]
        ys = [each["FLOP/s"] / 1e9 for each in members]
        axes.scatter(xs, ys, s=24, label=group, zorder=3)
        for each, x, y in zip(members, xs, ys) if len(members) <= MOST_NAMED else ():
            axes.annotate(each["name"].partition("/")[2], (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="floating-point operations per byte read or written at least", ylabel="GFLOP/s",
             title="Kernels, float32, one thread")
    axes.legend(loc="lower right", fontsize=8)
    axes.grid(True, which="major", alpha=0.3)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
