"""What each rule of conformance/known_wrong.cc says of its cases, recomputed from the case's own inputs.

A proof gets the case and returns (right, mistaken, ...), lists of expected outputs: a mistaken one reproduces the case's files,
the right one does not. A case whose files contradict each other or the model has no values to compare:
its proof returns None when it holds and raises AssertionError when it does not.
"""

import dataclasses
import glob
import pathlib

import numpy as np
import onnx
import onnx.numpy_helper


@dataclasses.dataclass
class Case:
    folder: pathlib.Path
    model: onnx.ModelProto
    inputs: list
    expected: list

    @property
    def node(self):
        return self.model.graph.node[0]

    def attribute(self, name, default=None):
        found = [a for a in self.node.attribute if a.name == name]
        return onnx.helper.get_attribute_value(found[0]) if found else default


def read_protos(folder, kind, protos):
    files = sorted(glob.glob(f"{folder}/test_data_set_0/{kind}_*.pb"), key=lambda f: int(f.rsplit("_", 1)[1][:-3]))
    for file, info in zip(files, protos, strict=True):
        proto = onnx.SequenceProto() if info.type.HasField("sequence_type") else onnx.TensorProto()
        proto.ParseFromString(pathlib.Path(file).read_bytes())
        yield proto


def value(proto):
    if isinstance(proto, onnx.SequenceProto):
        return [onnx.numpy_helper.to_array(t) for t in proto.tensor_values]
    try:
        return onnx.numpy_helper.to_array(proto)
    except ValueError:  # the file does not hold what it declares: the proof looks at the protobuf
        return None


def load(folder):
    model = onnx.load(f"{folder}/model.onnx")
    initializers = {t.name for t in model.graph.initializer}
    inputs = read_protos(folder, "input", [i for i in model.graph.input if i.name not in initializers])
    return Case(pathlib.Path(folder), model, [value(p) for p in inputs],
                [value(p) for p in read_protos(folder, "output", model.graph.output)])


def adam(case, epsilon):
    """Adam-1 with T = 0: new values, then accumulated gradients, then accumulated squared gradients."""
    rate, count, *tensors = (v.astype(np.float64) for v in case.inputs)
    assert count == 0, "the learning rate is not adjusted"
    alpha, beta, decay = case.attribute("alpha", 0.9), case.attribute("beta", 0.999), case.attribute("norm_coefficient", 0.0)
    each = len(tensors) // 4
    outputs = [[], [], []]
    for x, g, v, h in zip(*(tensors[k * each:(k + 1) * each] for k in range(4))):
        g = decay * x + g
        v = alpha * v + (1 - alpha) * g
        h = beta * h + (1 - beta) * g * g
        for out, made in zip(outputs, (x - rate * v / (np.sqrt(h) + epsilon), v, h)):
            out.append(made)
    return [*outputs[0], *outputs[1], *outputs[2]]


def adam_epsilon(case):
    return adam(case, case.attribute("epsilon", 1e-6)), adam(case, 0.01)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(case, whole_rows=False, round_robin=False, mask_first=False, causal_from_past=True):
    """Attention-23/24: Y, present_key, present_value, qk_matmul_output, as far as the node names them.

    Each mistake by its flag: heads cut out of whole rows of [sequence, hidden], key heads shared round robin, the mask added
    before softcap. Until onnx 1.19.0 the causal frontier did not count the past.
    """
    given = {name: v for name, v in zip(["Q", "K", "V", "mask", "past_key", "past_value", "seqlen"],
                                        spread(case.node.input, case.inputs)) if v is not None}
    assert "seqlen" not in given, "no case in question has it"
    q, k, v = (given[n].astype(np.float64) for n in "QKV")
    flat = q.ndim == 3
    heads, kv_heads = case.attribute("q_num_heads"), case.attribute("kv_num_heads")

    def split(x, count):
        if x.ndim == 4:
            return x
        batch, length, _ = x.shape
        if whole_rows:
            return x.reshape(batch, count, length, -1)
        return x.reshape(batch, length, count, -1).transpose(0, 2, 1, 3)

    q, k, v = split(q, heads), split(k, kv_heads), split(v, kv_heads)
    if "past_key" in given:
        k = np.concatenate([given["past_key"], k], axis=2)
        v = np.concatenate([given["past_value"], v], axis=2)
    present = (k, v)
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = ((np.tile(x, (1, group, 1, 1)) if round_robin else np.repeat(x, group, axis=1)) for x in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * case.attribute("scale", 1 / np.sqrt(q.shape[3]))
    bias = np.zeros(scores.shape[-2:])
    if "mask" in given:
        mask = np.where(given["mask"], 0.0, -np.inf) if given["mask"].dtype == bool else given["mask"].astype(np.float64)
        short = scores.shape[-1] - mask.shape[-1]
        bias = np.concatenate([mask, np.full((*mask.shape[:-1], short), -np.inf)], axis=-1)
    if case.attribute("is_causal", 0):
        past = given["past_key"].shape[2] if "past_key" in given and causal_from_past else 0
        bias = bias + np.where(np.tril(np.ones(scores.shape[-2:]), past) > 0, 0.0, -np.inf)
    cap = case.attribute("softcap", 0.0)
    limit = (lambda x: cap * np.tanh(x / cap)) if cap else (lambda x: x)
    stages = [scores, scores + bias, limit(scores + bias)] if mask_first else [scores, limit(scores), limit(scores) + bias]
    weights = softmax(stages[2])
    y = weights @ v
    if flat:
        y = y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)
    all_outputs = [y, *present, [*stages, weights][case.attribute("qk_matmul_output_mode", 0)]]
    return [out for out, name in zip(all_outputs, case.node.output) if name]


