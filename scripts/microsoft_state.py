"""Draws of the operators of com.microsoft that hand a state on, and of experts, for compare_microsoft.py."""

import numpy as np

from microsoft_draws import operator

ALL_FLOATS = ("float", "float16", "bfloat16")


def packed_ends(lengths):
    return np.asarray(np.concatenate([[0], np.cumsum(lengths)]), np.int32)


@operator("CausalConvWithState")
def causal_conv_with_state(d):
    batch, channels, length, taps, dilation = d.between(1, 3), d.between(1, 5), d.between(1, 6), d.between(1, 4), d.any(1, 1, 2)
    state = (taps - 1) * dilation
    attributes = {"activation": d.any(None, "silu", "swish", "none"), "dilation": d.any(None, dilation) if dilation == 1 else dilation}
    last = d.chance()
    attributes["channels_last"] = 1 if last else d.any(None, 0)
    inputs = [d.x(batch, length, channels) if last else d.x(batch, channels, length), d.x(channels, 1, taps)]
    inputs += [d.maybe(lambda: d.x(channels)), d.maybe(lambda: d.x(batch, state, channels) if last else d.x(batch, channels, state))]
    return d.case(inputs, attributes, (True, True))


@operator("VarlenCausalConvWithState", *ALL_FLOATS)
def packed_causal_conv(d):
    lengths = [d.between(1, 4) for _ in range(d.between(1, 3))]
    batch, channels, taps, dilation, capacity = len(lengths), d.between(1, 4), d.between(2, 4), d.any(1, 1, 2), d.any(0, 3)
    attributes = {"activation": d.any(None, "silu", "none"), "dilation": dilation, "state_update_capacity": capacity or None}
    inputs = [d.x(sum(lengths), channels), d.x(channels, 1, taps), packed_ends(lengths), d.maybe(lambda: d.x(channels))]
    inputs.append(d.x(batch, channels, (taps - 1) * dilation))
    inputs.append(d.whole(np.int32, batch, low=0, high=4) if capacity else None)
    return d.case(inputs, attributes, (True, True, True) if capacity else (True, True))


def rule_inputs(d):
    rule = d.any("linear", "gated", "delta", "gated_delta")
    return rule, "gated" in rule, "delta" in rule


@operator("LinearAttention")
def linear_attention(d):
    batch, length, dk, dv = d.between(1, 2), d.between(1, 5), d.between(1, 4), d.between(1, 4)
    q_heads, kv_heads = d.any((1, 1), (4, 2), (2, 4), (2, 2), (1, 3))
    rule, gated, delta = rule_inputs(d)
    k_heads = d.any(kv_heads, 1)
    attributes = {"q_num_heads": q_heads, "kv_num_heads": kv_heads, "scale": d.any(None, 0.5), "update_rule": rule}
    past = d.maybe(lambda: d.x(batch, kv_heads, dk, dv))
    decay = -np.abs(d.x(batch, length, kv_heads * d.any(1, dk))) if gated else None
    beta = np.asarray(d.random.uniform(0, 1, (batch, length, d.any(1, kv_heads))), np.float32) if delta else None
    inputs = [d.x(batch, length, q_heads * dk), d.x(batch, length, k_heads * dk, scale=0.5), d.x(batch, length, kv_heads * dv), past]
    return d.case([*inputs, decay, beta], attributes, (True, True))


@operator("GatedDeltaNet", *ALL_FLOATS)
def gated_delta_net(d):
    lengths = [d.between(1, 4) for _ in range(d.between(1, 3))]
    ragged = d.chance()
    if not ragged:
        lengths = [lengths[0]] * len(lengths)
    batch, tokens, dk, dv, heads = len(lengths), sum(lengths), d.between(2, 4), d.between(2, 4), d.between(1, 2)
    v_heads = heads * d.between(1, 2)
    rule, gated, delta = rule_inputs(d)
    gate = d.any("none", "softplus", "sigmoid") if gated else "none"
    width = d.any(1, dk)
    decay = d.x(tokens, *((v_heads,) if width == 1 else (v_heads, dk))) if gated else None
    if gated and gate == "none":
        decay = -np.abs(decay)
    beta = np.asarray(d.random.uniform(0, 1, (tokens, v_heads)), np.float32) if delta else None
    capacity = d.any(0, 0, 2)
    attributes = {"update_rule": rule, "gate_activation": gate, "qk_l2_norm": d.any(None, 1), "scale": d.any(None, 0.5)}
    attributes |= {"beta_activation": d.any(None, "sigmoid"), "state_update_capacity": capacity or None}
    attributes["gate_lower_bound"] = d.any(None, -2.0)
    state = d.x(batch, v_heads, dv, dk, scale=0.3)
    q, k, v = d.x(tokens, heads, dk), d.x(tokens, heads, dk, scale=0.5), d.x(tokens, v_heads, dv)
    if d.chance():
        q, k, v = np.concatenate([a.reshape(tokens, -1) for a in (q, k, v)], axis=1), None, None
    bias = (d.x(v_heads) if width == 1 else d.x(v_heads, dk)) if gate != "none" else None
    inputs = [q, k, v, packed_ends(lengths) if ragged else None, decay, beta, state if not ragged or k is None or d.chance() else None]
    inputs += [d.x(v_heads, scale=0.3) if gate != "none" else None, bias]
    inputs.append(np.full(batch, 2, np.int32) if capacity else None)  # what lies behind is not stated
    if capacity and min(lengths) < 2:
        inputs[-1] = np.zeros(batch, np.int32)
    return d.case(inputs, attributes, (True, True), wide=(6, 7, 8))


