"""Draws of the attentions of com.microsoft, for compare_microsoft.py."""

import numpy as np

from microsoft_draws import operator, quantized, weights


def mask_of(d, batch, length, total, forms):
    """A key mask of one of the forms: None, lengths, ranges, keys, queries."""
    form = d.any(*forms)
    if form == "lengths":
        return d.whole(np.int32, batch, low=1, high=total)
    if form == "ranges":
        ends = d.whole(np.int32, batch, low=1, high=total)
        return np.concatenate([ends, ends * 0 + d.below(2) * (ends > 1).astype(np.int32)]).astype(np.int32)
    if form == "keys":
        return d.whole(np.int32, batch, total, low=0, high=1)
    if form == "queries":
        return d.whole(np.int32, batch, length, total, low=0, high=1)
    return None


@operator("Attention")
def attention(d):
    batch, length, width, heads, size = d.between(1, 3), d.between(1, 6), d.between(2, 9), d.between(1, 3), d.any(2, 4, 8)
    hidden = heads * size
    attributes = {"num_heads": heads, "unidirectional": d.below(2), "scale": d.any(None, 0.3)}
    v_hidden, past = hidden, None
    if d.chance():
        v_hidden = heads * d.any(2, size)
        attributes["qkv_hidden_sizes"] = [hidden, hidden, v_hidden]
    before = d.between(1, 4)
    if v_hidden == hidden and d.chance():
        past = d.x(2, batch, heads, before, size)
    total = length + (before if past is not None else 0)
    mask = mask_of(d, batch, length, total, (None, "lengths", "ranges", "keys", "queries"))
    if mask is not None:
        attributes["mask_filter_value"] = d.any(None, -50.0)
    loose = {} if mask is None else {"rtol": 2e-3, "atol": 2e-3}  # a score less 10000 keeps three digits
    bias = d.maybe(lambda: d.x(d.any(1, batch), d.any(1, heads), length, total))
    inputs = [d.x(batch, length, width), d.x(width, 2 * hidden + v_hidden), d.maybe(lambda: d.x(2 * hidden + v_hidden)), mask, past, bias]
    return d.case(inputs, attributes, (True, True) if past is not None else (True,), constants=(1, 2), **loose)


@operator("MultiHeadAttention")
def multi_head_attention(d):
    batch, length, keys, heads, size = d.between(1, 3), d.between(1, 6), d.between(1, 6), d.between(1, 3), d.any(2, 4, 8)
    hidden, v_size = heads * size, size
    form = d.any("apart", "apart", "packed", "pair", "cross")
    past_key = past_value = None
    before = 0
    if form == "packed":
        keys = length
        inputs = [d.x(batch, length, heads, 3, size), None, None]
    elif form == "pair":
        inputs = [d.x(batch, length, hidden), d.x(batch, keys, heads, 2, size), None]
    elif form == "cross":
        inputs = [d.x(batch, length, hidden), d.x(batch, heads, keys, size), d.x(batch, heads, keys, size)]
    else:
        if d.chance():
            keys = length
            before = d.between(1, 4)
            past_key, past_value = d.x(batch, heads, before, size), d.x(batch, heads, before, size)
        else:
            v_size = d.any(2, size)
        inputs = [d.x(batch, length, hidden), d.x(batch, keys, hidden), d.x(batch, keys, heads * v_size)]
    total = before + keys
    bias = d.maybe(lambda: d.x(2 * hidden + heads * v_size))
    mask = mask_of(d, batch, length, total, (None, "lengths", "keys", "queries"))
    added = d.maybe(lambda: d.x(d.any(1, batch), d.any(1, heads), length, total))
    attributes = {"num_heads": heads, "scale": d.any(None, 0.3), "unidirectional": d.below(2)}
    if mask is not None:
        attributes["mask_filter_value"] = d.any(None, -50.0)
    loose = {} if mask is None else {"rtol": 2e-3, "atol": 2e-3}
    outputs = (True, True, True) if past_key is not None or (form == "apart" and d.chance()) else (True,)
    return d.case([*inputs, bias, mask, added, past_key, past_value], attributes, outputs, constants=(3,), **loose)


@operator("QAttention", "uint8", "int8")
def quantized_attention(d):
    kind = quantized(d)
    batch, length, width, heads, size = d.between(1, 3), d.between(1, 6), d.between(2, 9), d.between(1, 3), d.any(2, 4, 8)
    hidden, before = heads * size, d.between(1, 4)
    past = d.maybe(lambda: d.x(2, batch, heads, before, size))
    total = length + (before if past is not None else 0)
    mask = mask_of(d, batch, length, total, (None, "lengths", "keys", "queries"))
    columns = d.any((), (3 * hidden,))
    inputs = [d.whole(np.uint8, batch, length, width), weights(d, kind, width, 3 * hidden), d.x(3 * hidden)]
    inputs += [d.scale(), d.scale(*columns), mask, d.whole(np.uint8)]
    inputs += [d.whole(kind, *columns) if columns else d.whole(kind), past]
    attributes = {"num_heads": heads, "unidirectional": d.below(2)}
    if mask is not None:
        attributes["mask_filter_value"] = -50.0
    return d.case(inputs, attributes, (True, True) if past is not None else (True,), constants=(1, 2, 3, 4, 6, 7), rtol=1e-3, atol=1e-3)


