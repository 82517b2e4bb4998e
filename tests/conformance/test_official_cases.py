"""Official cases as files: grurun data, and a checkout of onnx whose node cases are Python code."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import helper, numpy_helper

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
SERIES = ".".join(onnx.__version__.split(".")[:2])

# As onnx lays its generators out: importing a module makes its cases. The first draws its input.
GENERATORS = {
    "__init__.py": "_NodeTestCases = []\n",
    "relu.py": """
import numpy as np
from onnx import helper
from onnx.backend.test.case.node import _NodeTestCases
from onnx.backend.test.case.test_case import TestCase

x = np.random.randn(2, 3).astype(np.float32)
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [2, 3])],
                          [helper.make_tensor_value_info("y", 1, [2, 3])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
model.ir_version = 8
_NodeTestCases.append(TestCase("test_relu_drawn", model, [([x], [np.maximum(x, 0)])], 1e-3, 1e-6))
""",
}
TEST_CASE = """
import dataclasses

@dataclasses.dataclass
class TestCase:
    name: str
    model: object
    data_sets: list
    rtol: float
    atol: float
"""


def run(*arguments, environment=None):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "GRURUN_PYTHON": sys.executable, **(environment or {})})


class Checkout(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.checkout = self.folder / "checkout"
        test = self.checkout / "onnx" / "backend" / "test"
        self.node = test / "case" / "node"
        self.node.mkdir(parents=True)
        self.data = test / "data"
        (self.checkout / "VERSION_NUMBER").write_text(f"{SERIES}.99\n")
        for package in (test.parent, test, test / "case"):
            (package / "__init__.py").write_text("")
        (test / "case" / "test_case.py").write_text(TEST_CASE)
        for name, text in GENERATORS.items():
            (self.node / name).write_text(text)
        self.write_simple_case()

    def write_simple_case(self):
        case = self.data / "simple" / "test_neg"
        (case / "test_data_set_0").mkdir(parents=True)
        graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [1])],
                                  [helper.make_tensor_value_info("y", 1, [1])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        model.ir_version = 8
        (case / "model.onnx").write_bytes(model.SerializeToString())
        for name, value in (("input_0", 2.0), ("output_0", -2.0)):
            tensor = helper.make_tensor(name, 1, [1], [value])
            (case / "test_data_set_0" / f"{name}.pb").write_bytes(tensor.SerializeToString())

    def expect(self, code, *arguments, environment=None):
        result = run(*arguments, environment=environment)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_a_run_says_that_node_cases_are_left_out(self):
        for path in (self.checkout, self.data):
            report = self.folder / "report.json"
            result = self.expect(0, "conformance", path, "--json", report)
            self.assertIn("1 passed; node cases of onnx were not run", result.stdout)
            self.assertIn("--node-cases make", result.stdout)
            self.assertIn(str(self.node), result.stdout)
            self.assertEqual([list(folders) for folders in json.loads(report.read_text())["no_cases"].values()], [[str(self.node)]])
        self.assertNotIn("node cases", self.expect(0, "conformance", self.data / "simple").stdout)

    def test_node_cases_are_made_once_and_run(self):
        cache = self.folder / "cache"
        for _ in range(2):
            result = self.expect(0, "conformance", self.checkout, "--node-cases", "make", environment={"XDG_CACHE_HOME": str(cache)})
            self.assertIn("2 passed\n", result.stdout)
            self.assertNotIn("not run", result.stdout)
            self.assertEqual(len(list(cache.glob("grurun/onnx-node-cases-*/node/test_relu_drawn/model.onnx"))), 1)
        (self.node / "relu.py").write_text(GENERATORS["relu.py"].replace("drawn", "anew"))
        listed = self.expect(0, "conformance", self.checkout, "--node-cases", "make", "--list",
                             environment={"XDG_CACHE_HOME": str(cache)})
        self.assertIn("node/test_relu_anew", listed.stdout)

    def test_data_writes_all_kinds_with_digests(self):
        made = self.folder / "made"
        result = self.expect(0, "data", "--onnx", self.checkout, "-o", made)
        self.assertIn("2 cases (node 1, simple 1)", result.stdout)
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made, check=True)
        self.assertEqual(len((made / "SHA256SUMS").read_text().splitlines()), len([p for p in made.rglob("*") if p.is_file()]) - 1)
        self.assertEqual((made / "known-wrong.txt").read_text(), "")
        self.assertEqual(json.loads((made / "node/test_relu_drawn/data.json").read_text()), {"rtol": 1e-3, "atol": 1e-6})
        self.assertIn("2 passed", self.expect(0, "conformance", made).stdout)
        self.assertIn("2 passed", self.expect(0, "conformance", self.checkout, "--node-cases", made).stdout)

    def test_what_is_drawn_is_the_same_each_time(self):
        inputs = []
        for name in ("a", "b"):
            self.expect(0, "data", "--onnx", self.checkout, "-o", self.folder / name)
            inputs.append((self.folder / name / "node/test_relu_drawn/test_data_set_0/input_0.pb").read_bytes())
        self.assertEqual(*inputs)
        self.assertEqual(numpy_helper.to_array(onnx.TensorProto.FromString(inputs[0])).shape, (2, 3))

    def test_a_generator_that_fails_is_named(self):
        (self.node / "newer.py").write_text("raise ValueError('no schema of Newer')\n")
        result = self.expect(1, "data", "--onnx", self.checkout, "-o", self.folder / "made")
        self.assertEqual(result.stderr, "node case not made: onnx.backend.test.case.node.newer: ValueError: no schema of Newer\n")
        self.assertIn("2 cases", result.stdout)

    def test_files_of_node_cases_are_copied(self):
        shutil.copytree(self.data / "simple", self.data / "node")
        self.assertIn("2 passed\n", self.expect(0, "conformance", self.checkout).stdout)
        self.expect(2, "conformance", self.checkout, "--node-cases", "make")
        result = self.expect(0, "data", "--onnx", self.checkout, "-o", self.folder / "made")
        self.assertIn("2 cases (node 1, simple 1)", result.stdout)

    def test_usage(self):
        made = self.folder / "made"
        for arguments, said in ((["-o", made], "give either --release VERSION or --onnx CHECKOUT"),
                                (["--release", "latest", "-o", made], "--release takes the version of a release"),
                                (["--onnx", made, "-o", made], f"--onnx {made}: no such folder"),
                                (["--onnx", self.data / "simple" / "test_neg", "-o", self.data], "the folder is not empty"),
                                (["--onnx", self.folder, "-o", made], "neither a checkout of onnx")):
            result = self.expect(2, "data", *arguments)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
        result = self.expect(2, "data", "--onnx", self.checkout, "-o", made, environment={"GRURUN_PYTHON": "/nowhere/python"})
        self.assertIn("/nowhere/python: no such program", result.stderr)
        self.assertFalse(made.exists())


class Release(unittest.TestCase):
    def test_the_installed_release(self):
        """Its package is there: nothing is fetched. Known-wrong cases are those of older releases."""
        with tempfile.TemporaryDirectory() as name:
            made = pathlib.Path(name) / "made"
            result = run("data", "--release", onnx.__version__, "-o", made)
            self.assertEqual(result.returncode, 0, result.stderr)
            expected = (ROOT / "testdata/expectations" / f"onnx-{onnx.__version__}.size").read_text().strip()
            self.assertIn(f"{expected} cases (light 9, node 1884,", result.stdout)


if __name__ == "__main__":
    unittest.main()
