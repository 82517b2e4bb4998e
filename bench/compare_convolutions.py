#!/usr/bin/env python3
"""Times one-dimensional convolutions of short signals on grurun, ONNX Runtime and OpenVINO, in turns, on the same inputs; checks that the
outputs agree; prints microseconds, the share of the machine's multiply-adds that grurun reaches, and time of the faster peer / time of grurun.

usage: bench/compare_convolutions.py [-k TEXT] [--threads 1,2] [--turns N] [--slice-seconds S] [--json FILE] [--grurun BINARY]

The peak is what grurun measures in the same run, with as many threads. A ratio above 1 says that grurun is faster. The peers are called
through Python, which adds 6 to 10 us. Exit codes: 0; 1 outputs differ; 2 usage.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from compare_models import ROOT, Grurun, OnnxRuntime, OpenVino, agree, peer_or_none  # noqa: E402
from compare_operators import make_case  # noqa: E402
from turns import take_turns  # noqa: E402

# Name: batch, stride, dilation, whether each channel has a filter of its own.
FORMS = {"plain": (1, 1, 1, False), "stride 2": (1, 2, 1, False), "dilation 2": (1, 1, 2, False), "batch 4": (4, 1, 1, False),
         "batch 4 stride 2": (4, 2, 1, False), "batch 4 dilation 2": (4, 1, 2, False), "depthwise": (1, 1, 1, True),
         "depthwise batch 4": (4, 1, 1, True)}


def cases():
    """Name, nodes, shapes, floating-point operations."""
    for (form, (batch, stride, dilation, is_depthwise)), places, kernel, channels in itertools.product(
            FORMS.items(), (64, 128, 256, 512), (3, 5, 7, 9), (32, 64, 128)):
        depth, pad = 1 if is_depthwise else channels, dilation * (kernel - 1) // 2
        node = (f"Y = Conv<group = {channels // depth}, pads = [{pad}, {pad}], strides = [{stride}], dilations = [{dilation}]>(X, w, b)")
        yield (f"{form}: {places} places, kernel {kernel}, {channels} channels", node,
               {"X": (batch, channels, places), "w": (channels, depth, kernel), "b": (channels,)},
               2 * batch * channels * places // stride * depth * kernel)


def compare(node, values, threads, flags):
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        folder = pathlib.Path(folder)
        model, feed = make_case(node, values)
        path, given = folder / "model.onnx", ["--inputs", str(folder / "inputs.npz")]
        save(model, path)
        np.savez(folder / "inputs.npz", **feed)
        subprocess.run([str(flags.grurun), str(path), *given, "-q", "--save-outputs", str(folder / "outputs.npz")],
                       check=True, stdout=subprocess.DEVNULL)
        ours, runtime = Grurun(flags.grurun, path, given, threads), OnnxRuntime(path, feed, threads)
        with np.load(folder / "outputs.npz") as made:
            output = made["Y"]
        openvino = peer_or_none(OpenVino, path, feed, threads)
        peers = {"onnxruntime": runtime} | ({"openvino": openvino} if openvino else {})
        agrees = all(agree([output], peer.outputs.values()) for peer in peers.values())
        begin = time.perf_counter()
        runtime.measure(20)
        runs = max(10, int(20 * flags.slice_seconds / (time.perf_counter() - begin)))
        runtime.wall.clear()
        take_turns(flags.turns, threads, [lambda each=each: each.measure(runs) for each in [*peers.values(), ours]])
        medians = {name: float(np.median(each.wall)) for name, each in {"grurun": ours, **peers}.items()}
    return {"threads": threads, "agrees": agrees, **{f"{name}_us": value for name, value in medians.items()},
            "ratio": min(medians[name] for name in peers) / medians["grurun"]}


def measured_peak(threads, flags):
    """Floating-point operations a second."""
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        model, feed = make_case("Y = Abs(X)", {"X": (8,)})
        save(model, pathlib.Path(folder) / "model.onnx")
        command = [str(flags.grurun), "bench", f"{folder}/model.onnx", "--seed", "0", "--threads", str(threads), "--profile", "--json", "-"]
        return max(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["machine"]["flops"] for _ in range(3))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-k", default="", help="cases whose name holds this text")
    arguments.add_argument("--threads", default="1")
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--slice-seconds", type=float, default=0.02, help="length of a turn")
    arguments.add_argument("--json")
    arguments.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", type=pathlib.Path)
    flags = arguments.parse_args()
    if not flags.grurun.is_file():
        arguments.error(f"{flags.grurun} is not there: build it first")
    rows = []
    print("| convolution | threads | us: grurun, ONNX Runtime, OpenVINO | GFLOP/s | % of peak | ratio |\n|---|--:|--:|--:|--:|--:|")
    for threads in map(int, flags.threads.split(",")):
        peak = measured_peak(threads, flags)
        for name, node, values, operations in cases():
            if flags.k not in name:
                continue
            row = {"case": name, **compare(node, values, threads, flags)}
            row["flops"] = 1e6 * operations / row["grurun_us"]
            row["percent"] = 100 * row["flops"] / peak
            rows.append(row)
            times = ", ".join(f"{row[f'{who}_us']:.1f}" if f"{who}_us" in row else "-" for who in ("grurun", "onnxruntime", "openvino"))
            print(f"| {name} | {threads} | {times} | {row['flops'] / 1e9:.1f} | {row['percent']:.0f} | {row['ratio']:.2f} |"
                  + ("" if row["agrees"] else " outputs differ"), flush=True)
    if not rows:
        arguments.error(f"no case is named like '{flags.k}'")
    ratios = np.array([row["ratio"] for row in rows])
    print(f"\n{len(rows)} ratios: least {ratios.min():.2f}, geometric mean {np.exp(np.log(ratios).mean()):.2f}, below 1: {(ratios < 1).sum()}; "
          f"least share of the peak {min(row['percent'] for row in rows):.0f} %")
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if all(row["agrees"] for row in rows) else 1)


if __name__ == "__main__":
    main()