def spread(names, values):
    """The values in the places of the inputs that are named, None for those that are left out."""
    values = iter(values)
    return [next(values) if name else None for name in names] + [None] * 7


def attention_3d(case):
    return attention(case), attention(case, whole_rows=True, round_robin=True, mask_first=True, causal_from_past=False)


def attention_gqa(case):
    return attention(case), attention(case, round_robin=True, mask_first=True, causal_from_past=False)


def attention_mask_after_softcap(case):
    return attention(case), *(attention(case, mask_first=True, causal_from_past=c) for c in (True, False))


def averagepool_ceil_mode(case):
    (x,), ceil = case.inputs, case.attribute("ceil_mode")
    kernel, strides, dilations = (np.array(case.attribute(n)) for n in ("kernel_shape", "strides", "dilations"))
    assert ceil and not any(case.attribute("pads", [0])), "no pads, and windows that run past the end"
    reach = (kernel - 1) * dilations + 1
    size = np.array(x.shape[2:])
    out = np.ceil((size - reach) / strides).astype(int) + 1
    mistaken, right = np.zeros((2, *x.shape[:2], *out))
    for at in np.ndindex(*out):
        taps = [[t for t in s * stride + np.arange(n) * d if t < extent]
                for s, stride, n, d, extent in zip(at, strides, kernel, dilations, size)]
        window = x[(slice(None), slice(None), *np.ix_(*taps))].astype(np.float64).sum(axis=tuple(range(2, x.ndim)))
        mistaken[(..., *at)] = window / np.prod(kernel)
        right[(..., *at)] = window / np.prod([len(t) for t in taps])
    return [right], [mistaken]


def bfloat16_as_uint16(case):
    def declared(infos, kind):
        protos = read_protos(case.folder, kind, infos)
        return [(info.type.tensor_type.elem_type, proto.data_type) for info, proto in zip(infos, protos)]

    pairs = declared(case.model.graph.input, "input") + declared(case.model.graph.output, "output")
    assert (onnx.TensorProto.BFLOAT16, onnx.TensorProto.UINT16) in pairs


def cast_string_pointers(case):
    protos = [*read_protos(case.folder, "input", case.model.graph.input),
              *read_protos(case.folder, "output", case.model.graph.output)]
    (text,) = [p for p in protos if p.data_type == onnx.TensorProto.STRING]
    assert len(text.string_data) == 3 and np.prod(text.dims) == 12
    assert all(len(s) == 32 for s in text.string_data)  # four pointers of eight bytes each


def col2im_pads(case):
    x, image, block = case.inputs
    (begin_h, begin_w, end_h, end_w), blocks = case.attribute("pads"), image - block + 1
    padded = np.zeros((image[0] + begin_h + end_h, image[1] + begin_w + end_w))
    rows, columns = blocks[0] + begin_h + end_h, blocks[1] + begin_w + end_w
    for k, values in zip(np.ndindex(*block), x[0].reshape(-1, rows, columns), strict=True):
        padded[k[0]:k[0] + rows, k[1]:k[1] + columns] += values
    right = padded[begin_h:begin_h + image[0], begin_w:begin_w + image[1]][None, None]
    mistaken = right.copy()
    mistaken[0, 0, 0, 4] -= 10
    return [right], [mistaken]


def conv_transpose(case, extra_at_begin):
    x, w = (v.astype(np.float64) for v in case.inputs)
    stride, kernel = case.attribute("strides")[0], w.shape[2]
    whole = np.zeros((x.shape[0], w.shape[1], *(stride * (n - 1) + kernel for n in x.shape[2:])))
    for i, j in np.ndindex(*x.shape[2:]):
        whole[:, :, i * stride:i * stride + kernel, j * stride:j * stride + kernel] += np.einsum(
            "nc,cmhw->nmhw", x[:, :, i, j], w)
    cut = whole.shape[2] - stride * x.shape[2]
    begin = cut - cut // 2 if extra_at_begin else cut // 2
    return [whole[:, :, begin:begin + stride * x.shape[2], begin:begin + stride * x.shape[3]]]


