"""From a description of a recurrent node, or a graph around some, to the files of a case in ONNX's backend layout."""
import hashlib
import json
from dataclasses import dataclass, field, replace

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from equations import GATES, layer

SEED = "recurrent 1"

VERSIONS = {"RNN": (1, 7, 14, 22), "GRU": (1, 3, 7, 14, 22), "LSTM": (1, 7, 14, 22)}
# The newest IR version of the ONNX release that introduced the opset.
IR_VERSION = {1: 3, 3: 3, 7: 3, 14: 7, 22: 10}

NUMPY_TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}

# Written into each case's data.json. Sums are expected to be taken in the type itself, 16-bit types' in float, with one rounding at
# the end: a float16 is then at most one unit in the last place off, a bfloat16 likewise.
TOLERANCES = {"float": {"rtol": 1e-5, "atol": 1e-6}, "double": {"rtol": 1e-11, "atol": 1e-13},
              "float16": {"rtol": 1e-3, "atol": 1e-6}, "bfloat16": {"rtol": 0.015625, "atol": 1e-6}}

INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
OUTPUTS = ("Y", "Y_h", "Y_c")
WEIGHTS = ("W", "R", "B", "P")


def draw(key, shape, scale=1.0):
    """Reproducible multiples of scale/64 in [-1.5, 1.5]*scale: every element type holds them exactly."""
    count = int(np.prod(shape))
    stream = hashlib.shake_256(f"{SEED}/{key}".encode()).digest(2 * count)
    numbers = np.frombuffer(stream, "<u2").astype(np.int64) % 193 - 96
    return (numbers / 64 * scale).reshape(shape)


