"""The same mistakes seen in other types and outputs, and behind other nodes."""
import numpy as np

from mistake_model import OPS, Mistake, layer
from mistakes_of_weights import in_order


def seen_otherwise():
    """Other types, other outputs, and outputs that come out turned around."""
    order = [1, 0, 2]
    for dtype in ("double", "float16", "bfloat16"):
        yield Mistake(f"order_{dtype}", layer("", "GRU", dtype=dtype, opset=22), ["gate-order"], ("r,z,h",),
                      change=lambda m: in_order(m, order))
    yield Mistake("order_by_final_state", layer("", "GRU", outputs=("Y_h",)), ["gate-order"], ("Y_h is",),
                  change=lambda m: in_order(m, order))
    yield Mistake("order_by_cell_state", layer("", "LSTM", outputs=("Y_c",)), ["gate-order"], ("Y_c is",),
                  change=lambda m: in_order(m, [0, 2, 3, 1]))
    both = layer("", "GRU", attributes={"direction": "bidirectional"})
    behind = [("Transpose", "Y", {}, {"perm": [0, 2, 1, 3]}, lambda v: v.transpose(0, 2, 1, 3)),
              ("Reshape", "Y_after", {"joined": np.array([0, 0, -1])}, {}, lambda v: v.reshape(5, 3, 8))]
    yield Mistake("order_behind_transpose_and_reshape", both, ["gate-order"], change=lambda m: in_order(m, order), after=behind)
    squeezed = [("Squeeze", "Y", {"axis": np.array([1])}, {}, lambda v: v[:, 0]),
                ("Transpose", "Y_after", {}, {"perm": [1, 0, 2]}, lambda v: v.transpose(1, 0, 2))]
    yield Mistake("order_behind_squeeze_and_transpose", layer("", "GRU"), ["gate-order"], change=lambda m: in_order(m, order),
                  after=squeezed)
    yield Mistake("order_behind_identity", layer("", "LSTM", outputs=("Y_h",)), ["gate-order"],
                  change=lambda m: in_order(m, [0, 2, 3, 1]), after=[("Identity", "Y_h", {}, {}, lambda v: v)])


def exits():
    """What a change of layout does behind Squeeze and Reshape, and a Transpose that is missing there, or another one."""
    for op in OPS:
        for name, node in (("squeeze", ("Squeeze", "Y", {"axis": np.array([2])}, {})),
                           ("reshape", ("Reshape", "Y", {"joined": np.array([0, 0, -1])}, {}))):
            yield Mistake(f"layout_0_behind_{name}_{op}", layer("", op), ["layout"], ("layout 0",), after=[(*node, lambda v: v[:, 0])],
                          change=lambda m: m.attributes.update(layout=1))
        yield Mistake(f"layout_1_behind_transpose_{op}", layer("", op, attributes={"layout": 1}), ["layout"], ("layout 1",),
                      after=[("Transpose", "Y", {}, {"perm": [1, 0, 2, 3]}, lambda v: v.swapaxes(0, 1))],
                      change=lambda m: m.attributes.pop("layout"))
        yield Mistake(f"layout_of_final_state_{op}", layer("", op, outputs=("Y_h",)), ["layout"],
                      after=[("Squeeze", "Y_h", {"axis": np.array([0])}, {}, lambda v: v[0])],
                      change=lambda m: m.arrays.update(X=m.arrays["X"].swapaxes(0, 1)))
        both = layer("", op, attributes={"direction": "bidirectional"})
        joined = ("Reshape", "Y", {"joined": np.array([5, 3, 8])}, {}, lambda v: v.transpose(0, 2, 1, 3).reshape(5, 3, 8))
        yield Mistake(f"Y_not_transposed_{op}", both, ["axes-of-Y"], ("[seq_length, batch_size, num_directions, hidden_size]", "not transpose"),
                      change=lambda m: None, after=[joined])
        yield Mistake(f"Y_transposed_otherwise_{op}", both, ["axes-of-Y"], ("[batch_size, seq_length,", "transposes it otherwise"),
                      change=lambda m: None, after=[
                          ("Transpose", "Y", {}, {"perm": [0, 2, 1, 3]}, lambda v: v.transpose(2, 0, 1, 3)),
                          ("Reshape", "Y_after", {"joined": np.array([3, 5, 8])}, {}, lambda v: v.reshape(3, 5, 8))])
        yield Mistake(f"only_the_shape_{op}", layer("", op), [], ("only the shape differs, behind the node",), kind="unexplained",
                      change=lambda m: None, after=[("Squeeze", "Y", {"axis": np.array([1])}, {}, lambda v: v.reshape(3, 5, 4))])


