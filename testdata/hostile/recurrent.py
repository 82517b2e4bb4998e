"""RNN, GRU and LSTM whose shapes, lengths and attributes lie."""

import numpy
from onnx import TensorProto

from models import FLOAT, model, node, tensor, value

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
T, N, I, H = 2, 1, 2, 2


def layer(op, changes=(), lengths=None, **attributes):
    """A layer that is right but for the shapes in `changes` and the attributes."""
    g = GATES[op]
    shapes = {"X": [T, N, I], "W": [1, g * H, I], "R": [1, g * H, H], "B": [1, 2 * g * H], "initial_h": [1, N, H]} | dict(changes)
    constants = [tensor(name, FLOAT, dims, numpy.full(int(numpy.prod(dims)), 0.1)) for name, dims in shapes.items()]
    names = ["X", "W", "R", "B", "", "initial_h"]
    if lengths is not None:
        names[4] = "sequence_lens"
        constants.append(tensor("sequence_lens", TensorProto.INT32, [len(lengths)], lengths))
    attributes = {"hidden_size": H} | attributes
    return model([node(op, names, **attributes)], inputs=[], outputs=[value("y", FLOAT, None)], initializers=constants), []


def cases():
    for op, g in GATES.items():
        low = op.lower()
        yield f"{low}_right", layer(op)
        for name, dims in {
            "w_short": {"W": [1, g * H - 1, I]}, "w_wide": {"W": [1, g * H, I + 1]}, "r_wide": {"R": [1, g * H, H + 1]}, "r_rank": {"R": [g * H, H]},
            "b_short": {"B": [1, g * H]}, "b_directions": {"B": [2, 2 * g * H]}, "x_rank": {"X": [T, I]}, "h_batch": {"initial_h": [1, N + 5, H]},
            "h_size": {"initial_h": [1, N, 9]}, "no_steps": {"X": [0, N, I]}, "no_batch": {"X": [T, 0, I], "initial_h": [1, 0, H]}, "no_input": {"X": [T, N, 0], "W": [1, g * H, 0]},
        }.items():  # fmt: skip
            yield f"{low}_{name}", layer(op, dims)
        for size in (0, -1, 3, 1 << 40, -(1 << 63)):
            yield f"{low}_hidden_size_{size}".replace("-", "minus"), layer(op, hidden_size=size)
        for name, lengths in {"beyond": [9], "negative": [-1], "many": [1, 1, 1], "none": [], "most": [2**31 - 1]}.items():
            yield f"{low}_lengths_{name}", layer(op, lengths=lengths)
        yield f"{low}_direction", layer(op, direction="::error::x")
        yield f"{low}_bidirectional", layer(op, direction="bidirectional")
        yield f"{low}_activation", layer(op, activations=["Nothing"] * 3)
        yield f"{low}_activations_short", layer(op, activations=["Tanh"] if op != "RNN" else ["Tanh"] * 9)
        yield f"{low}_clip_negative", layer(op, clip=-1.0)
        yield f"{low}_layout", layer(op, layout=7)
