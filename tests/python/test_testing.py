"""grurun.testing.gate: green for a right export, red for planted mistakes; the plugin of pytest."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.python.models import clip_model, gru_model, model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun
    from grurun.testing import gate

X = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)


def framework(x):
    """A GRU of another program's: right by definition."""
    return grurun.Session(gru_model()).run(None, {"X": x})


def red(test, pattern, *args, **kwargs):
    """The message of a gate that must fail; the case that it left reproduces the failure."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "case"
        with test.assertRaisesRegex(AssertionError, pattern) as caught:
            gate(*args, folder=folder, **kwargs)
        test.assertTrue((folder / "model.onnx").exists())
        test.assertIn(f"grurun conformance {'--strict ' * kwargs.get('strict', False)}{folder}", str(caught.exception))
        if list(folder.glob("test_data_set_*")) and "differs" in str(caught.exception):
            test.assertFalse(grurun.conformance(folder).ok)
    return str(caught.exception)


@needs_package
class HandMadeModels(unittest.TestCase):
    def test_a_right_model_passes_at_every_size(self):
        gate(gru_model(), (X,), expected=framework, dynamic_shapes={"X": {0: "steps", 1: "batch"}})
        gate(gru_model, (X,), expected=framework)
        gate(gru_model().SerializeToString(), {"X": X}, expected=framework(X))
        gate(gru_model(), (X,))

    def test_gates_in_the_order_of_pytorch(self):
        proto = gru_model()
        for initializer in proto.graph.initializer:
            z, r, h = np.split(numpy_helper.to_array(initializer)[:, :24], 3, axis=1)
            rest = numpy_helper.to_array(initializer)[:, 24:]
            initializer.raw_data = np.concatenate([r, z, h, *([] if not rest.size else [np.concatenate([*[np.split(rest, 3, 1)[i] for i in (1, 0, 2)]], 1)])], 1).tobytes()
        proto.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value='File "encoder.py", line 7, in forward')
        message = red(self, "differs", proto, (X,), expected=framework)
        self.assertRegex(message, "gate")
        self.assertIn("encoder.py", message)

    def test_linear_before_reset_forgotten(self):
        self.assertIn("linear_before_reset", red(self, "differs", gru_model(linear_before_reset=0), (X,), expected=framework))

    def test_a_wrong_axis(self):
        def make(axis):
            node = helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis=axis, doc_string="model.py:3")
            return model([node], [("x", TensorProto.FLOAT, ["n", "m"])], [("y", TensorProto.FLOAT, ["n", "m"])])

        x = X[0]

        def expected(x):
            return np.exp(x) / np.exp(x).sum(1, keepdims=True)

        gate(make(1), (x,), expected=expected)
        self.assertIn("model.py:3", red(self, "output 'y'", make(0), (x,), expected=expected))

    def test_a_frozen_batch(self):
        message = red(self, "the exporter froze it", gru_model(batch=2), (X,), expected=framework,
                      dynamic_shapes={"X": {0: "steps", 1: "batch"}})
        self.assertIn("axis 1", message)

    def test_a_size_frozen_inside(self):
        shape = helper.make_tensor("shape", TensorProto.INT64, [2], [2, 12])
        proto = model([helper.make_node("Reshape", ["x", "shape"], ["y"], name="flatten")], [("x", TensorProto.FLOAT, ["batch", 3, 4])],
                      [("y", TensorProto.FLOAT, ["batch", 12])], [shape])
        x = np.ones((2, 3, 4), np.float32)
        gate(proto, (x,), expected=lambda x: x.reshape(len(x), 12), sweep=False)
        red(self, "Reshape|flatten", proto, (x,), expected=lambda x: x.reshape(len(x), 12))

    def test_findings_fail_unless_listed(self):
        proto = gru_model()
        proto.graph.output[1].type.tensor_type.shape.dim[2].dim_value = 9
        found = {finding.code for finding in grurun.check(proto)}
        self.assertTrue(found)
        red(self, "|".join(found), proto, (X,), expected=framework)

    def test_strict_refuses_forms_that_are_ignored_and_those_of_a_run(self):
        args = {"x": np.array([-1, 3], np.float32), "low": np.zeros(1, np.float32)}
        expected = [np.array([0, 3], np.float32)]
        red(self, "warning FORM001", clip_model(), args, expected=expected, sweep=False)
        gate(clip_model(), args, expected=expected, sweep=False, ignore=["FORM"])
        red(self, r"\[FORM001\]", clip_model(), args, expected=expected, sweep=False, ignore=["FORM"], strict=True)
        gate(clip_model(["m"]), args, expected=expected, sweep=False)
        red(self, r"\[FORM001\]", clip_model(["m"]), args, expected=expected, sweep=False, strict=True)
        gate(clip_model([]), {**args, "low": np.float32(0)}, expected=expected, sweep=False, strict=True)

    def test_what_is_random_is_no_silent_pass(self):
        def dropout(mode, ratio=0.5):
            inits = [numpy_helper.from_array(np.array(ratio, np.float32), "ratio"), numpy_helper.from_array(np.array(mode), "mode")]
            nodes = [helper.make_node("Dropout", ["x", "ratio", "mode"], ["d"], name="drop"), helper.make_node("Abs", ["d"], ["y"], name="abs"),
                     helper.make_node("Neg", ["x"], ["z"], name="neg")]
            info = ("x", TensorProto.FLOAT, [4, 5])
            return model(nodes, [info], [("y", *info[1:]), ("z", *info[1:])], inits)

        x = np.random.default_rng(3).normal(size=(4, 5)).astype(np.float32)
        said = ("node 'drop' runs in training mode: outputs after it are random and only their distribution was checked; "
                r"call \.eval\(\) before export, or pass random=True(.|\n)*20 of 40 elements were compared by value")
        for factor in (1, 2):
            red(self, said, dropout(True), (x,), expected=lambda x, f=factor: [np.abs(x) * f, -x])
        gate(dropout(True), (x,), expected=lambda x: [np.abs(x), -x], random=True)
        with self.assertRaisesRegex(AssertionError, "output 'z'(.|\n)*20 of 40 elements were compared by value"):
            gate(dropout(True), (x,), expected=lambda x: [np.abs(x), x], random=True)
        with self.assertRaisesRegex(AssertionError, "RANDOM001 node 'graph/drop' .*: runs in training mode"):
            gate(dropout(True), (x,))
        for right in (dropout(False), dropout(True, ratio=0.0)):
            gate(right, (x,), expected=lambda x: [np.abs(x), -x])
        with self.assertWarnsRegex(grurun.ModelWarning, "RANDOM001"):
            grurun.Session(dropout(True)).run(None, {"x": x})

    def test_the_nodes_own_values_refute_what_dropout_cannot_give(self):
        inits = [numpy_helper.from_array(np.array(0.5, np.float32), "ratio"), numpy_helper.from_array(np.array(True), "mode")]
        nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Dropout", ["n", "ratio", "mode"], ["y"], name="drop")]
        proto = model(nodes, [("x", TensorProto.FLOAT, [64])], [("y", TensorProto.FLOAT, [64])], inits)
        x = np.arange(1, 65, dtype=np.float32)
        for factor, said in ((-7, "neither 0 nor 2 times"), (-2, "elements kept")):
            with self.assertRaisesRegex(AssertionError, said):
                gate(proto, (x,), expected=lambda x, f=factor: x * f, random=True)

    def test_axes_of_one_name_or_size_change_together(self):
        def add(*names):
            return model([helper.make_node("Add", ["a", "b"], ["y"])], [(name, TensorProto.FLOAT, [dim, 3]) for name, dim in zip("ab", names)],
                         [("y", TensorProto.FLOAT, [None, 3])])

        sizes = []

        def expected(a, b):
            sizes.append((len(a), len(b)))
            return a + b

        values = {"a": np.ones((4, 3), np.float32), "b": np.ones((4, 3), np.float32)}
        for names, dynamic in (((None, None), None), (("m", "n"), {"a": {0: "rows"}, "b": {0: "rows"}})):
            sizes.clear()
            gate(add(*names), values, expected=expected, dynamic_shapes=dynamic)
            self.assertEqual(sizes, [(4, 4), (5, 5), (9, 9), (1, 1)])

    def test_columns_feed_a_model_of_an_input_each(self):
        proto = model([helper.make_node("Concat", ["a", "b"], ["y"], axis=1)], [(name, TensorProto.FLOAT, [None, 1]) for name in "ab"],
                      [("y", TensorProto.FLOAT, [None, 2])])
        gate(proto, {"a": np.arange(3.0), "b": np.arange(3.0)}, expected=lambda a, b: np.stack([a, b], 1).astype(np.float32))

    def test_a_node_that_was_not_shown_wrong_is_not_blamed(self):
        proto = gru_model()
        proto.graph.node[0].doc_string = "encoder.py:7"
        proto.graph.node.append(helper.make_node("Neg", ["Y"], ["s"], name="turn"))
        proto.graph.node.append(helper.make_node("Exp", ["s"], ["e"], name="exp"))
        proto.graph.output[0].name = "e"
        message = red(self, "differs", proto, (X,), expected=lambda x: [np.exp(framework(x)[0]), framework(x)[1]])
        self.assertNotIn("encoder.py", message)
        self.assertNotIn("why: ", message)
        self.assertRegex(message, r"which of the model's 3 nodes is wrong is not known; .*: grurun bisect \S+ --inputs \S+ --against GOOD\.onnx")

    def test_what_is_no_model(self):
        for subject, said in ((gru_model().graph, "a GraphProto is a part of a model"), (7, "not an object of the type int")):
            for take in (grurun.Session, grurun.check, gate):
                with self.assertRaisesRegex(grurun.UsageError, said):
                    take(subject)

    def test_a_folder_that_holds_something_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine").write_text("")
            with self.assertRaisesRegex(grurun.UsageError, "not empty"):
                gate(gru_model(), (X,), folder=folder)


@needs_package
class Plugin(unittest.TestCase):
    def pytest(self, *arguments, cwd=None):
        command = [sys.executable, "-m", "pytest", "-p", "grurun.pytest_plugin", "-p", "no:cacheprovider", "-q", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
        return done.returncode, done.stdout + done.stderr

    def test_cases_are_tests(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "empty").mkdir()
            session = grurun.Session(gru_model())
            good = dict(zip(("Y", "Y_h"), session.run(None, {"X": X})))
            for name, outputs in (("test_good", good), ("test_bad", {**good, "Y": good["Y"] + 1})):
                (root / "cases" / "gru" / name).mkdir(parents=True)
                onnx.save(gru_model(), root / "cases" / "gru" / name / "model.onnx")
                grurun._core.write_data_set(session, str(root / "cases" / "gru" / name / "test_data_set_0"), {"X": X}, outputs)
            code, out = self.pytest("--grurun", root / "cases", root / "empty", "-rA")
            self.assertEqual(code, 1, out)
            self.assertIn("1 failed, 1 passed", out)
            self.assertIn("differs: test_data_set_0, output 'Y'", out)
            listed = root / "expectations"
            listed.write_text("test_bad differs a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty", "-n", "2")
            self.assertEqual(code, 0, out)
            self.assertIn("1 passed, 1 xfailed", out)
            listed.write_text("test_good differs a reason\ntest_bad differs a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty")
            self.assertEqual(code, 1, out)
            self.assertIn("says differs, but it is passed", out)
            listed.write_text("test_bad differs max_abs=0.5 a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty")
            self.assertEqual(code, 1, out)
            self.assertRegex(out, "worse than .*expectations:1 allows: max_abs 1")
            listed.write_text("test_bad differs a reason\ntest_gone differs a reason\n")
            code, out = self.pytest("--grurun", root / "cases", "--grurun-expectations", listed, root / "empty")
            self.assertEqual(code, 1, out)
            self.assertIn("expectations:2: 'test_gone' matches no case", out)
            self.assertIn("1 failed, 1 passed, 1 xfailed", out)
            grurun._core.write_data_set(grurun.Session(clip_model()), str(root / "forms/test_clip/test_data_set_0"),
                                        {"x": X[0, 0], "low": np.full(1, -9, np.float32)}, {"y": X[0, 0]})
            onnx.save(clip_model(), root / "forms/test_clip/model.onnx")
            code, out = self.pytest("--grurun", root / "forms", root / "empty")
            self.assertEqual(code, 0, out)
            code, out = self.pytest("--grurun", root / "forms", "--grurun-strict", root / "empty")
            self.assertEqual(code, 1, out)
            self.assertRegex(out, r"invalid: .*\[FORM001\]")
            code, out = self.pytest("--grurun", root / "nowhere", root / "empty")
            self.assertNotEqual(code, 0)
            self.assertRegex(out, r"--grurun .*nowhere: usage: ")

    def test_the_fixture_leaves_its_case(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "test_it.py").write_text(
                "import numpy as np\n"
                "from tests.python.models import gru_model\n"
                "def test_good(gate):\n    gate(gru_model(), (np.ones((2, 1, 4), np.float32),))\n"
                "def test_bad(gate):\n    gate(gru_model(), (np.ones((2, 1, 4), np.float32),), expected=[np.zeros(1), np.zeros(1)])\n")
            code, out = self.pytest(root, "--basetemp", root / "base")
            self.assertEqual(code, 1, out)
            self.assertIn("1 failed, 1 passed", out)
            folder = re.search(r"The case is in (/\S+):", out)[1]
            self.assertTrue((pathlib.Path(folder) / "model.onnx").exists())


if __name__ == "__main__":
    unittest.main()
