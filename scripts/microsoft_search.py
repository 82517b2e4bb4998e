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
        constant("begin", np.asarray([0], np.int64)),
        constant("far", np.asarray([2**31], np.int64)),
    ]


def grown(shares):
    """Nodes that put what is new behind the past, in a buffer that has room for all where it is shared; live: what it holds."""
    if not shares:
        return [node("Concat", ["past_0", "now"], ["present_0"], axis=3), node("Identity", ["present_0"], ["live"])]
    return [
        node("Cast", ["past_sequence_length"], ["before"], to=TensorProto.INT64),
        node("Shape", ["input_ids"], ["length_now"], start=1, end=2),
        node("Add", ["before", "length_now"], ["end"]),
        node("Slice", ["past_0", "begin", "before", "time"], ["head"]),
        node("Slice", ["past_0", "end", "far", "time"], ["tail"]),
        node("Concat", ["head", "now", "tail"], ["present_0"], axis=3),
        node("Slice", ["present_0", "begin", "end", "time"], ["live"]),
    ]


def decoder(d, name, scale, shares):
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
        *grown(shares),
        node("Cast", ["attention_mask"], ["mask_float"], to=FLOAT),
        node("Unsqueeze", ["mask_float", "mask_axes"], ["shown"]),
        node("Mul", ["live", "shown"], ["seen"]),
        node("ReduceSum", ["seen", "time"], ["sums"], keepdims=0),
        node("ReduceSum", ["sums", "front"], ["sum"], keepdims=0),
        node("Reshape", ["sum", "flat"], ["context"]),
        node("Tanh", ["context"], ["bounded"]),
        node("Add", ["embedded", "bounded"], ["hidden"]),
        node("MatMul", ["hidden", "out"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    inputs = [info(n, INT, ["rows", length]) for n, length in (("input_ids", "length"), ("position_ids", "length"), ("attention_mask", "all"))]
    inputs.append(info("past_0", FLOAT, [2, "rows", HEADS, "past", SIZE]))
    if shares:
        inputs.append(info("past_sequence_length", INT, [1]))
    outputs = [info("logits", FLOAT, ["rows", "length", VOCABULARY]), info("present_0", FLOAT, [2, "rows", HEADS, "present", SIZE])]
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


def encoder_decoder(d, scale, features=None, words=VOCABULARY):
    """Graphs like those of T5 or, of so many features, of Whisper, of one layer. T5's encoder may leave the first step out."""
    speech = features is not None
    first_step = speech or d.chance()
    tables = [
        constant("words", d.x(words, WIDTH)),
        constant("out", d.x(WIDTH, words, scale=scale)),
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

    mask = [] if speech else [node("Cast", ["encoder_attention_mask"], ["m"], to=FLOAT)]
    if speech:
        tables.append(constant("lift", d.x(features, WIDTH)))
        first = [node("Transpose", ["encoder_input_ids"], ["frames"], perm=[0, 2, 1])]
        first.append(node("MatMul", ["frames", "lift"], ["encoder_hidden_states"]))
        seen = [value("encoder_input_ids", FLOAT, "rows", features, "length")]
    else:
        first = [node("Gather", ["words", "encoder_input_ids"], ["e"]), *mask, node("Unsqueeze", ["m", "last"], ["shown"])]
        first.append(node("Mul", ["e", "shown"], ["encoder_hidden_states"]))
        seen = [value("encoder_input_ids", INT, "rows", "length"), value("encoder_attention_mask", INT, "rows", "length")]
    first += heads_apart("encoder_hidden_states", "present_key_cross_0", "present_value_cross_0")
    made = caches(("present_key_cross_0", "present_value_cross_0"), "length")
    if first_step:
        begun = "begun" if speech else 1
        first += [node("Gather", ["words", "decoder_input_ids"], ["w"]), *heads_apart("w", "present_key_self_0", "present_value_self_0")]
        first += [node("ReduceSum", ["encoder_hidden_states", "one"], ["context"]), *answer("context")]
        seen.append(value("decoder_input_ids", INT, "rows", begun))
        logits = [value("logits", FLOAT, "rows", begun, words), value("encoder_hidden_states", FLOAT, "rows", "length", WIDTH)]
        made = logits + caches(("present_key_self_0", "present_value_self_0"), begun) + made
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
    ]
    if speech:
        then += answer("context")
    else:
        then += [*mask, node("ReduceSum", ["m", "one"], ["count"]), node("Unsqueeze", ["count", "last"], ["counted"])]
        then += [node("Div", ["context", "counted"], ["mean"]), *answer("mean")]
    fed = [value("input_ids", INT, "rows", 1)]
    if not speech:
        fed.append(value("encoder_attention_mask", INT, "rows", "length"))
    fed += caches(("past_key_self_0", "past_value_self_0"), "before") + caches(("past_key_cross_0", "past_value_cross_0"), "length")
    given = [value("logits", FLOAT, "rows", 1, words), *caches(("present_key_self_0", "present_value_self_0"), "now")]
    return helper.make_graph(first, "encoder", seen, made, tables), helper.make_graph(then, "decoder", fed, given, tables)


def number(value, d, kind=np.int32):
    return one(np.asarray([value], kind), d).reshape(1)


def search(d, shares):
    """Attributes of any search, its prompt, max_length, min_length, and the masks."""
    batch, length = d.between(1, 3), d.between(1, 4)
    prompt = d.whole(np.int32, batch, length, low=0, high=VOCABULARY - 1)
    attributes = {"eos_token_id": d.below(VOCABULARY), "pad_token_id": d.below(VOCABULARY)}
    attributes["no_repeat_ngram_size"] = d.any(None, 2, 3)
    attributes["vocab_size"] = d.any(None, VOCABULARY)
    scale = d.any(0.3, 1.0)
    attributes["decoder"] = decoder(d, "decoder", scale, shares)
    if d.chance():
        attributes["init_decoder"] = decoder(d, "init_decoder", scale, shares)
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


def beam_outputs(d, batch, words, attributes, mask):
    """Which outputs are wanted, and the vocab_mask: scores behind the end of an entry are not stated, so that none ends there."""
    # Without it the package takes scores of other entries to judge whether one may become better.
    attributes["early_stopping"] = 1 if batch > 1 else d.any(None, 1)
    outputs = d.any((True,), (True, True), (True, True, True))
    if len(outputs) == 3:
        mask = np.ones(words, np.int32) if mask is None else mask
        mask[attributes["eos_token_id"]] = 0
    return outputs, mask


@operator("GreedySearch")
def greedy_search(d):
    attributes, prompt, max_length, _, mask, prefix, shown = search(d, d.chance())
    least, mask = without_end(d, attributes, max_length, mask)
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3, 0.8), d, np.float32))
    return d.case([prompt, max_length, least, penalty, mask, prefix, shown], attributes)


