"""Small models, one for each kind of work of the engine, whose instructions and allocations scripts/check-counts counts."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 23


class Case:
    """A graph built node by node; names of values are those of the operators' texts."""

    def __init__(self, name, **inputs):
        self.name = name
        self.random = np.random.default_rng(0)
        self.inputs = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()]
        self.nodes, self.initializers = [], []

    def weight(self, name, *shape):
        values = self.random.uniform(-0.2, 0.2, shape).astype(np.float32)
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def positive(self, name, *shape):
        self.initializers.append(numpy_helper.from_array(self.random.uniform(0.5, 1.5, shape).astype(np.float32), name))
        return name

    def ints(self, name, *values):
        self.initializers.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(self, op, inputs, output="Y", **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def model(self):
        output = onnx.ValueInfoProto(name=self.nodes[-1].output[0])
        output.type.tensor_type.elem_type = TensorProto.FLOAT
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [output], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def recurrent(op, gates, seq_length, batch_size, input_size, hidden_size, peepholes=False, **attributes):
    sizes = f"t{seq_length}_b{batch_size}_h{hidden_size}"
    case = Case(f"{op.lower()}_{sizes}", X=[seq_length, batch_size, input_size])
    inputs = ["X", case.weight("W", 1, gates * hidden_size, input_size), case.weight("R", 1, gates * hidden_size, hidden_size),
              case.weight("B", 1, 2 * gates * hidden_size)]
    if peepholes:
        inputs += ["", "", "", case.weight("P", 1, 3 * hidden_size)]
    case.node(op, inputs, hidden_size=hidden_size, **attributes)
    return case


def layers():
    yield recurrent("GRU", 3, 1, 1, 40, 64, linear_before_reset=1)
    yield recurrent("GRU", 3, 20, 1, 40, 64, linear_before_reset=1)
    yield recurrent("GRU", 3, 4, 8, 24, 50)
    yield recurrent("LSTM", 4, 20, 1, 40, 64)
    yield recurrent("LSTM", 4, 4, 8, 24, 50, peepholes=True)
    yield recurrent("RNN", 1, 4, 8, 24, 100)


def products():
    case = Case("matmul", A=[48, 96], B=[96, 80])
    case.node("MatMul", ["A", "B"])
    yield case
    case = Case("gemm_relu", A=[20, 96])
    case.node("Gemm", ["A", case.weight("B", 96, 80), case.weight("C", 80)], "sum")
    case.node("Relu", ["sum"])
    yield case
    case = Case("conv_3x3", X=[1, 16, 20, 20])
    case.node("Conv", ["X", case.weight("W", 32, 16, 3, 3), case.weight("B", 32)], pads=[1, 1, 1, 1])
    yield case
    case = Case("conv_depthwise", X=[1, 32, 20, 20])
    case.node("Conv", ["X", case.weight("W", 32, 1, 3, 3)], pads=[1, 1, 1, 1], group=32)
    yield case
    case = Case("conv_transpose", X=[1, 8, 10, 10])
    case.node("ConvTranspose", ["X", case.weight("W", 8, 4, 3, 3)], strides=[2, 2])
    yield case
    case = Case("matmul_batched", A=[2, 3, 20, 16], B=[3, 16, 24])
    case.node("MatMul", ["A", "B"])
    yield case
    case = Case("einsum", A=[4, 12, 16], B=[4, 16, 20])
    case.node("Einsum", ["A", "B"], equation="bij,bjk->bik")
    yield case
    case = Case("attention", Q=[1, 2, 24, 16], K=[1, 2, 24, 16], V=[1, 2, 24, 16])
    case.node("Attention", ["Q", "K", "V"])
    yield case


def rows():
    case = Case("max_pool", X=[1, 8, 24, 24])
    case.node("MaxPool", ["X"], kernel_shape=[3, 3], strides=[2, 2])
    yield case
    case = Case("average_pool", X=[1, 8, 24, 24])
    case.node("AveragePool", ["X"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    yield case
    case = Case("softmax_columns", X=[8, 50, 20])
    case.node("Softmax", ["X"], axis=1)
    yield case
    case = Case("batch_normalization", X=[1, 16, 20, 20])
    case.node("BatchNormalization", ["X"] + [case.weight(name, 16) for name in ("scale", "B", "mean")] + [case.positive("var", 16)])
    yield case
    case = Case("broadcast", A=[4, 1, 6, 20], B=[5, 1, 20])
    case.node("Mul", ["A", "B"])
    yield case
    case = Case("movement", X=[8, 24])
    case.node("Slice", ["X", case.ints("starts", 1), case.ints("ends", 20), case.ints("axes", 1)], "sliced")
    case.node("Pad", ["sliced", case.ints("pads", 0, 2, 0, 3)], "padded")
    case.node("Concat", ["padded", "X"], "joined", axis=1)
    case.node("Unsqueeze", ["joined", case.ints("place", 1)], "unsqueezed")
    case.node("Expand", ["unsqueezed", case.ints("shape", 8, 3, 48)], "expanded")
    case.node("Gather", ["expanded", case.ints("rows", 2, 0, 5)], "gathered", axis=0)
    case.node("Reshape", ["gathered", case.ints("flat", 9, -1)])
    yield case
    case = Case("resize", X=[1, 4, 12, 12])
    case.node("Resize", ["X", "", "", case.ints("sizes", 1, 4, 20, 30)], mode="linear")
    yield case
    case = Case("softmax", X=[40, 100])
    case.node("Softmax", ["X"], axis=-1)
    yield case
    case = Case("layer_normalization", X=[40, 100])
    case.node("LayerNormalization", ["X", case.weight("Scale", 100), case.weight("B", 100)])
    yield case
    case = Case("elementwise", X=[32, 200])
    case.node("Mul", ["X", case.weight("scale", 200)], "scaled")
    case.node("Add", ["scaled", case.weight("shift", 32, 1)], "shifted")
    case.node("Sigmoid", ["shifted"])
    yield case
    case = Case("transpose", X=[16, 20, 24])
    case.node("Transpose", ["X"], perm=[2, 0, 1])
    yield case
    case = Case("reduce_mean", X=[16, 20, 24])
    case.node("ReduceMean", ["X", case.ints("axes", 1)], keepdims=0)
    yield case
    case = Case("chain_of_200", X=[4])
    last = "X"
    for i in range(200):
        last = case.node("Add", [last, "X"], f"sum{i}")
    yield case


def all_cases():
    return [*layers(), *products(), *rows()]
