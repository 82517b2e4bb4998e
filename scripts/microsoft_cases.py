"""Draws of the other operators of com.microsoft, and the table of all: attributes, optional inputs, shapes and types."""

import microsoft_attention  # noqa: F401
import microsoft_quantized  # noqa: F401
import microsoft_search  # noqa: F401
import microsoft_state  # noqa: F401
import microsoft_streams  # noqa: F401
import microsoft_text  # noqa: F401
import numpy as np
from microsoft_draws import OPERATORS, one, operator

__all__ = ["OPERATORS"]


@operator("Gelu")
@operator("QuickGelu")
def gelu(d):
    attributes = {"alpha": d.any(None, 1.0, 1.702)} if d.op == "QuickGelu" else {}
    return d.case([d.x(d.between(1, 3), d.between(1, 17), scale=3)], attributes)


@operator("BiasGelu")
@operator("FastGelu")
def bias_gelu(d):
    hidden = d.between(1, 33)
    bias = d.x(hidden)
    if d.op == "FastGelu" and d.chance():
        bias = None
    return d.case([d.x(2, d.between(1, 5), hidden, scale=2), bias])


@operator("SkipLayerNormalization", "float", "float16")
@operator("SkipSimplifiedLayerNormalization", "float", "float16")
def skip_layer_normalization(d):
    batch, length, hidden = d.between(1, 3), d.between(1, 5), d.between(2, 40)
    skip = d.any((batch, length, hidden), (1, length, hidden), (length, hidden))
    inputs = [d.x(batch, length, hidden), d.x(*skip), d.x(hidden)]
    if d.op == "SkipLayerNormalization":
        inputs.append(d.maybe(lambda: d.x(hidden)))
    inputs.append(d.maybe(lambda: d.x(hidden)))
    outputs = d.any((True,), (True, False, False, True))
    return d.case(inputs, {"epsilon": d.any(None, 1e-5, 1e-2)}, outputs)


@operator("FusedMatMul", "float", "double")
@operator("TransposeMatMul")
def fused_matmul(d):
    m, k, n = d.between(1, 9), d.between(1, 9), d.between(1, 9)
    batch = d.any((), (2,), (2, 3))
    trans_a, trans_b = d.below(2), d.below(2)
    attributes = {"transA": trans_a, "transB": trans_b, "alpha": d.any(None, 0.5, 2.0)}
    batch_a, batch_b = batch, d.any((), batch)
    shape_a = [*batch_a, *((k, m) if trans_a else (m, k))]
    shape_b = [*batch_b, *((n, k) if trans_b else (k, n))]
    if d.op == "FusedMatMul" and len(batch) == 2 and batch_b == batch and d.chance():
        attributes |= {"transBatchA": 1, "transBatchB": 1}
        shape_a = [shape_a[1], shape_a[2], shape_a[0], shape_a[3]]
        shape_b = [shape_b[1], shape_b[2], shape_b[0], shape_b[3]]
        shape_a = [batch[0], shape_a[1] if trans_a else m, batch[1], m if trans_a else k]
        shape_a = [batch[0], k if trans_a else m, batch[1], m if trans_a else k]
        shape_b = [batch[0], n if trans_b else k, batch[1], k if trans_b else n]
    return d.case([d.x(*shape_a), d.x(*shape_b)], attributes)


