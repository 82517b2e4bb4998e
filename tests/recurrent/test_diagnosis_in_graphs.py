"""Diagnosis of layers in branches of If and behind other operators, and what it says of those in bodies of Loop and Scan."""

import itertools
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from under_test import needs_onnx, np, onnx, run  # noqa: E402

if onnx is not None:
    from onnx import helper, numpy_helper

    from mistake_model import layer

TYPE = 1  # FLOAT


def value(name, element_type=TYPE):
    return helper.make_tensor_value_info(name, element_type, None)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def body(nodes, outputs, inputs=(), initializers=()):
    return helper.make_graph(nodes, "body", [value(n) for n in inputs], [value(n) for n in outputs], initializers)


@needs_onnx
class Graphs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.truth = layer("", "GRU", attributes={"linear_before_reset": 1})
        self.weights = [constant(n, a) for n, a in self.truth.arrays().items() if n != "X"]
        self.wrong = {"linear_before_reset": 0, "hidden_size": 4}
        self.expected = self.truth.expected()["Y"].astype(np.float32)

    def gru(self, *inputs, output="Y_in", name="gru", **attributes):
        return helper.make_node("GRU", inputs or ("X", "W", "R", "B"), [output], name=name, **(attributes or self.wrong))

    def case(self, nodes, output="Y", initializers=(), inputs=(), expected=None, more=()):
        data = self.folder / "case" / "test_data_set_0"
        shutil.rmtree(data.parent, ignore_errors=True)
        data.mkdir(parents=True)
        fed = {"X": self.truth.arrays()["X"], **dict(inputs)}
        graph = helper.make_graph(nodes, "g", [value(n, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in fed.items()], [value(n) for n in (output, *more)],
                                  [*self.weights, *initializers])
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 22)]), data.parent / "model.onnx")
        for k, array in enumerate(fed.values()):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        expected = self.expected if expected is None else expected
        for k, array in enumerate((expected, *dict(more).values())):
            (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(np.ascontiguousarray(array)).SerializeToString())
        return data

    def found(self, *arguments, **keywords):
        data = self.case(*arguments, **keywords)
        done = run("conformance", data.parent, "--json", "-")
        (case,) = json.loads(done.stdout)["cases"]
        self.assertEqual(case["verdict"], "differs", case)
        return [(f["kind"], f["node"], f["hypotheses"]) for f in case["diagnosis"]], "".join(f["text"] for f in case["diagnosis"])

    def branches(self, then_branch, else_branch, output="Y", cond="cond"):
        return helper.make_node("If", [cond], [output], name="if", then_branch=then_branch, else_branch=else_branch)

    named = [("reproduced", "node 'if/gru' (GRU-22)", ["linear-before-reset"])]

    def test_the_branch_that_is_taken(self):
        right = {"linear_before_reset": 1, "hidden_size": 4}
        for cond in (True, False):
            with self.subTest(cond=cond):
                # Sibling branches may use the same names.
                wrong, other = body([self.gru()], ["Y_in"]), body([self.gru(**right)], ["Y_in"])
                node = self.branches(*((wrong, other) if cond else (other, wrong)))
                found, _ = self.found([node], inputs={"cond": np.array(cond)})
                self.assertEqual(found, self.named)

    def test_weights_and_turns_inside_and_a_condition_that_is_computed(self):
        inside = body([helper.make_node("Transpose", ["W_turned"], ["W_in"], perm=[0, 2, 1]), self.gru("X", "W_in", "R", "B"),
                       helper.make_node("Squeeze", ["Y_in", "axis"], ["Y_flat"])], ["Y_flat"],
                      initializers=[constant("W_turned", self.truth.arrays()["W"].swapaxes(1, 2)), constant("axis", [1])])
        other = body([helper.make_node("Identity", ["X"], ["Y_flat"])], ["Y_flat"])
        nodes = [helper.make_node("Shape", ["X"], ["shape"]), helper.make_node("Gather", ["shape", "one"], ["batch"]),
                 helper.make_node("Greater", ["batch", "one"], ["cond"]), self.branches(inside, other, output="Y_if"),
                 helper.make_node("Transpose", ["Y_if"], ["Y"], perm=[1, 0, 2])]
        found, text = self.found(nodes, initializers=[constant("one", np.int64(1))], expected=self.expected[:, 0].swapaxes(0, 1))
        self.assertEqual(found, self.named, text)

    def test_a_branch_in_a_branch_and_one_behind_the_layer(self):
        true = [constant("cond", True)]
        inner = self.branches(body([self.gru()], ["Y_in"]), body([helper.make_node("Identity", ["X"], ["Y_in"])], ["Y_in"]), output="Y_inner")
        other = body([helper.make_node("Identity", ["X"], ["Y_inner"])], ["Y_inner"])
        found, text = self.found([self.branches(body([inner], ["Y_inner"]), other)], initializers=true)
        self.assertEqual(found, [("reproduced", "node 'if/if/gru' (GRU-22)", ["linear-before-reset"])], text)
        behind = self.branches(body([helper.make_node("Squeeze", ["Y_in", "axis"], ["Y_flat"])], ["Y_flat"], initializers=[constant("axis", [1])]),
                               body([helper.make_node("Identity", ["Y_in"], ["Y_flat"])], ["Y_flat"]))
        found, text = self.found([self.gru(), behind], initializers=true, expected=self.expected[:, 0])
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22)", ["linear-before-reset"])], text)

    def scan(self, nodes, states=(), outputs=("Y_in",), initializers=()):
        """The nodes run on each entry of X_all [1, 5, 3, 2]."""
        step = body(nodes, outputs, inputs=[*states, "X_step"], initializers=initializers)
        return [helper.make_node("Unsqueeze", ["X", "axis"], ["X_all"]),
                helper.make_node("Scan", [*(f"{s}_first" for s in states), "X_all"], [*(f"{s}_last" for s in states), "Y"], name="scan", body=step,
                                 num_scan_inputs=1)]

    in_scan = "node 'scan/gru' (GRU-22)"

    def test_a_layer_in_scan_is_judged_by_what_the_model_makes_of_it(self):
        axis = [constant("axis", [0])]
        found, text = self.found(self.scan([self.gru("X_step", "W", "R", "B")]), initializers=axis, expected=self.expected[None])
        self.assertEqual(found, [("reproduced", self.in_scan, ["linear-before-reset"])], text)
        self.assertIn("expected 'Y' is reproduced", text)
        self.assertIn("by a run of the model with linear_before_reset = 1", text)
        # Behind operators that nothing is traced back through, and with weights of the body itself in another order.
        right = {"linear_before_reset": 1, "hidden_size": 4}
        swapped = {n: a.reshape(1, 3, 4, -1)[:, [1, 0, 2]].reshape(a.shape) for n, a in self.truth.arrays().items() if n in "WR"}
        swapped["B"] = self.truth.arrays()["B"].reshape(1, 2, 3, 4)[:, :, [1, 0, 2]].reshape(1, 24)
        own = [constant(f"{n}_own", a) for n, a in swapped.items()]
        nodes = [self.gru("X_step", "W_own", "R_own", "B_own", output="Y_gru", **right), helper.make_node("Exp", ["Y_gru"], ["Y_in"])]
        found, text = self.found(self.scan(nodes, initializers=own), initializers=axis, expected=np.exp(self.expected[None]))
        self.assertEqual(found, [("reproduced", self.in_scan, ["gate-order"])], text)

    def test_layers_in_loop_share_a_mistake(self):
        """Y = gru(gru(X)) in the one turn of a Loop, with a state that is carried."""
        second = layer("second", "GRU", input_size=4, attributes={"linear_before_reset": 1}, values={"X": self.expected[:, 0]})
        more = [constant(f"{n}2", a) for n, a in second.arrays().items() if n != "X"]
        final = self.truth.expected()["Y_h"].astype(np.float32)
        nodes = [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("GRU", ["X", "W", "R", "B", "", "H"], ["Y_one", "H_next"], name="gru", **self.wrong),
                 helper.make_node("Squeeze", ["Y_one", "axis"], ["X_two"]), self.gru("X_two", "W2", "R2", "B2", output="Y_two", name="gru_two")]
        loop = helper.make_node("Loop", ["once", "", "zeros"], ["H_last", "Y"], name="loop",
                                body=body(nodes, ["go_on", "H_next", "Y_two"], inputs=["turn", "go", "H"]))
        loop.attribute[0].g.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
        for v in (loop.attribute[0].g.input[1], loop.attribute[0].g.output[0]):
            v.type.tensor_type.elem_type = onnx.TensorProto.BOOL
        constants = [constant("axis", [1]), constant("once", np.int64(1)), constant("zeros", np.zeros((1, 3, 4), np.float32)), *more]
        expected = second.expected()["Y"].astype(np.float32)[None]
        found, text = self.found([loop], initializers=constants, expected=expected)
        self.assertEqual(found, [("reproduced", "node 'loop/gru' (GRU-22)", ["linear-before-reset"])], text)
        self.assertIn("here and in node 'loop/gru_two' (GRU-22)", text)
        # One output alone says which of the two.
        found, text = self.found([loop], output="H_last", initializers=constants, expected=final)
        self.assertEqual(found, [("reproduced", "node 'loop/gru' (GRU-22)", ["linear-before-reset"])], text)
        self.assertNotIn("here and in", text)

    def test_a_state_that_the_source_does_not_have(self):
        right = {"linear_before_reset": 1, "hidden_size": 4}
        gru = helper.make_node("GRU", ["X_step", "W", "R", "B", "", "H"], ["Y_in"], name="gru", **right)
        constants = [constant("axis", [0]), constant("H", np.full((1, 3, 4), 0.5, np.float32))]
        found, text = self.found(self.scan([gru]), initializers=constants, expected=self.expected[None])
        self.assertEqual(found, [("reproduced", self.in_scan, ["initial-h-ignored"])], text)

    def test_what_is_not_explained_in_bodies(self):
        axis = [constant("axis", [0])]
        found, text = self.found(self.scan([self.gru("X_step", "W", "R", "B")]), initializers=axis, expected=self.expected[None] + np.float32(0.25))
        self.assertEqual(found, [("unexplained", self.in_scan, [])])
        self.assertRegex(text, r"^nothing known reproduces what the model gives: it ran with each of \d+ mistakes taken back in its body; its steps are not looked into, and")
        # The layers that were tried are named, and what was not tried.
        two = [self.gru("X_step", "W", "R", "B", output="Y_1", name="first"), self.gru("X_step", "W", "R", "B", output="Y_2", name="second"),
               helper.make_node("Sub", ["Y_1", "Y_2"], ["Y_in"])]
        found, text = self.found(self.scan(two), initializers=axis, expected=self.expected[None] + np.float32(0.25))
        self.assertEqual(found, [("unexplained", self.in_scan.replace("gru", "first"), [])])
        self.assertRegex(text, r"taken back in its body, and of node 'scan/second' \(GRU-22\); .* sequence_lens, .* are not tried there$")
        # Weights that the body computes are not known.
        turned = [helper.make_node("Mul", ["W", "X_scale"], ["W_in"]), helper.make_node("ReduceMax", ["X_step"], ["X_scale"], keepdims=0),
                  self.gru("X_step", "W_in", "R", "B")]
        found, text = self.found(self.scan([turned[1], turned[0], turned[2]]), initializers=axis, expected=self.expected[None])
        self.assertEqual(found, [("unexplained", "node 'gru' (GRU-22)", [])])
        self.assertEqual(text, "not examined: it stands in node 'scan' (Scan-21), which is not looked into")
        # A body that never runs may hold anything.
        unused = body([helper.make_node("Identity", ["go"], ["go_on"]), self.gru("X", "axis", "axis", "B", output="Y_never")], ["go_on", "Y_never"],
                      inputs=["turn", "go"])
        for v, kind in zip((*unused.input, unused.output[0]), (onnx.TensorProto.INT64, onnx.TensorProto.BOOL, onnx.TensorProto.BOOL)):
            v.type.tensor_type.elem_type = kind
        never = helper.make_node("Loop", ["none", ""], ["N"], name="never", body=unused)
        nodes = [never, helper.make_node("ReduceSum", ["N"], ["S"], keepdims=0), helper.make_node("Add", ["X", "S"], ["Y"])]
        found, text = self.found(nodes, initializers=[constant("none", np.int64(0)), *axis], expected=self.truth.arrays()["X"] + np.float32(1))
        self.assertEqual(text, "not examined: it stands in node 'never' (Loop-21), which is not looked into")
        # A layer of the main graph is nearer to the output.
        behind = [*self.scan([self.gru("X_step", "W", "R", "B")])[:1], self.scan([self.gru("X_step", "W", "R", "B", output="Y_in")])[1]]
        behind[1].output[0] = "Y_scan"
        main = [*behind, self.gru(output="Y_gru"), helper.make_node("Exp", ["Y_gru"], ["Y"])]
        found, text = self.found(main, initializers=axis, expected=self.expected)
        self.assertEqual(text, "not examined: output 'Y' is made by Exp after it, through which nothing is traced back; the node was not shown wrong")

    def test_gates_are_traced_in_branches_only(self):
        other = body([helper.make_node("Identity", ["X"], ["Y_in"])], ["Y_in"])
        for cond, status in ((True, 0), (False, 2)):
            data = self.case([self.branches(body([self.gru()], ["Y_in"]), other)], initializers=[constant("cond", cond)])
            gates = self.folder / "gates.npz"
            done = run(data.parent / "model.onnx", "--inputs", data, "--trace-gates", gates, "-q")
            self.assertEqual(done.returncode, status, done.stderr)
            if status == 0:
                with np.load(gates) as traced:
                    self.assertEqual(sorted(traced), ["if/gru.H", "if/gru.h", "if/gru.r", "if/gru.z"])
            else:
                self.assertIn("bodies of Loop and Scan are not looked into", done.stderr)

    def take(self, direction):
        """The layer as it should be, in this direction, with wrong attributes beside."""
        self.truth = layer("", "GRU", attributes={"linear_before_reset": 1, "direction": direction})
        self.weights = [constant(n, a) for n, a in self.truth.arrays().items() if n != "X"]
        self.expected = {n: v.astype(np.float32) for n, v in self.truth.expected().items() if n in ("Y", "Y_h")}
        return {**self.wrong, "direction": direction}, {"linear_before_reset": 1, "hidden_size": 4, "direction": direction}

    def test_Y_at_one_time(self):
        indices = [constant("last", np.int64(-1)), constant("first", np.int64(0)), constant("ends", [2**31]), constant("begins", [-1]),
                   constant("axis", [0])]
        by_gather = [helper.make_node("Gather", ["Y_in", "last"], ["Y"], axis=0)]
        by_slice = [helper.make_node("Transpose", ["Y_in"], ["T"], perm=[2, 1, 0, 3]),
                    helper.make_node("Slice", ["T", "begins", "ends", "two"], ["S"]), helper.make_node("Squeeze", ["S", "two"], ["Y"])]
        two = [*indices, constant("two", [2])]
        for direction in ("forward", "reverse", "bidirectional"):
            for name, behind in (("gather", by_gather), ("slice", by_slice)):
                wrong, right = self.take(direction)
                at_last, final = self.expected["Y"][-1], self.expected["Y_h"]
                if name == "slice":
                    at_last, final = at_last.swapaxes(0, 1), final.swapaxes(0, 1)
                with self.subTest(direction=direction, name=name):
                    found, text = self.found([self.gru(**wrong), *behind], initializers=two, expected=at_last)
                    self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22)", ["linear-before-reset"])], text)
                    if direction == "forward":
                        continue  # Y at the last time is the final state
                    found, text = self.found([self.gru(**right), *behind], initializers=two, expected=final)
                    self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22)", ["final-states-at-last-step"])], text)
                    self.assertIn("the model takes Y at one time", text)

    def test_directions_put_together(self):
        wrong, _ = self.take("bidirectional")
        indices = [constant("zero", np.int64(0)), constant("one", np.int64(1)), constant("last", np.int64(-1)), constant("axis", [1])]
        halves = [helper.make_node("Gather", ["Y_in", "zero"], ["F"], axis=1), helper.make_node("Gather", ["Y_in", "one"], ["B_half"], axis=1)]
        joined = [*halves, helper.make_node("Concat", ["F", "B_half"], ["Y"], axis=2)]
        split = [helper.make_node("Split", ["Y_in"], ["F", "B_half"], axis=1, num_outputs=2),
                 helper.make_node("Concat", ["F", "B_half"], ["C"], axis=3), helper.make_node("Squeeze", ["C", "axis"], ["Y"])]
        ends = [*halves, helper.make_node("Gather", ["F", "last"], ["F_last"], axis=0), helper.make_node("Gather", ["B_half", "zero"], ["B_last"], axis=0),
                helper.make_node("Concat", ["F_last", "B_last"], ["Y"], axis=1)]
        Y, Y_h = self.expected["Y"], self.expected["Y_h"]
        of_all, of_ends = np.concatenate([Y[:, 0], Y[:, 1]], axis=2), np.concatenate([Y_h[0], Y_h[1]], axis=1)
        for name, behind, expected in (("joined", joined, of_all), ("split", split, of_all), ("ends", ends, of_ends)):
            with self.subTest(name=name):
                found, text = self.found([self.gru(**wrong), *behind], initializers=indices, expected=expected)
                self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22)", ["linear-before-reset"])], text)

    def test_one_direction_alone(self):
        wrong, _ = self.take("bidirectional")
        indices = [constant("first", np.int64(0)), constant("last", np.int64(-1)), constant("zero", [0]), constant("one", [1]), constant("two", [2])]
        ways = {  # each makes Y of one direction
            "gather": lambda d: [helper.make_node("Gather", ["Y_in", ("first", "last")[d]], ["Y"], axis=1)],
            "squeeze": lambda d: [helper.make_node("Gather", ["Y_in", ("zero", "one")[d]], ["G"], axis=1), helper.make_node("Squeeze", ["G", "one"], ["Y"])],
            "slice": lambda d: [helper.make_node("Slice", ["Y_in", ("zero", "one")[d], ("one", "two")[d], "one"], ["S"]),
                                helper.make_node("Squeeze", ["S", "one"], ["Y"])],
            "split": lambda d: [helper.make_node("Split", ["Y_in"], [("S", "_")[d], ("_", "S")[d]], axis=1, num_outputs=2),
                                helper.make_node("Squeeze", ["S", "one"], ["Y"])],
        }
        for (name, behind), d in itertools.product(ways.items(), (0, 1)):
            with self.subTest(name=name, direction=d):
                found, text = self.found([self.gru(**wrong), *behind(d)], initializers=indices, expected=self.expected["Y"][:, d])
                label = f"node 'gru' (GRU-22), {('forward', 'backward')[d]}"
                self.assertEqual(found, [("reproduced", label, ["linear-before-reset"])], text)

    def test_one_direction_under_layout_1_of_final_states_and_at_one_time(self):
        indices = [constant("first", np.int64(0)), constant("last", np.int64(-1))]
        pick = [helper.make_node("Gather", ["Y_in", "last"], ["Y"], axis=2)]
        self.truth = layer("", "GRU", attributes={"linear_before_reset": 1, "direction": "bidirectional", "layout": 1})
        self.weights = [constant(n, a) for n, a in self.truth.arrays().items() if n != "X"]
        wrong = {**self.wrong, "direction": "bidirectional", "layout": 1}
        expected = self.truth.expected()["Y"].astype(np.float32)[:, :, 1]
        found, text = self.found([self.gru(**wrong), *pick], initializers=indices, expected=expected)
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22), backward", ["linear-before-reset"])], text)
        wrong, right = self.take("bidirectional")
        final = helper.make_node("GRU", ["X", "W", "R", "B"], ["", "Y_h"], name="gru", **wrong)
        of_state = [final, helper.make_node("Gather", ["Y_h", "last"], ["Y"], axis=0)]
        found, text = self.found(of_state, initializers=indices, expected=self.expected["Y_h"][1])
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22), backward", ["linear-before-reset"])], text)
        at_one_time = [helper.make_node("Gather", ["Y_in", "last"], ["D"], axis=1), helper.make_node("Gather", ["D", "last"], ["Y"], axis=0)]
        found, text = self.found([self.gru(**right), *at_one_time], initializers=indices, expected=self.expected["Y_h"][1])
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22), backward", ["final-states-at-last-step"])], text)

    def test_the_other_direction_and_two_outputs(self):
        wrong, right = self.take("bidirectional")
        indices = [constant("first", np.int64(0)), constant("last", np.int64(-1))]
        pick = [helper.make_node("Gather", ["Y_in", "last"], ["Y"], axis=1)]
        found, text = self.found([self.gru(**right), *pick], initializers=indices, expected=self.expected["Y"][:, 0])
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22), backward", ["output-directions-swapped"])], text)
        self.assertIn("the forward direction: the model gives the backward one", text)
        # Where all of Y comes out besides, it is told once.
        first = helper.make_node("Gather", ["Y", "first"], ["F"], axis=1)
        data = self.case([self.gru(**wrong, output="Y"), first], initializers=indices, expected=self.expected["Y"], more={"F": self.expected["Y"][:, 0]})
        done = run("conformance", data.parent, "--json", "-")
        (case,) = json.loads(done.stdout)["cases"]
        self.assertEqual([(f["node"], f["hypotheses"]) for f in case["diagnosis"]], [("node 'gru' (GRU-22)", ["linear-before-reset"])])

    def test_functions_of_one_direction_keep_their_parameters(self):
        functions = {"activations": ["LeakyRelu", "Tanh", "Elu", "LeakyRelu"], "direction": "bidirectional"}
        self.truth = layer("", "GRU", scale=0.5, attributes={**functions, "activation_alpha": [0.5, 0.75, 0.25]})
        self.weights = [constant(n, a) for n, a in self.truth.arrays().items() if n != "X"]
        expected = self.truth.expected()["Y"].astype(np.float32)[:, 1]
        wrong = {**functions, "activation_alpha": [0.5, 0.25, 0.75], "hidden_size": 4}
        pick = [helper.make_node("Gather", ["Y_in", "last"], ["Y"], axis=1)]
        found, text = self.found([self.gru(**wrong), *pick], initializers=[constant("last", np.int64(-1))], expected=expected)
        self.assertEqual(found, [("reproduced", "node 'gru' (GRU-22), backward", ["activation-parameters-order"])], text)


if __name__ == "__main__":
    unittest.main()