@operator("DecoderMaskedMultiHeadAttention")
def decoder_masked_attention(d):
    batch, heads, size = d.between(1, 3), d.between(1, 3), d.any(2, 4)
    hidden = heads * size
    attributes = {"num_heads": heads, "scale": d.any(None, 0.4)}
    if d.chance():
        keys = d.between(1, 6)
        mask = d.maybe(lambda: d.whole(np.int32, batch, keys, low=0, high=1))
        inputs = [d.x(batch, 1, hidden), d.x(batch, heads, keys, size), d.x(batch, heads, keys, size), mask]
        loose = {} if mask is None else {"rtol": 2e-3, "atol": 2e-3}
        return d.case(inputs, attributes, **loose)
    attributes["past_present_share_buffer"] = 1
    beams, most = d.any(1, 2), d.between(4, 7)
    rows, now = batch * beams, d.between(0, most - 1)
    mask = d.maybe(lambda: np.maximum(d.whole(np.int32, rows, now + 1, low=0, high=1), np.arange(now + 1) == now).astype(np.int32))
    inputs = [d.x(rows, 1, hidden), d.x(rows, 1, hidden), d.x(rows, 1, hidden), mask, d.maybe(lambda: d.x(1, heads, 1, now + 1))]
    inputs += [d.x(rows, heads, most, size), d.x(rows, heads, most, size), np.asarray([now], np.int32)]
    if beams > 1:
        inputs += [np.asarray([beams], np.int32), d.whole(np.int32, batch, beams, most, low=0, high=beams - 1)]
    else:
        inputs += [None, None]
    inputs.append(d.maybe(lambda: d.x(3 * hidden)))
    loose = {} if mask is None else {"rtol": 2e-3, "atol": 2e-3}
    return d.case(inputs, attributes, (True, True, True), constants=(), **loose)


