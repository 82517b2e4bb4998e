"""Writes the cases of this folder: OpenVINO IRs of recurrent operators, with outputs computed in double from the equations of
their pages, gate by gate, and not by OpenVINO.

usage: python testdata/openvino/generate.py     needs numpy, onnx and openvino
"""

import pathlib
import shutil

import numpy as np
import onnx
import openvino as ov
import openvino.opset5 as opset5
from onnx import numpy_helper

HERE = pathlib.Path(__file__).parent
HIDDEN, INPUT, BATCH, STEPS = 3, 2, 2, 4
LENGTHS = np.array([4, 2], np.int64)
SIGMOID = lambda x: 1 / (1 + np.exp(-x))
FUNCTIONS = {"sigmoid": SIGMOID, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}
GATES = {"GRU": "zrh", "LSTM": "fico", "RNN": "h"}


class Cell:
    """W, R and B of one direction as the page lays them out."""

    def __init__(self, kind, W, R, B, functions, linear_before_reset=False):
        self.kind, self.linear_before_reset = kind, linear_before_reset
        gates = GATES[kind]
        self.W = dict(zip(gates, np.split(W.astype(float), len(gates))))
        self.R = dict(zip(gates, np.split(R.astype(float), len(gates))))
        names = ["z", "r", "Wbh", "Rbh"] if linear_before_reset else list(gates)
        self.B = dict(zip(names, np.split(B.astype(float), len(names))))
        self.functions = [FUNCTIONS[name] for name in functions]

    def sum(self, gate, X, H):
        return X @ self.W[gate].T + H @ self.R[gate].T + self.B[gate]

    def step(self, X, H, C):
        f = self.functions[0]
        if self.kind == "RNN":
            return f(self.sum("h", X, H)), C
        if self.kind == "LSTM":
            _, g, h = self.functions
            it, ft, ot = (f(self.sum(gate, X, H)) for gate in "ifo")
            Ct = ft * C + it * g(self.sum("c", X, H))
            return ot * h(Ct), Ct
        g = self.functions[1]
        zt, rt = f(self.sum("z", X, H)), f(self.sum("r", X, H))
        if self.linear_before_reset:
            ht = g(X @ self.W["h"].T + rt * (H @ self.R["h"].T + self.B["Rbh"]) + self.B["Wbh"])
        else:
            ht = g(X @ self.W["h"].T + (rt * H) @ self.R["h"].T + self.B["h"])
        return (1 - zt) * ht + zt * H, C


def sequence(cells, reverse, X, H, C):
    """Y [batch_size, num_directions, seq_length, hidden_size], Ho, Co."""
    Y, Ho, Co = np.zeros((BATCH, len(cells), STEPS, HIDDEN)), H.astype(float), C.astype(float)
    for row in range(BATCH):
        for d, cell in enumerate(cells):
            times = range(LENGTHS[row])
            for time in reversed(times) if reverse[d] else times:
                Ho[row, d], Co[row, d] = cell.step(X[row, time].astype(float), Ho[row, d], Co[row, d])
                Y[row, d, time] = Ho[row, d]
    return Y, Ho, Co


class Case:
    def __init__(self, name, seed):
        self.folder = HERE / name
        self.random = np.random.default_rng(seed)
        self.parameters, self.inputs = [], []

    def values(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def parameter(self, name, values):
        made = opset5.parameter(list(values.shape), values.dtype, name=name)
        made.output(0).get_tensor().set_names({name})
        self.parameters.append(made)
        self.inputs.append((name, values))
        return made

    def write(self, node, expected):
        shutil.rmtree(self.folder, ignore_errors=True)
        data = self.folder / "test_data_set_0"
        data.mkdir(parents=True)
        for port, name in enumerate(expected):
            node.output(port).get_tensor().set_names({name})
        model = ov.Model([node.output(port) for port in range(len(expected))], self.parameters, self.folder.name)
        ov.serialize(model, self.folder / "model.xml")
        for number, (name, values) in enumerate(self.inputs):
            onnx.save_tensor(numpy_helper.from_array(values, name), data / f"input_{number}.pb")
        for number, (name, values) in enumerate(expected.items()):
            onnx.save_tensor(numpy_helper.from_array(values.astype(np.float32), name), data / f"output_{number}.pb")


def write_cell(name, seed, kind, functions, linear_before_reset=False):
    case = Case(name, seed)
    gates = len(GATES[kind])
    X, H, C = case.values(BATCH, INPUT), case.values(BATCH, HIDDEN), case.values(BATCH, HIDDEN)
    W, R = case.values(gates * HIDDEN, INPUT), case.values(gates * HIDDEN, HIDDEN)
    B = case.values((4 if linear_before_reset else gates) * HIDDEN)
    inputs = [case.parameter("X", X), case.parameter("H", H)] + ([case.parameter("C", C)] if kind == "LSTM" else [])
    make = {"GRU": opset5.gru_cell, "LSTM": opset5.lstm_cell, "RNN": opset5.rnn_cell}[kind]
    more = {"linear_before_reset": True} if linear_before_reset else {}
    node = make(*inputs, *map(opset5.constant, (W, R, B)), HIDDEN, functions, [], [], **more)
    Ho, Co = Cell(kind, W, R, B, functions, linear_before_reset).step(X.astype(float), H.astype(float), C.astype(float))
    case.write(node, {"Ho": Ho, "Co": Co} if kind == "LSTM" else {"Ho": Ho})


def write_sequence(name, seed, kind, direction, functions, linear_before_reset=False):
    case = Case(name, seed)
    gates = len(GATES[kind])
    D = 2 if direction == "bidirectional" else 1
    X, H, C = case.values(BATCH, STEPS, INPUT), case.values(BATCH, D, HIDDEN), case.values(BATCH, D, HIDDEN)
    W, R = case.values(D, gates * HIDDEN, INPUT), case.values(D, gates * HIDDEN, HIDDEN)
    B = case.values(D, (4 if linear_before_reset else gates) * HIDDEN)
    inputs = [case.parameter("X", X), case.parameter("H", H)] + ([case.parameter("C", C)] if kind == "LSTM" else [])
    inputs.append(case.parameter("sequence_lengths", LENGTHS))
    make = {"GRU": opset5.gru_sequence, "LSTM": opset5.lstm_sequence, "RNN": opset5.rnn_sequence}[kind]
    more = {"linear_before_reset": True} if linear_before_reset else {}
    node = make(*inputs, *map(opset5.constant, (W, R, B)), HIDDEN, direction, functions, [], [], **more)
    cells = [Cell(kind, W[d], R[d], B[d], functions, linear_before_reset) for d in range(D)]
    Y, Ho, Co = sequence(cells, [direction == "reverse" or d == 1 for d in range(D)], X, H, C)
    case.write(node, {"Y": Y, "Ho": Ho} | ({"Co": Co} if kind == "LSTM" else {}))


write_cell("gru_cell", 1, "GRU", ["sigmoid", "tanh"])
write_cell("gru_cell_linear_before_reset", 2, "GRU", ["sigmoid", "relu"], linear_before_reset=True)
write_cell("lstm_cell", 3, "LSTM", ["sigmoid", "tanh", "tanh"])
write_cell("rnn_cell", 4, "RNN", ["relu"])
write_sequence("gru_sequence_bidirectional", 5, "GRU", "bidirectional", ["sigmoid", "tanh"], linear_before_reset=True)
write_sequence("lstm_sequence_reverse", 6, "LSTM", "reverse", ["sigmoid", "tanh", "relu"])
write_sequence("rnn_sequence", 7, "RNN", "forward", ["tanh"])
