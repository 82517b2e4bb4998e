"""Draws of the operators of com.microsoft on words, tables and images, for compare_microsoft.py."""

import numpy as np
from onnx import TensorProto

from microsoft_draws import operator

LETTERS = list("ab cé😀,.") + ["xyz", "  "]


def text(d):
    return "".join(d.any(*LETTERS) for _ in range(d.below(9)))


@operator("Tokenizer", "string")
def tokenizer(d):
    shape = d.any((d.between(1, 4),), (d.between(1, 3), d.between(1, 3)))
    strings = np.asarray([text(d) for _ in range(int(np.prod(shape)))], object).reshape(shape)
    attributes = {"mark": d.below(2), "pad_value": d.any("#", ""), "mincharnum": d.any(1, 1, 2)}
    form = d.any("separators", "separators", "tokenexp", "characters")
    if form == "characters":
        attributes |= d.any({"separators": [""]}, {"tokenexp": "."}) | {"mincharnum": 1}
    elif form == "separators":
        attributes["separators"] = d.any([" "], [",", " "], ["a|ab", " "], ["[ ,.]+"], ["é", "xy?"])
    else:
        attributes["tokenexp"] = d.any("[a-z]+", "x?y|é", "[^ ]+", "a|ab|abx")
    return d.case([strings], attributes, constants=())


@operator("MurmurHash3", "int32", "uint32", "int64", "uint64", "float", "double", "string")
def murmur_hash3(d):
    if d.dtype == "string":
        x = np.asarray([text(d) for _ in range(6)], object).reshape(2, 3)
    elif d.dtype in ("float", "double"):
        x = d.x(2, 3)
    else:
        x = d.whole(np.int64, 2, 3, low=0).astype(d.dtype) if d.dtype == "uint64" else d.whole(np.dtype(d.dtype), 2, 3)
    return d.case([x], {"positive": d.any(None, 0, 1), "seed": d.any(None, 42)})


@operator("NGramRepeatBlock")
def ngram_repeat_block(d):
    batch, words = d.between(1, 3), 5
    ids = d.whole(np.int64, batch, d.between(1, 12), low=0, high=words - 1)
    return d.case([ids, d.x(batch, words)], {"ngram_size": d.between(1, 4)})


@operator("BifurcationDetector", "int64")
def bifurcation_detector(d):
    source = d.whole(np.int64, d.between(1, 8), low=0, high=3)
    before = d.below(len(source) + 1)
    predicted = np.concatenate([source[before:], d.whole(np.int64, 1, low=0, high=3)])
    if d.chance():
        predicted[d.below(len(predicted))] += 1
    least = d.between(1, 3)
    attributes = {"min_ngram_size": least, "max_ngram_size": least + d.below(3)}
    current = d.whole(np.int64, d.between(1, 5), low=0, high=3)
    return d.case([source, current, np.asarray([before], np.int64), d.maybe(lambda: predicted)], attributes, (True, True))


def hash_inputs(d):
    kind = np.dtype(d.dtype)
    largest, heads = d.between(2, 4), d.between(1, 3)
    columns = (largest - 1) * heads
    attributes = {"max_ngram_size": largest, "n_head_per_ngram": heads, "pad_id": d.below(4)}
    multipliers = d.whole(kind, largest) | 1
    sizes = d.whole(kind, columns, low=1, high=1000)
    offsets = d.maybe(lambda: d.whole(kind, columns, low=0, high=10**6))
    eos = d.maybe(lambda: np.asarray(d.below(4), kind))
    if eos is not None:
        attributes["reset_on_eos"] = d.any(None, 0, 1, 1)
    return kind, largest, attributes, multipliers, sizes, offsets, eos


@operator("NGramHashMapping", "int32", "int64")
def ngram_hash_mapping(d):
    kind, largest, attributes, multipliers, sizes, offsets, eos = hash_inputs(d)
    batch, length = d.between(1, 3), d.between(1, 7)
    ids = d.whole(kind, batch, length, low=0, high=3)
    past = d.maybe(lambda: d.whole(kind, batch, largest - 1, low=0, high=3))
    segments = d.maybe(lambda: np.sort(d.whole(np.int32, batch, length, low=0, high=2), axis=1))
    return d.case([ids, multipliers, sizes, past, offsets, eos, segments], attributes, (True, True))


@operator("VarlenNGramHashMapping", "int32", "int64")
def packed_ngram_hash_mapping(d):
    kind, largest, attributes, multipliers, sizes, offsets, eos = hash_inputs(d)
    lengths = [d.between(1, 5) for _ in range(d.between(1, 3))]
    batch, tokens = len(lengths), sum(lengths)
    ends = np.asarray(np.concatenate([[0], np.cumsum(lengths)]), np.int32)
    past = d.maybe(lambda: d.whole(kind, batch, largest - 1, low=0, high=3))
    segments = past_segments = None
    if d.chance():
        segments = d.whole(np.int32, tokens, low=0, high=1)
        past_segments = d.maybe(lambda: d.whole(np.int32, batch, largest - 1, low=0, high=1)) if past is not None else None
    capacity = d.any(0, 0, 3)
    captured = d.whole(np.int32, batch, low=0, high=4) if capacity else None
    attributes["state_update_capacity"] = capacity or None
    inputs = [d.whole(kind, tokens, low=0, high=3), multipliers, sizes, ends, past, offsets, eos, segments, past_segments, captured]
    outputs = (True, True, segments is not None, bool(capacity))
    return d.case(inputs, attributes, outputs)


