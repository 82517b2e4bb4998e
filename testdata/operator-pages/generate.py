#!/usr/bin/env python3
"""Writes the examples of the operator pages of GRU and RNN as cases in ONNX's backend layout, beside this file.

usage: generate.py            (needs numpy and onnx)

Expected outputs are computed here in double precision from the equations on the pages and rounded to float32. Where an
example draws its weights at random, they are drawn from a generator with a fixed seed; running this again changes
nothing.
"""
import pathlib
import shutil

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent

# The newest IR version of the ONNX release that introduced the opset.
IR_VERSION = {1: 3, 3: 3, 7: 3, 14: 7, 22: 10}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_step(x, h, W, R, Wb, Rb):
    """One step with the default functions and linear_before_reset = 0. Gate order z, r, h."""
    Wz, Wr, Wh = np.split(W, 3)
    Rz, Rr, Rh = np.split(R, 3)
    Wbz, Wbr, Wbh = np.split(Wb, 3)
    Rbz, Rbr, Rbh = np.split(Rb, 3)
    zt = sigmoid(x @ Wz.T + h @ Rz.T + Wbz + Rbz)
    rt = sigmoid(x @ Wr.T + h @ Rr.T + Wbr + Rbr)
    ht = np.tanh(x @ Wh.T + (rt * h) @ Rh.T + Rbh + Wbh)
    return (1 - zt) * ht + zt * h


def rnn_step(x, h, W, R, Wb, Rb):
    return np.tanh(x @ W.T + h @ R.T + Wb + Rb)


STEP = {"GRU": gru_step, "RNN": rnn_step}
GATES = {"GRU": 3, "RNN": 1}


def layer(op, X, W, R, B=None, sequence_lens=None, layout=0):
    """Y and Y_h of one forward direction, in double precision."""
    X, W, R = (np.asarray(a, np.float64) for a in (X, W, R))
    if layout == 1:
        X = X.transpose(1, 0, 2)
    seq_length, batch_size, _ = X.shape
    rows, hidden_size = R.shape[1:]
    B = np.zeros((1, 2 * rows)) if B is None else np.asarray(B, np.float64)
    Wb, Rb = np.split(B[0], 2)
    lengths = [seq_length] * batch_size if sequence_lens is None else sequence_lens
    Y = np.zeros((seq_length, 1, batch_size, hidden_size))
    Y_h = np.zeros((1, batch_size, hidden_size))
    for n in range(batch_size):
        h = np.zeros(hidden_size)
        for t in range(lengths[n]):
            h = STEP[op](X[t, n], h, W[0], R[0], Wb, Rb)
            Y[t, 0, n] = h
        if lengths[n]:
            Y_h[0, n] = h
    if layout == 1:
        return Y.transpose(2, 0, 1, 3), Y_h.transpose(1, 0, 2)
    return Y, Y_h


def write_case(name, op, opset, inputs, outputs, **attributes):
    """inputs and outputs by name in order; an output that is None is omitted."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    positions = ["X", "W", "R", "B", "sequence_lens"]
    last = max(positions.index(n) for n in inputs)
    node = helper.make_node(
        op, [n if n in inputs else "" for n in positions[: last + 1]],
        [n if a is not None else "" for n, a in outputs.items()], **attributes)
    outputs = {n: a.astype(np.float32) for n, a in outputs.items() if a is not None}

    def info(n, a):
        return helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)

    graph = helper.make_graph([node], name, [info(n, a) for n, a in inputs.items()],
                              [info(n, a) for n, a in outputs.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION[opset],
                              producer_name="grurun")
    onnx.checker.check_model(model, full_check=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for k, (n, a) in enumerate(arrays.items()):
            tensor = numpy_helper.from_array(a, n)
            (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString(deterministic=True))


def counting(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def constant_weights(op, input_size, hidden_size, scale):
    rows = GATES[op] * hidden_size
    return {"W": np.full((1, rows, input_size), scale, np.float32),
            "R": np.full((1, rows, hidden_size), scale, np.float32)}


def random_weights(op, input_size, hidden_size, seed):
    rng = np.random.default_rng(seed)
    rows = GATES[op] * hidden_size

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    return {"W": draw(1, rows, input_size), "R": draw(1, rows, hidden_size), "B": draw(1, 2 * rows)}


def defaults(op, opset):
    inputs = {"X": counting(1, 3, 2), **constant_weights(op, 2, 5 if op == "GRU" else 4, 0.1)}
    return inputs, {}, False


def initial_bias(op, opset):
    hidden_size = 3 if op == "GRU" else 5
    rows = GATES[op] * hidden_size
    B = np.concatenate([np.full((1, rows), 0.1), np.zeros((1, rows))], axis=1).astype(np.float32)
    return {"X": counting(1, 3, 3), **constant_weights(op, 3, hidden_size, 0.1), "B": B}, {}, False


def seq_length(op, opset):
    return {"X": counting(2, 3, 3), **random_weights(op, 3, 5, seed=opset)}, {}, False


def sequence_lens(op, opset):
    """The input that the example above is named after: the page's own X with three lengths, one of them 0."""
    inputs = {"X": counting(2, 3, 3) / 10, **random_weights(op, 3, 5, seed=100 + opset)}
    return {**inputs, "sequence_lens": np.array([1, 2, 0], np.int32)}, {}, True


def batchwise(op, opset):
    inputs = {"X": counting(3, 1, 2), **constant_weights(op, 2, 6 if op == "GRU" else 4, 0.2 if op == "GRU" else 0.5)}
    return inputs, {"layout": 1}, True


def main():
    for op, opsets in (("GRU", (1, 3, 7, 14, 22)), ("RNN", (14,))):
        for opset in opsets:
            for example in (defaults, initial_bias, seq_length, sequence_lens, batchwise):
                if example is batchwise and opset < 14:
                    continue  # layout begins with 14
                inputs, attributes, with_Y = example(op, opset)
                lengths = inputs.get("sequence_lens")
                if with_Y and opset < 7:
                    attributes["output_sequence"] = 1
                Y, Y_h = layer(op, inputs["X"], inputs["W"], inputs["R"], inputs.get("B"), lengths,
                               attributes.get("layout", 0))
                write_case(f"{op.lower()}_{opset}_{example.__name__}", op, opset, inputs,
                           {"Y": Y if with_Y else None, "Y_h": Y_h},
                           hidden_size=inputs["R"].shape[2], **attributes)


if __name__ == "__main__":
    main()
