"""What bisect counts as a difference: rounding that no node makes by itself is none, nor is a value that nothing reads; a small fault
that a model enlarges is one."""

import json
import unittest

from tests.bisect import test_bisect
from tests.bisect.test_bisect import ReferenceEvaluator, TensorProto, helper, np, numpy_helper, onnx

N = 64


def model(nodes, weights, outputs=("y",)):
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, N])], info,
                              [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class Rounding(unittest.TestCase):
    save, bisect, differences = test_bisect.Bisect.save, test_bisect.Bisect.bisect, test_bisect.Bisect.differences

    def setUp(self):
        test_bisect.Bisect.setUp(self)
        self.rng = np.random.default_rng(3)
        self.x = self.rng.standard_normal((4, N)).astype(np.float32)
        np.save(self.folder / "x.npy", self.x)
        self.w = self.rng.standard_normal((N, N)).astype(np.float32)

    def values_of(self, proto):
        every = onnx.ModelProto.FromString(proto.SerializeToString())
        names = [name for node in proto.graph.node for name in node.output]
        del every.graph.output[:]
        every.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
        return dict(zip(names, ReferenceEvaluator(every).run(None, {"x": self.x}), strict=True))

    def against_values(self, proto, values, *arguments, code=0):
        np.savez(self.folder / "values.npz", **values)
        return self.bisect(self.save("model.onnx", proto), "--against", self.folder / "values.npz", *arguments, code=code).stdout

    def canceling(self):
        """y is what is left of h when something close to it is taken away."""
        h = self.x @ self.w
        near = h + np.where(self.rng.random(h.shape) < 0.1, 0, 0.01).astype(np.float32)
        return model([helper.make_node("MatMul", ["x", "w"], ["h"], name="mix"), helper.make_node("Sub", ["h", "near"], ["y"], name="rest")],
                     {"w": self.w, "near": near})

    def test_what_no_node_makes_by_itself(self):
        proto = self.canceling()
        values = self.values_of(proto)
        h = np.nextafter(values["h"], np.float32(100))
        text = self.against_values(proto, {"h": h, "y": h - self.values_of(proto)["h"] + values["y"]})
        self.assertRegex(text.splitlines()[0], r"^nothing differs but by rounding: 2 values compared with .*; 1 value differs, and no node makes "
                                               r"that alone: node 'rest' \(Sub-14\), output 'y': \d+ of 256 elements differ, by at most ")
        self.against_values(proto, {"h": h}, code=0)
        # A tolerance that somebody chose holds.
        self.against_values(proto, {"h": h, "y": h - values["h"] + values["y"]}, "--rtol", "1e-3", "--atol", "1e-9", code=1)

    def test_conditions_that_agree_add_nothing(self):
        proto = self.canceling()
        proto.graph.node.append(helper.make_node("Less", ["h", "near"], ["less"], name="less"))
        proto.graph.node.append(helper.make_node("Where", ["less", "near", "y"], ["z"], name="choose"))
        proto.graph.output[0].name = "z"
        values = self.values_of(proto)
        h = np.nextafter(values["h"], np.float32(100))
        y = h - values["h"] + values["y"]
        near = numpy_helper.to_array(next(each for each in proto.graph.initializer if each.name == "near"))
        text = self.against_values(proto, {"h": h, "y": y, "less": values["less"], "z": np.where(values["less"], near, y)})
        self.assertRegex(text, "^nothing differs but by rounding: 4 values")

    def test_a_sum_that_cancels_in_one_node(self):
        proto = model([helper.make_node("MatMul", ["x", "w"], ["y"], name="mix")], {"w": self.w})
        values = {"y": self.values_of(proto)["y"]}
        place = np.argmin(np.abs(values["y"]))
        values["y"].flat[place] += 4e-6
        self.assertIn("nothing differs", self.against_values(proto, values))
        values["y"].flat[place] += 4e-3
        self.assertIn("first wrong: node 'mix'", self.against_values(proto, values, code=1))

    def test_what_a_recurrent_node_adds_up_within_itself(self):
        """Nothing but weights can be moved: X is zero. Long sums of float32 and of double part from each other step by step."""
        steps = 100
        weights = {"W": np.zeros((1, N, 1)), "R": self.rng.normal(size=(1, N, N)) * 3 / N**0.5, "B": self.rng.normal(size=(1, 2 * N))}
        proto = model([helper.make_node("RNN", ["x", "W", "R", "B"], ["y"], name="rnn", hidden_size=N)], weights)
        proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 1, 1]))
        np.save(self.folder / "x.npy", np.zeros((steps, 1, 1), np.float32))
        text = self.bisect(self.save("model.onnx", proto), "--against", "precise", code=0).stdout
        self.assertRegex(text, "^nothing differs (but by rounding|at the outputs)")

    def test_a_gate_that_is_1_in_float32(self):
        """What is left of the update gate to 1 is nothing in float32, and adds up in double."""
        steps, hidden = 100, 4
        bias = np.zeros((1, 6, hidden))
        bias[0, 0], bias[0, 2] = 18, 2
        weights = {"W": np.zeros((1, 3 * hidden, 1)), "R": np.zeros((1, 3 * hidden, hidden)), "B": bias.reshape(1, -1)}
        proto = model([helper.make_node("GRU", ["x", "W", "R", "B"], ["y"], name="gru", hidden_size=hidden)], weights)
        proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 1, 1]))
        np.save(self.folder / "x.npy", np.zeros((steps, 1, 1), np.float32))
        text = self.bisect(self.save("model.onnx", proto), "--against", "precise", code=0).stdout
        self.assertRegex(text, "^nothing differs but by rounding")

    def test_what_a_body_rounds(self):
        """c is nothing beside 1 in float32, and adds up in double."""
        info = [helper.make_tensor_value_info(name, kind, []) for name, kind in
                (("i", TensorProto.INT64), ("go", TensorProto.BOOL), ("v", TensorProto.FLOAT), ("go_out", TensorProto.BOOL), ("v_out", TensorProto.FLOAT))]
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["go_out"]), helper.make_node("Add", ["one", "c"], ["a"]), helper.make_node("Add", ["a", "v"], ["b"]),
             helper.make_node("Sub", ["b", "one"], ["v_out"])], "body", info[:3], info[3:])
        proto = model([helper.make_node("Loop", ["trips", "", "zero"], ["y"], name="loop", body=body)], {"zero": 0, "one": 1, "c": 3e-8})
        proto.graph.initializer.append(numpy_helper.from_array(np.array(100), "trips"))
        text = self.against_values(proto, {"y": np.array(100 * 3e-8, np.float32)})
        self.assertRegex(text, "^nothing differs but by rounding")
        self.assertRegex(self.against_values(proto, {"y": np.array(1e-3, np.float32)}, code=1), "^first wrong: node 'loop'")

    def test_of_many_elements_some_move_by_little_by_chance(self):
        """A difference of two long sums that are almost the same, in 90,000 elements."""
        half = 512
        x, w = self.rng.normal(size=(300, half)).astype(np.float32), self.rng.normal(size=(half, 300)).astype(np.float32)
        x, w = np.concatenate([x, x], 1), np.concatenate([w, -w * np.float32(1 + 1e-5)])
        proto = model([helper.make_node("MatMul", ["x", "w"], ["y"], name="mix")], {"w": w})
        proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape))
        np.save(self.folder / "x.npy", x)
        values = sum(np.multiply.outer(x[:, k], w[k]) for k in range(2 * half))  # one by one, in float32
        self.assertRegex(self.against_values(proto, {"y": values}), "^nothing differs but by rounding")

    def test_outputs_that_agree(self):
        proto = self.canceling()
        proto.graph.node.append(helper.make_node("Mul", ["y", "little"], ["less"], name="less"))
        proto.graph.node.append(helper.make_node("Add", ["less", "one"], ["z"], name="shift"))
        proto.graph.initializer.extend([numpy_helper.from_array(np.float32(1e-3), "little"), numpy_helper.from_array(np.float32(1), "one")])
        proto.graph.output[0].name = "z"
        values = self.values_of(proto)
        h = np.nextafter(values["h"], np.float32(100))
        y = h - values["h"] + values["y"]
        less = y * np.float32(1e-3)
        text = self.against_values(proto, {"h": h, "y": y, "less": less, "z": less + np.float32(1)})
        self.assertTrue(text.startswith("nothing differs at the outputs: 4 values compared with"), text)

    def enlarging(self, factor):
        """What a factor adds to x, a thousand times."""
        return model([helper.make_node("MatMul", ["x", "w"], ["m"], name="mix"), helper.make_node("Mul", ["m", "factor"], ["h"], name="scale"),
                      helper.make_node("Sub", ["h", "m"], ["d"], name="rest"), helper.make_node("Mul", ["d", "thousand"], ["y"], name="enlarge")],
                     {"w": self.w, "factor": factor, "thousand": 1000})

    def test_a_small_fault_that_is_enlarged(self):
        right, wrong = self.save("right.onnx", self.enlarging(1)), self.save("wrong.onnx", self.enlarging(1.0005))
        result = self.bisect(wrong, "--against", right, "--json", "-")
        report = json.loads(result.stdout)
        self.assertEqual((report["conclusion"], report["differs"], report["ranking"][0]["value"]), ("gathered", True, "h"))
        line = self.bisect(wrong, "--against", right).stdout.splitlines()[0]
        self.assertRegex(line, r"^first to differ: node 'rest' .*; no node is beyond the tolerance alone; the most error is added by node 'scale' "
                               r"\(Mul-14\), output 'h': SNR")

    def test_a_value_that_nothing_reads_comes_last(self):
        nodes = [helper.make_node("LayerNormalization", ["x", "ones"], ["n", "mean"], name="norm"), helper.make_node("Relu", ["n"], ["y"], name="relu")]
        proto = model(nodes, {"ones": np.ones(N)})
        values = self.values_of(proto)
        wrong_mean = {**values, "mean": values["mean"] + 1}
        text = self.against_values(proto, wrong_mean)
        self.assertRegex(text, r"^nothing differs that an output depends on: 3 values compared with .*; 1 value differs that no output depends on: node "
                               r"'norm' \(LayerNormalization-17\), output 'mean'")
        rows = json.loads(self.against_values(proto, {**wrong_mean, "y": values["y"] + 1}, "--json", "-", code=1))["differences"]
        self.assertEqual([(row["value"], row["live"], row["made_here"]) for row in rows], [("y", True, True), ("mean", False, False)])


if __name__ == "__main__":
    unittest.main()
