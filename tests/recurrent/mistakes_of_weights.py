"""Mistakes of weights and biases."""
import itertools

import numpy as np

from mistake_model import GATES, OPS, Mistake, layer

GATE_NAMES = {"GRU": "zrh", "LSTM": "iofc"}


def in_order(model, order, names=("W", "R", "Wb", "Rb")):
    """Block k of each is what belongs to gate order[k]."""
    for name in names:
        if name in ("W", "R"):
            model.arrays[name] = model.blocks(name)[:, order].reshape(model.arrays[name].shape)
    if "Wb" in names:
        model.halves(*(model.blocks(half)[:, order] for half in ("Wb", "Rb")))


def gate_orders():
    for op, framework in (("GRU", "rzh"), ("LSTM", "ifco")):
        names = GATE_NAMES[op]
        for order in itertools.permutations(range(len(names))):
            text = ",".join(names[g] for g in order)
            if "".join(names[g] for g in order) == names:
                continue
            yield Mistake(f"gates_{op}_{text.replace(',', '')}", layer("gates", op), ["gate-order"], (f"gates in {text} order",),
                          change=lambda m, order=list(order): in_order(m, order))
        order = [names.index(g) for g in framework]
        for parts, identity in ((("W",), "gate-order-of-W"), (("R",), "gate-order-of-R"), (("Wb",), "gate-order-of-B"),
                                (("W", "R"), "gate-order-of-W-and-R")):
            yield Mistake(f"{identity}_{op}", layer("gates", op), [identity], ("PyTorch's",),
                          change=lambda m, parts=parts, order=order: in_order(m, order, parts))


def turned():
    def per_gate(m, name):
        m.arrays[name] = m.blocks(name).transpose(0, 1, 3, 2).reshape(m.arrays[name].shape)

    def reshaped(m, name):
        a = m.arrays[name]
        m.arrays[name] = a.transpose(0, 2, 1).reshape(a.shape)

    def both(change):
        return lambda m: (change(m, "W"), change(m, "R"))

    for op in OPS:
        yield Mistake(f"R_transposed_{op}", layer("", op), ["R-transposed"], change=lambda m: per_gate(m, "R"))
        square = layer("", op, input_size=4)
        yield Mistake(f"W_transposed_{op}", square, ["W-transposed"], change=lambda m: per_gate(m, "W"))
        yield Mistake(f"W_and_R_transposed_{op}", square, ["W-and-R-transposed"], change=both(per_gate))
        yield Mistake(f"W_reshaped_{op}", layer("", op), ["W-reshaped"], change=lambda m: reshaped(m, "W"))
        if op != "RNN":
            yield Mistake(f"R_reshaped_{op}", layer("", op), ["R-reshaped"], change=lambda m: reshaped(m, "R"))
            yield Mistake(f"W_and_R_reshaped_{op}", layer("", op), ["W-and-R-reshaped"], change=both(reshaped))


def biases():
    def put(m, Wb=None, Rb=None):
        m.halves(m.blocks("Wb") if Wb is None else Wb, m.blocks("Rb") if Rb is None else Rb)

    zero = np.zeros
    for op in OPS:
        rows = 4 * GATES[op]
        one_bias = np.concatenate([np.linspace(-1, 1, rows), zero(rows)])
        yield Mistake(f"bias_twice_{op}", layer("", op, values={"B": one_bias}), ["Rb-ignored"],
                      change=lambda m: put(m, Rb=m.blocks("Wb")))
        yield Mistake(f"only_Rb_{op}", layer("", op, values={"B": one_bias[::-1]}), ["Wb-ignored"],
                      change=lambda m: put(m, Wb=0.5 + 0 * m.blocks("Wb")))
        yield Mistake(f"bias_invented_{op}", layer("", op, optional=()), ["B-ignored"],
                      change=lambda m: m.arrays.update(B=np.linspace(-1, 1, 2 * m.gates * 4, dtype=np.float32)[None]))
        if op != "RNN":
            yield Mistake(f"bias_by_gate_{op}", layer("", op), ["bias-by-gate"], change=lambda m: m.arrays.update(
                B=np.stack([m.blocks("Wb"), m.blocks("Rb")], axis=2).reshape(1, -1)))
        long = layer("", op, seq_length=8)
        yield Mistake(f"Rb_lost_{op}", long, ["Rb-missing"], change=lambda m: put(m, Rb=0 * m.blocks("Rb")))
        yield Mistake(f"Wb_lost_{op}", long, ["Wb-missing"], change=lambda m: put(m, Wb=0 * m.blocks("Wb")))
        yield Mistake(f"B_lost_{op}", long, ["B-missing"], change=lambda m: m.arrays.pop("B"))
    linear = layer("", "GRU", attributes={"linear_before_reset": 1})
    yield Mistake("bias_halves_swapped", linear, ["bias-halves-swapped"], change=lambda m: put(m, m.blocks("Rb"), m.blocks("Wb")))
    long = layer("", "GRU", seq_length=8, attributes={"linear_before_reset": 1})
    yield Mistake("bias_summed", long, ["bias-summed"],
                  change=lambda m: put(m, m.blocks("Wb") + m.blocks("Rb"), 0 * m.blocks("Rb")))
    yield Mistake("B_lost_linear_before_reset", long, ["B-missing"], change=lambda m: m.arrays.pop("B"))
