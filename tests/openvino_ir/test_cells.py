"""GRUCell-3, LSTMCell-1 and -4 and RNNCell-0: every attribute in many combinations, against OpenVINO."""

import itertools
import unittest

from tests.openvino_ir.peer import Bundle, openvino

FUNCTIONS = ["relu", "sigmoid", "tanh"]


class Cells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        openvino()

    def cell(self, bundle, kind, *, hidden=3, batch=2, size=4, functions=None, clip=0.0, reset=False, alpha=(), beta=(),
             fed=False, name="", scale=1.0, unknown=False):
        """One cell with its results; fed: weights are inputs of the model; unknown: no size of an input is known."""
        import openvino.opset1 as opset1
        import openvino.opset3 as opset3
        import openvino.opset4 as opset4

        gates = {"GRUCell": 3, "LSTMCell": 4, "LSTMCell1": 4, "RNNCell": 1}[kind]
        bias = 4 if reset else gates
        weight = bundle.parameter if fed else bundle.constant
        x, h, c = (bundle.parameter(bundle.values(batch, n, scale=scale), [-1, n] if unknown else None)
                   for n in (size, hidden, hidden))
        w, r = (weight(bundle.values(gates * hidden, n, scale=scale)) for n in (size, hidden))
        b = weight(bundle.values(bias * hidden))
        rest = [list(alpha), list(beta), clip]
        if kind == "GRUCell":
            node = opset3.gru_cell(x, h, w, r, b, hidden, functions or ["sigmoid", "tanh"], *rest, reset)
        elif kind == "RNNCell":
            node = opset3.rnn_cell(x, h, w, r, b, hidden, functions or ["tanh"], *rest)
        else:
            make = opset1.lstm_cell if kind == "LSTMCell1" else opset4.lstm_cell
            node = make(x, h, c, w, r, b, hidden, functions or ["sigmoid", "tanh", "tanh"], *rest)
        node.set_friendly_name(name)
        for port in range(len(node.outputs())):
            bundle.result(node.output(port), f"{name}/{port}")

    def test_every_choice_of_functions(self):
        bundle = Bundle(1)
        for reset, f, g in itertools.product([False, True], FUNCTIONS, FUNCTIONS):
            self.cell(bundle, "GRUCell", functions=[f, g], reset=reset, name=f"gru {f} {g} {reset}")
        for f, g, h in itertools.product(FUNCTIONS, FUNCTIONS, FUNCTIONS):
            self.cell(bundle, "LSTMCell", functions=[f, g, h], name=f"lstm {f} {g} {h}", scale=0.5)
        for f in FUNCTIONS:
            self.cell(bundle, "RNNCell", functions=[f], name=f"rnn {f}")
        self.assertEqual(bundle.differences(), [])

    def test_clip_with_every_function(self):
        bundle = Bundle(2)
        for clip, reset, f in itertools.product([0.3, 1.0, 100.0], [False, True], FUNCTIONS):
            self.cell(bundle, "GRUCell", functions=[f, "tanh"], clip=clip, reset=reset, name=f"gru {clip} {reset} {f}")
            self.cell(bundle, "LSTMCell", functions=[f, "tanh", "relu"], clip=clip, name=f"lstm {clip} {reset} {f}", scale=2.0)
            self.cell(bundle, "RNNCell", functions=[f], clip=clip, name=f"rnn {clip} {reset} {f}")
        self.assertEqual(bundle.differences(), [])

    def test_parameters_of_functions_have_no_effect(self):
        bundle = Bundle(3)
        for alpha, beta in [((1.5, 0.5), (2.0,)), ((0.25,), (0.125, 3.0))]:
            self.cell(bundle, "GRUCell", functions=["relu", "sigmoid"], alpha=alpha, beta=beta, name=f"gru {alpha}")
            self.cell(bundle, "RNNCell", functions=["relu"], alpha=alpha, beta=beta, name=f"rnn {alpha}")
        self.assertEqual(bundle.differences(), [])

    def test_sizes(self):
        for version in (10, 11):
            bundle = Bundle(4)
            for batch, size, hidden in [(1, 1, 1), (1, 5, 2), (3, 1, 4), (2, 16, 128), (7, 3, 17)]:
                for kind, reset in [("GRUCell", False), ("GRUCell", True), ("LSTMCell", False), ("LSTMCell1", False), ("RNNCell", False)]:
                    self.cell(bundle, kind, batch=batch, size=size, hidden=hidden, reset=reset, scale=0.3,
                              name=f"{kind} {batch} {size} {hidden} {reset}")
            self.assertEqual(bundle.differences(version=version), [])

    def test_weights_that_are_no_constants(self):
        bundle = Bundle(5)
        for kind, reset in [("GRUCell", False), ("GRUCell", True), ("LSTMCell", False), ("RNNCell", False)]:
            for clip in (0.0, 0.7):
                self.cell(bundle, kind, reset=reset, fed=True, clip=clip, name=f"{kind} {reset} {clip}")
        self.assertEqual(bundle.differences(), [])

    def test_a_batch_of_unknown_size(self):
        bundle = Bundle(6)
        for kind, reset in [("GRUCell", False), ("GRUCell", True), ("LSTMCell", False), ("RNNCell", False)]:
            self.cell(bundle, kind, reset=reset, unknown=True, name=f"{kind} {reset}")
        self.assertEqual(bundle.differences(), [])

    def test_an_unrolled_layer_shares_its_weights(self):
        import openvino.opset4 as opset4

        bundle = Bundle(7)
        x, h, c = (bundle.parameter(bundle.values(2, n)) for n in (3, 5, 5))
        w, r, b = (bundle.constant(bundle.values(*shape)) for shape in [(20, 3), (20, 5), (20,)])
        for step in range(20):
            node = opset4.lstm_cell(x, h, c, w, r, b, 5)
            node.set_friendly_name(f"step {step}")
            h, c = node.output(0), node.output(1)
        bundle.result(h, "H")
        bundle.result(c, "C")
        self.assertEqual(bundle.differences(), [])


if __name__ == "__main__":
    unittest.main()
