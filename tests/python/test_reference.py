"""grurun.reference.ReferenceEvaluator against the evaluator whose signature it has."""

import contextlib
import io
import os
import tempfile
import unittest

import numpy as np
import onnx.reference
from onnx import TensorProto, helper

from tests.python.models import add_model, gru_model, model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    from grurun.reference import ReferenceEvaluator

X = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)


def function(attributes=()):
    node = helper.make_node("LeakyRelu", ["x"], ["y"])
    if attributes:
        node.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT))
    return helper.make_function("mine", "Leak", ["x"], ["y"], [node], [helper.make_opsetid("", 18)], list(attributes))


@needs_package
class Evaluator(unittest.TestCase):
    def test_both_evaluators_agree(self):
        proto = gru_model()
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(proto.SerializeToString())
            file.flush()
            for source in (proto, proto.SerializeToString(), file.name):
                ours, theirs = ReferenceEvaluator(source), onnx.reference.ReferenceEvaluator(source)
                self.assertEqual((ours.input_names, ours.output_names, ours.opsets, str(ours)),
                                 (theirs.input_names, theirs.output_names, theirs.opsets, str(theirs)))
                self.assertEqual([each.SerializeToString() for each in ours.input_types], [each.SerializeToString() for each in theirs.input_types])
                for got, wanted in zip(ours.run(None, {"X": X}), theirs.run(None, {"X": X})):
                    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
                self.assertEqual(len(ours.run(["Y_h"], {"X": X})), 1)

    def test_graphs_functions_and_nodes(self):
        graph = ReferenceEvaluator(add_model().graph, opsets={"": 20})
        ones = np.ones((1, 3), np.float32)
        self.assertEqual(graph.run(None, {"x": ones, "y": ones})[0].sum(), 6)
        x = np.array([-10, 1], np.float32)
        np.testing.assert_allclose(ReferenceEvaluator(function()).run(None, {"x": x})[0], [-0.1, 1])
        np.testing.assert_allclose(ReferenceEvaluator(function(["alpha"])).run(None, {"x": x}, attributes={"alpha": 0.5})[0], [-5, 1])
        node = helper.make_node("Clip", ["x", "", "high"], ["y"])
        self.assertEqual(ReferenceEvaluator(node).run(None, {"x": x, "high": np.float32(0)})[0].tolist(), [-10, 0])
        call = helper.make_node("Leak", ["x"], ["y"], domain="mine")
        for functions in ([function()], [ReferenceEvaluator(function())]):
            np.testing.assert_allclose(ReferenceEvaluator(call, functions=functions).run(None, {"x": x})[0], [-0.1, 1])

    def test_values_between(self):
        proto = model([helper.make_node("Add", ["x", "one"], ["a"]), helper.make_node("Exp", ["a"], ["y"])],
                      [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])],
                      [helper.make_tensor("one", TensorProto.FLOAT, [], [1])])
        x = np.array([0, 1], np.float32)
        evaluator = ReferenceEvaluator(proto)
        self.assertEqual(evaluator.run(["a", "x"], {"x": x})[0].tolist(), [1, 2])
        self.assertEqual(sorted(evaluator.run(None, {"x": x}, intermediate=True)), ["a", "one", "x", "y"])
        with self.assertRaisesRegex(RuntimeError, "no value is named b"):
            evaluator.run(["b"], {"x": x})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            ReferenceEvaluator(proto, verbose=2).run(None, {"x": x})
        self.assertEqual(printed.getvalue().splitlines()[:4], [" +C one: float32:() in [1.0, 1.0]", " +I x: float32:(2,) in [0.0, 1.0]",
                                                               "Add(x, one) -> a", " + a: float32:(2,) in [1.0, 2.0]"])

    def test_what_is_not_done_is_said(self):
        with self.assertRaisesRegex(grurun.UnsupportedError, "new_ops: Mine"):
            ReferenceEvaluator(add_model(), new_ops=[type("Mine", (), {})])
        with self.assertRaisesRegex(grurun.UnsupportedError, "check_shape_annotations"):
            ReferenceEvaluator(add_model(), check_shape_annotations=True)
        with self.assertRaisesRegex(TypeError, "opsets must be a dict"):
            ReferenceEvaluator(add_model().graph)


if __name__ == "__main__":
    unittest.main()
