"""Draws of the operators of com.microsoft that models with several streams have, for compare_microsoft.py."""

import numpy as np

from microsoft_draws import operator

FLOATS = ("float", "float16")
ALL_FLOATS = ("float", "float16", "bfloat16")


def grouped_or_flat(d, streams, hidden):
    """Leading axes, the shape of the streams, and num_branches."""
    outer = d.any((d.between(1, 4),), (2, d.between(1, 3)))
    flat = d.chance()
    return outer, (*outer, streams * hidden) if flat else (*outer, streams, hidden), streams if flat else None


@operator("BranchwiseRMSNorm", *ALL_FLOATS)
def branchwise_rms_norm(d):
    streams, hidden = d.between(1, 4), d.between(2, 9)
    _, shape, branches = grouped_or_flat(d, streams, hidden)
    scale = d.maybe(lambda: d.x(*d.any((streams * hidden,), (streams, hidden), (hidden,))))
    return d.case([d.x(*shape), scale], {"epsilon": d.any(None, 1e-2), "num_branches": branches})


@operator("HyperConnectionPreMix", *ALL_FLOATS)
def pre_mix(d):
    streams, hidden = d.between(2, 4), d.between(2, 6)
    outer, shape, branches = grouped_or_flat(d, streams, hidden)
    forms = [(streams,), (streams, 1), (streams, hidden)] + ([(streams * hidden,)] if branches else [])
    attributes = {"num_branches": branches, "reduction_scale": d.any(None, 0.5)}
    return d.case([d.x(*shape), d.x(*outer, *d.any(*forms))], attributes)


@operator("HyperConnectionPostMix", *ALL_FLOATS)
def post_mix(d):
    streams, hidden = d.between(2, 4), d.between(2, 6)
    outer, shape, branches = grouped_or_flat(d, streams, hidden)
    post = d.x(*outer, *d.any((streams,), (streams, 1), (streams, hidden)))
    mix = d.maybe(lambda: d.x(*outer, streams, streams))
    return d.case([d.x(*shape), d.x(*outer, hidden), post, mix], {"num_branches": branches})


@operator("GatedAdd", *FLOATS)
def gated_add(d):
    outer, columns = d.any((3,), (2, d.between(1, 4))), d.between(1, 9)
    return d.case([d.x(*outer, columns), d.x(*outer, columns), d.x(*outer, 1)])


@operator("GatedRMSNorm", *ALL_FLOATS)
def gated_rms_norm(d):
    size = d.between(2, 8)
    shape = (d.between(1, 3), d.between(1, 3), size * d.between(1, 3))
    attributes = {"activation": d.any(None, "silu", "swish", "sigmoid"), "epsilon": d.any(None, 1e-2)}
    return d.case([d.x(*shape), d.x(size), d.x(*shape)], attributes)


@operator("LinearAttentionGate", *ALL_FLOATS)
def linear_attention_gate(d):
    shape = (d.between(1, 3), d.between(1, 4), d.between(1, 5))
    b = d.maybe(lambda: d.x(*shape))
    outputs = (True, True) if b is not None else (True,)
    return d.case([d.x(*shape, scale=3), d.x(shape[2]), d.x(shape[2]), b], {}, outputs, wide=(1, 2))


@operator("ScaledSiLU", *ALL_FLOATS)
def scaled_silu(d):
    scale = d.maybe(lambda: np.asarray(d.random.uniform(0.5, 2), np.float32))
    return d.case([d.x(2, d.between(1, 9), scale=2), scale], {"alpha": d.any(None, 1.5)})


@operator("EngramGate", *FLOATS)
def engram_gate(d):
    batch, length, streams, hidden = d.between(1, 2), d.between(1, 3), d.between(1, 4), d.between(2, 9)
    key, query = d.x(batch, length, streams, hidden), d.x(batch, length, streams, hidden)
    scales = [d.x(streams, hidden), d.x(streams, hidden), d.maybe(lambda: d.x(streams, hidden))]
    outputs = (True, True) if scales[2] is not None else (True,)
    return d.case([key, query, d.x(batch, length, hidden), *scales], {"epsilon": d.any(None, 1e-2)}, outputs)


@operator("MoEGroupRouter", *ALL_FLOATS)
def moe_group_router(d):
    # Logits whose order is safe in every type.
    tokens, groups, size = d.between(1, 5), d.any(1, 2, 4), d.any(2, 4)
    experts = groups * size
    logits = np.asarray([d.random.permutation(experts) for _ in range(tokens)], np.float32) * 0.5 - 2
    bias = np.asarray(d.random.permutation(experts), np.float32) * 0.003
    attributes = {"top_k": 1, "n_group": groups}
    if groups == 1 and d.chance():
        return d.case([logits, bias], attributes, (False, True, True), wide=(1,))
    taken = d.between(1, groups)
    attributes |= {"topk_group": taken, "top_k": d.between(1, taken * size)}
    attributes |= {"group_topk": d.any(None, 1, 2), "router_sentinel": d.any(None, -50.0)}
    return d.case([logits, bias], attributes, wide=(1,))


@operator("MRotaryEmbedding", *FLOATS)
def multimodal_rotary_embedding(d):
    batch, length, heads, half = d.between(1, 3), d.between(1, 5), d.between(1, 3), d.any(3, 4, 6)
    first = d.below(half + 1)
    second = d.below(half - first + 1)
    sections = [first, second, half - first - second]
    size = 2 * half
    attributes = {"mrope_section": sections, "interleaved": d.any(None, 0, 1), "mrope_layout": d.any(None, 0), "scale": d.any(None, 2.0)}
    if half == 6 and d.chance():
        attributes |= {"mrope_section": [2, 2, 2], "mrope_layout": 1}
    shape = (batch, length, heads * size)
    attributes["num_heads"] = heads
    if d.chance():
        size += d.any(0, 2, 4)
        shape = (batch, heads, length, size)
        if size != 2 * half:
            attributes["rotary_embedding_dim"] = 2 * half
    positions = d.whole(np.int64, 3, batch, length, low=0, high=6)
    return d.case([d.x(*shape), positions, d.x(7, half), d.x(7, half)], attributes)
