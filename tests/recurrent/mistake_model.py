"""A model that carries a mistake, with outputs that are right."""
import pathlib
import sys
from dataclasses import dataclass, field

import numpy as np
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "testdata/recurrent"))

from equations import GATES  # noqa: E402
from writing import IR_VERSION, NUMPY_TYPES, OUTPUTS, Layer  # noqa: E402

OPS = ("RNN", "GRU", "LSTM")


@dataclass
class Mistake:
    name: str
    truth: Layer
    ids: list  # hypotheses that diagnosis has to name; [] for none
    text: tuple = ()  # parts of what it has to say
    kind: str = "reproduced"
    change: callable = None  # of Model, in place: makes the mistake
    after: list = field(default_factory=list)  # nodes behind the recurrent one


class Model:
    """What a mistake may change: arrays by input name, attributes, expected outputs."""

    def __init__(self, truth):
        self.truth = truth
        self.arrays = truth.arrays()
        self.attributes = {**truth.attributes, "hidden_size": truth.hidden_size}
        self.expected = {n: v.astype(np.float64) for n, v in truth.expected().items()
                         if n in truth.outputs and (n != "Y_c" or truth.op == "LSTM")}
        self.gates, self.H = GATES[truth.op], truth.hidden_size

    def write(self, folder, mistake):
        data = folder / mistake.name / "test_data_set_0"
        data.mkdir(parents=True)
        positions = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"]
        positions = positions[:max(positions.index(n) for n in self.arrays) + 1]
        names = list(OUTPUTS[:3 if self.truth.op == "LSTM" else 2])
        node = helper.make_node(self.truth.op, [n if n in self.arrays else "" for n in positions],
                                [n if n in self.expected else "" for n in names], **{k: v for k, v in self.attributes.items() if v != []})
        outputs = {n: v.astype(NUMPY_TYPES[self.truth.dtype]) for n, v in self.expected.items()}
        nodes = [node]
        constants = []
        for op, output, extra, attributes, turn in mistake.after:
            nodes.append(helper.make_node(op, [output, *extra], [f"{output}_after"], **attributes))
            constants += [numpy_helper.from_array(a, n) for n, a in extra.items()]
            outputs = {f"{n}_after" if n == output else n: turn(v) if n == output else v for n, v in outputs.items()}
        known = {k: a for k, a in self.arrays.items()}

        def info(n, a, shape=True):
            return helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape if shape else None)

        graph = helper.make_graph(nodes, mistake.name, [info(n, a) for n, a in known.items()],
                                  [info(n, a, shape=False) for n, a in outputs.items()], constants)
        opset = self.truth.opset
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION[opset])
        (folder / mistake.name / "model.onnx").write_bytes(model.SerializeToString())
        for kind, arrays in (("input", known), ("output", outputs)):
            for k, (n, a) in enumerate(arrays.items()):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.ascontiguousarray(a), n).SerializeToString())

    def blocks(self, name):
        """Views of gates of W, R, or of a half of B ("Wb", "Rb"): [directions, gates, ...]."""
        if name in ("Wb", "Rb"):
            half = np.split(self.arrays["B"], 2, axis=1)[name == "Rb"]
            return half.reshape(half.shape[0], self.gates, self.H)
        array = self.arrays[name]
        return array.reshape(array.shape[0], self.gates, self.H, -1)

    def halves(self, Wb, Rb):
        self.arrays["B"] = np.concatenate([Wb.reshape(len(Wb), -1), Rb.reshape(len(Rb), -1)], axis=1)


def layer(name, op, **changes):
    defaults = dict(key=f"mistakes/{op}", seq_length=5, batch_size=3, input_size=2, hidden_size=4, optional=("B",), outputs=("Y",))
    return Layer(name, op, **{**defaults, **changes})