@operator("BeamSearch")
def beam_search(d):
    beams = d.between(1, 4)
    # Of several beams the package does not move what lies in a shared buffer.
    attributes, prompt, max_length, least, mask, prefix, shown = search(d, beams == 1 and d.chance())
    outputs, mask = beam_outputs(d, prompt.shape[0], VOCABULARY, attributes, mask)
    least = number(0, d) if least is None else least  # without it the package misses max_length
    if d.chance():
        attributes.pop("init_decoder", None)
        attributes["encoder"], attributes["decoder"] = encoder_decoder(d, d.any(0.3, 1.0))
        attributes |= {"model_type": 1, "decoder_start_token_id": d.below(VOCABULARY)}
        max_length, least = number(d.between(4, 7), d), number(d.below(3), d)
    returned = d.between(1, beams)
    length_penalty = number(d.any(1.0, 2.0, 0.5), d, np.float32)
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3), d, np.float32))
    inputs = [prompt, max_length, least, number(beams, d), number(returned, d), length_penalty, penalty, mask, prefix, shown]
    if d.chance():  # without effect on these models
        inputs += [prompt, number(d.below(3), d)]
    return d.case(inputs, attributes, outputs, constants=())


@operator("WhisperBeamSearch")
def whisper_beam_search(d):
    batch, features, frames, begun, words = d.between(1, 3), d.between(1, 3), d.between(1, 4), d.between(1, 4), d.any(20, 80)
    attributes = {"eos_token_id": d.below(6), "pad_token_id": d.below(words), "decoder_start_token_id": d.between(6, 8)}
    attributes |= {"no_repeat_ngram_size": d.any(None, 2, 3), "vocab_size": d.any(None, words)}
    attributes["encoder"], attributes["decoder"] = encoder_decoder(d, d.any(0.3, 1.0), features, words)
    starts = None if d.chance() else d.whole(np.int32, batch, begun, low=0, high=words - 1)
    length = 1 if starts is None else begun
    processor = d.any(None, 0, 1, 1)
    if processor == 1:
        names = ("translate_token_id", "transcribe_token_id", "start_of_lm_token_id", "no_timestamps_token_id")
        attributes |= {name: 9 + i for i, name in enumerate(names) if d.chance()}
        attributes["beginning_timestamp_token_id"] = d.between(13, 16)
    max_length, beams = length + d.between(3, 9), d.between(1, 4)
    penalties = [number(d.any(1.0, 2.0, 0.5), d, np.float32), d.maybe(lambda: number(d.any(1.0, 1.3), d, np.float32))]
    mask = d.maybe(lambda: (d.random.uniform(size=words) < 0.8).astype(np.int32))
    outputs, mask = beam_outputs(d, batch, words, attributes, mask)
    prefix = d.maybe(lambda: (d.random.uniform(size=(batch, words)) < 0.8).astype(np.int32))
    inputs = [d.x(batch, features, frames), number(max_length, d), number(d.below(max_length), d), number(beams, d)]
    inputs += [number(d.between(1, beams), d), *penalties, mask, prefix, None, starts]
    inputs += [None if processor is None else number(processor, d), None, None, d.maybe(lambda: number(d.any(0.5, 2.0), d, np.float32))]
    return d.case(inputs, attributes, outputs, constants=())


@operator("Sampling")
def sampling(d):
    attributes, prompt, max_length, _, mask, prefix, shown = search(d, d.chance())
    least, mask = without_end(d, attributes, max_length, mask)
    attributes |= {"custom": d.any(None, 1), "top_p": d.any(0.5, 0.9), "temperature": d.any(None, 0.7)}
    attributes |= {"min_tokens_to_keep": d.any(None, 2), "filter_value": d.any(None, -1e6)}
    penalty = d.maybe(lambda: number(d.any(1.0, 1.3), d, np.float32))
    seed = number(d.below(1000), d)
    return d.case([prompt, max_length, least, penalty, mask, prefix, shown, None, seed], attributes)
