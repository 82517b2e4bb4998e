"""grurun.node, generate, reduce and diff: what the commands do, with models and arrays in the place of files."""

import pathlib
import tempfile
import unittest

from tests.python.models import needs_package


@needs_package
class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def model(self, alpha):
        from onnx import TensorProto, helper

        nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("LeakyRelu", ["a"], ["b"], alpha=alpha), helper.make_node("Neg", ["b"], ["y"])]
        infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2])] for name in "xy"]
        return helper.make_model(helper.make_graph(nodes, "g", *infos), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def test_node_and_its_refusal(self):
        import grurun

        told = grurun.node("Reshape", self.folder / "case", shapes={"data": [2, 6]}, values={"shape": [3, 4]})
        self.assertEqual([each["name"] for each in told["data_sets"]], ["test_data_set_0"])
        self.assertTrue((self.folder / "case/model.onnx").exists())
        with self.assertRaisesRegex(grurun.UnsupportedError, "'body'"):
            grurun.node("Loop", self.folder / "loop")
        with self.assertRaisesRegex(grurun.UsageError, "not empty"):
            grurun.node("Relu", self.folder / "case")

    def test_generate_reduce_and_diff(self):
        import numpy as np

        import grurun

        told = grurun.generate(self.model(0.1), self.folder / "made", sizes={"n": [1, 3]}, seed=7)
        self.assertEqual([each["sizes"] for each in told["data_sets"]], [{"n": 1}, {"n": 3}])
        x = {"x": np.float32([[1, -2], [3, 4]])}
        told = grurun.reduce(self.model(0.5), self.folder / "small", inputs=x, against=self.model(0.1))
        self.assertEqual([node["operator"] for node in told["nodes"]], ["LeakyRelu"])
        self.assertFalse(grurun.reduce(self.model(0.1), self.folder / "none", inputs=x, against=self.model(0.1))["fails"])
        told = grurun.diff(self.model(0.1), self.model(0.5), inputs=x)
        self.assertEqual([(each["a"], each["b"]) for each in told["attributes"]], [("0.1", "0.5")])
        self.assertEqual([each["same"] for each in told["runs"]], [False])


if __name__ == "__main__":
    unittest.main()
