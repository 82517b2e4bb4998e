#!/usr/bin/env python3
"""Times single operators, and short sequences of them, on grurun and on ONNX Runtime, in turns, on the same inputs of medium size; checks
that the outputs agree; prints time of ONNX Runtime / time of grurun.

usage: bench/compare_operators.py [-k TEXT] [--threads 1,2] [--turns N] [--slice-seconds S] [--types] [--json FILE] [--grurun BINARY]

With --types, each operator on float32 is compared with itself on other element types instead: time of the type / time of float32.
Otherwise a ratio above 1 says that grurun is faster. ONNX Runtime is called through Python, which adds 6 to 10 us. Exit codes: 0; 1 outputs differ;
2 usage.
"""
import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper, parser, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from compare_models import ROOT, Grurun, OnnxRuntime, agree, floats  # noqa: E402
from turns import take_turns  # noqa: E402

IMAGE, WIDE = (1, 64, 112, 112), (1, 256, 56, 56)
TOKENS = (1, 384, 768)
HEADS = (1, 8, 256, 64)


def longs(*values):
    return np.array(values, np.int64)


def positive(*shape):
    return np.abs(floats(*shape)) + 0.1


def bytes_of(dtype, *shape):
    """All 8-bit numbers of a type, in an order without a pattern."""
    return (np.arange(np.prod(shape)) * 7919 // 13 % 256).astype(np.uint8).view(dtype).reshape(shape)


QUANTIZED = {"x_scale": np.array(0.0173, np.float32), "x_zero": np.array(120, np.uint8), "w_scale": np.array(0.0113, np.float32),
             "w_zero": np.array(0, np.int8), "y_scale": np.array(0.91, np.float32), "y_zero": np.array(128, np.uint8)}


# Name, nodes in ONNX's textual form; what they read: inputs by capital names, constants by others. A shape stands for normal numbers.
CASES = [
    ("max_pool k2s2", "Y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(X)", {"X": IMAGE}),
    ("max_pool k3s2", "Y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(X)", {"X": IMAGE}),
    ("max_pool k3s1", "Y = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(X)", {"X": WIDE}),
    ("average_pool k2s2", "Y = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(X)", {"X": IMAGE}),
    ("average_pool k3s2", "Y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(X)", {"X": IMAGE}),
    ("average_pool k3s1", "Y = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(X)", {"X": WIDE}),
    ("global_average_pool", "Y = GlobalAveragePool(X)", {"X": WIDE}),
    ("reduce_sum last", "Y = ReduceSum(X, axes)", {"X": (512, 768), "axes": longs(1)}),
    ("reduce_sum first", "Y = ReduceSum(X, axes)", {"X": (512, 768), "axes": longs(0)}),
    ("reduce_sum middle", "Y = ReduceSum(X, axes)", {"X": (16, 64, 512), "axes": longs(1)}),
    ("reduce_mean last", "Y = ReduceMean(X, axes)", {"X": TOKENS, "axes": longs(2)}),
    ("reduce_mean first", "Y = ReduceMean(X, axes)", {"X": (512, 768), "axes": longs(0)}),
    ("reduce_mean middle", "Y = ReduceMean(X, axes)", {"X": (16, 64, 512), "axes": longs(1)}),
    ("reduce_mean short", "Y = ReduceMean(X, axes)", {"X": (32768, 12), "axes": longs(1)}),
    ("reduce_max last", "Y = ReduceMax(X, axes)", {"X": (512, 768), "axes": longs(1)}),
    ("reduce_max first", "Y = ReduceMax(X, axes)", {"X": (512, 768), "axes": longs(0)}),
    ("reduce_max middle", "Y = ReduceMax(X, axes)", {"X": (16, 64, 512), "axes": longs(1)}),
    ("reduce_l2 last", "Y = ReduceL2(X, axes)", {"X": (512, 768), "axes": longs(1)}),
    ("arg_max last", "Y = ArgMax<axis = 1>(X)", {"X": (512, 768)}),
    ("arg_max int64", "Y = ArgMax<axis = 1>(X)", {"X": np.arange(512 * 768, dtype=np.int64).reshape(512, 768) * 7919 % 10007}),
    ("top_k 5", "Y, Z = TopK<axis = 1>(X, k)", {"X": (512, 768), "k": longs(5)}),
    ("top_k 100", "Y, Z = TopK<axis = 1>(X, k)", {"X": (64, 8400), "k": longs(100)}),
    ("cum_sum first", "Y = CumSum(X, axis)", {"X": (512, 768), "axis": np.array(0, np.int64)}),
    ("cum_sum last", "Y = CumSum(X, axis)", {"X": (512, 768), "axis": np.array(1, np.int64)}),
    ("unique", "Y = Unique(X)", {"X": np.arange(20000, dtype=np.int64) * 7919 % 5003}),
    ("softmax last", "Y = Softmax<axis = -1>(X)", {"X": (8, 256, 256)}),
    ("softmax short", "Y = Softmax<axis = -1>(X)", {"X": (16384, 20)}),
    ("softmax middle", "Y = Softmax<axis = 1>(X)", {"X": (8, 64, 1024)}),
    ("log_softmax last", "Y = LogSoftmax<axis = -1>(X)", {"X": (128, 4096)}),
    ("log_softmax middle", "Y = LogSoftmax<axis = 1>(X)", {"X": (8, 64, 1024)}),
    ("layer_normalization", "Y = LayerNormalization(X, scale, bias)", {"X": TOKENS, "scale": (768,), "bias": (768,)}),
    ("rms_normalization", "Y = RMSNormalization(X, scale)", {"X": TOKENS, "scale": (768,)}),
    ("instance_normalization", "Y = InstanceNormalization(X, scale, bias)", {"X": WIDE, "scale": (256,), "bias": (256,)}),
    ("group_normalization", "Y = GroupNormalization<num_groups = 32>(X, scale, bias)", {"X": WIDE, "scale": (256,), "bias": (256,)}),
    ("batch_normalization", "Y = BatchNormalization(X, scale, bias, mean, var)",
     {"X": WIDE, "scale": (256,), "bias": (256,), "mean": (256,), "var": positive(256)}),
    ("transpose 2d", "Y = Transpose<perm = [1, 0]>(X)", {"X": (768, 1024)}),
    ("transpose nchw to nhwc", "Y = Transpose<perm = [0, 2, 3, 1]>(X)", {"X": WIDE}),
    ("transpose nhwc to nchw", "Y = Transpose<perm = [0, 3, 1, 2]>(X)", {"X": (1, 56, 56, 256)}),
    ("transpose 0213", "Y = Transpose<perm = [0, 2, 1, 3]>(X)", {"X": (1, 384, 12, 64)}),
    ("transpose 0231", "Y = Transpose<perm = [0, 2, 3, 1]>(X)", {"X": (1, 384, 12, 64)}),
    ("concat channels", "Y = Concat<axis = 1>(X, Z)", {"X": WIDE, "Z": WIDE}),
    ("concat last", "Y = Concat<axis = -1>(X, Z)", {"X": TOKENS, "Z": TOKENS}),
    ("concat short", "Y = Concat<axis = -1>(X, Z)", {"X": (8400, 4), "Z": (8400, 1)}),
    ("split last", "Y, Z, V = Split<axis = -1, num_outputs = 3>(X)", {"X": (1, 384, 2304)}),
    ("slice rows", "Y = Slice(X, starts, ends, axes)", {"X": TOKENS, "starts": longs(16), "ends": longs(368), "axes": longs(1)}),
    ("slice columns", "Y = Slice(X, starts, ends, axes)", {"X": TOKENS, "starts": longs(8), "ends": longs(520), "axes": longs(2)}),
    ("gather rows", "Y = Gather(table, X)", {"X": np.arange(384, dtype=np.int64) * 7 % 2000, "table": (2000, 768)}),
    ("gather columns", "Y = Gather<axis = 1>(X, indices)", {"X": (768, 768), "indices": longs(*(np.arange(384) * 7 % 768))}),
    ("pad 2d", "Y = Pad(X, pads)", {"X": IMAGE, "pads": longs(0, 0, 1, 1, 0, 0, 1, 1)}),
    ("pad reflect", "Y = Pad<mode = \"reflect\">(X, pads)", {"X": IMAGE, "pads": longs(0, 0, 1, 1, 0, 0, 1, 1)}),
    ("pad edge", "Y = Pad<mode = \"edge\">(X, pads)", {"X": IMAGE, "pads": longs(0, 0, 1, 1, 0, 0, 1, 1)}),
    ("expand", "Y = Expand(X, shape)", {"X": (1, 64, 1, 112), "shape": longs(*IMAGE)}),
    ("resize nearest", "Y = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">(X, , scales)",
     {"X": (1, 64, 56, 56), "scales": np.array([1, 1, 2, 2], np.float32)}),
    ("resize linear", "Y = Resize<mode = \"linear\">(X, , scales)", {"X": (1, 64, 56, 56), "scales": np.array([1, 1, 2, 2], np.float32)}),
    ("grid_sample linear", "Y = GridSample(X, G)", {"X": (1, 32, 56, 56), "G": np.tanh(floats(1, 56, 56, 2))}),
    ("col2im", "Y = Col2Im<pads = [1, 1, 1, 1]>(X, image, block)", {"X": (1, 288, 3136), "image": longs(56, 56), "block": longs(3, 3)}),
    ("top_k first axis", "Y, Z = TopK<axis = 0>(X, k)", {"X": (512, 768), "k": longs(5)}),
    ("gather_elements", "Y = GatherElements<axis = 1>(X, I)", {"X": (512, 768), "I": np.arange(512 * 768, dtype=np.int64).reshape(512, 768) * 7919 % 768}),
    ("gather_nd", "Y = GatherND(X, I)", {"X": (64, 64, 128), "I": np.arange(4000, dtype=np.int64).reshape(2000, 2) * 7919 % 64}),
    ("scatter_nd", "Y = ScatterND(X, I, U)",
     {"X": (64, 64, 128), "I": np.arange(4000, dtype=np.int64).reshape(2000, 2) * 7919 % 64, "U": (2000, 128)}),
    ("scatter_elements", "Y = ScatterElements<axis = 1>(X, I, U)",
     {"X": (512, 768), "I": np.arange(512 * 256, dtype=np.int64).reshape(512, 256) * 7919 % 768, "U": (512, 256)}),
    ("scatter_elements add", "Y = ScatterElements<axis = 0, reduction = \"add\">(X, I, U)",
     {"X": (512, 768), "I": np.arange(256 * 768, dtype=np.int64).reshape(256, 768) * 7919 % 512, "U": (256, 768)}),
    ("non_zero", "Y = NonZero(X)", {"X": floats(512, 768) > 0}),
    ("compress", "Y = Compress<axis = 0>(X, C)", {"X": (2048, 128), "C": floats(2048) > 0}),
    ("arg_max first", "Y = ArgMax<axis = 0>(X)", {"X": (512, 768)}),
    ("reduce_prod last", "Y = ReduceProd(X, axes)", {"X": (512, 768), "axes": longs(1)}),
    ("reduce_log_sum_exp last", "Y = ReduceLogSumExp(X, axes)", {"X": (512, 768), "axes": longs(1)}),
    ("reduce_sum int64", "Y = ReduceSum(X, axes)", {"X": np.arange(512 * 768, dtype=np.int64).reshape(512, 768), "axes": longs(1)}),
    ("reduce_max int32 first", "Y = ReduceMax(X, axes)", {"X": np.arange(512 * 768, dtype=np.int32).reshape(512, 768) * 7919, "axes": longs(0)}),
    ("reduce_sum two axes", "Y = ReduceSum(X, axes)", {"X": (8, 64, 16, 64), "axes": longs(1, 3)}),
    ("einsum heads", "Y = Einsum<equation = \"bqhd,bkhd->bhqk\">(X, Z)", {"X": (1, 128, 8, 64), "Z": (1, 128, 8, 64)}),
    ("einsum outer", "Y = Einsum<equation = \"i,j->ij\">(X, Z)", {"X": (512,), "Z": (768,)}),
    ("einsum diagonal", "Y = Einsum<equation = \"bii->bi\">(X)", {"X": (64, 128, 128)}),
    ("resize cubic", "Y = Resize<mode = \"cubic\">(X, , scales)", {"X": (1, 16, 56, 56), "scales": np.array([1, 1, 2, 2], np.float32)}),
    ("resize linear down", "Y = Resize<mode = \"linear\">(X, , scales)", {"X": IMAGE, "scales": np.array([1, 1, 0.5, 0.5], np.float32)}),
    ("tile rows", "Y = Tile(X, repeats)", {"X": (64, 768), "repeats": longs(8, 1)}),
    ("tile last", "Y = Tile(X, repeats)", {"X": (512, 64), "repeats": longs(1, 8)}),
    ("slice step 2", "Y = Slice(X, starts, ends, axes, steps)",
     {"X": (768, 1024), "starts": longs(0), "ends": longs(1024), "axes": longs(1), "steps": longs(2)}),
    ("slice reversed", "Y = Slice(X, starts, ends, axes, steps)",
     {"X": (768, 1024), "starts": longs(-1), "ends": longs(-2000), "axes": longs(1), "steps": longs(-1)}),
    ("expand last", "Y = Expand(X, shape)", {"X": (512, 1), "shape": longs(512, 768)}),
    ("one_hot", "Y = OneHot(X, depth, values)",
     {"X": np.arange(2000, dtype=np.int64) * 7 % 200, "depth": longs(200), "values": np.array([0, 1], np.float32)}),
    ("trilu", "Y = Trilu(X)", {"X": (8, 256, 256)}),
    ("lrn", "Y = LRN<size = 5>(X)", {"X": (1, 64, 56, 56)}),
    ("lp_normalization", "Y = LpNormalization<axis = 1>(X)", {"X": (512, 768)}),
    ("depth_to_space", "Y = DepthToSpace<blocksize = 2>(X)", {"X": WIDE}),
    ("space_to_depth", "Y = SpaceToDepth<blocksize = 2>(X)", {"X": IMAGE}),
    ("reverse_sequence", "Y = ReverseSequence<batch_axis = 0, time_axis = 1>(X, L)",
     {"X": (16, 64, 128), "L": np.arange(16, dtype=np.int64) * 4 + 1}),
    ("mish", "Y = Mish(X)", {"X": TOKENS}),
    ("hard_sigmoid", "Y = HardSigmoid(X)", {"X": TOKENS}),
    ("selu", "Y = Selu(X)", {"X": TOKENS}),
    ("celu", "Y = Celu(X)", {"X": TOKENS}),
    ("thresholded_relu", "Y = ThresholdedRelu(X)", {"X": TOKENS}),
    ("prelu channels", "Y = PRelu(X, slope)", {"X": IMAGE, "slope": (64, 1, 1)}),
    ("sign", "Y = Sign(X)", {"X": TOKENS}),
    ("is_nan", "Y = IsNaN(X)", {"X": TOKENS}),
    ("mod int64", "Y = Mod(X, Z)", {"X": np.arange(294912, dtype=np.int64), "Z": np.arange(294912, dtype=np.int64) % 5 + 1}),
    ("div int64", "Y = Div(X, Z)", {"X": np.arange(294912, dtype=np.int64), "Z": np.arange(294912, dtype=np.int64) % 5 + 1}),
    ("add int64", "Y = Add(X, Z)", {"X": np.arange(294912, dtype=np.int64), "Z": np.arange(294912, dtype=np.int64)}),
    ("add int32 scalar", "Y = Add(X, c)", {"X": np.arange(294912, dtype=np.int32), "c": np.array(7, np.int32)}),
    ("min of three", "Y = Min(X, Z, V)", {"X": TOKENS, "Z": TOKENS, "V": TOKENS}),
    ("where int64", "Y = Where(C, X, Z)",
     {"C": floats(294912) > 0, "X": np.arange(294912, dtype=np.int64), "Z": np.arange(294912, dtype=np.int64)}),
    ("cast int32 to int64", "Y = Cast<to = 7>(X)", {"X": np.arange(294912, dtype=np.int32)}),
    ("cast uint8 to float", "Y = Cast<to = 1>(X)", {"X": bytes_of(np.uint8, 294912)}),
    ("cast double to float", "Y = Cast<to = 1>(X)", {"X": floats(294912).astype(np.float64)}),
    ("cast bool to float", "Y = Cast<to = 1>(X)", {"X": floats(294912) > 0}),
    ("cast to int32", "Y = Cast<to = 6>(X)", {"X": TOKENS}),
    ("range", "Y = Range(X, limit, delta)", {"X": np.array(0, np.int64), "limit": np.array(200000, np.int64), "delta": np.array(1, np.int64)}),
    ("non_max_suppression", "Y = NonMaxSuppression(X, S, most, overlap)",
     {"X": np.sort(positive(1, 1000, 4) * 10, axis=-1), "S": positive(1, 4, 1000), "most": longs(100), "overlap": np.array([0.5], np.float32)}),
    ("max_unpool", "Y = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(X, I)",
     {"X": (1, 64, 28, 28), "I": np.arange(64 * 784, dtype=np.int64).reshape(1, 64, 28, 28) * 4}),
    ("global_max_pool", "Y = GlobalMaxPool(X)", {"X": WIDE}),
    ("max_pool indices", "Y, Z = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(X)", {"X": IMAGE}),
    ("grid_sample nearest", "Y = GridSample<mode = \"nearest\">(X, G)", {"X": (1, 32, 56, 56), "G": np.tanh(floats(1, 56, 56, 2))}),
    ("grid_sample cubic", "Y = GridSample<mode = \"cubic\">(X, G)", {"X": (1, 8, 56, 56), "G": np.tanh(floats(1, 56, 56, 2))}),
    ("det", "Y = Det(X)", {"X": (256, 8, 8)}),
    ("bit_shift", "Y = BitShift<direction = \"LEFT\">(X, Z)", {"X": np.arange(294912, dtype=np.uint64), "Z": np.arange(294912, dtype=np.uint64) % 8}),
    ("hardmax", "Y = Hardmax(X)", {"X": (512, 768)}),
    ("eye_like", "Y = EyeLike(X)", {"X": (512, 512)}),
    ("softmax tokens", "Y = Softmax<axis = -1>(X)", {"X": TOKENS}),
    ("rotary_embedding", "Y = RotaryEmbedding(X, cosines, sines)", {"X": (1, 8, 256, 64), "cosines": (1, 256, 32), "sines": (1, 256, 32)}),
    ("add same shape", "Y = Add(X, Z)", {"X": TOKENS, "Z": TOKENS}),
    ("add row", "Y = Add(X, bias)", {"X": TOKENS, "bias": (768,)}),
    ("mul column", "Y = Mul(X, Z)", {"X": TOKENS, "Z": (1, 384, 1)}),
    ("mul scalar", "Y = Mul(X, c)", {"X": TOKENS, "c": np.array(0.5, np.float32)}),
    ("mul channels", "Y = Mul(X, Z)", {"X": WIDE, "Z": (1, 256, 1, 1)}),
    ("mul short channels", "Y = Mul(X, Z)", {"X": (1, 512, 14, 14), "Z": (1, 512, 1, 1)}),
    ("div same shape", "Y = Div(X, Z)", {"X": TOKENS, "Z": positive(*TOKENS)}),
    ("where", "Y = Where(C, X, Z)", {"C": floats(*TOKENS) > 0, "X": TOKENS, "Z": TOKENS}),
    ("where mask", "Y = Where(C, X, low)", {"C": floats(1, 1, 256, 256) > 0, "X": (1, 8, 256, 256), "low": np.array(-1e9, np.float32)}),
    ("greater", "Y = Greater(X, Z)", {"X": TOKENS, "Z": TOKENS}),
    ("clip", "Y = Clip(X, least, most)", {"X": TOKENS, "least": np.array(0, np.float32), "most": np.array(6, np.float32)}),
    ("relu", "Y = Relu(X)", {"X": TOKENS}),
    ("leaky_relu", "Y = LeakyRelu<alpha = 0.1>(X)", {"X": TOKENS}),
    ("gelu", "Y = Gelu(X)", {"X": TOKENS}),
    ("gelu tanh", "Y = Gelu<approximate = \"tanh\">(X)", {"X": TOKENS}),
    ("erf", "Y = Erf(X)", {"X": TOKENS}),
    ("sigmoid", "Y = Sigmoid(X)", {"X": TOKENS}),
    ("tanh", "Y = Tanh(X)", {"X": TOKENS}),
    ("exp", "Y = Exp(X)", {"X": TOKENS}),
    ("log", "Y = Log(X)", {"X": positive(*TOKENS)}),
    ("sqrt", "Y = Sqrt(X)", {"X": positive(*TOKENS)}),
    ("pow 2", "Y = Pow(X, two)", {"X": TOKENS, "two": np.array(2, np.float32)}),
    ("pow 3", "Y = Pow(X, three)", {"X": TOKENS, "three": np.array(3, np.float32)}),
    ("pow 1.7", "Y = Pow(X, c)", {"X": positive(*TOKENS), "c": np.array(1.7, np.float32)}),
    ("elu", "Y = Elu(X)", {"X": TOKENS}),
    ("hard_swish", "Y = HardSwish(X)", {"X": TOKENS}),
    ("softplus", "Y = Softplus(X)", {"X": TOKENS}),
    ("sin", "Y = Sin(X)", {"X": TOKENS}),
    ("tan", "Y = Tan(X)", {"X": TOKENS}),
    ("asin", "Y = Asin(X)", {"X": np.clip(floats(*TOKENS) / 4, -1, 1)}),
    ("acos", "Y = Acos(X)", {"X": np.clip(floats(*TOKENS) / 4, -1, 1)}),
    ("atan", "Y = Atan(X)", {"X": TOKENS}),
    ("sinh", "Y = Sinh(X)", {"X": TOKENS}),
    ("asinh", "Y = Asinh(X)", {"X": TOKENS}),
    ("acosh", "Y = Acosh(X)", {"X": positive(*TOKENS) + 1}),
    ("atanh", "Y = Atanh(X)", {"X": np.tanh(floats(*TOKENS))}),
    ("floor", "Y = Floor(X)", {"X": TOKENS}),
    ("round", "Y = Round(X)", {"X": TOKENS}),
    ("reciprocal", "Y = Reciprocal(X)", {"X": positive(*TOKENS)}),
    ("abs", "Y = Abs(X)", {"X": TOKENS}),
    ("neg", "Y = Neg(X)", {"X": TOKENS}),
    ("mod fmod", "Y = Mod<fmod = 1>(X, Z)", {"X": TOKENS, "Z": positive(*TOKENS)}),
    ("max", "Y = Max(X, Z)", {"X": TOKENS, "Z": TOKENS}),
    ("not", "Y = Not(X)", {"X": floats(*TOKENS) > 0}),
    ("and", "Y = And(X, Z)", {"X": floats(*TOKENS) > 0, "Z": floats(*TOKENS) > 0.5}),
    ("equal int64", "Y = Equal(X, Z)", {"X": np.arange(294912, dtype=np.int64) % 7, "Z": np.arange(294912, dtype=np.int64) % 5}),
    ("cast to bool", "Y = Cast<to = 9>(X)", {"X": TOKENS}),
    ("cast to uint8", "Y = Cast<to = 2>(X)", {"X": positive(*TOKENS)}),
    ("cast to float16", "Y = Cast<to = 10>(X)", {"X": TOKENS}),
    ("cast from float16", "Y = Cast<to = 1>(X)", {"X": floats(*TOKENS).astype(np.float16)}),
    ("cast through bfloat16", "Z = Cast<to = 16>(X) Y = Cast<to = 1>(Z)", {"X": TOKENS}),
    ("cast to int64", "Y = Cast<to = 7>(X)", {"X": TOKENS}),
    ("cast from int64", "Y = Cast<to = 1>(X)", {"X": np.arange(294912, dtype=np.int64).reshape(TOKENS)}),
    ("attention", "Y = Attention(Q, K, V)", {"Q": HEADS, "K": HEADS, "V": HEADS}),
    ("attention causal", "Y = Attention<is_causal = 1>(Q, K, V)", {"Q": HEADS, "K": HEADS, "V": HEADS}),
    ("attention grouped", "Y = Attention(Q, K, V)", {"Q": HEADS, "K": (1, 2, 256, 64), "V": (1, 2, 256, 64)}),
    ("attention masked", "Y = Attention(Q, K, V, M)", {"Q": HEADS, "K": HEADS, "V": HEADS, "M": (256, 256)}),
    ("attention one query", "Y = Attention(Q, K, V)", {"Q": (1, 8, 1, 64), "K": (1, 8, 1024, 64), "V": (1, 8, 1024, 64)}),
    ("matmul batched", "Y = MatMul(X, Z)", {"X": (8, 256, 64), "Z": (8, 64, 256)}),
    ("matmul scores", "Y = MatMul(X, Z)", {"X": (8, 256, 256), "Z": (8, 256, 64)}),
    ("matmul weights", "Y = MatMul(X, w)", {"X": TOKENS, "w": (768, 768)}),
    ("matmul bias", "H = MatMul(X, w) Y = Add(H, b)", {"X": TOKENS, "w": (768, 768), "b": (768,)}),
    ("matmul bias relu", "H = MatMul(X, w) S = Add(H, b) Y = Relu(S)", {"X": (1024, 64), "w": (64, 256), "b": (256,)}),
    ("gemm relu", "H = Gemm(X, w, b) Y = Relu(H)", {"X": (1024, 64), "w": (64, 256), "b": (256,)}),
    ("conv 3x3", "Y = Conv<pads = [1, 1, 1, 1]>(X, w, b)", {"X": (1, 64, 56, 56), "w": (64, 64, 3, 3), "b": (64,)}),
    ("conv 1x1", "Y = Conv(X, w, b)", {"X": (1, 256, 28, 28), "w": (128, 256, 1, 1), "b": (128,)}),
    ("conv 7x7 stride 2", "Y = Conv<pads = [3, 3, 3, 3], strides = [2, 2]>(X, w, b)", {"X": (1, 3, 224, 224), "w": (64, 3, 7, 7), "b": (64,)}),
    ("conv depthwise 3x3", "Y = Conv<group = 64, pads = [1, 1, 1, 1]>(X, w, b)", {"X": IMAGE, "w": (64, 1, 3, 3), "b": (64,)}),
    ("conv depthwise small", "Y = Conv<group = 512, pads = [1, 1, 1, 1]>(X, w, b)", {"X": (1, 512, 14, 14), "w": (512, 1, 3, 3), "b": (512,)}),
    ("conv depthwise stride 2", "Y = Conv<group = 64, pads = [1, 1, 1, 1], strides = [2, 2]>(X, w, b)",
     {"X": IMAGE, "w": (64, 1, 3, 3), "b": (64,)}),
    ("conv depthwise 5x5", "Y = Conv<group = 256, pads = [2, 2, 2, 2]>(X, w, b)", {"X": (1, 256, 28, 28), "w": (256, 1, 5, 5), "b": (256,)}),
    ("conv grouped", "Y = Conv<group = 8, pads = [1, 1, 1, 1]>(X, w, b)", {"X": (1, 64, 56, 56), "w": (64, 8, 3, 3), "b": (64,)}),
    ("conv 1d", "Y = Conv<pads = [1, 1]>(X, w, b)", {"X": (1, 128, 1000), "w": (128, 128, 3), "b": (128,)}),
    ("conv_transpose 2x", "Y = ConvTranspose<strides = [2, 2]>(X, w, b)", {"X": (1, 64, 56, 56), "w": (64, 32, 2, 2), "b": (32,)}),
    ("matmul int32", "Y = MatMul(X, Z)",
     {"X": np.arange(128 * 256, dtype=np.int32).reshape(128, 256) % 1009, "Z": np.arange(256 * 128, dtype=np.int32).reshape(256, 128) % 997}),
    ("matmul int64", "Y = MatMul(X, Z)",
     {"X": np.arange(128 * 256, dtype=np.int64).reshape(128, 256) % 1009, "Z": np.arange(256 * 128, dtype=np.int64).reshape(256, 128) % 997}),
    ("matmul int32 row", "Y = MatMul(X, Z)",
     {"X": np.arange(512, dtype=np.int32).reshape(1, 512) % 1009, "Z": np.arange(512 * 512, dtype=np.int32).reshape(512, 512) % 997}),
    ("matmul_integer", "Y = MatMulInteger(X, w, x_zero, w_zero)",
     {"X": bytes_of(np.uint8, 384, 768), "w": bytes_of(np.int8, 768, 768), "x_zero": np.array(120, np.uint8), "w_zero": np.array(0, np.int8)}),
    ("matmul_integer row", "Y = MatMulInteger(X, w, x_zero, w_zero)",
     {"X": bytes_of(np.uint8, 1, 512), "w": bytes_of(np.int8, 512, 512), "x_zero": np.array(120, np.uint8), "w_zero": np.array(0, np.int8)}),
    ("qlinear_matmul", "Y = QLinearMatMul(X, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero)",
     {"X": bytes_of(np.uint8, 384, 768), "w": bytes_of(np.int8, 768, 768), **QUANTIZED}),
    ("qlinear_conv", "Y = QLinearConv<pads = [1, 1, 1, 1]>(X, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero)",
     {"X": bytes_of(np.uint8, 1, 64, 56, 56), "w": bytes_of(np.int8, 64, 64, 3, 3), **QUANTIZED}),
    ("quantize_linear", "Y = QuantizeLinear(X, x_scale, x_zero)", {"X": TOKENS, **QUANTIZED}),
    ("quantize_linear last axis", "Y = QuantizeLinear<axis = -1>(X, scales, zeros)",
     {"X": TOKENS, "scales": positive(768), "zeros": bytes_of(np.int8, 768)}),
    ("dequantize_linear", "Y = DequantizeLinear(X, x_scale, x_zero)", {"X": bytes_of(np.uint8, *TOKENS), **QUANTIZED}),
    ("dequantize_linear axis", "Y = DequantizeLinear<axis = 0>(X, scales)", {"X": bytes_of(np.int8, 768, 768), "scales": positive(768)}),
    ("dynamic_quantize_linear", "Y, S, Z = DynamicQuantizeLinear(X)", {"X": TOKENS}),
    ("silu", "S = Sigmoid(X) Y = Mul(X, S)", {"X": TOKENS}),
    ("hard swish chain", "A = Add(X, three) B = Clip(A, zero, six) C = Mul(X, B) Y = Div(C, six)",
     {"X": TOKENS, "three": np.array(3, np.float32), "zero": np.array(0, np.float32), "six": np.array(6, np.float32)}),
    ("gelu chain", "A = Div(X, root) B = Erf(A) C = Add(B, one) D = Mul(X, C) Y = Mul(D, half)",
     {"X": TOKENS, "root": np.array(2**0.5, np.float32), "one": np.array(1, np.float32), "half": np.array(0.5, np.float32)}),
    ("bias gelu", "S = Add(X, b) Y = Gelu(S)", {"X": TOKENS, "b": (768,)}),
    ("residual scale", "A = Mul(X, c) Y = Add(A, Z)", {"X": TOKENS, "Z": TOKENS, "c": np.array(0.5, np.float32)}),
    ("gate", "A = Tanh(X) B = Sigmoid(Z) Y = Mul(A, B)", {"X": TOKENS, "Z": TOKENS}),
    ("microsoft gelu", "Y = com.microsoft.Gelu(X)", {"X": TOKENS}),
    ("microsoft fast gelu", "Y = com.microsoft.FastGelu(X, b)", {"X": TOKENS, "b": (768,)}),
    ("microsoft bias gelu", "Y = com.microsoft.BiasGelu(X, b)", {"X": TOKENS, "b": (768,)}),
    ("microsoft skip layer_normalization", "Y = com.microsoft.SkipLayerNormalization(X, Z, g, b, c)",
     {"X": TOKENS, "Z": TOKENS, "g": (768,), "b": (768,), "c": (768,)}),
    ("microsoft skip simplified", "Y = com.microsoft.SkipSimplifiedLayerNormalization(X, Z, g)", {"X": TOKENS, "Z": TOKENS, "g": (768,)}),
    ("microsoft attention", "Y = com.microsoft.Attention<num_heads = 12>(X, w, b)", {"X": TOKENS, "w": floats(768, 2304) / 30, "b": (2304,)}),
    ("microsoft multi_head_attention", "Y = com.microsoft.MultiHeadAttention<num_heads = 12>(Q, K, V)", {"Q": TOKENS, "K": TOKENS, "V": TOKENS}),
    ("microsoft fused_matmul", "Y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>(X, w)", {"X": TOKENS, "w": (768, 768)}),
    ("microsoft qlinear_add", "Y = com.microsoft.QLinearAdd(X, x_scale, x_zero, Z, x_scale, x_zero, y_scale, y_zero)",
     {"X": bytes_of(np.uint8, *TOKENS), "Z": bytes_of(np.uint8, *TOKENS), **QUANTIZED}),
    ("microsoft qlinear_sigmoid", "Y = com.microsoft.QLinearSigmoid(X, x_scale, x_zero, y_scale, y_zero)",
     {"X": bytes_of(np.uint8, *TOKENS), **QUANTIZED}),
    ("tiny chain", "A = Add(X, one) B = Relu(A) C = Mul(B, X) Y = Sigmoid(C)", {"X": (1, 16), "one": np.array(1, np.float32)}),
]


def make_case(nodes, values):
    """The model, and what feeds its inputs."""
    values = {name: floats(*value) if isinstance(value, tuple) else value for name, value in values.items()}
    graph = parser.parse_graph(f"case () => () {{ {nodes} }}")
    graph.input.extend(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                       for name, value in values.items() if name[0].isupper())
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items() if not name[0].isupper())
    outputs = graph.node[0].output if len(graph.node) == 1 else ["Y"]
    graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs)
    return (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)], ir_version=10),
            {name: value for name, value in values.items() if name[0].isupper()})


