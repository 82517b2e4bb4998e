"""What a run costs through Python: Session.run beside the engine's own time and, where it is installed, ONNX Runtime's.

usage: compare_python.py [--runs N] [--most MICROSECONDS] [--record FILE --machine NAME]
  --runs N        runs of each, 50 at a time in turns (20000)
  --most US       fail where Session.run of a small layer takes more than so many microseconds beyond the engine's time
  --record FILE   a record for bench/tables.py, of the processor NAME

One thread. The models are GRU layers of a batch of 1. The medians of all runs are printed; the engine's is that of `grurun bench`.
"""

import argparse
import datetime
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

import grurun
from grurun._conformance import command, environment

LAYERS = [("stream", 1, 64), ("short", 5, 16), ("sequence", 50, 128)]
SMALL = 256  # elements of Y


def gru(steps, hidden):
    rng = np.random.default_rng(0)
    shapes = {"W": (1, 3 * hidden, hidden), "R": (1, 3 * hidden, hidden), "B": (1, 6 * hidden)}
    weights = [helper.make_tensor(name, TensorProto.FLOAT, shape, rng.uniform(-0.1, 0.1, shape).astype(np.float32).tobytes(), raw=True)
               for name, shape in shapes.items()]
    node = helper.make_node("GRU", ["X", "W", "R", "B", "", "h"], ["Y"], hidden_size=hidden, linear_before_reset=1)
    graph = helper.make_graph([node], "gru", [helper.make_tensor_value_info("X", TensorProto.FLOAT, [steps, 1, hidden]),
                                              helper.make_tensor_value_info("h", TensorProto.FLOAT, [1, 1, hidden])],
                              [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [steps, 1, 1, hidden])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def engine_us(model):
    """The median of grurun bench."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        done = subprocess.run(command("bench", path, "--threads", "1", "--report", "json=-"), capture_output=True, text=True, check=True,
                              env=environment())
    return json.loads(done.stdout)["median_us"]


def callables(model, feeds):
    session = grurun.Session(model, threads=1)
    yield "grurun", lambda: session.run(None, feeds)
    try:
        import onnxruntime
    except ModuleNotFoundError:
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    yield f"onnxruntime {onnxruntime.__version__}", lambda: theirs.run(None, feeds)


def medians(runs, feeds, model):
    named = list(callables(model, feeds))
    times = {name: [] for name, _ in named}
    for _ in range(max(1, runs // 50)):
        for name, run in named:
            run()  # what the others left in the caches is not counted: the engine's runs follow each other, too
            for _ in range(50):
                begin = time.perf_counter_ns()
                run()
                times[name].append(time.perf_counter_ns() - begin)
    return {name: statistics.median(taken) / 1000 for name, taken in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20000)
    parser.add_argument("--most", type=float)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--machine", default=platform.processor())
    given = parser.parse_args()
    failed, rows = False, {}
    for name, steps, hidden in LAYERS:
        model = gru(steps, hidden)
        feeds = {"X": np.ones((steps, 1, hidden), np.float32), "h": np.zeros((1, 1, hidden), np.float32)}
        found = medians(given.runs, feeds, model)
        engine = engine_us(model)
        print(f"{name} (steps {steps}, hidden {hidden}): engine {engine:.1f} us, "
              + ", ".join(f"{who} {median:.1f} us" for who, median in found.items()))
        rows[f"GRU, hidden {hidden}, steps {steps}"] = [engine, *found.values()]
        failed = failed or (given.most is not None and steps * hidden <= SMALL and found["grurun"] > engine + given.most)
    if given.record:
        machine = {"name": given.machine, "date": datetime.date.today().isoformat()}
        given.record.write_text(json.dumps({"machine": machine, "columns": ["engine", *found], "rows": rows}, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
