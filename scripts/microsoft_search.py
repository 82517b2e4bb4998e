"""Draws of the searches of com.microsoft, with small decoders, for compare_microsoft.py."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from microsoft_draws import operator, one

VOCABULARY, HEADS, SIZE = 9, 2, 3
WIDTH = HEADS * SIZE
INT, FLOAT = TensorProto.INT32, TensorProto.FLOAT


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def attend(d, scale):
    """Nodes that make (logits, present) of (ids, positions or none, mask, past [2, rows, heads, length, size]), and their constants."""
    tables = [
        constant("words", d.x(VOCABULARY, WIDTH)),
        constant("places", d.x(64, WIDTH)),
        constant("out", d.x(WIDTH, VOCABULARY, scale=scale)),
        constant("heads", np.asarray([0, 0, HEADS, SIZE], np.int64)),
        constant("flat", np.asarray([0, 1, WIDTH], np.int64)),
        constant("front", np.asarray([0], np.int64)),
        constant("mask_axes", np.asarray([0, 2, 4], np.int64)),
        constant("time", np.asarray([3], np.int64)),
        constant("two", np.asarray(2, np.float32)),
    ]
    return tables


def decoder(d, name, scale):
    def node(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs, outputs, **attributes)

    nodes = [
        node("Gather", ["words", "input_ids"], ["word"]),
        node("Gather", ["places", "position_ids"], ["place"]),
        node("Add", ["word", "place"], ["embedded"]),
        node("Reshape", ["embedded", "heads"], ["apart"]),
        node("Transpose", ["apart"], ["key"], perm=[0, 2, 1, 3]),
        node("Mul", ["key", "two"], ["value"]),
        node("Unsqueeze", ["key", "front"], ["key_one"]),
        node("Unsqueeze", ["value", "front"], ["value_one"]),
        node("Concat", ["key_one", "value_one"], ["now"], axis=0),
        node("Concat", ["past_0", "now"], ["present_0"], axis=3),
        node("Cast", ["attention_mask"], ["mask_float"], to=FLOAT),
        node("Unsqueeze", ["mask_float", "mask_axes"], ["shown"]),
        node("Mul", ["present_0", "shown"], ["seen"]),
        node("ReduceSum", ["seen", "time"], ["sums"], keepdims=0),
        node("ReduceSum", ["sums", "front"], ["sum"], keepdims=0),
        node("Reshape", ["sum", "flat"], ["context"]),
        node("Tanh", ["context"], ["bounded"]),
        node("Add", ["embedded", "bounded"], ["hidden"]),
        node("MatMul", ["hidden", "out"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    inputs = [info(n, INT, ["rows", length]) for n, length in (("input_ids", "length"), ("position_ids", "length"), ("attention_mask", "all"))]
    inputs.append(info("past_0", FLOAT, [2, "rows", HEADS, "before", SIZE]))
    outputs = [info("logits", FLOAT, ["rows", "length", VOCABULARY]), info("present_0", FLOAT, [2, "rows", HEADS, "all", SIZE])]
    return helper.make_graph(nodes, name, inputs, outputs, attend(d, scale))


def number(value, d, kind=np.int32):
    return one(np.asarray([value], kind), d).reshape(1)


def search(d):
    """Attributes of any search, its prompt, max_length, min_length, and the masks."""
    batch, length = d.between(1, 3), d.between(1, 4)
    prompt = d.whole(np.int32, batch, length, low=0, high=VOCABULARY - 1)
    attributes = {"eos_token_id": d.below(VOCABULARY), "pad_token_id": d.below(VOCABULARY)}
    attributes["no_repeat_ngram_size"] = d.any(None, 2, 3)
    attributes["vocab_size"] = d.any(None, VOCABULARY)
    scale = d.any(0.3, 1.0)
    attributes["decoder"] = decoder(d, "decoder", scale)
    if d.chance():
        attributes["init_decoder"] = decoder(d, "init_decoder", scale)
    max_length = length + d.between(1, 6)
    least = d.maybe(lambda: number(length + d.below(max_length - length), d))
    mask = d.maybe(lambda: (d.random.uniform(size=VOCABULARY) < 0.8).astype(np.int32))
    prefix = d.maybe(lambda: (d.random.uniform(size=(batch, VOCABULARY)) < 0.8).astype(np.int32))
    shown = None
    if d.chance():
        shown = (np.arange(length)[None] >= d.whole(np.int32, batch, 1, low=0, high=length - 1)).astype(np.int32)
    return attributes, prompt, number(max_length, d), least, mask, prefix, shown


def without_end(d, attributes, max_length, mask):
    """min_length and vocab_mask by which no row ends: the package leaves open what stands behind the end of all rows."""
    if d.chance():
        return number(int(max_length[0]) - 1, d), mask
    mask = np.ones(VOCABULARY, np.int32) if mask is None else mask
    mask[attributes["eos_token_id"]] = 0
    return None, mask


@operator("GreedySearch")
def greedy_search(d):
    attributes, prompt, max_length, _, mask, prefix, shown = search(d)
    least, mask = without_end(d, attributes, max_length, mask)
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3, 0.8), d, np.float32))
    return d.case([prompt, max_length, least, penalty, mask, prefix, shown], attributes)


@operator("BeamSearch")
def beam_search(d):
    attributes, prompt, max_length, least, mask, prefix, shown = search(d)
    attributes["early_stopping"] = d.any(None, 1)
    least = number(0, d) if least is None else least  # without it the package misses max_length
    beams = d.between(1, 4)
    returned = d.between(1, beams)
    length_penalty = number(d.any(1.0, 2.0, 0.5), d, np.float32)
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3), d, np.float32))
    inputs = [prompt, max_length, least, number(beams, d), number(returned, d), length_penalty, penalty, mask, prefix, shown]
    return d.case(inputs, attributes, d.any((True,), (True, True), (True, True, True)), constants=())


@operator("Sampling")
def sampling(d):
    attributes, prompt, max_length, _, mask, prefix, shown = search(d)
    least, mask = without_end(d, attributes, max_length, mask)
    attributes |= {"custom": d.any(None, 1), "top_p": d.any(0.5, 0.9), "temperature": d.any(None, 0.7)}
    attributes |= {"min_tokens_to_keep": d.any(None, 2), "filter_value": d.any(None, -1e6)}
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3), d, np.float32))
    seed = number(d.below(1000), d)
    return d.case([prompt, max_length, least, penalty, mask, prefix, shown, None, seed], attributes)
