"""What OpenVINO's converter makes of ONNX models is the same model: testdata/recurrent, converted, as cases of `grurun conformance`."""

import json
import pathlib
import shutil
import tempfile
import unittest

from tests.openvino_ir.peer import ROOT, grurun, openvino, run_grurun, run_openvino

SUITE = ROOT / "testdata/recurrent"
OF_THE_PAGES = {b"relu", b"sigmoid", b"tanh"}


def keeps_its_meaning(model):
    """False for what an IR cannot say, and the converter drops in silence or puts in an attribute without meaning."""
    from onnx import helper

    initialized = {tensor.name for tensor in model.graph.initializer}
    if any(value.name in initialized or value.type.tensor_type.elem_type == 16 for value in model.graph.input):
        return False
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        functions = [f.lower() for f in attributes.get("activations", [])]
        if attributes.get("layout") or attributes.get("input_forget") or not OF_THE_PAGES.issuperset(functions):
            return False
        if node.op_type == "LSTM" and (len(node.input) > 7 or attributes.get("clip")):
            return False
        if attributes.get("direction") == b"bidirectional" and functions[: len(functions) // 2] != functions[len(functions) // 2 :]:
            return False
    return any(node.op_type in ("GRU", "LSTM", "RNN") for node in model.graph.node)


class Converted(unittest.TestCase):
    def convert(self, package, case, folder):
        import onnx

        model = onnx.load(case / "model.onnx")
        if not keeps_its_meaning(model):
            return False
        try:
            converted = package.convert_model(case / "model.onnx")
        except Exception:  # of several classes; what it cannot convert is its own affair
            return False
        if len(converted.inputs) != len(model.graph.input):
            return False
        shutil.copytree(case, folder / case.name, ignore=shutil.ignore_patterns("model.onnx"))
        package.save_model(converted, folder / case.name / "model.xml", compress_to_fp16=False)
        return True

    def test_the_recurrent_suite(self):
        package = openvino()
        cases = sorted(SUITE.glob("test_*"))[::4]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            count = sum(self.convert(package, case, folder) for case in cases)
            self.assertGreater(count, 40)
            done = grurun("conformance", folder, "--json", folder / "report.json")
            summary = json.loads((folder / "report.json").read_text())["summary"]
            self.assertEqual((done.returncode, summary["passed"]), (0, count), done.stdout + done.stderr)

    def test_weights_compressed_to_16_bits(self):
        import numpy
        from onnx import load, load_tensor, numpy_helper

        package = openvino()
        for name in ("test_gru_22_with_linear_before_reset", "test_lstm_22_with_direction", "test_rnn_22_with_direction"):
            case = SUITE / name
            inputs = {value.name: numpy_helper.to_array(load_tensor(case / f"test_data_set_0/input_{i}.pb"))
                      for i, value in enumerate(load(case / "model.onnx").graph.input)}
            with tempfile.TemporaryDirectory() as scratch:
                path = pathlib.Path(scratch) / "model.xml"
                package.save_model(package.convert_model(case / "model.onnx"), path, compress_to_fp16=True)
                self.assertIn('element_type="f16"', path.read_text())
                ours = run_grurun(path, inputs)
                self.assertNotIsInstance(ours, str, ours)
                for mine, theirs in zip(ours, run_openvino(package, path, inputs), strict=True):
                    numpy.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
