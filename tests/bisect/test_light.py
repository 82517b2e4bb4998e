"""The light models that the package onnx carries, as old exporters wrote them: initializers are inputs, nodes have no names, weights are
made by nodes. bisect, diff, reduce and generate take each, and other runtimes agree but where they are known to be wrong."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.optional_packages import require
from tests.python.models import needs_package

try:
    import onnx
except ImportError:
    onnx = None

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
DATA = None if onnx is None else pathlib.Path(onnx.__file__).parent / "backend/test/data/light"

# The reference implementation of the package onnx trains where BatchNormalization-9 infers, fills one channel of LRN-1, and takes the
# last axis for that of a Softmax-1 that names none.
REFERENCE_IS_WRONG = {"bvlc_alexnet": "LRN-1", "densenet121": "BatchNormalization-9", "inception_v1": "LRN-1", "inception_v2": "BatchNormalization-9",
                      "resnet50": "BatchNormalization-9", "shufflenet": "BatchNormalization-9", "squeezenet": "Softmax-1", "vgg19": None, "zfnet512": "LRN-1"}


@unittest.skipIf(DATA is None or not DATA.is_dir(), "needs the light models that the package onnx carries")
@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "nine models of images, run several times, take too long with sanitizers")
class Light(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_it(self, *arguments, code):
        environment = dict(os.environ, GRURUN_PYTHON=sys.executable)
        result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, env=environment)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout[:1000]}{result.stderr[:1000]}")
        return result.stdout

    @staticmethod
    def path_of(name):
        return DATA / f"light_{name}.onnx"

    def broken(self, name):
        """The model with an Abs in the place of its first Relu, and the value that this makes."""
        model = onnx.load(self.path_of(name))
        node = next(node for node in model.graph.node if node.op_type == "Relu")
        node.op_type = "Abs"
        path = self.folder / f"{name}.onnx"
        onnx.save(model, path)
        return path, node.output[0]

    @needs_package
    def test_onnxruntime_agrees(self):
        require({"onnxruntime": ["onnxruntime"]})
        for name in REFERENCE_IS_WRONG:
            text = self.run_it("bisect", self.path_of(name), "--seed", "0", "--against", "onnxruntime", code=0)
            self.assertTrue(text.startswith("nothing differs"), f"{name}: {text}")

    @needs_package
    def test_the_reference_agrees_where_it_is_right(self):
        for name, fault in REFERENCE_IS_WRONG.items():
            text = self.run_it("bisect", self.path_of(name), "--seed", "0", "--against", "reference", "--json", "-", code=1 if fault else 0)
            made = [row["node"] for row in json.loads(text)["differences"] if row["made_here"] and row["live"]]
            self.assertEqual([node.endswith(f"({fault})") for node in made], [True] * bool(fault), f"{name}: {made}")

    def test_a_planted_fault_is_named(self):
        for name in REFERENCE_IS_WRONG:
            wrong, output = self.broken(name)
            text = self.run_it("bisect", wrong, "--seed", "0", "--against", self.path_of(name), "--json", "-", code=1)
            self.assertEqual([row["value"] for row in json.loads(text)["differences"] if row["made_here"]], [output], name)
            self.assertIn("Abs", self.run_it("diff", self.path_of(name), wrong, code=1))
            self.run_it("diff", self.path_of(name), self.path_of(name), code=0)

    def test_a_planted_fault_is_reduced(self):
        model = onnx.load(self.path_of("squeezenet"))
        self.assertEqual(model.graph.node[-1].op_type, "Softmax")
        model.graph.node[-1].op_type = "LogSoftmax"
        onnx.save(model, self.folder / "wrong.onnx")
        small = self.folder / "small"
        self.run_it("reduce", self.folder / "wrong.onnx", "--seed", "0", "--against", self.path_of("squeezenet"), "-o", small, code=0)
        self.assertEqual([node.op_type for node in onnx.load(small / "model.onnx").graph.node], ["LogSoftmax"])

    def test_cases_are_generated(self):
        for name in REFERENCE_IS_WRONG:
            case = self.folder / name
            self.run_it("generate", self.path_of(name), "-o", case, code=0)
            self.assertIn("1 passed", self.run_it("conformance", case, code=0), name)


if __name__ == "__main__":
    unittest.main()
