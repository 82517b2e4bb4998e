"""Models from their parts, with ONNX's helpers but none of their checks."""

from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


def value(name, dtype=FLOAT, shape=(2,)):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, opset=20, inputs=None, outputs=None, initializers=(), functions=(), imports=()):
    """One input x, float [2], and one output y unless others are given."""
    graph = helper.make_graph(
        nodes, "g", [value("x")] if inputs is None else inputs, [value("y", FLOAT, None)] if outputs is None else outputs, list(initializers)
    )
    opsets = [helper.make_opsetid("", opset), *imports]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def node(op_type, inputs, outputs=("y",), **attributes):
    return helper.make_node(op_type, list(inputs), list(outputs), **attributes)


def tensor(name, dtype, dims, values):
    return helper.make_tensor(name, dtype, dims, values)


def raw(name, dtype, dims, data):
    out = TensorProto(name=name, data_type=dtype, raw_data=data)
    out.dims.extend(dims)
    return out


def int64(name, values, dims=None):
    return tensor(name, TensorProto.INT64, [len(values)] if dims is None else dims, values)
