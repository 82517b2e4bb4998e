"""What exporters write, at the places where they are often wrong: the right graph with the right outputs."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from equations import layer
from writing import Case, Layer, draw, make_model

OPSET = 14


def graph_case(name, nodes, inputs, initializers, outputs, opset=OPSET, symbolic=None):
    """inputs: fed arrays by name; outputs: Decimals by name; symbolic: shapes of inputs and outputs by name, with dimension names."""
    symbolic = symbolic or {}

    def info(n, dtype, shape):
        return helper.make_tensor_value_info(n, dtype, symbolic.get(n, shape))

    graph = helper.make_graph(
        nodes, f"test_export_{name}", [info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()],
        [info(n, TensorProto.FLOAT, a.shape) for n, a in outputs.items()],
        [numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in initializers.items()])
    return Case(f"test_export_{name}", "float", make_model(graph, opset), inputs, outputs)


def parameters(op, key, directions, input_size=2, hidden_size=3, bias=True):
    like = Layer("", op, key=f"exports/{key}", input_size=input_size, hidden_size=hidden_size,
                 attributes={"direction": "bidirectional"} if directions == 2 else {})
    return {n: draw(f"{like.key}/{n}", like.shapes()[n]).astype(np.float32) for n in ("W", "R", *("B" if bias else ""))}


def sequence(key, *shape):
    return draw(f"exports/{key}/X", shape).astype(np.float32)


def batch_first_bidirectional_lstm():
    """A layer with batch_first=True: X turned, directions of Y joined behind the units, and turned back."""
    w, X = parameters("LSTM", "batch first", 2), sequence("batch first", 2, 4, 2)
    out = layer("LSTM", X.transpose(1, 0, 2), **w, direction="bidirectional")
    nodes = [helper.make_node("Transpose", ["X"], ["turned"], perm=[1, 0, 2]),
             helper.make_node("LSTM", ["turned", "W", "R", "B"], ["Y", "Y_h", "Y_c"], hidden_size=3, direction="bidirectional"),
             helper.make_node("Transpose", ["Y"], ["by_direction"], perm=[2, 0, 1, 3]),
             helper.make_node("Reshape", ["by_direction", "joined_shape"], ["output"])]
    output = out["Y"].transpose(2, 0, 1, 3).reshape(2, 4, 6)
    yield graph_case("batch_first_bidirectional_lstm", nodes, {"X": X}, {**w, "joined_shape": np.array([0, 0, -1])},
                     {"output": output, "Y_h": out["Y_h"], "Y_c": out["Y_c"]})


def last_state_only():
    """return_sequences=False: Y is not named, Y_h is squeezed."""
    for name, linear in (("reset_after", 1), ("reset_before", 0)):
        w, X = parameters("GRU", name, 1), sequence(name, 3, 3, 2)
        out = layer("GRU", X, **w, linear_before_reset=linear)
        nodes = [helper.make_node("GRU", ["X", "W", "R", "B"], ["", "Y_h"], hidden_size=3, linear_before_reset=linear),
                 helper.make_node("Squeeze", ["Y_h", "axis"], ["output"])]
        yield graph_case(f"last_state_gru_{name}", nodes, {"X": X}, {**w, "axis": np.array([0])}, {"output": out["Y_h"][0]})


def one_bias():
    """A framework with one bias: the recurrent half is 0, and must be there."""
    for op in ("RNN", "GRU", "LSTM"):
        w, X = parameters(op, "one bias", 1), sequence("one bias", 3, 3, 2)
        w["B"][:, w["B"].shape[1] // 2:] = 0
        out = layer(op, X, **w)
        node = helper.make_node(op, ["X", "W", "R", "B"], ["Y", "Y_h"], hidden_size=3)
        yield graph_case(f"one_bias_{op.lower()}", [node], {"X": X}, w, {"Y": out["Y"], "Y_h": out["Y_h"]})


def lengths_from_a_mask():
    """sequence_lens computed in the graph."""
    for op in ("GRU", "LSTM"):
        w, X = parameters(op, "mask", 2), sequence("mask", 3, 4, 2)
        mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]], np.int64)
        out = layer(op, X, **w, sequence_lens=mask.sum(1), direction="bidirectional", layout=1)
        nodes = [helper.make_node("ReduceSum", ["mask", "axis"], ["long_lengths"], keepdims=0),
                 helper.make_node("Cast", ["long_lengths"], ["lengths"], to=TensorProto.INT32),
                 helper.make_node(op, ["X", "W", "R", "B", "lengths"], ["Y", "Y_h"], hidden_size=3, direction="bidirectional",
                                  layout=1)]
        yield graph_case(f"lengths_from_a_mask_{op.lower()}", nodes, {"X": X, "mask": mask}, {**w, "axis": np.array([1])},
                         {"Y": out["Y"], "Y_h": out["Y_h"]})


def state_of_the_batch():
    """Batch and time have names, and the initial state is made as large as the batch at hand."""
    w, X = parameters("GRU", "dynamic", 1), sequence("dynamic", 2, 3, 2)
    start = np.full((1, 3, 3), 0.25, np.float32)
    out = layer("GRU", X, **w, initial_h=start, linear_before_reset=1)
    nodes = [helper.make_node("Shape", ["X"], ["shape_of_X"]),
             helper.make_node("Gather", ["shape_of_X", "one"], ["batch"], axis=0),
             helper.make_node("Concat", ["one", "batch", "three"], ["shape_of_state"], axis=0),
             helper.make_node("ConstantOfShape", ["shape_of_state"], ["h0"],
                              value=helper.make_tensor("value", TensorProto.FLOAT, [1], [0.25])),
             helper.make_node("GRU", ["X", "W", "R", "B", "", "h0"], ["Y", "Y_h"], hidden_size=3, linear_before_reset=1)]
    yield graph_case("state_of_the_batch_gru", nodes, {"X": X}, {**w, "one": np.array([1]), "three": np.array([3])},
                     {"Y": out["Y"], "Y_h": out["Y_h"]},
                     symbolic={"X": ["time", "batch", 2], "Y": ["time", 1, "batch", 3], "Y_h": [1, "batch", 3]})


def two_layers():
    for op in ("RNN", "GRU", "LSTM"):
        first, second = parameters(op, "first", 2), parameters(op, "second", 2, input_size=6)
        X = sequence("two layers", 3, 2, 2)
        middle = layer(op, X, **first, direction="bidirectional")["Y"].transpose(0, 2, 1, 3).reshape(3, 2, 6)
        out = layer(op, middle, **second, direction="bidirectional")
        nodes = [helper.make_node(op, ["X", "W1", "R1", "B1"], ["Y1"], hidden_size=3, direction="bidirectional"),
                 helper.make_node("Transpose", ["Y1"], ["T1"], perm=[0, 2, 1, 3]),
                 helper.make_node("Reshape", ["T1", "joined"], ["X2"]),
                 helper.make_node(op, ["X2", "W2", "R2", "B2"], ["Y", "Y_h"], hidden_size=3, direction="bidirectional")]
        weights = {f"{n}{k}": a for k, w in ((1, first), (2, second)) for n, a in w.items()}
        yield graph_case(f"two_layers_{op.lower()}", nodes, {"X": X}, {**weights, "joined": np.array([0, 0, -1])},
                         {"Y": out["Y"], "Y_h": out["Y_h"]})


def flipped_forward():
    """The backward layer as a forward one between two flips; beside it the node that says reverse."""
    for op in ("RNN", "GRU", "LSTM"):
        w, X = parameters(op, "flipped", 1), sequence("flipped", 4, 2, 2)
        out = layer(op, X, **w, direction="reverse")
        ends = {"last": np.array([-1]), "before_first": np.array([-(2**31)]), "axis": np.array([0]), "step": np.array([-1])}
        slice_inputs = ["last", "before_first", "axis", "step"]
        nodes = [helper.make_node("Slice", ["X", *slice_inputs], ["flipped"]),
                 helper.make_node(op, ["flipped", "W", "R", "B"], ["Y1", "Y_h"], hidden_size=3),
                 helper.make_node("Slice", ["Y1", *slice_inputs], ["by_flips"]),
                 helper.make_node(op, ["X", "W", "R", "B"], ["by_node"], hidden_size=3, direction="reverse")]
        yield graph_case(f"reverse_by_flips_{op.lower()}", nodes, {"X": X}, {**w, **ends},
                         {"by_flips": out["Y"], "by_node": out["Y"], "Y_h": out["Y_h"]})


def reordered_gates():
    """Weights as the framework has them, brought into ONNX's order in the graph: r,z,n to z,r,h and i,f,g,o to i,o,f,c."""
    for op, order in (("GRU", [1, 0, 2]), ("LSTM", [0, 3, 1, 2])):
        w, X = parameters(op, "reordered", 1), sequence("reordered", 3, 2, 2)
        gates = len(order)
        rows = np.concatenate([np.arange(3 * g, 3 * g + 3) for g in order])
        both = np.concatenate([rows, rows + 3 * gates])
        right = {"W": w["W"][:, rows], "R": w["R"][:, rows], "B": w["B"][:, both]}
        out = layer(op, X, **right)
        nodes = [helper.make_node("Gather", [n, "both" if n == "B" else "rows"], [f"{n}_onnx"], axis=1) for n in w]
        nodes.append(helper.make_node(op, ["X", "W_onnx", "R_onnx", "B_onnx"], ["Y", "Y_h"], hidden_size=3))
        yield graph_case(f"gates_reordered_{op.lower()}", nodes, {"X": X}, {**w, "rows": rows, "both": both},
                         {"Y": out["Y"], "Y_h": out["Y_h"]})


def no_bias_no_state():
    """bias=False, a batch of 3 or 1, no initial_h."""
    for op in ("RNN", "GRU", "LSTM"):
        for batch in (1, 3):
            w, X = parameters(op, "no bias", 1, bias=False), sequence("no bias", 4, batch, 2)
            attributes = {"linear_before_reset": 1} if op == "GRU" else {}
            out = layer(op, X, **w, **attributes)
            node = helper.make_node(op, ["X", "W", "R"], ["Y", "Y_h"], hidden_size=3, **attributes)
            yield graph_case(f"no_bias_batch_{batch}_{op.lower()}", [node], {"X": X}, w, {"Y": out["Y"], "Y_h": out["Y_h"]})


GROUPS = (batch_first_bidirectional_lstm, last_state_only, one_bias, lengths_from_a_mask, state_of_the_batch, two_layers,
          flipped_forward, reordered_gates, no_bias_no_state)


def all_exports():
    return [case for group in GROUPS for case in group()]
