"""Draws of the quantized operators of com.microsoft, for compare_microsoft.py."""

import numpy as np

from microsoft_draws import one, operator, quantized, weights


@operator("QLinearAdd", "uint8", "int8")
@operator("QLinearMul", "uint8", "int8")
def qlinear_binary(d):
    kind = quantized(d)
    shape = [d.between(1, 4) for _ in range(d.between(1, 3))]
    other = d.any(shape, shape[1:], [1] * len(shape))
    inputs = []
    for dims in (shape, other):
        inputs += [d.whole(kind, *dims), d.scale(), d.whole(kind)]
    return d.case([*inputs, d.scale(low=0.05, high=0.3), d.whole(kind)], atol=1)


@operator("QLinearSigmoid", "uint8", "int8")
@operator("QLinearLeakyRelu", "uint8", "int8")
def qlinear_unary(d):
    kind = quantized(d)
    attributes = {"alpha": d.any(None, 0.2)} if d.op == "QLinearLeakyRelu" else {}
    inputs = [d.whole(kind, 3, d.between(1, 40)), d.scale(), d.whole(kind), d.scale(), d.whole(kind)]
    return d.case(inputs, attributes, atol=1)


@operator("QLinearSoftmax", "uint8", "int8")
def qlinear_softmax(d):
    kind = quantized(d)
    attributes = {"opset": d.any(1, 12, 13), "axis": d.any(None, 0, 1, 2, -1)}
    inputs = [d.whole(kind, 2, 3, d.between(1, 9)), one(d.scale(1), d), one(d.whole(kind, 1), d)]
    inputs += [np.asarray(1 / 256, np.float32), np.asarray(np.iinfo(kind).min, kind)]
    return d.case(inputs, attributes, atol=1)


@operator("QLinearConcat", "uint8", "int8")
def qlinear_concat(d):
    kind = quantized(d)
    axis = d.any(0, 1, -1)
    inputs = [d.scale(), d.whole(kind)]
    for _ in range(d.between(1, 3)):
        shape = [2, 3, 4]
        shape[axis] = d.between(1, 4)
        inputs += [d.whole(kind, *shape), d.scale(), d.whole(kind)]
    case = d.case(inputs, {"axis": axis}, atol=1)
    case.constant = [array.ndim == 0 for array in inputs]
    return case


@operator("QLinearWhere", "uint8", "int8")
def qlinear_where(d):
    kind = quantized(d)
    condition = d.random.integers(2, size=(2, 3, 4)).astype(bool)
    inputs = [condition, d.whole(kind, 2, 3, 4), d.scale(), d.whole(kind), d.whole(kind, *d.any((2, 3, 4), (4,))), d.scale()]
    case = d.case([*inputs, d.whole(kind), d.scale(low=0.05), d.whole(kind)], atol=1)
    case.constant = [i > 0 and array.ndim == 0 for i, array in enumerate(case.inputs)]
    return case


@operator("QLinearAveragePool", "uint8", "int8")
@operator("QLinearGlobalAveragePool", "uint8", "int8")
def qlinear_average_pool(d):
    kind = quantized(d)
    last = d.below(2)
    spatial = [d.between(4, 7) for _ in range(d.any(1, 2, 2))]
    channels = d.between(1, 5)
    shape = [2, *spatial, channels] if last else [2, channels, *spatial]
    inputs = [d.whole(kind, *shape), d.scale(), d.whole(kind), d.scale(), d.whole(kind)]
    attributes = {"channels_last": last}
    if d.op == "QLinearAveragePool":
        attributes |= {"kernel_shape": [d.between(1, 3) for _ in spatial], "strides": [d.between(1, 2) for _ in spatial]}
        attributes |= d.any({}, {"auto_pad": "SAME_UPPER"}, {"pads": [0] * len(spatial) + [attributes["kernel_shape"][0] - 1] * len(spatial)})
        attributes |= {"count_include_pad": d.below(2)}
        if "pads" in attributes:
            attributes["kernel_shape"] = [attributes["kernel_shape"][0]] * len(spatial)
    return d.case(inputs, attributes, atol=1)