@dataclass
class Layer:
    """A case of one node. Cases with the same key, sizes and scale have the same values in every input."""

    name: str  # after "gru_22_"
    op: str
    opset: int = 22
    key: str = "values"
    dtype: str = "float"
    seq_length: int = 3
    batch_size: int = 3
    input_size: int = 2
    hidden_size: int = 3
    attributes: dict = field(default_factory=dict)  # as written on the node, but for hidden_size
    with_hidden_size: bool = True
    optional: tuple = ()  # optional inputs that the node names
    sequence_lens: tuple = (2, 3, 1)
    inputs_named: int = 0  # of the node at least, "" where omitted; 0: up to the last one present
    outputs: tuple = OUTPUTS
    weights: str = "initializer"  # "input", "listed" (initializer and graph input), "overridden" (the same, and fed)
    scale: float = 1.0
    padding: float = None  # of X beyond each row's length
    symbolic: bool = False  # graph inputs with names for batch and time
    values: dict = field(default_factory=dict)  # instead of drawn ones

    @property
    def full_name(self):
        return f"test_{self.op.lower()}_{self.opset}_{self.name}"

    @property
    def directions(self):
        return 2 if self.attributes.get("direction") == "bidirectional" else 1

    def but(self, name, **changes):
        return replace(self, name=name, **changes)

    def with_attributes(self, name, **attributes):
        return self.but(name, attributes={**self.attributes, **attributes})

    def without(self, name, absent):
        return self.but(name, optional=tuple(n for n in self.optional if n != absent))

    def shapes(self):
        D, rows, H = self.directions, GATES[self.op] * self.hidden_size, self.hidden_size
        time_batch = (self.seq_length, self.batch_size)
        states = (D, self.batch_size, H)
        if self.attributes.get("layout") == 1:
            time_batch, states = time_batch[::-1], (self.batch_size, D, H)
        return {"X": (*time_batch, self.input_size), "W": (D, rows, self.input_size), "R": (D, rows, H), "B": (D, 2 * rows),
                "sequence_lens": (self.batch_size,), "initial_h": states, "initial_c": states, "P": (D, 3 * H)}

    def arrays(self):
        """Every input that the node names, as the type holds it."""
        arrays = {}
        for name, shape in self.shapes().items():
            if name not in ("X", "W", "R", *self.optional):
                continue
            if name == "sequence_lens":
                arrays[name] = np.array(self.sequence_lens, np.int32)
                continue
            value = self.values.get(name)
            value = draw(f"{self.key}/{name}", shape, self.scale) if value is None else np.asarray(value).reshape(shape)
            if name == "X" and self.padding is not None:
                value = self.padded(value)
            arrays[name] = value.astype(NUMPY_TYPES[self.dtype])
        return arrays

    def padded(self, X):
        X = X.copy()
        batch_first = self.attributes.get("layout") == 1
        for n, length in enumerate(self.sequence_lens):
            if batch_first:
                X[n, length:] = self.padding
            else:
                X[length:, n] = self.padding
        return X

    def expected(self):
        meaning = {k: v for k, v in self.attributes.items() if k != "output_sequence"}
        if meaning.get("direction") == "foward":  # so GRU-1 spells its default
            meaning["direction"] = "forward"
        if self.op == "RNN" and self.directions == 1 and len(meaning.get("activations", ())) == 2:
            meaning["activations"] = meaning["activations"][:1]  # its schema prints two whatever the direction
        return layer(self.op, **self.arrays(), **meaning)

    def node(self):
        positions = INPUTS if self.op == "LSTM" else INPUTS[:6]
        present = ("X", "W", "R", *self.optional)
        count = max([self.inputs_named] + [positions.index(n) + 1 for n in present])
        names = [n for n in OUTPUTS[:3 if self.op == "LSTM" else 2]]
        outputs = [n if n in self.outputs else "" for n in names]
        while outputs and not outputs[-1]:
            outputs.pop()
        attributes = dict(self.attributes)
        if self.with_hidden_size:
            attributes["hidden_size"] = self.hidden_size
        return helper.make_node(self.op, [n if n in present else "" for n in positions[:count]], outputs, **attributes)

    def build(self):
        arrays, node = self.arrays(), self.node()
        expected = self.expected()
        weights = {n: a for n, a in arrays.items() if n in WEIGHTS and self.weights != "input"}
        fed = {n: a for n, a in arrays.items() if n not in weights or self.weights == "overridden"}
        listed = self.weights in ("listed", "overridden") or IR_VERSION[self.opset] < 4
        inputs = {n: a for n, a in arrays.items() if n in fed or listed}
        initializers = {n: a[..., ::-1] if self.weights == "overridden" else a for n, a in weights.items()}
        graph = helper.make_graph(
            [node], self.full_name, [self.info(n, a) for n, a in inputs.items()],
            [self.info(n, np.empty(expected[n].shape, arrays["X"].dtype)) for n in node.output if n],
            [numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in initializers.items()])
        return Case(self.full_name, self.dtype, make_model(graph, self.opset), fed, {n: expected[n] for n in node.output if n})

    def info(self, name, array):
        shape = list(array.shape)
        if self.symbolic:
            batch_first = self.attributes.get("layout") == 1
            names = {"X": ["batch", "time"] if batch_first else ["time", "batch"], "sequence_lens": ["batch"],
                     "Y": ["batch", "time"] if batch_first else ["time", None, "batch"],
                     "initial_h": ["batch"] if batch_first else [None, "batch"]}
            for other, like in (("initial_c", "initial_h"), ("Y_h", "initial_h"), ("Y_c", "initial_h")):
                names[other] = names[like]
            shape = [n or size for n, size in zip(names.get(name, []) + [None] * 4, shape)]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)


def make_model(graph, opset):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION[opset],
                              producer_name="grurun")
    onnx.checker.check_model(model, full_check=True)
    return model


@dataclass
class Case:
    name: str
    dtype: str
    model: onnx.ModelProto
    inputs: dict  # those that are fed, in the order of the graph
    outputs: dict  # of Decimals; rounded once when written

    def rounded(self):
        return {name: value.astype(np.float64).astype(NUMPY_TYPES[self.dtype]) for name, value in self.outputs.items()}

    def write(self, folder):
        data = folder / self.name / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / self.name / "model.onnx").write_bytes(self.model.SerializeToString(deterministic=True))
        (folder / self.name / "data.json").write_text(json.dumps(TOLERANCES[self.dtype]) + "\n")
        for kind, arrays in (("input", self.inputs), ("output", self.rounded())):
            for k, (name, array) in enumerate(arrays.items()):
                tensor = numpy_helper.from_array(np.ascontiguousarray(array), name)
                (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString(deterministic=True))


def all_optional(op):
    return INPUTS[3:] if op == "LSTM" else INPUTS[3:6]