def convtranspose_same_lower(case):
    assert case.attribute("auto_pad") == b"SAME_LOWER"
    return conv_transpose(case, extra_at_begin=True), conv_transpose(case, extra_at_begin=False)


def dft_two_answers(case):
    x = case.inputs[0]
    axis = int(case.inputs[-1]) if len(case.inputs) > 1 else case.attribute("axis", 1)

    def inverse(dtype):
        y = np.fft.ifft((x[..., 0] + 1j * x[..., 1]).astype(dtype), axis=axis)
        assert y.dtype == dtype, "numpy before 2 computes in double only"
        return [np.stack([y.real, y.imag], axis=-1).astype(np.float32)]

    return inverse(np.complex64), inverse(np.complex128)


def lpnormalization_zero(case):
    (x,) = case.inputs
    norm = np.sqrt((x * x).sum(axis=case.attribute("axis", -1), keepdims=True))
    return [np.where(norm == 0, 0, x / norm)], [x / norm]


def mod_fmod_missing(case):
    x, y = case.inputs
    assert case.model.opset_import[0].version < 28, "Mod-28 admits fmod 0 for floats"
    assert case.attribute("fmod", 0) == 0 and x.dtype == np.float64
    return [np.fmod(x, y)], [np.mod(x, y)]


def momentum(case, rate, count):
    """Momentum-1: new values, then new momenta."""
    tensors = [v.astype(np.float64) for v in case.inputs[2:]]
    alpha, decay = case.attribute("alpha"), case.attribute("norm_coefficient")
    beta = case.attribute("beta") if count > 0 else 1
    each = len(tensors) // 3
    values, momenta = [], []
    for x, g, v in zip(*(tensors[k * each:(k + 1) * each] for k in range(3))):
        g = decay * x + g
        v = alpha * v + beta * g
        values.append(x - rate * (v if case.attribute("mode") == b"standard" else g + alpha * v))
        momenta.append(v)
    return [*values, *momenta]


def momentum_swapped(case):
    rate, count = case.inputs[0].item(), case.inputs[1].item()
    return momentum(case, rate, count), momentum(case, count, rate)


def qlinearmatmul_wrapped(case):
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = case.inputs
    assert case.expected[0].dtype == np.int8
    product = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)

    def real(*scales):
        return np.rint(product * (scales[0] * scales[1] / scales[2]).astype(np.float64)) + y_zero

    wrapped = real(a_scale, b_scale, y_scale).astype(np.int64).astype(np.int8)  # the scale in its own precision
    exact = real(*(s.astype(np.float64) for s in (a_scale, b_scale, y_scale)))
    return [np.clip(exact, -128, 127).astype(np.int8)], [wrapped]


def resize_nearest_mode(case):
    x, *_, sizes = case.inputs
    assert case.attribute("mode") == b"nearest" and case.model.opset_import[0].version == 11
    assert case.attribute("nearest_mode") is None
    coordinates = case.attribute("coordinate_transformation_mode", b"half_pixel")

    def resized(rounding):
        y = x
        for axis, (length, size) in enumerate(zip(x.shape, sizes)):
            o = np.arange(size)
            place = {b"half_pixel": (o + 0.5) * length / size - 0.5, b"asymmetric": o * length / size,
                     b"align_corners": o * (length - 1) / max(size - 1, 1)}[coordinates]
            y = np.take(y, np.clip(rounding(place), 0, length - 1).astype(int), axis=axis)
        return [y]

    return resized(lambda p: np.ceil(p - 0.5)), resized(np.floor), resized(np.ceil), resized(lambda p: np.floor(p + 0.5))


def sequence_insert_front(case):
    sequence, tensor, position = case.inputs
    assert position.item() == 0
    return [[tensor, *sequence]], [[*sequence, tensor]]


def shrink_rank(case):
    declared = [len(v.type.tensor_type.shape.dim) for v in (case.model.graph.input[0], case.model.graph.output[0])]
    assert declared == [2, 2] and [v.ndim for v in (case.inputs[0], case.expected[0])] == [1, 1]


def softplus_add_1(case):
    (opset,) = case.model.opset_import
    (add,) = [n for n in case.model.graph.node if n.op_type == "Add"]
    assert opset.version < 7 and not add.attribute and case.inputs[0].ndim > 0
    (one,) = [n for n in case.model.graph.node if n.op_type == "Constant"]
    assert not one.attribute[0].t.dims  # a scalar, which only broadcasting can add to the input


def unique_sorted(case):
    (x,) = case.inputs
    y, indices, inverse, counts = case.expected
    assert case.attribute("sorted") == 0 and not np.array_equal(y[inverse], x)
    return [x[indices], indices, inverse, counts], [np.unique(x), indices, inverse, counts]


def proof(rule):
    """The proof of a rule, by its id."""
    return globals()[rule.replace("-", "_")]
