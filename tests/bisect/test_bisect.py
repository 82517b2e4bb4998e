"""grurun bisect as its users run it: the first wrong node is named, one that hands on what it was given is not."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    onnx = None

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
WIDTH = 8


def run(*arguments):
    return subprocess.run([BINARY, "bisect", *map(str, arguments)], capture_output=True, text=True)


def weights(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32) / WIDTH**0.5


def branch(name, scale, dtype):
    nodes = [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(scale, dtype))),
             helper.make_node("Mul", ["normed2", "c"], [name])]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)])


def block(epsilon=1e-5, scale=2.0, dtype=np.float32):
    """A layer with a norm whose epsilon, and a branch whose scale, can be wrong, and a function behind them."""
    square = helper.make_function("test", "Square", ["a"], ["b"], [helper.make_node("Mul", ["a", "a"], ["b"])], [helper.make_opsetid("", 18)])
    nodes = [
        helper.make_node("LayerNormalization", ["x", "ones"], ["normed1"], name="norm1"),
        helper.make_node("MatMul", ["normed1", "w"], ["mixed"], name="mix"),
        helper.make_node("Add", ["mixed", "x"], ["summed"], name="residual"),
        helper.make_node("LayerNormalization", ["summed", "ones"], ["normed2"], name="norm2", epsilon=epsilon),
        helper.make_node("If", ["yes"], ["chosen"], name="choice", then_branch=branch("then", scale, dtype),
                         else_branch=branch("else", 1.0, dtype)),
        helper.make_node("Square", ["chosen"], ["squared"], name="call", domain="test"),
        helper.make_node("Softmax", ["squared"], ["y"], name="soft"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    initializers = [numpy_helper.from_array(a, n) for n, a in
                    {"ones": np.ones(WIDTH, dtype), "w": weights(WIDTH, WIDTH).astype(dtype), "yes": np.array(True)}.items()]
    graph = helper.make_graph(nodes, "block", [helper.make_tensor_value_info("x", kind, ["n", WIDTH])],
                              [helper.make_tensor_value_info("y", kind, ["n", WIDTH])], initializers)
    return helper.make_model(graph, functions=[square], opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("test", 1)], ir_version=9)


@unittest.skipIf(onnx is None, "needs onnx")
class Bisect(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.x = weights(3, WIDTH)
        np.save(self.folder / "x.npy", self.x)

    def save(self, name, model):
        onnx.save(model, self.folder / name)
        return self.folder / name

    def bisect(self, model, *arguments, code=1):
        result = run(model, "--inputs", self.folder / "x.npy", *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def differences(self, model, *arguments, code=1):
        return json.loads(self.bisect(model, "--json", "-", *arguments, code=code).stdout)["differences"]

    def store(self, model, **changed):
        """All values, as onnx's reference implementation makes them."""
        names = [name for node in model.graph.node for name in node.output]
        outputs = onnx.ModelProto.FromString(model.SerializeToString())
        del outputs.graph.output[:]
        outputs.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
        made = dict(zip(names, ReferenceEvaluator(outputs).run(None, {"x": self.x}), strict=True))
        np.savez(self.folder / "values.npz", **{**made, **changed})
        return made

    def test_wrong_epsilon(self):
        right, wrong = self.save("right.onnx", block()), self.save("wrong.onnx", block(epsilon=0.3))
        first = self.bisect(wrong, "--against", right).stdout.splitlines()[0]
        self.assertTrue(first.startswith("first wrong: node 'norm2' (LayerNormalization-17), output 'normed2': alone it differs, too"), first)
        rows = self.differences(wrong, "--against", right, "--all")
        self.assertEqual([(row["value"], row["made_here"]) for row in rows],
                         [("normed2", True), ("choice/then", False), ("chosen", False), ("squared", False), ("y", False)])

    def test_two_wrong_nodes(self):
        right, wrong = self.save("right.onnx", block()), self.save("wrong.onnx", block(epsilon=0.3, scale=2.5))
        made = [row["value"] for row in self.differences(wrong, "--against", right, "--all") if row["made_here"]]
        self.assertEqual(made, ["normed2", "choice/then", "chosen"])

    def test_stored_values(self):
        model = block()
        path = self.save("model.onnx", model)
        made = self.store(model)
        self.assertIn("7 values compared", self.bisect(path, "--against", self.folder / "values.npz", code=0).stdout)
        self.store(model, summed=made["summed"] + 1)
        rows = self.differences(path, "--against", self.folder / "values.npz")
        self.assertEqual([(row["value"], row["made_here"]) for row in rows], [("summed", True)])
        self.assertAlmostEqual(rows[0]["alone"]["max_abs"], 1, places=5)

    def test_saved_values(self):
        model = block()
        right, wrong = self.save("right.onnx", model), self.save("wrong.onnx", block(epsilon=0.3))
        made, values = self.store(model), self.folder / "saved.npz"
        given = ["--inputs", self.folder / "x.npy"]
        subprocess.run([BINARY, right, *given, "-q", "--save-intermediates", values], check=True, capture_output=True)
        with np.load(values) as saved:
            self.assertEqual(set(saved.files), {*made, "choice/then"})
            for name in made:
                np.testing.assert_allclose(saved[name], made[name], rtol=1e-4, atol=1e-5)
        self.bisect(right, "--against", values, "--rtol", "0", "--atol", "0", code=0)
        self.assertEqual(self.differences(wrong, "--against", values)[0]["value"], "normed2")
        usage = subprocess.run([BINARY, right, *given, "--save-intermediates", "values.pb"], capture_output=True, text=True)
        self.assertEqual((usage.returncode, usage.stderr.count("\n")), (2, 1))

    def test_a_folder_of_values(self):
        model = block()
        values = self.folder / "values"
        values.mkdir()
        made = self.store(model)
        np.save(values / "mixed.npy", made["mixed"])
        (values / "1.pb").write_bytes(numpy_helper.from_array(made["normed2"] * 2, "normed2").SerializeToString())
        (row,) = self.differences(self.save("model.onnx", model), "--against", values)
        self.assertEqual((row["value"], row["made_here"], row["with"]), ("normed2", True, ["node 'residual' (Add-14)"]))

    def test_precise_and_half(self):
        self.bisect(self.save("model.onnx", block()), "--against", "precise", "--rtol", "1e-4", "--atol", "1e-5", code=0)
        half = self.save("half.onnx", block(dtype=np.float16))
        np.save(self.folder / "x.npy", self.x.astype(np.float16))
        self.bisect(half, "--against", self.folder / "model.onnx", "--rtol", "0.02", "--atol", "0.02", code=0)
        worse = self.save("worse.onnx", block(epsilon=0.3, dtype=np.float16))
        rows = self.differences(worse, "--against", self.folder / "model.onnx", "--rtol", "0.02", "--atol", "0.02")
        self.assertEqual([row["value"] for row in rows if row["made_here"]], ["normed2"])

    def test_markdown(self):
        right, wrong = self.save("right.onnx", block()), self.save("wrong.onnx", block(epsilon=0.3))
        self.bisect(wrong, "--against", right, "--report", f"markdown={self.folder / 'r.md'}")
        self.assertIn("| node 'norm2' (LayerNormalization-17) | normed2 |", (self.folder / "r.md").read_text())

    def chain(self, *ops):
        names = ["x", *[f"v{i}" for i in range(len(ops))]]
        nodes = [helper.make_node(op, [a], [b], name=op.lower()) for op, a, b in zip(ops, names, names[1:])]
        graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                                  [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [3])])
        return self.save("chain.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))

    def found(self, what, x, *ops, code=1):
        np.save(self.folder / "x.npy", np.array(x, np.float32))
        return json.loads(self.bisect(self.chain(*ops), "--find", what, "--json", "-", code=code).stdout)["found"]

    def test_numbers(self):
        found = self.found("nan", [1, 4, -2], "Neg", "Sqrt", "Exp")
        self.assertEqual((found["node"], found["value"], found["count"], found["index"]), ("node 'sqrt' (Sqrt-13)", "v1", 2, [0]))
        self.assertEqual(found["inputs"], [{"name": "v0", "type": "tensor(float) [3]", "range": "from -4 to 2", "at_place": "-1"}])
        self.assertEqual(self.found("inf", [1, 2, 100], "Exp", "Exp")["value"], "v0")
        self.assertEqual(self.found("overflow-float16", [1, 2, 12], "Neg", "Neg", "Exp")["element"], "162755")
        self.assertEqual(self.found("denormal", [-1, -2, -100], "Exp")["index"], [2])
        self.assertIsNone(self.found("nan", [1, 2, 3], "Exp", "Log", code=0))
        # What was nan before the first node, no node has made: the input holds it.
        found = self.found("nan", [1, np.nan, 3], "Exp", "Log")
        self.assertEqual((found["node"], found["made"], found["index"]), ("input 'x'", False, [1]))

    def test_numbers_of_weights_and_constants(self):
        def model(number, in_constant):
            value = numpy_helper.from_array(np.array([1, number, 2], np.float32), "w")
            nodes = [helper.make_node("Mul", ["x", "w"], ["v"], name="mul"), helper.make_node("Relu", ["v"], ["y"], name="relu")]
            if in_constant:
                nodes.insert(0, helper.make_node("Constant", [], ["w"], value=value))
            graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])], [] if in_constant else [value])
            return self.save("odd.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))

        np.save(self.folder / "x.npy", np.array([1, 1, 1], np.float32))
        for what, number in (("nan", np.nan), ("inf", np.inf), ("overflow-float16", 70000), ("denormal", 1e-40)):
            for in_constant, label in ((False, "weight 'w'"), (True, "constant 'w'")):
                path = model(number, in_constant)
                found = json.loads(self.bisect(path, "--find", what, "--json", "-").stdout)["found"]
                self.assertEqual((found["node"], found["count"], found["index"], found["made"]), (label, 1, [1], False), what)
                line = self.bisect(path, "--find", what).stdout.splitlines()[0]
                self.assertTrue(line.startswith(f"first {what}: {label}, a tensor(float) [3]: 1 of its elements, the first at [1] is "), line)
        # A node that makes one by itself is the first; the weight is told of beside it.
        np.save(self.folder / "x.npy", np.array([70000, 0, 1], np.float32))
        text = self.bisect(model(70000, False), "--find", "overflow-float16").stdout
        self.assertIn("input 'x'", text)
        self.assertIn("held, too, by weight 'w'", text)

    def test_the_right_file_is_named(self):
        square = self.chain("Neg", "Neg")
        other = onnx.load(square)
        other.graph.input[0].name = other.graph.node[0].input[0] = "src"
        other.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5
        good = self.save("good.onnx", other)
        np.save(self.folder / "x.npy", np.array([1, 2, 3], np.float32))
        result = self.bisect(square, "--against", good, code=3)
        self.assertIn(f"invalid: {good}: input 'src' is fed 'x' of {square}: input 'src' must have shape [5], but has [3]", result.stderr)
        self.assertEqual(result.stderr.count(str(square)), 1)

    def test_usage(self):
        path = self.save("model.onnx", block())
        np.savez(self.folder / "other.npz", other=self.x)
        for arguments in ([], ["--find", "zero"], ["--find", "nan", "--sandbox", "none"], ["--find", "nan", "--no-fusion"], ["--find", "nan", "--against", "precise"], ["--against", self.folder / "other.npz"],
                          ["--against", self.folder / "absent.npz"]):
            result = self.bisect(path, *arguments, code=2)
            self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1), result.stderr)


if __name__ == "__main__":
    unittest.main()
