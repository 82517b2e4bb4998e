"""Draws of the searches of com.microsoft, with small decoders, for compare_microsoft.py."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from microsoft_draws import operator, one

VOCABULARY, HEADS, SIZE = 9, 2, 3
WIDTH = HEADS * SIZE
INT, FLOAT = TensorProto.INT32, TensorProto.FLOAT


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def decoder_constants(d, scale):
    """The constants of a decoder."""
    return [
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


def decoder(d, name, scale):
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
    return helper.make_graph(nodes, name, inputs, outputs, decoder_constants(d, scale))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def heads_apart(of, key, value):
    """Nodes that make a key and a value [rows, heads, length, size] of the rows of words."""
    return [
        node("Reshape", [of, "heads"], [f"{key}_apart"]),
        node("Transpose", [f"{key}_apart"], [key], perm=[0, 2, 1, 3]),
        node("Mul", [key, "two"], [value]),
    ]


def answer(context):
    """Nodes that make logits of the words w and what is known of those before."""
    return [node("Tanh", [context], ["bounded"]), node("Add", ["w", "bounded"], ["sum"]), node("MatMul", ["sum", "out"], ["logits"])]


def encoder_decoder(d, scale):
    """Graphs like those of T5, of one layer."""
    tables = [
        constant("words", d.x(VOCABULARY, WIDTH)),
        constant("out", d.x(WIDTH, VOCABULARY, scale=scale)),
        constant("heads", np.asarray([0, 0, HEADS, SIZE], np.int64)),
        constant("flat", np.asarray([0, 1, WIDTH], np.int64)),
        constant("one", np.asarray([1], np.int64)),
        constant("time", np.asarray([2], np.int64)),
        constant("last", np.asarray([-1], np.int64)),
        constant("two", np.asarray(2, np.float32)),
    ]

    def value(name, kind, *dims):
        return helper.make_tensor_value_info(name, kind, dims)

    def caches(names, length):
        return [value(name, FLOAT, "rows", HEADS, length, SIZE) for name in names]

    mask = [node("Cast", ["encoder_attention_mask"], ["m"], to=FLOAT)]
    first = [
        node("Gather", ["words", "encoder_input_ids"], ["e"]),
        *mask,
        node("Unsqueeze", ["m", "last"], ["shown"]),
        node("Mul", ["e", "shown"], ["encoder_hidden_states"]),
        node("Gather", ["words", "decoder_input_ids"], ["w"]),
        *heads_apart("w", "present_key_self_0", "present_value_self_0"),
        *heads_apart("encoder_hidden_states", "present_key_cross_0", "present_value_cross_0"),
        node("ReduceSum", ["encoder_hidden_states", "one"], ["context"]),
        *answer("context"),
    ]
    seen = [value("encoder_input_ids", INT, "rows", "length"), value("encoder_attention_mask", INT, "rows", "length"), value("decoder_input_ids", INT, "rows", 1)]
    made = [value("logits", FLOAT, "rows", 1, VOCABULARY), value("encoder_hidden_states", FLOAT, "rows", "length", WIDTH)]
    made += caches(("present_key_self_0", "present_value_self_0"), 1) + caches(("present_key_cross_0", "present_value_cross_0"), "length")
    then = [
        node("Gather", ["words", "input_ids"], ["w"]),
        *heads_apart("w", "key", "value"),
        node("Concat", ["past_key_self_0", "key"], ["present_key_self_0"], axis=2),
        node("Concat", ["past_value_self_0", "value"], ["present_value_self_0"], axis=2),
        node("Add", ["present_key_self_0", "present_value_self_0"], ["own"]),
        node("Add", ["past_key_cross_0", "past_value_cross_0"], ["cross"]),
        node("ReduceSum", ["own", "time"], ["own_sum"], keepdims=0),
        node("ReduceSum", ["cross", "time"], ["cross_sum"], keepdims=0),
        node("Add", ["own_sum", "cross_sum"], ["all"]),
        node("Reshape", ["all", "flat"], ["context"]),
        *mask,
        node("ReduceSum", ["m", "one"], ["count"]),
        node("Unsqueeze", ["count", "last"], ["counted"]),
        node("Div", ["context", "counted"], ["mean"]),
        *answer("mean"),
    ]
    fed = [value("input_ids", INT, "rows", 1), value("encoder_attention_mask", INT, "rows", "length")]
    fed += caches(("past_key_self_0", "past_value_self_0"), "before") + caches(("past_key_cross_0", "past_value_cross_0"), "length")
    given = [value("logits", FLOAT, "rows", 1, VOCABULARY), *caches(("present_key_self_0", "present_value_self_0"), "now")]
    return helper.make_graph(first, "encoder", seen, made, tables), helper.make_graph(then, "decoder", fed, given, tables)


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
    if d.chance():
        attributes.pop("init_decoder", None)
        attributes["encoder"], attributes["decoder"] = encoder_decoder(d, d.any(0.3, 1.0))
        attributes |= {"model_type": 1, "decoder_start_token_id": d.below(VOCABULARY)}
        max_length, least = number(d.between(4, 7), d), number(d.below(3), d)
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
