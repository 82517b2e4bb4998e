"""Recurrent layers to be timed: the named ones, and random ones of every shape and attribute. Weights come from a seed."""
import dataclasses
import math
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
STATES = {"GRU": 1, "LSTM": 2, "RNN": 1}
OUTPUTS = ["Y", "Y_h", "Y_c"]
USUAL = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "RNN": ["Tanh"]}


@dataclasses.dataclass(frozen=True)
class Layer:
    """One layer. seq_length, batch_size, input_size, hidden_size as the standard calls them."""
    name: str
    op: str
    seq_length: int
    batch_size: int
    input_size: int
    hidden_size: int
    direction: str = "forward"
    linear_before_reset: int = 1
    peepholes: bool = False
    clip: float | None = None
    activations: tuple[str, ...] = ()
    lengths: bool = False  # sequence_lens is given

    @property
    def directions(self):
        return 2 if self.direction == "bidirectional" else 1

    @property
    def flops(self):
        rows = GATES[self.op] * self.hidden_size
        return 2 * self.seq_length * self.batch_size * self.directions * rows * (self.input_size + self.hidden_size)

    def describe(self):
        words = [self.op, f"T={self.seq_length} B={self.batch_size} I={self.input_size} H={self.hidden_size}"]
        words += [self.direction] if self.direction != "forward" else []
        words += [f"linear_before_reset={self.linear_before_reset}"] if self.op == "GRU" else []
        words += ["peepholes"] if self.peepholes else []
        words += [f"clip={self.clip}"] if self.clip is not None else []
        words += ["/".join(self.activations)] if self.activations else []
        words += ["sequence_lens"] if self.lengths else []
        return " ".join(words)


NAMED = [
    Layer("gru_stream_h64", "GRU", 1, 1, 40, 64),
    Layer("gru_stream_h512", "GRU", 1, 1, 512, 512),
    Layer("gru_seq_h128", "GRU", 100, 1, 80, 128),
    Layer("gru_seq_h256_bi", "GRU", 100, 1, 256, 256, "bidirectional"),
    Layer("gru_batch_h512", "GRU", 50, 32, 512, 512),
    Layer("gru_big_h1024", "GRU", 20, 64, 1024, 1024),
    Layer("lstm_seq_h256", "LSTM", 100, 1, 256, 256),
    Layer("lstm_batch_h512", "LSTM", 50, 32, 512, 512),
    Layer("rnn_seq_h256", "RNN", 100, 1, 256, 256),
    Layer("rnn_batch_h512", "RNN", 50, 32, 512, 512),
]


def log_uniform(draw, low, high):
    return int(round(math.exp(draw.uniform(math.log(low), math.log(high)))))


def random_layers(count, seed, most_flops=4e9):
    """Shapes drawn evenly in their logarithms; those of more than most_flops are drawn again, to end some day."""
    draw = np.random.default_rng(seed)
    layers = []
    while len(layers) < count:
        op = str(draw.choice(["GRU", "GRU", "LSTM", "LSTM", "RNN"]))
        activations = ()
        if draw.random() < 0.15:
            activations = tuple(str(a) for a in draw.choice(["Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign"], len(USUAL[op])))
        layer = Layer(name=f"random_{seed}_{len(layers):02}", op=op,
                      seq_length=log_uniform(draw, 1, 128), batch_size=log_uniform(draw, 1, 64),
                      input_size=log_uniform(draw, 1, 1024), hidden_size=log_uniform(draw, 1, 2048),
                      direction=str(draw.choice(["forward", "forward", "reverse", "bidirectional"])),
                      linear_before_reset=int(draw.integers(2)),
                      peepholes=op == "LSTM" and bool(draw.random() < 0.25),
                      clip=float(np.float32(draw.uniform(0.5, 3))) if draw.random() < 0.15 else None,
                      activations=activations,
                      lengths=bool(draw.random() < 0.2))
        if layer.flops <= most_flops:
            layers.append(layer)
    return layers


def make_values(layer):
    """Every input of the node by name, in float32."""
    draw = np.random.default_rng(sum(ord(c) * (i + 1) for i, c in enumerate(layer.name)))
    D, H, rows = layer.directions, layer.hidden_size, GATES[layer.op] * layer.hidden_size
    bound = 1 / math.sqrt(H)

    def uniform(*shape):
        return draw.uniform(-bound, bound, shape).astype(np.float32)

    values = {"X": draw.standard_normal((layer.seq_length, layer.batch_size, layer.input_size)).astype(np.float32),
              "W": uniform(D, rows, layer.input_size), "R": uniform(D, rows, H), "B": uniform(D, 2 * rows)}
    if layer.lengths:
        values["sequence_lens"] = draw.integers(1, layer.seq_length + 1, layer.batch_size).astype(np.int32)
    values["initial_h"] = uniform(D, layer.batch_size, H)
    if layer.op == "LSTM":
        values["initial_c"] = uniform(D, layer.batch_size, H)
        if layer.peepholes:
            values["P"] = uniform(D, 3 * H)
    return values


FED = ["X", "sequence_lens", "initial_h", "initial_c"]
NODE_INPUTS = {"GRU": ["X", "W", "R", "B", "sequence_lens", "initial_h"], "RNN": ["X", "W", "R", "B", "sequence_lens", "initial_h"],
               "LSTM": ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"]}


def make_model(layer, values, dtype=np.float32):
    """The layer alone, its weights initializers, its state and what changes between runs inputs."""
    elem = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def cast(value):
        return value if value.dtype == np.int32 else value.astype(dtype)

    attributes = {"hidden_size": layer.hidden_size, "direction": layer.direction}
    if layer.op == "GRU":
        attributes["linear_before_reset"] = layer.linear_before_reset
    if layer.clip is not None:
        attributes["clip"] = layer.clip
    if layer.activations:
        attributes["activations"] = list(layer.activations) * layer.directions
    names = [name if name in values else "" for name in NODE_INPUTS[layer.op]]
    while not names[-1]:
        names.pop()
    outputs = OUTPUTS[:1 + STATES[layer.op]]
    T, B, D, H = layer.seq_length, layer.batch_size, layer.directions, layer.hidden_size
    node = helper.make_node(layer.op, names, outputs, **attributes)
    fed = [name for name in FED if name in values]
    graph = helper.make_graph(
        [node], layer.name,
        [helper.make_tensor_value_info(n, TensorProto.INT32 if n == "sequence_lens" else elem, values[n].shape) for n in fed],
        [helper.make_tensor_value_info(n, elem, [T, D, B, H] if n == "Y" else [D, B, H]) for n in outputs],
        [numpy_helper.from_array(cast(values[n]), n) for n in names if n and n not in fed])
    bfloat16 = elem == TensorProto.BFLOAT16
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22 if bfloat16 else 14)],
                              ir_version=10 if bfloat16 else 8)
    return model, {n: cast(values[n]) for n in fed}


def write_case(folder, layer, dtype=np.float32):
    """folder/model.onnx and folder/inputs/input_K.pb; returns the model and what is fed."""
    model, feed = make_model(layer, make_values(layer), dtype)
    folder = pathlib.Path(folder)
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(feed.items()):
        (folder / "inputs" / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    return model, feed
