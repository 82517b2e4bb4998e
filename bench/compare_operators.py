#!/usr/bin/env python3
"""Times single operators, and short sequences of them, on grurun and on ONNX Runtime, in turns, on the same inputs of medium size; checks
that the outputs agree; prints time of ONNX Runtime / time of grurun.

usage: bench/compare_operators.py [-k TEXT] [--threads 1,2] [--turns N] [--slice-seconds S] [--types] [--json FILE] [--grurun BINARY]

With --types, each operator on float32 is compared with itself on other element types instead: time of the type / time of float32.
Otherwise a ratio above 1 says that grurun is faster. ONNX Runtime is called through Python, which adds 6 to 10 us. Exit codes: 0; 1 outputs differ;
2 usage.
"""
import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy as np
from onnx import defs, helper, numpy_helper, parser, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from compare_models import ROOT, Grurun, OnnxRuntime, agree, floats  # noqa: E402
from operator_cases import CASES  # noqa: E402
from turns import take_turns  # noqa: E402


def make_case(nodes, values):
    """The model, and what feeds its inputs."""
    values = {name: floats(*value) if isinstance(value, tuple) else value for name, value in values.items()}
    graph = parser.parse_graph(f"case () => () {{ {nodes} }}")
    graph.input.extend(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                       for name, value in values.items() if name[0].isupper())
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items() if not name[0].isupper())
    outputs = graph.node[0].output if len(graph.node) == 1 else ["Y"]
    graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs)
    return (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)], ir_version=10),
            {name: value for name, value in values.items() if name[0].isupper()})


def compare(name, nodes, values, threads, flags):
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        folder = pathlib.Path(folder)
        model, feed = make_case(nodes, values)
        save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **feed)
        given = ["--inputs", str(folder / "inputs.npz")]
        subprocess.run([str(flags.grurun), str(folder / "model.onnx"), *given, "-q", "--save-outputs", str(folder / "outputs.npz")],
                       check=True, stdout=subprocess.DEVNULL)
        peer, ours = OnnxRuntime(folder / "model.onnx", feed, threads), Grurun(flags.grurun, folder / "model.onnx", given, threads)
        with np.load(folder / "outputs.npz") as made:
            same = agree([made[key] for key in peer.outputs], peer.outputs.values())
        begin = time.perf_counter()
        peer.measure(3)
        runs = max(10, min(20000, int(3 * flags.slice_seconds / (time.perf_counter() - begin))))
        peer.wall.clear()
        take_turns(flags.turns, threads, [lambda: peer.measure(runs), lambda: ours.measure(runs)])
    return {"case": name, "threads": threads, "agrees": same, "grurun_us": float(np.median(ours.wall)),
            "onnxruntime_us": float(np.median(peer.wall)), "ratio": float(np.median(peer.wall) / np.median(ours.wall))}


TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float64": np.float64, "int64": np.int64, "int32": np.int32, "int8": np.int8}


def as_type(value, dtype):
    """Integers below 100, as far as 8 bits hold."""
    if np.issubdtype(dtype, np.integer):
        return np.clip(np.rint(value * 8), -100, 100).astype(dtype)
    with np.errstate(over="ignore"):  # a mask's least number
        return value.astype(dtype)


def taken_as_float(nodes, version):
    """Names of values that an operator takes as float32 alone, whatever type the others have."""
    names = set()
    for node in parser.parse_graph(f"case () => () {{ {nodes} }}").node:
        if not defs.has(node.op_type, node.domain):
            continue
        inputs = defs.get_schema(node.op_type, version, node.domain).inputs
        names.update(name for i, name in enumerate(node.input) if set(inputs[min(i, len(inputs) - 1)].types) == {"tensor(float)"})
    return names


