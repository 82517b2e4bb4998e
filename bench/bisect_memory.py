#!/usr/bin/env python3
"""Makes a model with weights of 1 GB, and measures the memory that bisecting it against another runtime takes, beside that of runs.

usage: bench/bisect_memory.py [--mb N] [--rows N] [--against NAME] [--max-memory SIZE] [--folder DIR] [--json FILE] [--package DIR]
                              [--grurun BINARY]

The model is a chain of layers: a norm, a product by a square matrix, an activation, a sum. Its weights lie beside it, as external data.
Each command runs once: `grurun MODEL`, the runtime on the same model through the Python package, and `grurun bisect MODEL --against
NAME`. Of each it tells the most that all of its processes had resident at one time (looked up every few milliseconds; pages that two
processes share count for both), and the most that one process had, as the kernel counts it. The ratio is that of bisect to the larger of
the two runs, all processes at one time; the ratio to grurun's own run stands beside it. Exit codes: 0; 1 the ratio is above 1.5, or
bisect finds a difference; 2 usage.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 1.5
MB = 1 << 20
WIDTH = 4096


def write_model(folder, megabytes):
    """Layers of 64 MB each, the weights of all in one file."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    layers = max(1, megabytes * MB // (4 * WIDTH * WIDTH))
    nodes, tensors, x = [], [numpy_helper.from_array(np.ones(WIDTH, np.float32), "ones")], "x"
    with open(folder / "weights.bin", "wb") as data:
        for i in range(layers):
            weight = random.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.float32(WIDTH ** 0.5)
            tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=weight.shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "weights.bin"), ("offset", data.tell()), ("length", weight.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            data.write(weight.tobytes())
            tensors.append(tensor)
            nodes += [helper.make_node("LayerNormalization", [x, "ones"], [f"normed{i}"]), helper.make_node("MatMul", [f"normed{i}", f"w{i}"], [f"mixed{i}"]),
                      helper.make_node("Tanh", [f"mixed{i}"], [f"active{i}"]), helper.make_node("Add", [x, f"active{i}"], [f"out{i}"])]
            x = f"out{i}"
    infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", WIDTH])] for name in ("x", x)]
    graph = helper.make_graph(nodes, "chain", *infos, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    return layers * WIDTH * WIDTH * 4


def resident(pid):
    """Bytes of a process and of those that it started."""
    total = 0
    try:
        total = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                total += resident(int(child))
    except (FileNotFoundError, ProcessLookupError, IndexError):
        pass  # it has ended
    return total


def measure(command, environment):
    """The most bytes of all processes at one time, of one of them, seconds, and what it printed."""
    code = "import os, resource, subprocess, sys\nstatus = subprocess.call(sys.argv[1:])\n" \
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\nsys.exit(status)"
    start, most = time.monotonic(), 0
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    done = threading.Event()
    out = []

    def read():
        out.extend(process.communicate())
        done.set()

    threading.Thread(target=read).start()
    own = None
    while not done.wait(0.003):
        seen = resident(process.pid)
        own = own or seen
        try:  # without the process that counts
            seen -= int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()
        except (FileNotFoundError, IndexError):
            continue
        most = max(most, seen)
    *said, peak = out[1].strip().splitlines() or ["", "0"]
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{out[0]}{chr(10).join(said)}")
    return {"together": most, "one_process": int(peak) * 1024, "seconds": round(time.monotonic() - start, 1), "said": out[0].strip().splitlines()[:1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1024, help="weights of the model, in MB")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--against", default="onnxruntime")
    parser.add_argument("--max-memory", help="of grurun bisect; a quarter of it is what the runtime returns at once (256M)")
    parser.add_argument("--folder", type=pathlib.Path, help="where the model is made, or lies already")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/release/python", help="the folder that the Python package is in")
    parser.add_argument("--grurun", default=str(ROOT / "build/release/bin/grurun"))
    given = parser.parse_args()
    import numpy as np

    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "model.onnx").exists():
            print(f"a model with weights of {write_model(folder, given.mb) / MB:.0f} MB in {folder}", flush=True)
        from onnx import numpy_helper

        x = np.random.default_rng(1).standard_normal((given.rows, WIDTH)).astype(np.float32)
        inputs = folder / "inputs"
        inputs.mkdir(exist_ok=True)
        (inputs / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        path = os.pathsep.join([str(given.package), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "GRURUN_PYTHON": sys.executable, "PYTHONPATH": path}
        model = folder / "model.onnx"
        commands = {
            "grurun MODEL": [given.grurun, model, "--inputs", inputs, "-q"],
            f"{given.against} MODEL": [sys.executable, "-m", f"grurun.runtimes.{given.against}", model, inputs, folder / "outputs"],
            f"grurun bisect MODEL --against {given.against}": [given.grurun, "bisect", model, "--inputs", inputs, "--against", given.against,
                                                              "--rtol", "1e-2", "--atol", "1e-3", *(["--max-memory", given.max_memory] if given.max_memory else [])],
        }
        results = {}
        for name, command in commands.items():
            results[name] = measure(command, environment)
            row = results[name]
            print(f"{name}: {row['together'] / MB:.0f} MB together, {row['one_process'] / MB:.0f} MB in one process, {row['seconds']} s "
                  f"{' '.join(row['said'])}", flush=True)
        ours, theirs, bisect = (row["together"] for row in results.values())
        ratio = bisect / max(ours, theirs)
        print(f"bisect / the larger run: {ratio:.2f}; bisect / grurun's run: {bisect / ours:.2f}; bisect / {given.against}'s run: {bisect / theirs:.2f}")
        if given.json:
            given.json.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "model_mb": given.mb, "rows": given.rows, "max_memory": given.max_memory,
                                              "runs": results, "ratio": round(ratio, 3), "ratio_to_own_run": round(bisect / ours, 3)}, indent=1) + "\n")
        sys.exit(0 if ratio <= MOST else 1)


if __name__ == "__main__":
    main()
