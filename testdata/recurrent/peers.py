#!/usr/bin/env python3
"""Runs the suite on another runtime: an example of how the folder is used without grurun.

usage: peers.py onnxruntime|reference [FOLDER] [--failures]      (needs onnx, numpy, and onnxruntime for the first)

Counts cases that the runtime gets right within the tolerance of data.json, gets wrong, refuses, and dies of. Each case runs in a
process of its own.
"""
import argparse
import collections
import json
import os
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent


def read(path):
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def numbered(data, kind):
    return [read(data / f"{kind}_{k}.pb") for k in range(len(list(data.glob(f"{kind}_*.pb"))))]


def run_onnxruntime(model, feeds):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def run_reference(model, feeds):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, feeds)


RUNTIMES = {"onnxruntime": run_onnxruntime, "reference": run_reference}


def judge(folder, run):
    """("right" | "wrong" | "refused", why)"""
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    initialized = {i.name for i in model.graph.initializer}
    inputs, names = numbered(data, "input"), [i.name for i in model.graph.input]
    if len(inputs) < len(names):
        names = [n for n in names if n not in initialized]
    tolerance = json.loads((folder / "data.json").read_text())
    try:
        outputs = run(model, dict(zip(names, inputs)))
    except Exception as error:
        return "refused", str(error).splitlines()[0][:150] if str(error) else type(error).__name__
    for info, actual, expected in zip(model.graph.output, outputs, numbered(data, "output")):
        actual = np.asarray(actual)
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            return "wrong", f"{info.name} is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
        if not np.allclose(actual.astype(float), expected.astype(float), **tolerance):
            return "wrong", f"{info.name} differs"
    return "right", ""


def apart(folder, run):
    """judge() in a child, so that a crash is one more answer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, json.dumps(judge(folder, run)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else ("crashed", f"status {status}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("runtime", choices=RUNTIMES)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--failures", action="store_true")
    flags = parser.parse_args()
    counts = collections.Counter()
    for folder in sorted(p.parent for p in flags.folder.glob("*/model.onnx")):
        verdict, why = apart(folder, RUNTIMES[flags.runtime])
        counts[verdict] += 1
        if flags.failures and verdict != "right":
            print(f"{verdict:8}{folder.name}: {why}")
    version = __import__("onnxruntime" if flags.runtime == "onnxruntime" else "onnx").__version__
    print(f"{flags.runtime} {version}: {sum(counts.values())} cases,", ", ".join(f"{n} {v}" for v, n in counts.most_common()))


if __name__ == "__main__":
    main()
