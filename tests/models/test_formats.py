"""Models in every form that the package onnx writes, plain and compressed: grurun gives the same outputs, in every command."""

import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BINARY = os.environ["GRURUN_BINARY"]
FORMS = {"onnx": "protobuf", "textproto": "textproto", "json": "json", "onnxtxt": "onnxtxt"}


def grurun(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)


def every_kind_of_content():
    """A body, a function, weights in raw and typed fields, attributes of every plain type, and escapes in texts."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((1, 6, 2)).astype(np.float32)
    initializers = [
        numpy_helper.from_array(weights, "W"),
        helper.make_tensor("R", TensorProto.FLOAT, [1, 6, 2], rng.standard_normal(12).astype(np.float32).tolist()),
        numpy_helper.from_array(np.array(True), "c"),
        helper.make_tensor("half", TensorProto.FLOAT16, [1], np.array([0.5], np.float16)),
        helper.make_tensor("s", TensorProto.STRING, [2], [b"a \\ \"quoted\" line", "\u00e9\n".encode()]),
    ]
    nodes = [
        helper.make_node("GRU", ["X", "W", "R"], ["Y", "Yh"], name="gru", hidden_size=2, direction="forward",
                         activations=["Sigmoid", "Tanh"], clip=3.5),
        helper.make_node("Twice", ["Yh"], ["t"], domain="ns", name="call"),
        helper.make_node("Cast", ["half"], ["h"], to=TensorProto.FLOAT),
        helper.make_node("If", ["c"], ["i"], name="if",
                         then_branch=helper.make_graph([helper.make_node("Add", ["t", "h"], ["a"])], "then", [],
                                                       [helper.make_tensor_value_info("a", TensorProto.FLOAT, None)]),
                         else_branch=helper.make_graph([helper.make_node("Neg", ["t"], ["n"])], "else", [],
                                                       [helper.make_tensor_value_info("n", TensorProto.FLOAT, None)])),
        helper.make_node("Identity", ["s"], ["S"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["time", 1, 2])],
        [helper.make_tensor_value_info("i", TensorProto.FLOAT, [1, 1, 2]), helper.make_tensor_value_info("S", TensorProto.STRING, [2])],
        initializers)
    twice = helper.make_function("ns", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])],
                                 [helper.make_opsetid("", 17)])
    return helper.make_model(graph, ir_version=8, functions=[twice],
                             opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ns", 1)])


class Formats(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def outputs(self, model):
        done = grurun(model, "--seed", "1", "--set", "time=3", "--full")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), f"{model.name}: {done.stderr}")
        return done.stdout

    def test_every_form_runs_alike(self):
        model = every_kind_of_content()
        wanted = None
        for ending, form in FORMS.items():
            path = self.folder / f"m.{ending}"
            onnx.save(model, path, format=form)
            packed = [path, self.folder / f"m.{ending}.gz"]
            packed[1].write_bytes(gzip.compress(path.read_bytes()))
            if shutil.which("zstd"):
                packed.append(self.folder / f"m.{ending}.zst")
                subprocess.run(["zstd", "-q", path, "-o", packed[2]], check=True)
            for file in packed:
                plain = self.folder / file.name.replace(".", "_")  # the content tells, not the name
                shutil.copy(file, plain)
                for each in (file, plain):
                    wanted = wanted or self.outputs(each)
                    self.assertEqual(self.outputs(each), wanted, each.name)
                for command in ("check", "inspect"):
                    done = grurun(command, file)
                    self.assertEqual(done.returncode, 0, f"{command} {file.name}: {done.stdout}{done.stderr}")

    def test_cases_in_other_forms(self):
        model = every_kind_of_content()
        onnx.save(model, self.folder / "m.onnx")
        for ending, form in (("textproto", "textproto"), ("json.gz", "json"), ("onnx.gz", "protobuf")):
            case = self.folder / "cases" / f"in_{form}"
            case.mkdir(parents=True)
            content = onnx.serialization.registry.get(form).serialize_proto(model)
            content = content.encode() if isinstance(content, str) else content
            name = f"net.{ending}" if form != "json" else "model.onnx"
            (case / name).write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
            made = grurun(self.folder / "m.onnx", "-q", "--seed", "1", "--set", "time=3",
                          "--save-inputs", case / "test_data_set_0", "--save-outputs", case / "test_data_set_0")
            self.assertEqual(made.returncode, 0, made.stderr)
        done = grurun("conformance", self.folder / "cases", "--min-cases", "3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_external_data_of_3_gib_opens_at_once(self):
        """The weights are a hole in the file: only what is looked at is read."""
        size = 3 << 30
        with open(self.folder / "w.bin", "wb") as file:
            file.truncate(size)
        weights = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size], data_location=TensorProto.EXTERNAL)
        weights.external_data.add(key="location", value="w.bin")
        begin = [numpy_helper.from_array(np.array([value]), name) for name, value in (("from", 0), ("to", 4))]
        graph = helper.make_graph([helper.make_node("Slice", ["w", "from", "to"], ["Y"])], "g", [],
                                  [helper.make_tensor_value_info("Y", TensorProto.UINT8, [4])], [weights, *begin])
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        for ending, form in FORMS.items():
            path = self.folder / f"large.{ending}"
            content = onnx.serialization.registry.get(form).serialize_proto(model)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            started = time.monotonic()
            for done in (grurun(path), grurun("inspect", path)):
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertLess(time.monotonic() - started, 20)


if __name__ == "__main__":
    unittest.main()
