"""Those who are measured: each takes a layer with its model and inputs, runs it, and tells its outputs.

A peer that cannot run a layer raises Unsupported. Peers are called through Python, as their users call them: that adds some
microseconds to a run.
"""
import importlib.metadata
import json
import pathlib
import subprocess
import time

import numpy as np

from layer_cases import GATES, OUTPUTS, STATES, USUAL


class Unsupported(Exception):
    pass


class OnnxRuntime:
    name = "onnxruntime"
    module = "onnxruntime"

    def __init__(self, layer, model, feed, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise Unsupported(str(error).splitlines()[0]) from error
        self.feed = feed

    def run(self):
        return self.session.run(None, self.feed)


class OpenVino:
    name = "openvino"
    module = "openvino"

    def __init__(self, layer, model, feed, threads):
        import openvino
        try:
            core = openvino.Core()
            compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU",
                                          {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads})
            self.request = compiled.create_infer_request()
        except Exception as error:
            raise Unsupported(str(error).splitlines()[0]) from error
        for name, value in feed.items():
            self.request.set_tensor(name, openvino.Tensor(value))
        self.outputs = compiled.outputs

    def run(self):
        self.request.infer()
        return [self.request.get_tensor(output).data for output in self.outputs]


class Torch:
    name = "torch"
    module = "torch"
    order = {"GRU": [1, 0, 2], "LSTM": [0, 2, 3, 1], "RNN": [0]}  # its gates among those of the standard

    def __init__(self, layer, model, feed, threads):
        import torch
        from onnx import numpy_helper
        if layer.lengths or layer.peepholes or layer.clip is not None or layer.direction == "reverse" \
                or layer.activations not in ((), tuple(USUAL[layer.op])) or (layer.op == "GRU" and not layer.linear_before_reset):
            raise Unsupported("not a layer that torch.nn has")
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.module = getattr(torch.nn, layer.op)(layer.input_size, layer.hidden_size, bidirectional=layer.directions == 2)
        weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        rows = GATES[layer.op] * layer.hidden_size
        for d in range(layer.directions):
            parts = {"weight_ih": weights["W"][d], "weight_hh": weights["R"][d], "bias_ih": weights["B"][d][:rows],
                     "bias_hh": weights["B"][d][rows:]}
            for key, value in parts.items():
                gates = value.reshape(GATES[layer.op], layer.hidden_size, -1)[self.order[layer.op]]
                parameter = getattr(self.module, f"{key}_l0" + ("_reverse" if d else ""))
                parameter.copy_(torch.from_numpy(gates.reshape(value.shape).copy()))
        self.layer = layer
        self.X = torch.from_numpy(feed["X"])
        states = [torch.from_numpy(feed[name]) for name in ("initial_h", "initial_c")[:STATES[layer.op]]]
        self.states = tuple(states) if len(states) > 1 else states[0]

    def run(self):
        Y, last = self.module(self.X, self.states)
        T, B, D, H = *self.X.shape[:2], self.layer.directions, self.layer.hidden_size
        return [Y.view(T, B, D, H).permute(0, 2, 1, 3), *(last if isinstance(last, tuple) else (last,))]


PEERS = [OnnxRuntime, OpenVino, Torch]


def installed_peers(names):
    found = {}
    for peer in PEERS:
        if names and peer.name not in names:
            continue
        try:
            __import__(peer.module)
            found[peer] = importlib.metadata.version(peer.module)
        except ImportError:
            pass
    return found


class PeerSlices:
    """A peer's runs: times in microseconds, some slices of time long."""

    def __init__(self, peer, layer, model, feed, threads):
        self.peer = peer(layer, model, feed, threads)
        try:
            self.outputs = [np.array(output, np.float32) for output in self.peer.run()]
        except Exception as error:
            raise Unsupported(str(error).splitlines()[0]) from error
        self.medians, self.lows = [], []

    def measure(self, seconds):
        run, clock = self.peer.run, time.perf_counter_ns
        run()
        run()
        times, end = [], clock() + seconds * 1e9
        while clock() < end or len(times) < 3:
            begin = clock()
            run()
            times.append((clock() - begin) / 1e3)
        self.medians.append(float(np.median(times)))
        self.lows.append(float(np.quantile(times, 0.1)))


class GrurunSlices:
    """The same for grurun: every slice is a process, whose own clock measures its runs."""

    def __init__(self, binary, folder, layer, threads, extra=()):
        self.model = [str(pathlib.Path(folder) / "model.onnx"), "--inputs", str(pathlib.Path(folder) / "inputs")]
        self.binary, self.threads, self.extra = str(binary), threads, [*extra, "--threads", str(threads)]
        saved = pathlib.Path(folder) / "grurun.npz"
        subprocess.run([self.binary, *self.model, *self.extra, "-q", "--save-outputs", str(saved)], check=True, stdout=subprocess.DEVNULL)
        with np.load(saved) as outputs:
            self.outputs = [outputs[name].astype(np.float32) for name in OUTPUTS[:1 + STATES[layer.op]]]
        self.medians, self.lows = [], []

    def measure(self, seconds):
        done = subprocess.run([self.binary, "bench", *self.model, *self.extra, "--json", "-", "--warmup", "2", "--runs", "3",
                               "--min-time", str(seconds)], check=True, capture_output=True, text=True)
        result = json.loads(done.stdout)
        self.medians.append(result["median_us"])
        self.lows.append(result["p10_us"])
        self.isa = result["isa"]
