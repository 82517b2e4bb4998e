"""grurun.testing.gate: green for a right export, red for planted mistakes; the plugin of pytest."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.python.models import gru_model, model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    from grurun.testing import gate

X = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)


def framework(x):
    """A GRU of another program's: right by definition."""
    return grurun.Session(gru_model()).run(None, {"X": x})


def red(test, pattern, *args, **kwargs):
    """The message of a gate that must fail; the case that it left reproduces the failure."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "case"
        with test.assertRaisesRegex(AssertionError, pattern) as caught:
            gate(*args, folder=folder, **kwargs)
        test.assertTrue((folder / "model.onnx").exists())
        test.assertIn(f"grurun conformance {folder}", str(caught.exception))
        if list(folder.glob("test_data_set_*")) and "differs" in str(caught.exception):
            test.assertFalse(grurun.conformance(folder).ok)
    return str(caught.exception)


@needs_package
class HandMadeModels(unittest.TestCase):
    def test_a_right_model_passes_at_every_size(self):
        gate(gru_model(), (X,), expected=framework, dynamic_shapes={"X": {0: "steps", 1: "batch"}})
        gate(gru_model, (X,), expected=framework)
        gate(gru_model().SerializeToString(), {"X": X}, expected=framework(X))
        gate(gru_model(), (X,))

    def test_gates_in_the_order_of_pytorch(self):
        proto = gru_model()
        for initializer in proto.graph.initializer:
            z, r, h = np.split(numpy_helper.to_array(initializer)[:, :24], 3, axis=1)
            rest = numpy_helper.to_array(initializer)[:, 24:]
            initializer.raw_data = np.concatenate([r, z, h, *([] if not rest.size else [np.concatenate([*[np.split(rest, 3, 1)[i] for i in (1, 0, 2)]], 1)])], 1).tobytes()
        proto.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value='File "encoder.py", line 7, in forward')
        message = red(self, "differs", proto, (X,), expected=framework)
        self.assertRegex(message, "gate")
        self.assertIn("encoder.py", message)

    def test_linear_before_reset_forgotten(self):
        self.assertIn("linear_before_reset", red(self, "differs", gru_model(linear_before_reset=0), (X,), expected=framework))

    def test_a_wrong_axis(self):
        def make(axis):
            node = helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis=axis, doc_string="model.py:3")
            return model([node], [("x", TensorProto.FLOAT, ["n", "m"])], [("y", TensorProto.FLOAT, ["n", "m"])])

        x = X[0]

        def expected(x):
            return np.exp(x) / np.exp(x).sum(1, keepdims=True)

        gate(make(1), (x,), expected=expected)
        self.assertIn("model.py:3", red(self, "output 'y'", make(0), (x,), expected=expected))

    def test_a_frozen_batch(self):
        message = red(self, "the exporter froze it", gru_model(batch=2), (X,), expected=framework,
                      dynamic_shapes={"X": {0: "steps", 1: "batch"}})
        self.assertIn("axis 1", message)

    def test_a_size_frozen_inside(self):
        shape = helper.make_tensor("shape", TensorProto.INT64, [2], [2, 12])
        proto = model([helper.make_node("Reshape", ["x", "shape"], ["y"], name="flatten")], [("x", TensorProto.FLOAT, ["batch", 3, 4])],
                      [("y", TensorProto.FLOAT, ["batch", 12])], [shape])
        x = np.ones((2, 3, 4), np.float32)
        gate(proto, (x,), expected=lambda x: x.reshape(len(x), 12), sweep=False)
        red(self, "Reshape|flatten", proto, (x,), expected=lambda x: x.reshape(len(x), 12))

    def test_findings_fail_unless_listed(self):
        proto = gru_model()
        proto.graph.output[1].type.tensor_type.shape.dim[2].dim_value = 9
        found = {finding.code for finding in grurun.check(proto)}
        self.assertTrue(found)
        red(self, "|".join(found), proto, (X,), expected=framework)

    def test_a_folder_that_holds_something_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine").write_text("")
            with self.assertRaisesRegex(grurun.UsageError, "not empty"):
                gate(gru_model(), (X,), folder=folder)


@needs_package
class Plugin(unittest.TestCase):
    def pytest(self, *arguments, cwd=None):
        command = [sys.executable, "-m", "pytest", "-p", "grurun.pytest_plugin", "-p", "no:cacheprovider", "-q", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
        return done.returncode, done.stdout + done.stderr

    def test_cases_are_tests(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "empty").mkdir()
            session = grurun.Session(gru_model())
            good = dict(zip(("Y", "Y_h"), session.run(None, {"X": X})))
            for name, outputs in (("test_good", good), ("test_bad", {**good, "Y": good["Y"] + 1})):
                (root / "cases" / "gru" / name).mkdir(parents=True)
                onnx.save(gru_model(), root / "cases" / "gru" / name / "model.onnx")
                grurun._core.write_data_set(session, str(root / "cases" / "gru" / name / "test_data_set_0"), {"X": X}, outputs)
            code, out = self.pytest("--grurun", root / "cases", root / "empty", "-rA")
            self.assertEqual(code, 1, out)
            self.assertIn("1 failed, 1 passed", out)
            self.assertIn("differs: test_data_set_0, output 'Y'", out)
            listed = root / "expectations"
            listed.write_text("test_bad differs a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty", "-n", "2")
            self.assertEqual(code, 0, out)
            self.assertIn("1 passed, 1 xfailed", out)
            listed.write_text("test_good differs a reason\ntest_bad differs a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty")
            self.assertEqual(code, 1, out)
            self.assertIn("says differs, but it is passed", out)
            code, out = self.pytest("--grurun", root / "nowhere", root / "empty")
            self.assertNotEqual(code, 0)
            self.assertRegex(out, r"--grurun .*nowhere: usage: ")

    def test_the_fixture_leaves_its_case(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "test_it.py").write_text(
                "import numpy as np\n"
                "from tests.python.models import gru_model\n"
                "def test_good(gate):\n    gate(gru_model(), (np.ones((2, 1, 4), np.float32),))\n"
                "def test_bad(gate):\n    gate(gru_model(), (np.ones((2, 1, 4), np.float32),), expected=[np.zeros(1), np.zeros(1)])\n")
            code, out = self.pytest(root, "--basetemp", root / "base")
            self.assertEqual(code, 1, out)
            self.assertIn("1 failed, 1 passed", out)
            folder = re.search(r"The case is in (/\S+):", out)[1]
            self.assertTrue((pathlib.Path(folder) / "model.onnx").exists())


if __name__ == "__main__":
    unittest.main()