@operator("RotaryEmbedding", "float", "float16")
def rotary_embedding(d):
    batch, length, heads, size = d.between(1, 3), d.between(1, 5), d.between(1, 3), d.any(4, 8)
    attributes = {"interleaved": d.below(2), "scale": d.any(None, 2.0), "is_packed_batching": d.any(None, 1)}
    rotary = size
    if d.chance():
        rotary = size // 2
        attributes |= {"rotary_embedding_dim": rotary, "num_heads": heads}
    elif d.chance():
        attributes |= {"num_heads": heads}
    shape = d.any((batch, length, heads * size), (batch, heads, length, size))
    positions = d.any(d.whole(np.int64, 1, low=0, high=3), d.whole(np.int64, batch, length, low=0, high=7))
    return d.case([d.x(*shape), positions, d.x(8, rotary // 2), d.x(8, rotary // 2)], attributes, constants=(2, 3))


@operator("GroupQueryAttention", "float", "float16")
def group_query_attention(d):
    batch, kv_heads, size = d.between(1, 3), d.between(1, 2), d.any(16, 32)
    heads = kv_heads * d.between(1, 3)
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads, "scale": d.any(None, 0.3), "softcap": d.any(None, 0.0, 5.0)}
    form = d.any("prompt", "prompt", "step", "step", "padded", "slides")
    window = d.any(2, 3) if form == "slides" else d.any(None, None, 2, 3)
    attributes |= {"local_window_size": window, "smooth_softmax": d.any(None, None, 1)}
    prompt, room = form == "prompt", 9
    length = 1 if form == "step" else d.between(1, 5)
    totals = np.full(batch, length) if prompt else d.random.integers(1, room, batch) + 1
    counts, given = np.minimum(totals, length), None
    if form == "padded" or (form == "slides" and (d.chance() or length > 1)):
        attributes["local_window_size"] = window if form == "slides" or d.chance() else None
        given = counts = d.random.integers(0, np.minimum(length, totals) + 1)
    elif window is None and d.chance():
        attributes["causal"] = 0
    before, total = totals - counts, int(totals.max())
    past = d.any(None, room) if prompt else d.any(room, total - 1)
    if form == "padded":
        past = total = room + length
    if form == "slides":
        attributes["sliding_window_cache"], past = 1, window + d.below(3)
        dropped = past - window + 1
        before, kept = (n - dropped * (-(-np.maximum(n - past, 0) // dropped)) for n in (before, totals))
    inputs = [d.x(batch, length, n * size) for n in (heads, kv_heads, kv_heads)]
    if d.chance():
        inputs = [np.concatenate(inputs, axis=2), None, None]
    if past is None:
        inputs += [None, None]
    else:
        # What is behind an entry's keys is not said: zeros.
        filled = np.arange(past)[None, None, :, None] < before[:, None, None, None]
        inputs += [np.where(filled, d.x(batch, kv_heads, past, size), 0).astype(np.float32) for _ in range(2)]
    inputs += [(totals - 1).astype(np.int32), np.asarray([total], np.int32).reshape(d.any((), (1,)))]
    if d.chance():
        attributes |= {"do_rotary": 1, "rotary_interleaved": d.below(2)}
        inputs += [d.x(16, size // 2), d.x(16, size // 2)]
    else:
        inputs += [None, None]
    inputs.append(None)
    inputs.append(d.maybe(lambda: d.x(d.any(1, batch), d.any(1, heads), length, total)))
    loose = {}
    if past is not None and d.chance():
        if d.dtype == "float16":  # what a cache of integers stands for is rounded to 16 bits before it is multiplied
            loose = {"rtol": 1e-2, "atol": 1e-2}
        quantized_cache(d, attributes, inputs, filled, kv_heads, size)
    inputs += [None] * (16 - len(inputs)) + [None if given is None else given.astype(np.int32)]
    outputs, stated = [True, True, True], {}
    if form in ("prompt", "step") and d.chance():
        attributes["qk_output"] = d.any(1, 2)
        outputs.append(True)
    if form == "slides":
        stated = {i: np.arange(past)[None, None, :, None] < kept[:, None, None, None] for i in (1, 2)}
    if given is not None:
        stated[0] = np.arange(length)[None, :, None] < given[:, None, None]
    return d.case(inputs, attributes, outputs, constants=(7, 8), wide=(12, 13), stated=stated, **loose)


def quantized_cache(d, attributes, inputs, filled, kv_heads, size):
    """Makes the caches those of integers."""
    bits, kind = d.any(4, 8), d.any("PER_TENSOR", "PER_CHANNEL")
    attributes["kv_cache_bit_width"] = bits
    for i, name in ((3, "k"), (4, "v")):
        shape = inputs[i].shape
        cache = d.whole(np.int8, *shape) if bits == 8 else d.whole(np.uint8, *shape[:3], size // 2)
        inputs[i] = np.where(filled, cache, 0).astype(cache.dtype)
        attributes[f"{name}_quant_type"] = kind
    inputs += [None] * (12 - len(inputs))
    for _ in range(2):
        each = (kv_heads * size,) if kind == "PER_CHANNEL" else (1,)
        inputs.append(d.scale(*each, low=0.02, high=0.05) * (8 if bits == 4 else 1))
