"""Bits do not depend on threads, workers, the sandbox, or on how often a model ran before."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: scripts/setup makes an environment that has it") from missing

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
BINARY = os.environ["GRURUN_BINARY"]
# Each number of threads up to 8, twice the same, and without the sandbox.
WAYS = [*(["--threads", str(threads)] for threads in range(1, 9)), ["--threads", "8"], ["--sandbox", "off"], ["--no-fusion"]]


def threaded_model():
    """Large enough that threads share each of its nodes: products, convolutions, sums, and recurrent layers in both directions."""
    draw = numpy.random.default_rng(7)
    initializers = []

    def weight(name, *shape):
        initializers.append(numpy_helper.from_array(draw.standard_normal(shape).astype(numpy.float32) * 0.1, name))
        return name

    nodes = [
        helper.make_node("Conv", ["image", weight("K", 32, 8, 3, 3), weight("b", 32)], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("ReduceSum", ["r"], ["sums"], keepdims=0),
        helper.make_node("MatMul", ["x", weight("M", 192, 320)], ["m"]),
        helper.make_node("Softmax", ["m"], ["soft"], axis=-1),
        helper.make_node("LayerNormalization", ["m", weight("scale", 320)], ["norm"]),
        helper.make_node("GRU", ["frames", weight("Wg", 2, 384, 40), weight("Rg", 2, 384, 128)], ["Y", "Y_h"], hidden_size=128, direction="bidirectional"),
        helper.make_node("LSTM", ["frames", weight("Wl", 1, 384, 40), weight("Rl", 1, 384, 96)], ["Z"], hidden_size=96),
    ]
    inputs = {"image": [2, 8, 48, 48], "x": [128, 192], "frames": [20, 16, 40]}
    graph = helper.make_graph(
        nodes, "threaded",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("r", "sums", "m", "soft", "norm", "Y", "Y_h", "Z")],
        initializers,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])


class Determinism(unittest.TestCase):
    def outputs(self, model, flags):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.npz"
            subprocess.run([BINARY, model, *flags, "-q", "--save-outputs", out], check=True, capture_output=True)
            return out.read_bytes()

    def test_outputs(self):
        models = sorted((ROOT / "testdata/recurrent").rglob("model.onnx"))[::100]
        self.assertGreater(len(models), 3)
        for model in models:
            outputs = {self.outputs(model, ["--inputs", model.parent / "test_data_set_0", *way]) for way in WAYS}
            self.assertEqual(len(outputs), 1, model)

    def test_outputs_that_threads_share(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "threaded.onnx"
            onnx.save(threaded_model(), model)
            outputs = {" ".join(way): self.outputs(model, way) for way in WAYS}
            first = next(iter(outputs.values()))
            self.assertEqual([way for way, bits in outputs.items() if bits != first], [])

    def test_reports(self):
        reports = []
        for flags in (["-j", "1"], ["-j", "4"], ["-j", "2", "--sandbox", "off"]):
            done = subprocess.run(
                [BINARY, "conformance", ROOT / "testdata/recurrent", "-k", "gru", "--output-format", "json", *flags], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            cases = json.loads(done.stdout)["cases"]
            for case in cases:
                del case["seconds"]
            reports.append(cases)
        self.assertGreater(len(reports[0]), 50)
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])


if __name__ == "__main__":
    unittest.main()