def reshaped():
    """X reshaped where it had to be transposed, and Y, too."""
    def reshape_X(perm):
        def change(m):
            X = m.arrays["X"]
            m.arrays["X"] = X.transpose(perm).reshape(X.shape)
        return change

    for op in OPS:
        for layout, names in ((0, ("seq_length", "batch_size")), (1, ("batch_size", "seq_length"))):
            truth = layer("", op, attributes={"layout": layout})
            for perm in ((1, 0, 2), (1, 2, 0), (0, 2, 1)):
                axes = [(*names, "input_size")[k] for k in perm]
                yield Mistake(f"X_reshaped_{layout}_{''.join(map(str, perm))}_{op}", truth, ["X-reshaped"],
                              (f"X read as [{', '.join(axes)}]",), change=reshape_X(perm))
        yield Mistake(f"X_of_one_row_reshaped_{op}", layer("", op, batch_size=1), ["X-reshaped"],
                      ("X read as [batch_size, input_size, seq_length]",), change=reshape_X((1, 2, 0)))
        back = ("Reshape", "Y", {"back": np.array([3, 5, 4])}, {}, lambda v: v[:, 0].swapaxes(0, 1))
        yield Mistake(f"X_and_Y_reshaped_{op}", layer("", op), ["axes-of-Y", "X-reshaped"],
                      ("Y leaving the graph as [batch_size, seq_length, hidden_size]", "X read as [batch_size, seq_length, input_size]"),
                      change=reshape_X((1, 0, 2)), after=[back])


def padded_first():
    """Steps behind the padding, as Keras's pad_sequences puts them; outputs as its masking gives them."""
    lengths = (5, 3, 2)

    def moved(array, n, held=False):
        """Row n (of the axis before the last) of [time, ..., row, size]; what stands before it, if it goes on there."""
        row = array[:lengths[n], ..., n, :]
        return np.concatenate([np.repeat(row[:1] * held, 5 - lengths[n], axis=0), row])

    def put_first(with_lengths, backward_held=False):
        def change(m):
            m.arrays["X"] = np.stack([moved(m.arrays["X"], n) for n in range(3)], axis=-2)
            if "Y" in m.expected:
                Y = m.expected["Y"]
                m.expected["Y"] = np.stack([np.stack([moved(Y[:, d], n, backward_held and d == 1) for n in range(3)], axis=-2)
                                            for d in range(Y.shape[1])], axis=1)
            if not with_lengths:
                m.arrays.pop("sequence_lens")
        return change

    def hold_both(m):
        for n, length in enumerate(lengths):
            m.expected["Y"][length:, 0, n] = m.expected["Y"][length - 1, 0, n]

    for op in OPS:
        short = layer("", op, optional=("B", "sequence_lens"), sequence_lens=lengths, outputs=("Y", "Y_h"))
        both = short.but("", attributes={"direction": "bidirectional"})
        for name, given, text in (("", True, "ONNX counts them from time 0"), ("and_lengths_lost_", False, "the model has none")):
            for truth, part in ((short, "of_all"), (short.but("", outputs=("Y_h",)), "of_final_state"), (both, "of_both"),
                                (short.but("", attributes={"direction": "reverse"}), "of_backward")):
                yield Mistake(f"padding_first_{name}{part}_{op}", truth, ["padding-first"], ("[5, 3, 2]", text), change=put_first(given))
            yield Mistake(f"padding_first_{name}held_{op}", both, ["padding-first"], ("[5, 3, 2]", text, "backward, Y repeats"),
                          change=put_first(given, backward_held=True))
        yield Mistake(f"held_of_both_{op}", both, ["Y-held"], ("[5, 3, 2]", "masking"), change=hold_both)
