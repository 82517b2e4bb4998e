"""GRUSequence-5, LSTMSequence-5 and RNNSequence-5: directions, lengths, functions and clip, against OpenVINO."""

import itertools
import unittest

import numpy

from tests.openvino_ir.peer import Bundle, openvino

DIRECTIONS = ["forward", "reverse", "bidirectional"]
KINDS = [("GRU", False), ("GRU", True), ("LSTM", False), ("RNN", False)]
STEPS = 4


class Sequences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        openvino()

    def sequence(self, bundle, kind, reset, direction, *, lengths=None, functions=None, clip=0.0, hidden=3, batch=3, size=2,
                 fed=False, fed_lengths=True, length_type=numpy.int32, unknown=False, wanted=None, name=""):
        import openvino.opset5 as opset5

        directions = 2 if direction == "bidirectional" else 1
        gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[kind]
        bias = 4 if reset else gates
        weight = bundle.parameter if fed else bundle.constant
        x = bundle.parameter(bundle.values(batch, STEPS, size), [-1, -1, size] if unknown else None)
        h, c = (bundle.parameter(bundle.values(batch, directions, hidden), [-1, directions, hidden] if unknown else None)
                for _ in range(2))
        lengths = numpy.array([STEPS] * batch if lengths is None else lengths, length_type)
        lens = bundle.parameter(lengths, [-1] if unknown else None) if fed_lengths else bundle.constant(lengths)
        w, r = (weight(bundle.values(directions, gates * hidden, n)) for n in (size, hidden))
        b = weight(bundle.values(directions, bias * hidden))
        rest = [[], [], clip]
        if kind == "GRU":
            node = opset5.gru_sequence(x, h, lens, w, r, b, hidden, direction, functions or ["sigmoid", "tanh"], *rest, reset)
        elif kind == "LSTM":
            node = opset5.lstm_sequence(x, h, c, lens, w, r, b, hidden, direction, functions or ["sigmoid", "tanh", "tanh"], *rest)
        else:
            node = opset5.rnn_sequence(x, h, lens, w, r, b, hidden, direction, functions or ["tanh"], *rest)
        node.set_friendly_name(name)
        for port in range(len(node.outputs())) if wanted is None else wanted:
            bundle.result(node.output(port), f"{name}/{port}")

    def test_directions_lengths_and_clip(self):
        bundle = Bundle(11)
        lengths = [[4, 4, 4], [4, 2, 1], [1, 4, 3], [2, 2, 2], [3, 0, 4], [0, 0, 0]]
        for (kind, reset), direction, lens, clip in itertools.product(KINDS, DIRECTIONS, lengths, [0.0, 0.5]):
            self.sequence(bundle, kind, reset, direction, lengths=lens, clip=clip, name=f"{kind} {reset} {direction} {lens} {clip}")
        self.assertEqual(bundle.differences(), [])

    def test_functions(self):
        bundle = Bundle(12)
        for (kind, reset), direction in itertools.product(KINDS, DIRECTIONS):
            for functions in (["relu", "tanh", "sigmoid"], ["tanh", "sigmoid", "tanh"], ["sigmoid", "relu", "relu"]):
                count = {"GRU": 2, "LSTM": 3, "RNN": 1}[kind]
                self.sequence(bundle, kind, reset, direction, functions=functions[:count], lengths=[4, 3, 1],
                              name=f"{kind} {reset} {direction} {functions}")
        self.assertEqual(bundle.differences(), [])

    def test_lengths_that_are_constants_or_of_64_bits(self):
        bundle = Bundle(13)
        for (kind, reset), direction, fed, dtype in itertools.product(KINDS, DIRECTIONS, [False, True], [numpy.int32, numpy.int64]):
            self.sequence(bundle, kind, reset, direction, lengths=[2, 4, 3], fed_lengths=fed, length_type=dtype,
                          name=f"{kind} {reset} {direction} {fed} {dtype.__name__}")
        self.assertEqual(bundle.differences(), [])

    def test_weights_that_are_no_constants(self):
        bundle = Bundle(14)
        for (kind, reset), direction in itertools.product(KINDS, DIRECTIONS):
            self.sequence(bundle, kind, reset, direction, fed=True, lengths=[4, 1, 2], name=f"{kind} {reset} {direction}")
        self.assertEqual(bundle.differences(), [])

    def test_sizes_that_are_not_known(self):
        # Full lengths: where the size of X's axes is not known, OpenVINO 2026.4 does not look at sequence_lengths.
        bundle = Bundle(15)
        for (kind, reset), direction, fed in itertools.product(KINDS, DIRECTIONS, [False, True]):
            self.sequence(bundle, kind, reset, direction, fed=fed, unknown=True, name=f"{kind} {reset} {direction} {fed}")
        self.assertEqual(bundle.differences(), [])

    def test_outputs_that_nobody_takes(self):
        for version in (10, 11):
            bundle = Bundle(16)
            for (kind, reset), direction in itertools.product(KINDS, DIRECTIONS):
                for port in range(3 if kind == "LSTM" else 2):
                    self.sequence(bundle, kind, reset, direction, wanted=[port], name=f"{kind} {reset} {direction} {port}")
            self.assertEqual(bundle.differences(version=version), [])


if __name__ == "__main__":
    unittest.main()