def time_types(name, nodes, values, flags):
    """Microseconds by type; a type that grurun does not admit is left out."""
    version = defs.onnx_opset_version()  # of those that came last some admit more types
    values = {key: floats(*value) if isinstance(value, tuple) else value for key, value in values.items()}
    converted = {key for key, value in values.items() if value.dtype == np.float32} - taken_as_float(nodes, version)
    slices = {}
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        for kind, dtype in {"float32": np.float32, **(TYPES if converted else {})}.items():
            model, feed = make_case(nodes, {key: as_type(value, dtype) if key in converted else value for key, value in values.items()})
            model.opset_import[0].version = version
            path = pathlib.Path(folder) / kind
            (path / "test_data_set_0").mkdir(parents=True)
            save(model, path / "model.onnx")
            for k, value in enumerate(feed.values()):
                (path / f"test_data_set_0/input_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
            given = ["--inputs", str(path / "test_data_set_0")]
            done = subprocess.run([flags.grurun, path / "model.onnx", *given, "-q"], capture_output=True, text=True)
            if done.returncode == 0:
                slices[kind] = Grurun(flags.grurun, path / "model.onnx", given, 1)
            elif kind == "float32":
                sys.exit(f"{name}: {done.stderr}")
        if len(slices) > 1:
            slices["float32"].measure(3)
            runs = max(10, min(20000, int(1e6 * flags.slice_seconds / slices["float32"].wall.pop())))
            take_turns(flags.turns, 1, [functools.partial(each.measure, runs) for each in slices.values()])
    return {kind: float(np.median(each.wall)) for kind, each in slices.items() if each.wall}


def has_other_types(nodes, values):
    """Of one operator alone, whose elements are floats here: those of quantized ones are bytes."""
    kinds = {key: "f" if isinstance(value, tuple) else value.dtype.kind + str(value.dtype.itemsize) for key, value in values.items()}
    alone = len(parser.parse_graph(f"case () => () {{ {nodes} }}").node) == 1
    return alone and any(kind[0] == "f" for kind in kinds.values()) and not any(kind[1:] == "1" for key, kind in kinds.items() if key[0].isupper())


def compare_types(flags):
    """Rows of all operators whose elements may have other types than float32."""
    rows = []
    print("| operators | float32, us | " + " | ".join(TYPES) + " |\n|---|--:|" + "--:|" * len(TYPES))
    for name, nodes, values in chosen(flags):
        if not has_other_types(nodes, values):
            continue
        row = time_types(name, nodes, values, flags)
        if len(row) < 2:
            continue
        rows.append({"case": name, **row})
        print(f"| {name} | {row['float32']:.1f} | " + " | ".join(f"{row[kind] / row['float32']:.2f}" if kind in row else "" for kind in TYPES) + " |",
              flush=True)
    return rows


def chosen(flags):
    return [case for case in CASES if any(text in case[0] for text in flags.k.split(","))]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-k", default="", help="cases whose name holds this text; several by commas")
    arguments.add_argument("--threads", default="1")
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--slice-seconds", type=float, default=0.05, help="length of a turn")
    arguments.add_argument("--types", action="store_true", help="compare grurun's element types with each other instead")
    arguments.add_argument("--json")
    arguments.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", type=pathlib.Path)
    flags = arguments.parse_args()
    if not flags.grurun.is_file():
        arguments.error(f"{flags.grurun} is not there: build it first")
    if flags.types:
        rows = compare_types(flags)
        if flags.json:
            pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
        sys.exit(0)
    rows = []
    print("| operators | threads | grurun, us | ONNX Runtime, us | ratio |\n|---|--:|--:|--:|--:|")
    for threads in map(int, flags.threads.split(",")):
        for name, nodes, values in chosen(flags):
            row = compare(name, nodes, values, threads, flags)
            rows.append(row)
            print(f"| {name} | {threads} | {row['grurun_us']:.1f} | {row['onnxruntime_us']:.1f} | {row['ratio']:.2f} |"
                  + ("" if row["agrees"] else " outputs differ"), flush=True)
    if not rows:
        arguments.error(f"no case is named like '{flags.k}'")
    ratios = np.array([row["ratio"] for row in rows])
    print(f"\n{len(rows)} ratios: least {ratios.min():.2f}, geometric mean {np.exp(np.log(ratios).mean()):.2f}, below 0.8: {(ratios < 0.8).sum()}")
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if all(row["agrees"] for row in rows) else 1)


if __name__ == "__main__":
    main()