@operator("QuantizeLinear", "uint8", "int8", "uint16", "int16")
@operator("DequantizeLinear", "uint8", "int8", "uint16", "int16", "int32")
def quantize_linear(d):
    kind = np.dtype(d.dtype)
    shape, axis = [2, 3, 4], d.any(None, 0, 1, 2, -1)
    per_axis = d.chance()
    sizes = [shape[1 if axis is None else axis]] if per_axis else []
    scale = d.scale(*sizes)
    zero = d.whole(kind, *sizes) if kind != np.int32 else np.zeros(sizes, kind)
    attributes = {"axis": axis} if per_axis else {}
    if d.op == "QuantizeLinear":
        return d.case([d.x(*shape, scale=3), scale, zero], attributes)
    return d.case([d.whole(kind, *shape), scale, zero], attributes)


@operator("QGemm", "uint8", "int8")
def qgemm(d):
    kind = quantized(d)
    b_kind = d.any(np.uint8, np.int8) if kind == np.uint8 else np.int8
    m, k, n = d.between(1, 9), d.between(1, 9), d.between(1, 9)
    trans_a, trans_b = d.below(2), d.below(2)
    columns = d.any((), (n,)) if n > 1 else ()
    inputs = [d.whole(kind, *((k, m) if trans_a else (m, k))), d.scale(), d.whole(kind)]
    inputs += [weights(d, b_kind, *((n, k) if trans_b else (k, n))), d.scale(*columns), d.whole(b_kind, *columns)]
    inputs.append(d.maybe(lambda: d.whole(np.int32, *d.any((n,), (m, n), (1, n)), low=-999, high=999)))
    if d.chance():
        inputs += [d.scale(low=0.5, high=1.0), d.whole(kind)]
    attributes = {"transA": trans_a, "transB": trans_b, "alpha": d.any(None, 0.5)}
    return d.case(inputs, attributes, atol=1 if len(inputs) > 7 else 1e-4)


@operator("DynamicQuantizeMatMul", "uint8", "int8")
@operator("MatMulIntegerToFloat", "uint8", "int8")
def to_float(d):
    kind = quantized(d)
    k, n = d.between(1, 12), d.between(2, 9)
    columns = d.any((), (n,))
    batch = d.any((), (2,))
    b_kind = kind if d.op == "DynamicQuantizeMatMul" or kind == np.int8 else d.any(np.uint8, np.int8)
    matrix, step = weights(d, b_kind, k, n), d.scale(*columns)
    zero = d.maybe(lambda: d.whole(b_kind, *columns))
    bias = d.maybe(lambda: d.x(n))
    rows = (*batch, d.between(1, 5), k)
    if d.op == "DynamicQuantizeMatMul":
        return d.case([d.x(*rows), matrix, step, zero, bias], atol=2e-3)
    return d.case([d.whole(kind, *rows), matrix, d.scale(), step, d.maybe(lambda: d.whole(kind)), zero, bias], atol=1e-4)


@operator("NhwcMaxPool", "uint8", "int8")
def nhwc_max_pool(d):
    spatial = [d.between(4, 7) for _ in range(d.any(1, 2, 2))]
    attributes = {"kernel_shape": [d.between(1, 3) for _ in spatial]}
    attributes |= d.any({}, {"strides": [2] * len(spatial)}, {"dilations": [2] * len(spatial)}, {"auto_pad": "SAME_UPPER"}, {"ceil_mode": 1})
    if attributes.get("dilations"):
        attributes["kernel_shape"] = [2] * len(spatial)
    return d.case([d.whole(quantized(d), 2, *spatial, d.between(1, 5))], attributes)