@operator("WordConvEmbedding")
def word_conv_embedding(d):
    words, characters, filters, size = d.between(1, 5), d.between(2, 7), d.between(1, 5), d.between(1, 4)
    window = d.between(1, characters)
    ids = d.whole(np.int32, words, characters, low=0, high=5)
    for row in ids:  # zeros fill the rest, and no word is empty: the package leaves what it makes of those open
        row[d.between(1, characters) :] = 0
        row[row == 0] = 0
        row[0] = max(row[0], 1)
    for row in ids:
        end = int(np.argmax(row == 0)) if (row == 0).any() else characters
        row[end:] = 0
    attributes = {"embedding_size": d.any(None, filters), "conv_window_size": d.any(None, window)}
    return d.case([ids, d.x(filters, 1, window, size), d.x(filters), d.x(6, size)], attributes)


@operator("CropAndResize")
def crop_and_resize(d):
    rois = d.between(1, 4)
    boxes = np.asarray(d.random.uniform(-0.2, 1.2, (rois, 4)), np.float32)
    size = np.asarray([d.between(1, 4), d.between(1, 4)], np.int32)
    attributes = {"mode": d.any(None, "bilinear", "nearest"), "extrapolation_value": d.any(None, 0.5)}
    inputs = [d.x(2, 2, d.between(2, 5), d.between(2, 5)), boxes, d.whole(np.int32, rois, low=0, high=1), size]
    return d.case(inputs, attributes)


@operator("Inverse", "float", "double", "float16")
def inverse(d):
    size = d.between(1, 5)
    x = d.x(*d.any((), (2,), (2, 3)), size, size) + 4 * np.eye(size, dtype=np.float32)
    return d.case([x.astype(np.float64 if d.dtype == "double" else np.float32)])


@operator("DynamicTimeWarping")
def dynamic_time_warping(d):
    return d.case([d.x(*d.any((), (1,)), d.between(1, 7), d.between(1, 7))])


@operator("MaxpoolWithMask")
def maxpool_with_mask(d):
    spatial = [d.between(3, 6) for _ in range(d.any(1, 2, 2, 3))]
    kernel = [d.between(1, 3) for _ in spatial]
    attributes = {"kernel_shape": kernel}
    attributes |= d.any({}, {"strides": [2] * len(spatial)}, {"auto_pad": "SAME_UPPER"})
    if "auto_pad" not in attributes and d.chance():
        attributes["pads"] = [min(1, k - 1) for k in kernel] * 2
    mask = (d.random.uniform(size=(1, 1, *spatial)) < 0.8).astype(np.int32)
    return d.case([d.x(2, 3, *spatial), mask], attributes)


@operator("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(d):
    group, channels, filters = d.any(1, 2), 2, 3
    kernel = [d.between(2, 3), d.between(2, 3)]
    attributes = {"group": group, "strides": d.any(None, [2, 2]), "kernel_shape": d.any(None, kernel)}
    attributes["dilations"] = d.any(None, None, [2, 1])
    pads = d.whole(np.int64, 4, low=0, high=1)
    bias = d.maybe(lambda: d.x(filters * group))
    return d.case([d.x(2, channels * group, 4, 5), d.x(channels * group, filters, *kernel), pads, bias], attributes)


BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 6: (32, 22), 8: (32, 34), 13: (256, 176), 14: (256, 210), 16: (256, 66), 17: (256, 74)}
BLOCKS |= {18: (256, 98), 20: (32, 18), 22: (256, 82), 23: (256, 136), 30: (1, 2), 42: (64, 18)}


@operator("GatherPacked", "float", "float16", "bfloat16")
def gather_packed(d):
    kind = d.any(*BLOCKS)
    elements, size = BLOCKS[kind]
    blocks = d.between(1, 3) * (4 if elements == 1 else 1)
    rows = 3
    data = d.whole(np.uint8, rows, blocks, size)
    steps = np.asarray(d.random.uniform(0.01, 1, (rows, blocks, 1)), np.float16).view(np.uint8)
    if elements == 1:
        real = d.x(rows, blocks)
        data = real if kind == 0 else real.astype(np.float16) if kind == 1 else (real.view(np.uint32) >> 16).astype(np.uint16)
        data = np.ascontiguousarray(data).view(np.uint8)
    elif kind == 14:
        data[..., 208:] = steps
    else:
        data[..., :2] = steps
        if kind == 13:
            data[..., 2:4] = steps
    indices = d.whole(d.any(np.int32, np.int64), 2, 2, low=-1, high=rows)
    to = {"float": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}[d.dtype]
    attributes = {"K": blocks * elements, "packed_type": kind, "output_dtype": to}
    return d.case([data.reshape(rows, -1), indices], attributes)


@operator("MatMulFpQ4")
def matmul_fp_q4(d):
    kind, K, N = d.below(2), 32 * d.between(1, 3), d.between(1, 5)
    steps = d.scale(N, K // 32, 1, low=0.1, high=2).view(np.uint8)
    blocks = [steps, d.whole(np.uint8, N, K // 32, kind, low=0, high=15), d.whole(np.uint8, N, K // 32, 16)]
    inputs = [d.x(d.between(1, 4), K), np.concatenate(blocks, axis=2).flatten(), np.asarray([K, N], np.int64)]
    case = d.case(inputs, {"blk_quant_type": kind}, rtol=1e-3, atol=1e-3)
    case.constant = [False, True, True]
    return case


@operator("MatMulBnb4", "float")
def matmul_bnb4(d):
    K, N, size = d.between(1, 40), d.between(1, 9), d.any(16, 32, 64)
    trans = d.any(None, 1, 1)
    codes, steps = d.whole(np.uint8, -(-N * K // 2)), d.scale(-(-N * K // size), low=0.1, high=2)
    attributes = {"K": K, "N": N, "block_size": size, "quant_type": d.below(2), "transB": trans}
    case = d.case([d.x(d.between(1, 4), K), codes, steps], attributes, rtol=1e-3, atol=1e-3)
    case.constant = [False, True, True]
    return case
