"""Loops without an end, and what takes all memory: at once, step by step, and while constants are computed."""

import numpy
from onnx import TensorProto, helper

from models import FLOAT, int64, model, node, tensor, value

BOOL = TensorProto.BOOL
INT64 = TensorProto.INT64


def loop(nodes, trips=None, state="x", go=True, more_outputs=()):
    """A Loop over `state`, which the nodes make `out` of, that goes on as long as it may."""
    outputs = [value("k", BOOL, []), value("out", FLOAT, None), *more_outputs]
    body = helper.make_graph([node("Identity", ["c"], ["k"]), *nodes], "b", [value("i", INT64, []), value("c", BOOL, []), value("s", FLOAT, None)], outputs)
    constants = [tensor("go", BOOL, [], [go])]
    if trips is not None:
        constants.append(int64("trips", [trips], []))
    results = ["y", *(f"scan{i}" for i in range(len(more_outputs)))]
    return model([node("Loop", ["trips" if trips is not None else "", "go", state], results, body=body)], initializers=constants)


def cases():
    same = [node("Identity", ["s"], ["out"])]
    yield "loop_endless", loop(same)
    yield "loop_most_trips", loop(same, (1 << 63) - 1)
    yield "loop_negative_trips", loop(same, -5)
    yield "loop_no_trips", loop(same, 0)
    yield "loop_doubles", loop([node("Concat", ["s", "s"], ["out"], axis=0)], 100)
    yield "loop_collects", loop([node("Identity", ["s"], ["out"]), node("Identity", ["s"], ["z"])], 1 << 40, more_outputs=[value("z", FLOAT, None)])
    inner = loop(same).graph.node[0]
    inner.input[1], inner.input[2], inner.output[0] = "c", "s", "out"
    yield "loop_in_loop_endless", loop([inner])
    shape = lambda *sizes: int64("n", list(sizes))  # noqa: E731
    big = (1 << 20, 1 << 20)
    for name, nodes, constants in (
        ("expand", [node("Expand", ["x1", "n"])], [shape(*big), tensor("x1", FLOAT, [1], [1])]),
        ("tile", [node("Tile", ["x", "n"])], [shape(1 << 40)]),
        ("constant_of_shape", [node("ConstantOfShape", ["n"])], [shape(*big)]),
        ("constant_of_shape_wraps", [node("ConstantOfShape", ["n"])], [shape(1 << 32, 1 << 32)]),
        ("constant_of_shape_negative", [node("ConstantOfShape", ["n"])], [shape(-1)]),
        ("range", [node("Range", ["a", "b", "d"])], [int64("a", [0], []), int64("b", [1 << 50], []), int64("d", [1], [])]),
        ("range_of_0", [node("Range", ["a", "b", "d"])], [int64("a", [0], []), int64("b", [5], []), int64("d", [0], [])]),
        ("range_least", [node("Range", ["a", "b", "d"])], [int64("a", [-(1 << 63)], []), int64("b", [(1 << 63) - 1], []), int64("d", [1], [])]),
        ("pad", [node("Pad", ["x", "n"])], [shape(0, 1 << 40)]),
        ("pad_negative", [node("Pad", ["x", "n"])], [shape(-5, 0)]),
        ("one_hot", [node("OneHot", ["i", "d", "v"])], [int64("i", [1]), int64("d", [1 << 40], []), tensor("v", FLOAT, [2], [0, 1])]),
        ("one_hot_negative", [node("OneHot", ["i", "d", "v"])], [int64("i", [1]), int64("d", [-3], []), tensor("v", FLOAT, [2], [0, 1])]),
        ("resize", [node("Resize", ["x4", "", "s"])], [tensor("x4", FLOAT, [1, 1, 2, 2], [1] * 4), tensor("s", FLOAT, [4], [1, 1, 1e6, 1e6])]),
        ("resize_nan", [node("Resize", ["x4", "", "s"])], [tensor("x4", FLOAT, [1, 1, 2, 2], [1] * 4), tensor("s", FLOAT, [4], [1, 1, float("nan"), 1])]),
        ("reshape_huge", [node("Reshape", ["x", "n"])], [shape(1 << 40)]),
        ("reshape_two_open", [node("Reshape", ["x", "n"])], [shape(-1, -1)]),
        ("reshape_wraps", [node("Reshape", ["x", "n"])], [shape(1 << 33, 1 << 33)]),
        ("hann_window", [node("HannWindow", ["n"])], [int64("n", [1 << 40], [])]),
        ("eye_like", [node("ConstantOfShape", ["n"], ["z"]), node("EyeLike", ["z"])], [shape(1 << 16, 1 << 20)]),
        ("upsample_grid", [node("AffineGrid", ["t", "n"])], [tensor("t", FLOAT, [1, 2, 3], [1] * 6), shape(1, 1, 1 << 20, 1 << 20)]),
    ):
        yield f"memory_{name}", model(nodes, initializers=constants)
    doubled = [node("StringConcat", ["t", "t"], ["s0"])]
    doubled += [node("StringConcat", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(40)]
    doubled.append(node("Identity", ["s40"]))
    yield "memory_strings", model(doubled, initializers=[tensor("t", TensorProto.STRING, [1], [b"x" * 1000])], outputs=[value("y", TensorProto.STRING, [1])])
    products = [node("MatMul", ["w", "w"], ["m0"])] + [node("Expand", [f"m{i}", "n"], [f"m{i + 1}"]) for i in range(30)]
    yield "memory_folded", model(
        [*products, node("ReduceSum", ["m30"])], initializers=[tensor("w", FLOAT, [2, 2], [1] * 4), int64("n", [1 << 14, 1 << 14, 1, 1])]
    )
    for axes in ([0, 0], [5], [-9]):
        body = helper.make_graph([node("Identity", ["e"], ["o"])], "b", [value("e", FLOAT, None)], [value("o", FLOAT, None)])
        name = "_".join(str(axis) for axis in axes).replace("-", "minus")
        yield f"scan_axes_{name}", model([node("Scan", ["x"], body=body, num_scan_inputs=1, scan_input_axes=axes)])
    for count in (0, -1, 5):
        yield f"scan_inputs_{count}".replace("-", "minus"), model([node("Scan", ["x"], body=body, num_scan_inputs=count)])
    empty = numpy.zeros(0, numpy.float32)
    yield "scan_of_nothing", (model([node("Scan", ["x"], body=body, num_scan_inputs=1)], inputs=[value("x", FLOAT, [0])]), [empty])