@operator("FusedGemm")
def fused_gemm(d):
    m, k, n = d.between(1, 9), d.between(1, 9), d.between(1, 9)
    trans_a, trans_b = d.below(2), d.below(2)
    activation = d.any("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "HardSigmoid", "Softplus", "Softsign", "ThresholdedRelu")
    attributes = {"transA": trans_a, "transB": trans_b, "alpha": d.any(None, 0.5), "beta": d.any(None, 2.0)}
    attributes["activation"] = activation
    if activation in ("LeakyRelu", "Elu", "HardSigmoid", "ThresholdedRelu"):
        attributes["activation_alpha"] = 0.3
    if activation == "HardSigmoid":
        attributes["activation_beta"] = 0.4
    bias = d.maybe(lambda: d.x(*d.any((n,), (m, n), (1, n), (m, 1), ())))
    return d.case([d.x(*((k, m) if trans_a else (m, k))), d.x(*((n, k) if trans_b else (k, n))), bias], attributes)


@operator("SparseToDenseMatMul", "float", "double", "int32", "int64", "uint32", "uint64")
def sparse_to_dense_matmul(d):
    m, k, n = d.between(1, 6), d.between(1, 6), d.between(1, 6)

    def numbers(*shape):
        if d.dtype in ("float", "double"):
            return d.x(*shape)
        return d.whole(np.dtype(d.dtype), *shape, low=0 if d.dtype[0] == "u" else -99, high=99)

    attributes = {"alpha": d.any(None, 2.0, -0.5) if d.dtype == "float" else None, "transB": d.any(None, 1)}  # it takes none of other types
    if d.chance():  # its inference of shapes takes no other with transA
        attributes["transA"], k = 1, m
    A = numbers(m, k) * (d.random.uniform(size=(m, k)) < 0.5)
    B = numbers(*((n, k) if attributes["transB"] else (k, n)))
    case = d.case([A.astype(B.dtype), B], attributes)
    case.constant, case.sparse = [True, False], True
    return case


@operator("MatMulInteger16", "int16")
def matmul_integer16(d):
    m, k, n = d.between(1, 9), d.between(1, 9), d.between(1, 9)
    batch = d.any((), (2,))
    return d.case([d.whole(np.int16, *batch, m, k, low=-9999, high=9999), d.whole(np.int16, k, n, low=-9999, high=9999)])


@operator("FusedConv")
def fused_conv(d):
    group = d.any(1, 2)
    channels, filters = 2 * group, 3 * group
    spatial = [d.between(4, 7) for _ in range(d.any(1, 2, 2))]
    kernel = [d.between(1, 3) for _ in spatial]
    attributes = {"group": group, "kernel_shape": d.any(None, kernel)}
    attributes |= d.any({}, {"strides": [2] * len(spatial)}, {"pads": [1] * 2 * len(spatial)}, {"auto_pad": "SAME_UPPER"})
    activation = d.any("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid")
    attributes["activation"] = activation
    parameters = {"LeakyRelu": [0.3], "Clip": [-0.5, 1.5], "HardSigmoid": [0.3, 0.4]}
    if activation in parameters:
        attributes["activation_params"] = parameters[activation]
    return d.case([d.x(2, channels, *spatial), d.x(filters, channels // group, *kernel), d.maybe(lambda: d.x(filters))], attributes)


@operator("EmbedLayerNormalization")
def embed_layer_normalization(d):
    batch, length, hidden = d.between(1, 3), d.between(1, 5), d.between(2, 16)
    ids = d.whole(np.int32, batch, length, low=0, high=6)
    segments = d.maybe(lambda: d.whole(np.int32, batch, length, low=0, high=1))
    inputs = [ids, segments, d.x(7, hidden), d.x(8, hidden), None if segments is None else d.x(2, hidden), d.x(hidden), d.x(hidden)]
    mask = None
    if d.chance():
        ends = d.whole(np.int32, batch, 1, low=1, high=length)
        mask = (np.arange(length)[None] < ends).astype(np.int32)
    inputs += [mask, d.maybe(lambda: d.whole(np.int32, batch, length, low=0, high=7))]
    outputs = d.any((True, True), (True, True, True))
    return d.case(inputs, {"epsilon": d.any(None, 1e-5)}, outputs, constants=(2, 3, 4, 5, 6))


@operator("CDist", "float", "double")
def cdist(d):
    k = d.between(1, 6)
    return d.case([d.x(d.between(1, 5), k), d.x(d.between(1, 5), k)], {"metric": d.any("euclidean", "sqeuclidean")}, rtol=1e-3, atol=1e-3)


@operator("ExpandDims")
def expand_dims(d):
    return d.case([d.x(2, 3), np.asarray(d.any(-3, -1, 0, 1, 2), np.int32)])


@operator("GatherND", "float", "int64")
def gather_nd(d):
    kind = d.any(np.int32, np.int64)
    return d.case([d.x(3, 4, 2), np.asarray(d.random.integers(0, 3, (2, d.between(1, 2))), kind)])


@operator("GridSample")
def grid_sample(d):
    attributes = {"mode": d.any("bilinear", "nearest", "bicubic"), "align_corners": d.below(2)}
    # Its cubic interpolation moves places beyond the border onto it first.
    attributes["padding_mode"] = "zeros" if attributes["mode"] == "bicubic" else d.any("zeros", "border", "reflection")
    return d.case([d.x(2, 2, 4, 5), np.asarray(d.random.uniform(-1.2, 1.2, (2, 3, 3, 2)), np.float32)], attributes, rtol=1e-3, atol=1e-4)


@operator("Pad")
def pad(d):
    mode = d.any("constant", "edge", "reflect")
    pads = d.whole(np.int64, 4, low=0, high=2)
    value = d.maybe(lambda: d.x(1)) if mode == "constant" else None
    return d.case([d.x(3, 4), pads.reshape(d.any((4,), (1, 4))), value], {"mode": mode})


@operator("Range", "float", "double", "int16", "int32", "int64")
def range_of(d):
    kind = {"float": np.float32, "double": np.float64}.get(d.dtype, d.dtype)
    step = d.maybe(lambda: one(np.asarray([d.between(1, 3)], kind), d))
    return d.case([one(np.asarray([d.between(-3, 3)], kind), d), one(np.asarray([d.between(4, 12)], kind), d), step])


@operator("Trilu", "float", "double", "int64")
def trilu(d):
    x = d.whole(np.int64, 2, 4, 5) if d.dtype == "int64" else d.x(2, 4, 5)
    return d.case([x, d.maybe(lambda: np.asarray(d.between(-3, 3), np.int64))], {"upper": d.below(2)})


@operator("UnfoldTensor", "float", "int64")
def unfold_tensor(d):
    x = d.whole(np.int64, 2, 6, 3) if d.dtype == "int64" else d.x(2, 6, 3)
    return d.case([x], {"dim": d.any(1, -2), "size": d.between(1, 4), "step": d.between(1, 3)})


@operator("Unique")
def unique(d):
    return d.case([np.asarray(d.random.integers(0, 4, d.between(1, 9)), np.float32)], {}, (True, True, True))


@operator("Affine")
@operator("ParametricSoftplus")
@operator("ScaledTanh")
@operator("Scale")
@operator("ImageScaler")
@operator("Crop")
def early(d):
    """Operators that releases before 1.5 of ONNX had as experiments."""
    numbers = {"alpha": d.any(0.5, 2.0), "beta": d.any(-1.0, 0.3)}
    attributes = {
        "Scale": {"scale": d.any(None, 0.5)},
        "ImageScaler": {"scale": d.any(None, 0.5), "bias": [0.1, -0.2, 0.3]},
        "Crop": {"border": [d.below(2), d.below(3), d.below(2), d.below(3)], "scale": d.any(None, [2, 3])},
    }.get(d.op, numbers)
    return d.case([d.x(2, 3, 6, 5)], attributes, domain="", opset=7)


@operator("LayerNormalization", "float", "double")
@operator("SimplifiedLayerNormalization", "float", "double")
def early_normalization(d):
    """As they are in opsets before those that have them."""
    shape, axis = (2, 3, d.between(2, 9)), d.any(None, -1, 1)
    inner = shape[1:] if axis == 1 else shape[2:]
    inputs = [d.x(*shape), d.x(*inner)]
    if d.op == "LayerNormalization":
        inputs.append(d.maybe(lambda: d.x(*inner)))
    return d.case(inputs, {"axis": axis, "epsilon": d.any(None, 1e-2)}, domain="", opset=d.any(9, 13))
