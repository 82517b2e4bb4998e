"""DynamicQuantizeLSTM of com.microsoft gives onnxruntime's outputs: single nodes, a model that onnxruntime's own dynamic quantization
made, and the model of the package ddddocr that has one.

onnxruntime groups the rows of a batch by threads and quantizes each group for itself; with one thread a batch is one group. Its kernels
for signed weights saturate on processors without VNNI: weights of the single nodes are those of reduced range.
"""

import importlib.util
import itertools
import os
import subprocess
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.optional_packages import require

RUNTIME = {"onnxruntime": ["onnxruntime"]}
QUANTIZER = RUNTIME | {"sympy": ["sympy"]}
MODEL = RUNTIME | {"ddddocr": ["--no-deps", "ddddocr==1.6.1"]}
NAMES = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P", "W_scale", "W_zero_point", "R_scale", "R_zero_point"]


def grurun(model, inputs):
    """The outputs in their order."""
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["GRURUN_BINARY"], model, "-q", "--inputs"]
        for number, (name, value) in enumerate(inputs.items()):
            file = os.path.join(folder, f"{number}.npy")
            numpy.save(file, value)
            command.append(f"{name}={file}")
        made = os.path.join(folder, "out.npz")
        done = subprocess.run([*command, "--save-outputs", made], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        with numpy.load(made) as archive:
            return [archive[line.split("  ")[0]] for line in done.stdout.splitlines()]


def onnxruntime(model, inputs):
    import onnxruntime as package

    options = package.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = package.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


class Node:
    """A model of one node with random weights, and its inputs."""

    def __init__(self, random, *, direction="forward", lengths=None, signed=True, by_column=False, absent=(), steps=5, batch=3, size=4,
                 hidden=6, **attributes):
        D = 2 if direction == "bidirectional" else 1
        byte = numpy.int8 if signed else numpy.uint8
        low, high = (-64, 64) if signed else (0, 256)
        weights = {"W": random.integers(low, high, (D, size, 4 * hidden)).astype(byte),
                   "R": random.integers(low, high, (D, hidden, 4 * hidden)).astype(byte)}
        parameters = (D, 4 * hidden) if by_column else (D,)
        for name in "WR":
            weights[name + "_scale"] = random.uniform(0.002, 0.006, parameters).astype(numpy.float32)
            # onnxruntime takes other zero points by column only where all are the same, and 0 for signed ones.
            zero = random.integers(100, 150) if by_column else random.integers(100, 150, parameters)
            weights[name + "_zero_point"] = numpy.broadcast_to(0 if signed else zero, parameters).astype(byte)
        floats = lambda *shape: (random.standard_normal(shape) * 0.5).astype(numpy.float32)
        weights |= {"B": floats(D, 8 * hidden), "P": floats(D, 3 * hidden)}
        self.inputs = {"X": floats(steps, batch, size) * 2, "initial_h": floats(D, batch, hidden), "initial_c": floats(D, batch, hidden)}
        if lengths is not None:
            self.inputs["sequence_lens"] = numpy.array(lengths, numpy.int32)
        self.inputs = {name: value for name, value in self.inputs.items() if name not in absent}
        weights = {name: value for name, value in weights.items() if name not in absent}
        if "activations" in attributes:
            attributes["activations"] = attributes["activations"] * D
        node = helper.make_node("DynamicQuantizeLSTM", [n if n in weights or n in self.inputs else "" for n in NAMES], ["Y", "Y_h", "Y_c"],
                                domain="com.microsoft", hidden_size=hidden, direction=direction, **attributes)
        value = lambda name, array: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        graph = helper.make_graph([node], "one", [value(*item) for item in self.inputs.items()],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("Y", "Y_h", "Y_c")],
                                  [numpy_helper.from_array(array, name) for name, array in weights.items()])
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def model_to_quantize(random, direction, P=False, lengths=None, **attributes):
    """X [6, 3, 8] -> LSTM -> MatMul."""
    D, hidden = (2 if direction == "bidirectional" else 1), 16
    floats = lambda *shape: (random.standard_normal(shape) * 0.3).astype(numpy.float32)
    weights = {"W": floats(D, 4 * hidden, 8), "R": floats(D, 4 * hidden, hidden), "B": floats(D, 8 * hidden), "M": floats(hidden, 5)}
    weights |= {"P": floats(D, 3 * hidden)} if P else {}
    weights |= {"lengths": numpy.array(lengths, numpy.int32)} if lengths else {}
    names = ["X", "W", "R", "B", "lengths" if lengths else "", "", "", "P" if P else ""]
    nodes = [helper.make_node("LSTM", names, ["Y", "Y_h"], hidden_size=hidden, direction=direction, name="lstm", **attributes),
             helper.make_node("MatMul", ["Y", "M"], ["Z"], name="matmul")]
    graph = helper.make_graph(nodes, "model", [helper.make_tensor_value_info("X", TensorProto.FLOAT, [6, 3, 8])],
                              [helper.make_tensor_value_info("Z", TensorProto.FLOAT, [6, D, 3, 5]),
                               helper.make_tensor_value_info("Y_h", TensorProto.FLOAT, [D, 3, hidden])],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


class DynamicQuantizeLstm(unittest.TestCase):
    def compare(self, name, model, inputs):
        """Nearly all elements agree to the last bits; where a value lies on a tie, one step of quantization apart, few may differ a little."""
        for mine, theirs in zip(grurun(model, inputs), onnxruntime(model, inputs), strict=True):
            self.assertEqual(mine.shape, theirs.shape, name)
            error = numpy.abs(mine - theirs) / max(1, float(numpy.abs(theirs).max(initial=0)))
            self.assertLess(float(error.max(initial=0)), 5e-3, name)
            close = error < 1e-5
            self.near += int(close.sum())
            self.all += close.size

    def test_single_nodes(self):
        require(RUNTIME)
        random = numpy.random.default_rng(3)
        options = [dict(direction=d, lengths=n) for d, n in itertools.product(["forward", "reverse", "bidirectional"],
                                                                              [None, [5, 2, 3], [4, 4, 1], [0, 3, 2]])]
        options += [dict(signed=s, by_column=c) for s, c in itertools.product([True, False], [True, False])]
        options += [dict(absent=names) for names in (["B"], ["P"], ["B", "P"], ["initial_h"], ["initial_c"], ["initial_h", "initial_c"])]
        options += [dict(clip=0.3), dict(clip=0.3, absent=["P"]), dict(input_forget=1), dict(input_forget=1, clip=1.0, absent=["P"])]
        options += [dict(activations=names) for names in (["Relu", "Tanh", "Sigmoid"], ["HardSigmoid", "Softsign", "Relu"])]
        options += [dict(batch=1, size=100, hidden=64, steps=20), dict(batch=8, size=1, hidden=1, steps=3),
                    dict(batch=5, size=16, hidden=32, steps=9, direction="bidirectional", lengths=[9, 7, 4, 3, 0])]
        self.near = self.all = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            for option in options:
                node = Node(random, **option)
                onnx.save(node.model, path)
                self.compare(str(option), path, node.inputs)
        self.assertGreater(self.near / self.all, 0.97)

    def test_a_model_that_was_quantized(self):
        require(QUANTIZER)
        from onnxruntime.quantization import QuantType, quantize_dynamic

        random = numpy.random.default_rng(4)
        self.near = self.all = 0
        options = [dict(direction=d) for d in ("forward", "reverse", "bidirectional")]
        options += [dict(direction="bidirectional", **more) for more in (dict(P=True), dict(clip=0.4), dict(lengths=[6, 3, 4]))]
        with tempfile.TemporaryDirectory() as folder:
            plain, quantized = os.path.join(folder, "plain.onnx"), os.path.join(folder, "quantized.onnx")
            for option in options:
                onnx.save(model_to_quantize(random, **option), plain)
                for kind, by_column in itertools.product([QuantType.QInt8, QuantType.QUInt8], [False, True]):
                    with self.assertLogs():
                        quantize_dynamic(plain, quantized, weight_type=kind, per_channel=by_column, reduce_range=True)
                    self.assertIn("DynamicQuantizeLSTM", [node.op_type for node in onnx.load(quantized).graph.node])
                    X = (random.standard_normal((6, 3, 8)) * 3).astype(numpy.float32)
                    self.compare(f"{option} {kind} {by_column}", quantized, {"X": X})
        self.assertGreater(self.near / self.all, 0.97)

    def test_the_model_of_ddddocr(self):
        require(MODEL)
        model = os.path.join(importlib.util.find_spec("ddddocr").submodule_search_locations[0], "common_old.onnx")
        random = numpy.random.default_rng(5)
        for width in (64, 200):
            inputs = {"input1": random.random((1, 1, 64, width)).astype(numpy.float32)}
            (mine,), (theirs,) = grurun(model, inputs), onnxruntime(model, inputs)
            self.assertEqual(mine.shape, theirs.shape)
            self.assertEqual(mine.argmax(-1).tolist(), theirs.argmax(-1).tolist())
            self.assertLess(float(numpy.abs(mine - theirs).mean()), 0.02 * float(numpy.abs(theirs).max()))


if __name__ == "__main__":
    unittest.main()
