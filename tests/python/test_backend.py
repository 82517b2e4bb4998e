"""grurun.backend: onnx's interface of backends."""

import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.python.models import add_model, gru_model, model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    import grurun.backend


@needs_package
class Backend(unittest.TestCase):
    def test_a_prepared_model_runs_again_and_again(self):
        prepared = grurun.backend.prepare(gru_model(), "CPU")
        x = np.ones((3, 2, 4), np.float32)
        outputs = prepared.run([x])
        np.testing.assert_array_equal(outputs["Y"], outputs[0])
        np.testing.assert_array_equal(prepared.run({"X": x}).Y_h, outputs[1])
        np.testing.assert_array_equal(prepared.run(x).Y_h, outputs[1])
        np.testing.assert_array_equal(grurun.backend.run_model(gru_model(), [x])[0], outputs[0])

    def test_nodes_run_by_themselves(self):
        node = helper.make_node("Clip", ["x", "", "high"], ["y"])
        (y,) = grurun.backend.run_node(node, [np.array([1, 5], np.float32), None, np.float32(3)])
        self.assertEqual(y.tolist(), [1, 3])
        old = helper.make_node("Clip", ["x"], ["y"], max=3.0)
        (y,) = grurun.backend.run_node(old, {"x": np.array([1, 5], np.float32)}, opset_version=6)
        self.assertEqual(y.tolist(), [1, 3])
        scaler = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.0], scale=[2.0])
        self.assertEqual(grurun.backend.run_node(scaler, [np.array([[3]], np.float32)])[0].tolist(), [[4]])
        built = helper.make_node("SequenceConstruct", ["a", "b"], ["s"])
        (s,) = grurun.backend.run_node(built, [np.ones(1, np.float32), np.ones(2, np.float32)])
        self.assertEqual([each.shape for each in s], [(1,), (2,)])
        at = helper.make_node("SequenceAt", ["s", "i"], ["y"])
        self.assertEqual(grurun.backend.run_node(at, [s, np.int64(1)])[0].shape, (2,))

    def test_devices(self):
        self.assertTrue(grurun.backend.supports_device("CPU"))
        self.assertTrue(grurun.backend.supports_device("CPU:0"))
        for device in ("CUDA", "CPU:1", "TPU", "CPU:x"):
            self.assertFalse(grurun.backend.supports_device(device))
        with self.assertRaisesRegex(ValueError, "not on CUDA"):
            grurun.backend.prepare(add_model(), "CUDA")

    def test_compatible_is_what_runs(self):
        self.assertTrue(grurun.backend.is_compatible(gru_model()))
        self.assertFalse(grurun.backend.is_compatible(gru_model(), "CUDA"))
        unknown = model([helper.make_node("NoSuchOperator", ["x"], ["y"])], [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [1])])
        self.assertFalse(grurun.backend.is_compatible(unknown))
        self.assertFalse(grurun.backend.is_compatible(onnx.ModelProto()))

    def test_arguments_that_mean_nothing_are_refused(self):
        with self.assertRaisesRegex(TypeError, "no argument colour"):
            grurun.backend.prepare(add_model(), colour=1)
        with self.assertRaisesRegex(ValueError, "3 inputs are given"):
            grurun.backend.run_model(add_model(), [np.ones(1)] * 3)


if __name__ == "__main__":
    unittest.main()
