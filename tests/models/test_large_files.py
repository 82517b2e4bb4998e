"""A model whose weights take more than 2 GB in a file of their own opens in seconds, as text and in binary form."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from tests import optional_packages

BINARY = os.environ["GRURUN_BINARY"]
SIDE, WEIGHTS = 16384, 3  # of 1 GiB each, in a sparse file


class LargeFiles(unittest.TestCase):
    def test_weights_beyond_two_gigabytes(self):
        optional_packages.require({"onnx": ["onnx"]})
        import numpy as np
        import onnx
        from google.protobuf import text_format
        from onnx import TensorProto, helper, numpy_helper

        info, size = helper.make_tensor_value_info, 4 * SIDE * SIDE
        nodes, weights = [], []
        for i in range(WEIGHTS):
            weight = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[SIDE, SIDE], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "weights.bin"), ("offset", i * size), ("length", size)):
                weight.external_data.add(key=key, value=str(value))
            weights.append(weight)
            nodes.append(helper.make_node("Gather", [f"w{i}", "row"], [f"row{i}"]))
        nodes.append(helper.make_node("Sum", [f"row{i}" for i in range(WEIGHTS)], ["y"]))
        inputs, outputs = [info("row", TensorProto.INT64, [1])], [info("y", TensorProto.FLOAT, [1, SIDE])]
        model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            with open(folder / "weights.bin", "wb") as file:
                file.truncate(WEIGHTS * size)
                for i in range(WEIGHTS):  # a number in the last row of each
                    file.seek((i + 1) * size - 4)
                    file.write(np.float32(i + 1).tobytes())
            onnx.save(model, folder / "m.onnx")
            (folder / "m.textproto").write_text(text_format.MessageToString(model))
            row = np.asarray([SIDE - 1])
            (folder / "input_0.pb").write_bytes(numpy_helper.from_array(row, "row").SerializeToString())
            for name in ("m.onnx", "m.textproto"):
                begin = time.monotonic()
                result = subprocess.run(
                    [BINARY, folder / name, "--check", "-q", "--inputs", folder / "input_0.pb", "--save-outputs", folder / "y.npz"], capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertLess(time.monotonic() - begin, 10)
                self.assertEqual(np.load(folder / "y.npz")["y"][0, -1], sum(range(1, WEIGHTS + 1)))


if __name__ == "__main__":
    unittest.main()
