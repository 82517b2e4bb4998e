#!/usr/bin/env python3
"""Times recurrent layers on grurun and on ONNX Runtime, OpenVINO and PyTorch (those installed), in turns of short slices, on the same
inputs; checks that the outputs agree; prints time of the best peer / time of grurun.

usage: bench/compare.py [-k TEXT] [--random N --seed N] [--threads 1,2] [--types] [--json FILE] [--plot FILE] ...

Without --random: the ten named layers. A ratio above 1 says that grurun is faster. The time of a contestant is the median over
its slices of the medians of their runs. Exit codes: 0; 1 outputs differ; 2 usage.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from layer_cases import NAMED, random_layers, write_case  # noqa: E402
from peers import GrurunSlices, PeerSlices, Unsupported, installed_peers  # noqa: E402
from turns import take_turns  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTOL, ATOL = 1e-4, 2e-6  # the second is for elements that sums of float32 leave near 0


def worst_difference(outputs, others):
    """The largest |a - b| / (ATOL + RTOL |b|): above 1 they differ. NaN where one alone is NaN counts as infinite."""
    worst = 0.0
    for a, b in zip(outputs, others, strict=True):
        if a.shape != b.shape:
            return float("inf")
        with np.errstate(invalid="ignore"):
            off = np.abs(a.astype(np.float64) - b) / (ATOL + RTOL * np.abs(b))
        off[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
        worst = max(worst, float(np.nan_to_num(off, nan=np.inf, posinf=np.inf).max(initial=0)))
    return worst


def measure_layer(layer, threads, peers, flags):
    """One row of the table: microseconds of each, and how far peers' outputs are from grurun's."""
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        model, feed = write_case(folder, layer)
        ours = GrurunSlices(flags.grurun, folder, layer, threads)
        row = {"case": layer.name, "layer": layer.describe(), "threads": threads, "flops": layer.flops, "peers": {}, "unsupported": {}}
        contestants = {}
        for peer in peers:
            try:
                contestants[peer.name] = PeerSlices(peer, layer, model, feed, threads)
            except Unsupported as reason:
                row["unsupported"][peer.name] = str(reason)[:200]
        measures = [functools.partial(contestant.measure, flags.slice_seconds) for contestant in [*contestants.values(), ours]]
        take_turns(flags.slices, threads, measures)
    row |= {"median_us": float(np.median(ours.medians)), "p10_us": float(min(ours.lows)), "isa": ours.isa}
    for name, contestant in contestants.items():
        row["peers"][name] = {"median_us": float(np.median(contestant.medians)), "p10_us": float(min(contestant.lows)),
                              "difference": worst_difference(ours.outputs, contestant.outputs)}
    agreeing = {name: peer for name, peer in row["peers"].items() if peer["difference"] <= 1}
    if agreeing:
        row["best_peer"] = min(agreeing, key=lambda name: agreeing[name]["median_us"])
        row["ratio"] = agreeing[row["best_peer"]]["median_us"] / row["median_us"]
        row["ratio_p10"] = min(peer["p10_us"] for peer in agreeing.values()) / row["p10_us"]
    row["agrees"] = bool(agreeing) or not row["peers"]
    return row


def as_table(rows, peers):
    names = [peer.name for peer in peers]
    lines = ["| case | layer | " + " | ".join(names) + " | grurun | ratio |", "|---|---|" + "--:|" * (len(names) + 2)]
    for row in rows:
        cells = []
        for name in names:
            peer = row["peers"].get(name)
            cells.append("-" if peer is None else f"{peer['median_us']:.1f}" + ("" if peer["difference"] <= 1 else " (differs)"))
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
        lines.append(f"| {row['case']} | {row['layer']} | {' | '.join(cells)} | {row['median_us']:.{2 if row['median_us'] < 100 else 1}f} | {ratio} |")
    return "\n".join(lines)


def summary(rows):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if not ratios:
        return "no peer to compare with"
    lowest = min((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    return f"{len(ratios)} ratios: least {lowest['ratio']:.2f} ({lowest['case']}), geometric mean {np.exp(np.mean(np.log(ratios))):.2f}"


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "system": platform.platform(), "date": datetime.date.today().isoformat()}


def measure_types(flags):
    """grurun alone: how much longer than float32 the other types take."""
    import ml_dtypes
    types = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
    rows = []
    for layer in chosen_layers(flags):
        with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
            slices = {}
            for name, dtype in types.items():
                write_case(pathlib.Path(folder) / name, layer, dtype)
                slices[name] = GrurunSlices(flags.grurun, pathlib.Path(folder) / name, layer, 1)
            take_turns(flags.slices, 1, [functools.partial(contestant.measure, flags.slice_seconds) for contestant in slices.values()])
        row = {"case": layer.name, "layer": layer.describe(), **{name: float(np.median(s.medians)) for name, s in slices.items()}}
        rows.append(row)
        print(f"{layer.name:20s} " + "  ".join(f"{n} {row[n]:.2f} ({row[n] / row['float32']:.2f})" for n in types), flush=True)
    print("\n| case | " + " | ".join(types) + " |\n|---|" + "--:|" * len(types))
    for row in rows:
        print(f"| {row['case']} | {row['float32']:.2f} | " + " | ".join(f"{row[n] / row['float32']:.2f}" for n in list(types)[1:]) + " |")
    return rows


def draw_plot(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
    from matplotlib import pyplot
    cases = list(dict.fromkeys(row["case"] for row in rows))
    threads = sorted({row["threads"] for row in rows})
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.32 * len(cases)))
    for i, count in enumerate(threads):
        ratios = {row["case"]: row.get("ratio", 0) for row in rows if row["threads"] == count}
        at = np.arange(len(cases)) + (i - (len(threads) - 1) / 2) * 0.38
        bars = axes.barh(at, [ratios.get(case, 0) for case in cases], 0.36, label=f"{count} thread{'s' if count > 1 else ''}")
        axes.bar_label(bars, [f"{ratios.get(case, 0):.2f}" for case in cases], padding=2, fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), cases, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("time of the fastest peer / time of grurun")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def chosen_layers(flags):
    layers = random_layers(flags.random, flags.seed) if flags.random else NAMED
    return [layer for layer in layers if flags.k in layer.name or flags.k in layer.describe()]


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-k", default="", metavar="TEXT", help="only layers whose name or description holds TEXT")
    parser.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", help="the program (build/release/bin/grurun)")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random layers instead of the named ones")
    parser.add_argument("--seed", type=int, default=1, help="of the random layers")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--peers", default="", help="only these, separated by commas")
    parser.add_argument("--slices", type=int, default=7, help="turns of each contestant (7)")
    parser.add_argument("--slice-seconds", type=float, default=0.15, help="length of a turn (0.15)")
    parser.add_argument("--types", action="store_true", help="compare grurun's element types with each other instead")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON")
    parser.add_argument("--from-json", metavar="FILE", help="measure nothing: print and plot these results")
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios (.svg, .png; needs matplotlib)")
    return parser.parse_args()


def measure_all(flags):
    peers = installed_peers(set(filter(None, flags.peers.split(","))))
    version = subprocess.run([flags.grurun, "--version", "-v"], capture_output=True, text=True, check=True).stdout.splitlines()
    results = {"machine": machine(), "grurun": version, "peers": {peer.name: v for peer, v in peers.items()}, "rows": []}
    for threads in map(int, flags.threads.split(",")):
        for layer in chosen_layers(flags):
            row = measure_layer(layer, threads, peers, flags)
            results["rows"].append(row)
            print(f"{row['case']:18s} {threads} thread{'s' if threads > 1 else ' '}  grurun {row['median_us']:10.2f}  "
                  + "  ".join(f"{name} {peer['median_us']:10.1f}" + (" differs" if peer["difference"] > 1 else "")
                              for name, peer in row["peers"].items())
                  + (f"  ratio {row['ratio']:.2f} (p10 {row['ratio_p10']:.2f})" if "ratio" in row else "  no ratio"), flush=True)
    return results


def main():
    flags = parse()
    if flags.types:
        results = {"machine": machine(), "types": measure_types(flags)}
    else:
        results = json.loads(pathlib.Path(flags.from_json).read_text()) if flags.from_json else measure_all(flags)
        columns = [type("Peer", (), {"name": name}) for name in results["peers"]]
        for threads in sorted({row["threads"] for row in results["rows"]}):
            rows = [row for row in results["rows"] if row["threads"] == threads]
            print(f"\n{threads} thread{'s' if threads > 1 else ''}, microseconds\n\n{as_table(rows, columns)}\n\n{summary(rows)}")
    if flags.json:
        pathlib.Path(flags.json).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(flags.json).write_text(json.dumps(results, indent=1) + "\n")
    if flags.plot and not flags.types:  # after the results are safe: it needs a package that may be missing
        draw_plot(results["rows"], flags.plot)
    wrong = [row["case"] for row in results.get("rows", []) if not row["agrees"]]
    if wrong:
        print(f"compare: no peer agrees with grurun on {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
