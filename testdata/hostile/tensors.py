"""Tensors whose dims and data contradict each other, for every element type."""

from onnx import TensorProto, helper

from models import FLOAT, model, node, raw, value

BITS = {
    "FLOAT": 32, "UINT8": 8, "INT8": 8, "UINT16": 16, "INT16": 16, "INT32": 32, "INT64": 64, "BOOL": 8, "FLOAT16": 16,
    "DOUBLE": 64, "UINT32": 32, "UINT64": 64, "COMPLEX64": 64, "COMPLEX128": 128, "BFLOAT16": 16, "FLOAT8E4M3FN": 8,
    "FLOAT8E5M2": 8, "UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4,
}  # fmt: skip


def holding(tensor):
    return model([node("Identity", ["w"])], opset=23, inputs=[], outputs=[value("y", tensor.data_type, None)], initializers=[tensor]), []


def of_dims(dims, data=b"", dtype=FLOAT):
    return holding(raw("w", dtype, dims, data))


def cases():
    for name, bits in BITS.items():
        dtype = getattr(TensorProto, name)
        right = (3 * bits + 7) // 8
        yield f"data_short_{name.lower()}", of_dims([3], b"\1" * (right - 1), dtype)
        yield f"data_long_{name.lower()}", of_dims([3], b"\1" * (right + 1), dtype)
        yield f"dims_wrap_{name.lower()}", of_dims([1 << 32, 1 << 32], b"\1" * right, dtype)
    for name, dims in {
        "negative": [-1], "two_negative": [-2, -2], "least": [-(1 << 63)], "most": [(1 << 63) - 1],
        "product_0_then_huge": [0, 1 << 62, 1 << 62], "many": [1] * 5000, "huge": [1 << 40],
    }.items():  # fmt: skip
        yield f"dims_{name}", of_dims(dims)
    yield "data_string_raw", of_dims([1], b"x", TensorProto.STRING)
    yield "dtype_0", of_dims([1], b"\0\0\0\0", 0)
    yield "dtype_99", of_dims([1], b"\0\0\0\0", 99)
    yield "dtype_negative", of_dims([1], b"\0\0\0\0", -1)
    both = raw("w", FLOAT, [1], b"\0\0\0\0")
    both.float_data.append(1)
    yield "data_in_two_places", holding(both)
    other = TensorProto(name="w", data_type=FLOAT, dims=[1])
    other.int64_data.append(1)
    yield "data_in_another_field", holding(other)
    bad_bool = raw("w", TensorProto.BOOL, [2], b"\2\3")
    yield "bool_2", holding(bad_bool)
    for name, indices, dims, counts in (
        ("beyond", [0, 9], [5], [2]), ("negative", [-1, 0], [5], [2]), ("unsorted", [3, 1], [5], [2]), ("twice", [1, 1], [5], [2]),
        ("too_many", [0, 1, 2], [5], [3]), ("huge", [0, 1], [1 << 40, 1 << 40], [2]), ("rank", [0, 1, 2, 3], [5], [2, 2]),
    ):  # fmt: skip
        sparse = helper.make_sparse_tensor(
            helper.make_tensor("w", FLOAT, [2], [1, 2]), helper.make_tensor("i", TensorProto.INT64, counts, indices), dims
        )
        graph = model([node("Identity", ["w"])], inputs=[])
        graph.graph.sparse_initializer.append(sparse)
        yield f"sparse_{name}", (graph, [])
