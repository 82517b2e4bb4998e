"""grurun.reference.ReferenceEvaluator against the evaluator whose signature it has."""

import contextlib
import io
import os
import tempfile
import unittest

import numpy as np
import onnx.model_container
import onnx.reference.op_run
from onnx import TensorProto, helper

from tests.python.models import add_model, gru_model, model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    from grurun.reference import ReferenceEvaluator

X = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)


class Scale(onnx.reference.op_run.OpRun):
    op_domain = "mine"

    def _run(self, x, by=None):
        return (x * np.float32(by or 1),)


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

    def test_declared_types_are_judged_where_that_is_asked_for(self):
        wrong = model([helper.make_node("Add", ["x", "x"], ["a"]), helper.make_node("Concat", ["a", "a"], ["y"], axis=0)],
                      [("x", TensorProto.FLOAT, ["n"])], [("y", TensorProto.FLOAT, ["n"])])
        x = np.ones(2, np.float32)
        for evaluator in (ReferenceEvaluator, onnx.reference.ReferenceEvaluator):
            for judge, asked in ((evaluator(wrong, check_shape_annotations=True), None), (evaluator(wrong), True)):
                with self.assertRaisesRegex(RuntimeError, "'y', axis 0: symbolic dimension 'n' was previously bound to 2"):
                    judge.run(None, {"x": x}, check_shape_annotations=asked)
                self.assertEqual(judge.run(None, {"x": x}, check_shape_annotations=False)[0].shape, (4,))
            good = evaluator(add_model(), check_shape_annotations=True)
            self.assertEqual(good.run(None, {"x": np.ones((2, 3), np.float32), "y": np.ones((2, 3), np.float32)})[0].sum(), 12)

    def test_a_container_keeps_tensors_beside_its_model(self):
        proto = gru_model()
        kept = {f"#{each.name}": onnx.numpy_helper.to_array(each) for each in proto.graph.initializer}
        container = onnx.model_container.make_large_model(proto.graph, kept, opset_imports=proto.opset_import, ir_version=10)
        for tensor in container.model_proto.graph.initializer:
            tensor.CopyFrom(onnx.model_container.make_large_tensor_proto(f"#{tensor.name}", tensor.name, tensor.data_type, tensor.dims))
        ours, theirs = ReferenceEvaluator(container), onnx.reference.ReferenceEvaluator(container)
        for got, wanted in zip(ours.run(None, {"X": X}), theirs.run(None, {"X": X}), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)

    def test_the_module_of_operators_has_the_name_that_a_replacement_gives_it(self):
        from grurun.reference.op_run import OpRun

        self.assertIs(OpRun, onnx.reference.op_run.OpRun)

    def test_operators_written_in_python(self):
        nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Scale", ["a"], ["b"], domain="mine", by=3.0),
                 helper.make_node("Add", ["b", "one"], ["y"]), helper.make_node("Abs", ["y"], ["z"], name="abs")]
        proto = model(nodes, [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2]), ("z", TensorProto.FLOAT, [2])],
                      [helper.make_tensor("one", TensorProto.FLOAT, [], [1])])
        proto.opset_import.add(domain="mine", version=1)
        x = np.array([1, -2], np.float32)

        class Abs(onnx.reference.op_run.OpRun):  # in the place of ONNX's own
            op_domain = ""

            def _run(self, x):
                return (x * 0 + 7,)

        for operators in ([Scale], [Scale, Abs]):
            with self.subTest(len(operators)):
                ours, theirs = (each(proto, new_ops=operators) for each in (ReferenceEvaluator, onnx.reference.ReferenceEvaluator))
                for _ in range(2):
                    for got, wanted in zip(ours.run(None, {"x": x}), theirs.run(None, {"x": x}), strict=True):
                        np.testing.assert_array_equal(got, wanted)
                np.testing.assert_array_equal(ours.run(["a", "b"], {"x": x})[1], -3 * x)
        unused = ReferenceEvaluator(add_model(), new_ops=[Scale])
        ones = np.ones((1, 3), np.float32)
        self.assertEqual(unused.run(None, {"x": ones, "y": ones})[0].sum(), 6)

    def test_an_empty_array_of_a_python_operator_may_be_of_strings(self):
        class Words(onnx.reference.op_run.OpRun):
            op_domain = "mine"

            def _run(self, x):
                return (np.array([text.split() for text in x.tolist()]),)

        nodes = [helper.make_node("Words", ["x"], ["w"], domain="mine"),
                 helper.make_node("TfIdfVectorizer", ["w"], ["y"], mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0,
                                  ngram_counts=[0], ngram_indexes=[0, 1], pool_strings=["a", "b"])]
        proto = model(nodes, [("x", TensorProto.STRING, [1])], [("y", TensorProto.FLOAT, None)])
        proto.opset_import.add(domain="mine", version=1)
        evaluator = ReferenceEvaluator(proto, new_ops=[Words])
        for text, counts in (("a b a", [[2, 1]]), (" ", [[0, 0]])):
            self.assertEqual(evaluator.run(None, {"x": np.array([text])})[0].tolist(), counts)
        numbers = model([helper.make_node("Words", ["x"], ["w"], domain="mine"), helper.make_node("Identity", ["w"], ["y"])],
                        [("x", TensorProto.STRING, [1])], [("y", TensorProto.DOUBLE, None)])
        numbers.opset_import.add(domain="mine", version=1)
        (empty,) = ReferenceEvaluator(numbers, new_ops=[Words]).run(None, {"x": np.array([" "])})
        self.assertEqual((empty.dtype, empty.shape), (np.float64, (1, 0)))
        numbers.graph.node[1].op_type = "Not"
        with self.assertRaisesRegex(grurun.InvalidModelError, r"input X is tensor\(double\)"):
            ReferenceEvaluator(numbers, new_ops=[Words]).run(None, {"x": np.array([" "])})

    def test_objects_are_fed_as_text(self):
        proto = model([helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, [None])], [("y", TensorProto.STRING, [None])])
        (y,) = ReferenceEvaluator(proto).run(None, {"x": np.array(["a", b"b", None, np.nan, 7], object)})
        self.assertEqual(y.tolist(), ["a", "b", "None", "nan", "7"])

    def test_a_body_reads_what_is_around_it(self):
        body = helper.make_graph([helper.make_node("Add", ["x", "outer"], ["y"])], "body",
                                 [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                                 [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
        evaluator = ReferenceEvaluator(body, opsets={"": 20})
        for outer in (1, 2):
            feeds = {"x": np.ones(1, np.float32), "outer": np.full(1, outer, np.float32)}
            self.assertEqual(evaluator.run(None, feeds)[0].tolist(), [1 + outer])

    def test_what_is_not_done_is_said(self):
        inner = helper.make_graph([helper.make_node("Scale", ["x"], ["b"], domain="mine", name="deep")], "body", [],
                                  [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])
        proto = model([helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)],
                      [("c", TensorProto.BOOL, []), ("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, None)])
        with self.assertRaisesRegex(grurun.UnsupportedError, r"new_ops: node 'deep' \(Scale\) is in a body"):
            ReferenceEvaluator(proto, new_ops=[Scale])
        with self.assertRaisesRegex(TypeError, "opsets must be a dict"):
            ReferenceEvaluator(add_model().graph)


if __name__ == "__main__":
    unittest.main()
