"""Small models for the tests of the Python package."""

import os
import unittest

import numpy as np
from onnx import TensorProto, helper

needs_package = unittest.skipIf(os.environ["GRURUN_SANITIZE"], "the Python package is not built with sanitizers")


def model(nodes, inputs, outputs, initializers=(), opset=20, **kwargs):
    """inputs and outputs: (name, element type or TypeProto, shape)."""
    def info(name, kind, shape=None):
        if isinstance(kind, int):
            return helper.make_tensor_value_info(name, kind, shape)
        return helper.make_value_info(name, kind)

    graph = helper.make_graph(nodes, "graph", [info(*each) for each in inputs], [info(*each) for each in outputs], list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **kwargs)


def add_model(kind=TensorProto.FLOAT, shape=("n", 3)):
    shape = list(shape)
    return model([helper.make_node("Add", ["x", "y"], ["z"], name="add")],
                 [("x", kind, shape), ("y", kind, shape)], [("z", kind, shape)])


def identity_model(kind, shape=("n",)):
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", kind, list(shape))], [("y", kind, list(shape))], opset=25)


def gru_model(hidden=8, size=4, steps="steps", batch="batch", linear_before_reset=1):
    rng = np.random.default_rng(1)
    weights = [("W", (1, 3 * hidden, size)), ("R", (1, 3 * hidden, hidden)), ("B", (1, 6 * hidden))]
    initializers = [helper.make_tensor(name, TensorProto.FLOAT, shape, rng.uniform(-0.5, 0.5, shape).astype(np.float32).tobytes(), raw=True)
                    for name, shape in weights]
    node = helper.make_node("GRU", ["X", "W", "R", "B"], ["Y", "Y_h"], name="gru", hidden_size=hidden,
                            linear_before_reset=linear_before_reset)
    return model([node], [("X", TensorProto.FLOAT, [steps, batch, size])],
                 [("Y", TensorProto.FLOAT, [steps, 1, batch, hidden]), ("Y_h", TensorProto.FLOAT, [1, batch, hidden])], initializers)


def clip_model(bound_shape=(1,)):
    """A Clip whose bound is no scalar where it has the shape [1]."""
    return model([helper.make_node("Clip", ["x", "low"], ["y"], name="clip")],
                 [("x", TensorProto.FLOAT, ["n"]), ("low", TensorProto.FLOAT, bound_shape)], [("y", TensorProto.FLOAT, ["n"])])


def endless_model():
    """A Loop of 2^62 iterations."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Add", ["v", "v"], ["v_out"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("c_out", TensorProto.BOOL, []), helper.make_tensor_value_info("v_out", TensorProto.FLOAT, [1])])
    return model([helper.make_node("Loop", ["trips", "", "v"], ["y"], body=body)],
                 [("trips", TensorProto.INT64, []), ("v", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [1])])


def collecting_model():
    """A Loop that collects its counter, `trips` times."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Identity", ["i"], ["scanned"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("c_out", TensorProto.BOOL, []), helper.make_tensor_value_info("scanned", TensorProto.INT64, [])])
    return model([helper.make_node("Loop", ["trips", ""], ["y"], body=body)], [("trips", TensorProto.INT64, [])],
                 [("y", TensorProto.INT64, [None])])