@operator("QLinearConv", "uint8", "int8")
def qlinear_conv(d):
    kind = quantized(d)
    weight_kind = np.int8 if kind == np.int8 else d.any(np.uint8, np.int8)
    last, group = d.below(2), d.any(1, 2)
    channels, filters = 2 * group, 3 * group
    spatial = [d.between(4, 7) for _ in range(d.any(1, 2, 2))]
    kernel = [d.between(1, 3) for _ in spatial]
    columns = d.any((), (filters,))
    shape = [2, *spatial, channels] if last else [2, channels, *spatial]
    inputs = [d.whole(kind, *shape), d.scale(), d.whole(kind), weights(d, weight_kind, filters, channels // group, *kernel)]
    zero = d.whole(weight_kind, *columns) if not columns else np.full(columns, d.whole(weight_kind), weight_kind)
    inputs += [d.scale(*columns), zero, d.scale(low=0.5, high=1.0), d.whole(kind)]
    inputs.append(d.maybe(lambda: d.whole(np.int32, filters, low=-999, high=999)))
    attributes = {"channels_last": last, "group": group}
    attributes |= d.any({}, {"strides": [2] * len(spatial)}, {"pads": [1] * 2 * len(spatial)}, {"auto_pad": "SAME_UPPER"})
    case = d.case(inputs, attributes, atol=1)
    case.constant = [i not in (0, 8) or (i == 8 and a is not None) for i, a in enumerate(case.inputs)]
    return case


@operator("QEmbedLayerNormalization", "uint8", "int8")
def quantized_embed(d):
    kind = quantized(d)
    batch, length, hidden = d.between(1, 3), d.between(1, 5), d.between(2, 16)
    has_segments = d.chance()
    inputs = [d.whole(np.int32, batch, length, low=0, high=6)]
    inputs.append(d.whole(np.int32, batch, length, low=0, high=1) if has_segments else None)
    inputs += [d.whole(kind, 7, hidden), d.whole(kind, 8, hidden), d.whole(kind, 2, hidden) if has_segments else None]
    inputs += [d.whole(kind, hidden), d.whole(kind, hidden), d.maybe(lambda: np.ones((batch, length), np.int32))]
    inputs += [d.scale(), d.scale(), d.scale() if has_segments else None, d.scale(), d.scale()]
    inputs += [d.whole(kind), d.whole(kind), d.whole(kind) if has_segments else None, d.whole(kind), d.whole(kind)]
    return d.case(inputs, {"epsilon": d.any(None, 1e-5)}, (True, True), constants=range(8, 18))


def packed_bits(numbers, bits):
    """Numbers along the last axis, several in a byte, the lowest bits first."""
    each = 8 // bits
    pad = -numbers.shape[-1] % each
    numbers = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, pad)])
    parts = numbers.reshape(*numbers.shape[:-1], -1, each).astype(np.uint32)
    return sum(parts[..., i] << (bits * i) for i in range(each)).astype(np.uint8)


@operator("MatMulNBits", "float", "float16")
def matmul_nbits(d):
    bits = d.any(2, 4, 4, 8)
    K, N, size = d.any(16, 32, 40, 64), d.between(1, 9), d.any(16, 32)
    blocks = -(-K // size)
    numbers = d.random.integers(0, 1 << bits, (N, blocks, size))
    inputs = [d.x(*d.any((), (2,)), d.between(1, 4), K), packed_bits(numbers, bits), np.asarray(d.random.uniform(0.01, 0.1, (N, blocks)), np.float32)]
    form = d.any(None, "bytes", "numbers") if bits < 8 else d.any(None, "bytes")
    zero = None
    if form == "bytes":
        zero = packed_bits(d.random.integers(0, 1 << bits, (N, blocks)), bits)
    elif form == "numbers":
        zero = np.asarray(d.random.uniform(0, 1 << bits, (N, blocks)), np.float32)
    # With g_idx it reads no zero points, and takes 2 bits for 4.
    group = (np.arange(K) // size).astype(np.int32) if zero is None and bits == 4 and d.chance() else None
    bias = d.maybe(lambda: d.x(N)) if group is None else None
    case = d.case([*inputs, zero, group, bias], {"K": K, "N": N, "bits": bits, "block_size": size}, rtol=1e-3 if d.dtype == "float" else 1e-2, atol=1e-3 if d.dtype == "float" else 3e-2)
    case.constant = [i > 0 and array is not None for i, array in enumerate(case.inputs)]
    return case


@operator("GatherBlockQuantized", "uint8")
def gather_block_quantized(d):
    bits, size = d.any(4, 8), 16
    rows, width = d.between(2, 5), d.any(16, 32)
    blocks = width // size
    data = packed_bits(d.random.integers(0, 1 << bits, (rows, width)), bits)
    zero = d.maybe(lambda: packed_bits(d.random.integers(0, 1 << bits, (rows, blocks)), bits))
    indices = d.whole(d.any(np.int32, np.int64), *d.any((3,), (2, 2)), low=0, high=rows - 1)
    case = d.case([data, indices, d.scale(rows, blocks), zero], {"bits": bits, "block_size": size, "gather_axis": 0, "quantize_axis": 1})
    case.constant = [i != 1 and array is not None for i, array in enumerate(case.inputs)]
    return case
