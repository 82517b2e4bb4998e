"""grurun.testing.gate on exports of PyTorch: green for right ones, red for planted mistakes, in the words that an exporter's author needs."""

import logging
import pathlib
import re
import tempfile
import unittest
import warnings

import numpy as np
import torch
from onnx import numpy_helper

import grurun
from grurun.testing import gate

warnings.filterwarnings("ignore", category=FutureWarning)
logging.getLogger("torch.onnx").setLevel(logging.ERROR)
BOTH = {"x": {0: "batch", 1: "frames"}}


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(4, 8, batch_first=True)

    def forward(self, x):
        return self.gru(x)[0]


class Dropping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.last = torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.drop(self.first(x)))


class Attention(torch.nn.Module):
    """A small transformer: one layer of self-attention and a classifier."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.head(self.layer(x)), dim=-1)


def exported(module, args, dynamic):
    return torch.onnx.export(module, args, dynamo=True, dynamic_shapes=dynamic, verbose=False).model_proto


def changed(proto, change):
    """A copy of a model whose first node with this operator was changed."""
    copy = type(proto)()
    copy.CopyFrom(proto)
    change(copy)
    return copy


def node_of(proto, op_type):
    return next(node for node in proto.graph.node if node.op_type == op_type)


def initializer(proto, name):
    return next(each for each in proto.graph.initializer if each.name == name)


def set_attribute(op_type, name, value):
    def change(proto):
        next(each for each in node_of(proto, op_type).attribute if each.name == name).i = value
    return change


class Red(unittest.TestCase):
    def red(self, subject, args, *patterns, reason=None, **kwargs):
        """The gate fails with these patterns in its message, and leaves a case of which `grurun conformance` says the same."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "case"
            with self.assertRaises(AssertionError) as caught:
                gate(subject, args, folder=folder, **kwargs)
            message = str(caught.exception)
            for pattern in patterns:
                self.assertRegex(message, pattern)
            self.assertIn(f"grurun conformance {folder}", message)
            if reason:
                (case,) = grurun.conformance(folder, jobs=1).cases
                self.assertEqual(case.verdict, "differs")
                self.assertRegex(" ".join(each["text"] for each in case.diagnosis), reason)
                self.assertIn(case.message, message)
        return message


