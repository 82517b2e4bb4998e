"""policy= of compare, conformance and gate; commands for other runtimes."""

import os
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.python.models import model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    from grurun import runtimes
    from grurun.testing import gate

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def relu_model():
    return model([helper.make_node("Relu", ["X"], ["Y"])], [("X", onnx.TensorProto.FLOAT, [2, 3])], [("Y", onnx.TensorProto.FLOAT, [2, 3])])


@needs_package
class Policy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.policy = self.root / "p.toml"
        self.policy.write_text('[[rule]]\noperator = "Relu"\noutput = "Y*"\natol = 0.3\nreason = "known"\n')

    def test_compare(self):
        found = grurun.compare(X + np.float32(0.25), X, policy=self.policy, operator="Relu", output="Y_h")
        self.assertTrue(found.ok, found.text)
        self.assertEqual(found.rule, f"{self.policy}:1")
        for what in ({"operator": "Relu", "output": "Z"}, {"operator": "Abs", "output": "Y"}, {}):
            found = grurun.compare(X + np.float32(0.25), X, policy=self.policy, **what)
            self.assertEqual((found.ok, found.rule), (False, None), what)
        self.policy.write_text('[[rule]]\ncase = "node/test_gru*"\natol = 0.3\nreason = "known"\n')
        for name, ok in (("node/test_gru_seq", True), ("node/test_lstm", False)):
            self.assertEqual(grurun.compare(X + np.float32(0.25), X, policy=self.policy, name=name).ok, ok, name)
        self.policy.write_text("[[rule]]\natol = 1\n")
        with self.assertRaisesRegex(grurun.UsageError, "the rule has no reason"):
            grurun.compare(X, X, policy=self.policy)

    def test_conformance_and_gate(self):
        expected = np.maximum(X, 0) + np.float32(0.25)
        with self.assertRaisesRegex(AssertionError, "differs"):
            gate(relu_model(), {"X": X}, expected=[expected], folder=self.root / "case")
        gate(relu_model(), {"X": X}, expected=[expected], policy=self.policy)
        self.assertFalse(grurun.conformance(self.root / "case").ok)
        report = grurun.conformance(self.root / "case", policy=self.policy)
        self.assertTrue(report.ok)
        self.assertEqual(report.cases[0].outputs[0]["rule"]["reason"], "known")


@needs_package
class Runtimes(unittest.TestCase):
    def test_values_are_read_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            onnx.save(relu_model(), root / "model.onnx")
            (root / "input_0.pb").write_bytes(numpy_helper.from_array(X, "X").SerializeToString())
            inputs = runtimes.read_inputs(root / "model.onnx", root)
            self.assertEqual(list(inputs), ["X"])
            np.testing.assert_array_equal(inputs["X"], X)
            runtimes.write_outputs(root / "out", [X, [X, X + 1]])
            tensor = onnx.TensorProto()
            tensor.ParseFromString((root / "out/output_0.pb").read_bytes())
            np.testing.assert_array_equal(numpy_helper.to_array(tensor), X)
            sequence = onnx.SequenceProto()
            sequence.ParseFromString((root / "out/output_1.pb").read_bytes())
            np.testing.assert_array_equal(numpy_helper.to_list(sequence)[1], X + 1)
            (root / "input_1.pb").write_bytes(b"")
            with self.assertRaises(runtimes.Invalid):
                runtimes.read_inputs(root / "model.onnx", root)

    def test_how_a_run_ended_is_the_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            onnx.save(relu_model(), root / "model.onnx")
            arguments = [str(root / "model.onnx"), str(root), str(root / "out")]

            def failing(error):
                def run(_model, _inputs):
                    raise error
                return run

            for error, code in ((runtimes.Invalid("x"), 3), (runtimes.Unsupported("x"), 4), (ValueError("x"), 1)):
                self.assertEqual(runtimes.main(failing(error), "", arguments), code)
            self.assertEqual(runtimes.main(lambda _model, _inputs: [X], "", arguments), 0)
            self.assertTrue((root / "out/output_0.pb").exists())


if __name__ == "__main__":
    unittest.main()