def compare(name, nodes, values, threads, flags):
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        folder = pathlib.Path(folder)
        model, feed = make_case(nodes, values)
        save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **feed)
        given = ["--inputs", str(folder / "inputs.npz")]
        subprocess.run([str(flags.grurun), str(folder / "model.onnx"), *given, "-q", "--save-outputs", str(folder / "outputs.npz")],
                       check=True, stdout=subprocess.DEVNULL)
        peer, ours = OnnxRuntime(folder / "model.onnx", feed, threads), Grurun(flags.grurun, folder / "model.onnx", given, threads)
        with np.load(folder / "outputs.npz") as made:
            same = agree([made[key] for key in peer.outputs], peer.outputs.values())
        begin = time.perf_counter()
        peer.measure(3)
        runs = max(10, min(20000, int(3 * flags.slice_seconds / (time.perf_counter() - begin))))
        peer.wall.clear()
        take_turns(flags.turns, threads, [lambda: peer.measure(runs), lambda: ours.measure(runs)])
    return {"case": name, "threads": threads, "agrees": same, "grurun_us": float(np.median(ours.wall)),
            "onnxruntime_us": float(np.median(peer.wall)), "ratio": float(np.median(peer.wall) / np.median(ours.wall))}


TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float64": np.float64, "int64": np.int64, "int32": np.int32, "int8": np.int8}