class Gru(Red):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.encoder = Encoder().eval()
        cls.x = torch.randn(2, 5, 4)
        cls.proto = exported(cls.encoder, (cls.x,), BOTH)

    def test_a_right_export_passes_at_every_size(self):
        gate(self.encoder, (self.x,), dynamic_shapes=BOTH)
        gate(self.proto, (self.x,), expected=self.encoder, dynamic_shapes=BOTH)

    def reordered(self, proto):
        """W, R and B in PyTorch's order of gates, as if nobody had changed it."""
        for name in node_of(proto, "GRU").input[1:4]:
            tensor = initializer(proto, name)
            array = numpy_helper.to_array(tensor)
            parts = np.split(array, array.shape[1] // 8, axis=1)
            for first in range(0, len(parts), 3):
                parts[first], parts[first + 1] = parts[first + 1], parts[first]
            tensor.CopyFrom(numpy_helper.from_array(np.concatenate(parts, axis=1), name))

    def test_gates_in_the_order_of_pytorch(self):
        try:
            proto = changed(self.proto, self.reordered)
        except StopIteration:
            self.fail("the exporter does not leave W, R and B as initializers any more")
        self.red(proto, (self.x,), "output '.*' differs", "gates? in .* order", r"test_torch\.py.*in forward", expected=self.encoder,
                 dynamic_shapes=BOTH, reason="order")

    def test_linear_before_reset_lost(self):
        proto = changed(self.proto, set_attribute("GRU", "linear_before_reset", 0))
        self.red(proto, (self.x,), "linear_before_reset", r"test_torch\.py.*in forward", expected=self.encoder, dynamic_shapes=BOTH,
                 ignore=["GRU065"], reason="linear_before_reset = 1")

    def test_a_frozen_batch(self):
        proto = exported(self.encoder, (self.x,), {"x": {1: "frames"}})
        message = self.red(proto, (self.x,), "axis 0 is to be dynamic, but the model has the size 2 there: the exporter froze it",
                           expected=self.encoder, dynamic_shapes=BOTH)
        self.assertNotIn("axis 1 is to be dynamic", message)


class Models(Red):
    def test_a_module_in_training_mode(self):
        torch.manual_seed(0)
        module, x = Dropping().train(), torch.randn(2, 4)
        said = "runs in training mode: outputs after it are random and only their distribution was checked; call .eval.. before export, or pass random=True"
        self.red(module, (x,), said, "0 of 6 elements were compared by value")
        gate(module, (x,), random=True)
        gate(module.eval(), (x,))

    def test_each_kind_of_model(self):
        torch.manual_seed(0)
        module, x = Dropping().eval(), torch.randn(2, 4)
        program = torch.onnx.export(module, (x,), dynamo=True, verbose=False)
        for model in (program, program.model, program.model_proto, program.model_proto.SerializeToString()):
            gate(model, (x,), expected=module)
            (y,) = grurun.Session(model).run(None, {grurun.Session(model).inputs[0].name: x.numpy()})
            np.testing.assert_allclose(y, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)
            self.assertEqual(grurun.check(model), [])
            self.assertTrue(grurun.bisect(model, {grurun.Session(model).inputs[0].name: x.numpy()}, against=program).ok)


class Transformer(Red):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.module = Attention().eval()
        cls.x = torch.randn(2, 5, 8)
        cls.proto = exported(cls.module, (cls.x,), BOTH)

    def test_a_right_export_passes_at_every_size(self):
        gate(self.proto, (self.x,), expected=self.module, dynamic_shapes=BOTH, rtol=1e-3, atol=1e-5)

    def test_a_wrong_axis(self):
        def last_softmax(proto):
            softmax = [node for node in proto.graph.node if node.op_type == "Softmax"][-1]
            next(each for each in softmax.attribute if each.name == "axis").i = 1
        proto = changed(self.proto, last_softmax)
        message = self.red(proto, (self.x,), r"output '.*' differs", r"Softmax '.*', pkg\.torch\.onnx\.", r"test_torch\.py", expected=self.module,
                           dynamic_shapes=BOTH)
        self.assertTrue(re.search(r"elements differ beyond rtol", message))


class WrongNode(unittest.TestCase):
    """One wrong epsilon among the norms of a transformer: bisect names the node, reduce leaves that node."""

    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        cls.x = torch.randn(2, 5, 8)
        cls.right = exported(torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval(), (cls.x,), None)
        norms = [node.name for node in cls.right.graph.node if node.op_type == "LayerNormalization"]
        cls.name = norms[3]  # of the second of three layers

        def change(proto):
            norm = next(node for node in proto.graph.node if node.name == cls.name)
            next(each for each in norm.attribute if each.name == "epsilon").f = 0.01
        cls.wrong = changed(cls.right, change)

    def test_bisect_names_it(self):
        found = grurun.bisect(self.wrong, {"src": self.x.numpy()}, against=self.right, all=True)
        first = found.first_wrong
        self.assertEqual(first["node"], f"node '{self.name}' (LayerNormalization-17)")
        self.assertIn("epsilon = 0.01", first["details"]["attributes"])
        self.assertIn("forward", first["details"]["origin"]["pkg.torch.onnx.stack_trace"])
        self.assertEqual([row["value"] for row in found.data["differences"] if row["made_here"]], [first["value"]])
        self.assertTrue(grurun.bisect(self.right, {"src": self.x.numpy()}, against=self.right).ok)

    def test_reduce_leaves_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "case"
            made = grurun.reduce(self.wrong, folder, inputs={"src": self.x.numpy()}, against=self.right)
            self.assertEqual([node["name"] for node in made["nodes"]], [self.name])
            self.assertLess(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), 10_000)
            (case,) = grurun.conformance(folder, jobs=1).cases
            self.assertEqual((case.verdict, case.message), ("differs", made["message"]))


if __name__ == "__main__":
    unittest.main()