@operator("SparseAttention", "float", "float16")
def sparse_attention(d):
    batch, kv_heads, group, size, block, blocks = d.between(1, 2), d.between(1, 2), d.between(1, 2), d.any(16, 32), 16, d.between(1, 3)
    heads, most, layouts = kv_heads * group, block * blocks, d.any(1, kv_heads * group)
    masks = np.tril(d.random.uniform(size=(layouts, blocks, blocks)) < 0.6) | np.eye(blocks, dtype=bool)
    rows = np.asarray([np.concatenate([[0], np.cumsum(m.sum(axis=1))]) for m in masks], np.int32)
    columns = np.full((layouts, int(masks.sum(axis=(1, 2)).max())), -1, np.int32)
    for i, m in enumerate(masks):
        found = np.nonzero(m)[1]
        columns[i, : len(found)] = found
    prompt = d.chance()
    length = d.between(2, most) if prompt else 1
    totals = np.full(batch, length) if prompt else np.full(batch, d.between(2, most))
    if not prompt and batch == 2 and heads == 1:  # of more heads it reads probabilities where it did not write them
        totals[0] = d.between(1, totals[1])
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads, "sparse_block_size": block, "scale": d.any(None, 0.3)}
    tables = [None, None]
    if d.chance():
        attributes |= {"do_rotary": 1, "rotary_interleaved": d.any(None, 1)}
        angles = d.random.uniform(0, 6, (most, size // 2))
        tables = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    widths = (heads * size, kv_heads * size, kv_heads * size)
    parts = [d.x(batch, length, w) for w in widths]
    if d.chance():
        parts = [np.concatenate(parts, axis=2), None, None]
    caches = [d.x(batch, kv_heads, most, size), d.x(batch, kv_heads, most, size)]
    inputs = [*parts, *caches, rows, columns, np.asarray([totals.max()], np.int32), totals.astype(np.int32), *tables]
    if d.dtype == "float16":  # not cast, since the caches lie in the memory of outputs
        inputs = [a.astype(np.float16) if a is not None and a.dtype == np.float32 else a for a in inputs]
    return d.case(inputs, attributes, (True, True, True), constants=(), shared={1: 3, 2: 4})


@operator("AttnLSTM")
def attn_lstm(d):
    steps, batch, width, hidden, am, depth, memory = (d.between(1, 4) for _ in range(7))
    direction = d.any(None, "forward", "reverse", "bidirectional")
    dirs = 2 if direction == "bidirectional" else 1
    attention = d.maybe(lambda: d.between(1, 4))
    ends = attention or depth
    attributes = {"hidden_size": hidden, "direction": direction, "input_forget": d.any(None, 1), "clip": d.any(None, 1.5)}
    if d.chance():
        attributes["activations"] = ["HardSigmoid", "Tanh", "Softsign"] * dirs
    inputs = [d.x(steps, batch, width), d.x(dirs, 4 * hidden, width + ends), d.x(dirs, 4 * hidden, hidden)]
    inputs.append(d.maybe(lambda: d.x(dirs, 8 * hidden)))
    inputs.append(d.maybe(lambda: d.whole(np.int32, batch, low=1, high=steps)))
    inputs += [d.maybe(lambda: d.x(dirs, batch, hidden)) for _ in range(2)]
    inputs.append(d.maybe(lambda: d.x(dirs, 3 * hidden)))
    inputs += [d.x(dirs, hidden, am), d.x(dirs, depth, am), d.x(dirs, am), d.x(batch, memory, depth)]
    inputs.append(d.maybe(lambda: d.whole(np.int32, batch, low=1, high=memory)))
    inputs.append(d.x(dirs, depth + hidden, attention) if attention else None)
    return d.case(inputs, attributes, (True, True, True))


def router(d, tokens, experts):
    return np.asarray([d.random.permutation(experts) for _ in range(tokens)], np.float32) * 0.7 - 1


def expert_attributes(d, experts):
    activation = d.any("relu", "gelu", "silu", "identity", "swiglu")
    attributes = {"k": d.between(1, experts), "activation_type": activation, "normalize_routing_weights": d.any(None, 1)}
    if activation == "swiglu":
        attributes |= {"swiglu_fusion": 1, "swiglu_limit": d.any(None, 1.0)}
        attributes |= {"activation_alpha": d.any(None, 1.702), "activation_beta": d.any(None, 1.0)}
    return attributes, 2 if activation == "swiglu" else 1


@operator("MoE")
def moe(d):
    tokens, hidden, inter, experts = d.between(1, 6), d.between(2, 8), d.between(2, 8), d.between(1, 4)
    attributes, fused = expert_attributes(d, experts)
    x = d.x(tokens, hidden) if d.chance() else d.x(1, tokens, hidden)
    inputs = [x, router(d, tokens, experts), d.x(experts, fused * inter, hidden), d.maybe(lambda: d.x(experts, fused * inter))]
    inputs += [d.x(experts, hidden, inter), d.maybe(lambda: d.x(experts, hidden))]
    return d.case(inputs, attributes, rtol=1e-3, atol=1e-4)


@operator("QMoE", "float", "float16")
def qmoe(d):
    bits, block = d.any(4, 4, 8, 2), d.any(None, 16, 32)
    tokens, experts = d.between(1, 4), d.between(1, 3)
    hidden, inter = (32, 64) if block else (16, 32)
    attributes, fused = expert_attributes(d, experts)
    attributes |= {"expert_weight_bits": bits, "block_size": block}
    each = 8 // bits

    def projection(rows, columns):
        blocks = columns // block if block else 1
        weights = d.whole(np.uint8, experts, rows, columns // each)
        scales = d.scale(*((experts, rows, blocks) if block else (experts, rows)), low=0.005, high=0.02)
        zeros = d.maybe(lambda: d.whole(np.uint8, experts, *((rows, -(-blocks // each)) if block else (-(-rows // each),))))
        return weights, scales, zeros

    w1, s1, z1 = projection(fused * inter, hidden)
    w2, s2, z2 = projection(hidden, inter)
    if z1 is None or z2 is None:
        z1 = z2 = None
    inputs = [d.x(tokens, hidden), router(d, tokens, experts), w1, s1, d.maybe(lambda: d.x(experts, fused * inter)), w2, s2]
    inputs += [d.maybe(lambda: d.x(experts, hidden)), None, None, None, z1, z2, None]
    inputs.append(d.maybe(lambda: np.asarray(d.random.uniform(0.1, 1, (tokens, experts)), np.float32)))
    if inputs[-1] is None or d.dtype == "float16":
        attributes["normalize_routing_weights"] = 1  # as the package has it then, whatever is stated
    # Its products of 8 bits quantize what is multiplied, too.
    loose = {"rtol": 5e-2, "atol": 5e-2} if bits == 8 or d.dtype != "float" else {"rtol": 1e-3, "atol": 1e-3}
    return d.case(inputs, attributes, constants=(), **loose)