def as_type(value, dtype):
    """Integers below 100, as far as 8 bits hold."""
    return np.clip(np.rint(value * 8), -100, 100).astype(dtype) if np.issubdtype(dtype, np.integer) else value.astype(dtype)


def time_types(name, nodes, values, flags):
    """Microseconds by type; a type that grurun does not admit is left out."""
    values = {key: floats(*value) if isinstance(value, tuple) else value for key, value in values.items()}
    slices = {}
    with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
        for kind, dtype in {"float32": np.float32, **TYPES}.items():
            model, feed = make_case(nodes, {key: as_type(value, dtype) if value.dtype == np.float32 else value for key, value in values.items()})
            path = pathlib.Path(folder) / kind
            (path / "test_data_set_0").mkdir(parents=True)
            save(model, path / "model.onnx")
            for k, value in enumerate(feed.values()):
                (path / f"test_data_set_0/input_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
            given = ["--inputs", str(path / "test_data_set_0")]
            done = subprocess.run([flags.grurun, path / "model.onnx", *given, "-q"], capture_output=True)
            if done.returncode == 0:
                slices[kind] = Grurun(flags.grurun, path / "model.onnx", given, 1)
        slices["float32"].measure(3)
        runs = max(10, min(20000, int(1e6 * flags.slice_seconds / slices["float32"].wall.pop())))
        take_turns(flags.turns, 1, [functools.partial(each.measure, runs) for each in slices.values()])
    return {kind: float(np.median(each.wall)) for kind, each in slices.items()}


def compare_types(flags):
    """Rows of all operators whose inputs have elements of float32."""
    rows = []
    print("| operators | float32, us | " + " | ".join(TYPES) + " |\n|---|--:|" + "--:|" * len(TYPES))
    for name, nodes, values in chosen(flags):
        if not any(isinstance(value, tuple) or value.dtype == np.float32 for value in values.values()):
            continue
        row = time_types(name, nodes, values, flags)
        rows.append({"case": name, **row})
        print(f"| {name} | {row['float32']:.1f} | " + " | ".join(f"{row[kind] / row['float32']:.2f}" if kind in row else "" for kind in TYPES) + " |",
              flush=True)
    return rows


def chosen(flags):
    return [case for case in CASES if any(text in case[0] for text in flags.k.split(","))]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-k", default="", help="cases whose name holds this text; several by commas")
    arguments.add_argument("--threads", default="1")
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--slice-seconds", type=float, default=0.05, help="length of a turn")
    arguments.add_argument("--types", action="store_true", help="compare grurun's element types with each other instead")
    arguments.add_argument("--json")
    arguments.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", type=pathlib.Path)
    flags = arguments.parse_args()
    if not flags.grurun.is_file():
        arguments.error(f"{flags.grurun} is not there: build it first")
    if flags.types:
        rows = compare_types(flags)
        if flags.json:
            pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
        sys.exit(0)
    rows = []
    print("| operators | threads | grurun, us | ONNX Runtime, us | ratio |\n|---|--:|--:|--:|--:|")
    for threads in map(int, flags.threads.split(",")):
        for name, nodes, values in chosen(flags):
            row = compare(name, nodes, values, threads, flags)
            rows.append(row)
            print(f"| {name} | {threads} | {row['grurun_us']:.1f} | {row['onnxruntime_us']:.1f} | {row['ratio']:.2f} |"
                  + ("" if row["agrees"] else " outputs differ"), flush=True)
    if not rows:
        arguments.error(f"no case is named like '{flags.k}'")
    ratios = np.array([row["ratio"] for row in rows])
    print(f"\n{len(rows)} ratios: least {ratios.min():.2f}, geometric mean {np.exp(np.log(ratios).mean()):.2f}, below 0.8: {(ratios < 0.8).sum()}")
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if all(row["agrees"] for row in rows) else 1)


if __name__ == "__main__":
    main()
