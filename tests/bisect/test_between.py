"""The values between the nodes in a run: saved, compared and printed, those in bodies by path and iteration."""

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
except ImportError:
    onnx = None

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))


def info(name, kind=None, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT if kind is None else kind, shape)


def constant(name, value):
    return numpy_helper.from_array(np.array(value), name)


def loop(factor):
    """Four times h = factor * s + x, and a branch on what comes out."""
    body = helper.make_graph(
        [helper.make_node("Mul", ["s", "factor"], ["scaled"], name="scale"),
         helper.make_node("Add", ["scaled", "x"], ["h"], name="add"),
         helper.make_node("Identity", ["go"], ["go_on"])],
        "body", [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s")], [info("go_on", TensorProto.BOOL, []), info("h")],
        [constant("factor", np.float32(factor))])
    branches = {name: helper.make_graph([helper.make_node(op, ["last"], ["chosen"], name=op.lower())], name, [], [info("chosen")])
                for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))}
    nodes = [helper.make_node("Loop", ["times", "yes", "x"], ["last"], name="loop", body=body),
             helper.make_node("If", ["yes"], ["y"], name="choice", **branches)]
    graph = helper.make_graph(nodes, "looping", [info("x", shape=[3])], [info("y", shape=[3])], [constant("times", np.int64(4)), constant("yes", True)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@unittest.skipIf(onnx is None, "needs onnx")
class Between(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.x = np.array([1, -2, 0.5], np.float32)
        np.save(self.folder / "x.npy", self.x)
        self.model = self.save("model.onnx", loop(0.5))

    def save(self, name, model):
        onnx.save(model, self.folder / name)
        return self.folder / name

    def run_it(self, *arguments, code=0, command=()):
        result = subprocess.run([BINARY, *command, *map(str, arguments), "--inputs", self.folder / "x.npy"], capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def expected(self):
        values, s = {}, self.x
        for i in range(4):
            values |= {f"loop/{i}/s": s, f"loop/{i}/scaled": s * np.float32(0.5)}
            s = values[f"loop/{i}/h"] = values[f"loop/{i}/scaled"] + self.x
        return values | {"last": s, "choice/chosen": -s, "y": -s}

    def test_bodies_are_saved_by_path_and_iteration(self):
        for name in ("values.npz", "values.json", "folder"):
            self.run_it(self.model, "-q", "--save-intermediates", self.folder / name)
        expected = self.expected()
        with np.load(self.folder / "values.npz") as saved:
            self.assertLessEqual(set(expected), set(saved.files))
            self.assertEqual({name.rpartition("/")[2] for name in set(saved.files) - set(expected)}, {"i", "go", "go_on"})
            for name, value in expected.items():
                np.testing.assert_array_equal(saved[name], value, name)
            tensors = [onnx.load_tensor(str(path)) for path in sorted((self.folder / "folder").iterdir())]
            self.assertEqual({tensor.name for tensor in tensors}, set(saved.files))
            for tensor in tensors:
                np.testing.assert_array_equal(numpy_helper.to_array(tensor), saved[tensor.name])
        for name in ("values.npz", "values.json", "folder"):
            result = self.run_it(self.model, "-q", "--expected-intermediates", self.folder / name, "--rtol", "0", "--atol", "0")
            self.assertIn(f"nothing differs: {len(tensors)} values compared with", result.stdout)

    def test_patterns_and_names(self):
        values = self.folder / "values.npz"
        self.run_it(self.model, "-q", "--save-intermediates", values, "--values", "loop/*/h", "--values", "y")
        with np.load(values) as saved:
            self.assertEqual(set(saved.files), {"y", *(f"loop/{i}/h" for i in range(4))})
            np.savez(values, theirs=saved["loop/2/h"], y=saved["y"] + 1)
        (self.folder / "names.json").write_text('{"loop/2/h": "theirs"}')
        arguments = ["--expected-intermediates", values, "--names", self.folder / "names.json"]
        report = json.loads(self.run_it(self.model, "--output-format", "json", *arguments, code=1).stdout)
        self.assertEqual((report["verdict"], report["intermediates"]["compared"]), ("differs", 2))
        self.assertEqual([row["value"] for row in report["intermediates"]["differences"]], ["y"])
        (self.folder / "names.json").write_text('{"loop/2/h": "nobody"}')
        self.assertIn("there is no value 'nobody'", self.run_it(self.model, *arguments, code=2).stderr)
        (self.folder / "names.json").write_text('["h"]')
        self.assertIn("names are an object of strings", self.run_it(self.model, *arguments, code=3).stderr)

    def test_print(self):
        text = self.run_it(self.model, "--print", "loop/3/h", "--print", "last").stdout
        self.assertRegex(text, r"(?s)y  tensor\(float\) \[3\].*loop/3/h  tensor\(float\) \[3\]\n  \[ 1.9375  -3.875 0.96875\]\n"
                               r"last  tensor\(float\) \[3\]\n  \[ 1.9375")
        self.assertIn("no node makes a value 'loop/4/h'", self.run_it(self.model, "--print", "loop/4/h", code=2).stderr)

    def test_the_first_wrong_node_of_a_body(self):
        wrong = self.save("wrong.onnx", loop(0.25))
        result = self.run_it(wrong, "--against", self.model, "--all", "--json", "-", code=1, command=["bisect"])
        made = [row["value"] for row in json.loads(result.stdout)["differences"] if row["made_here"]]
        self.assertEqual(made, [*(f"loop/{i}/scaled" for i in range(4)), "last"])
        first = self.run_it(wrong, "--against", self.model, code=1, command=["bisect"]).stdout.splitlines()[0]
        self.assertTrue(first.startswith("first wrong: node 'loop/0/scale' (Mul-14), output 'loop/0/scaled': alone it differs, too"), first)

    def test_a_number_that_a_body_makes(self):
        self.x = np.array([1e38, 1, 1], np.float32)
        np.save(self.folder / "x.npy", self.x)
        model = self.save("grows.onnx", loop(3.0))
        found = json.loads(self.run_it(model, "--find", "inf", "--json", "-", code=1, command=["bisect"]).stdout)["found"]
        self.assertEqual((found["node"], found["value"]), ("node 'loop/0/add' (Add-14)", "loop/0/h"))
        self.assertEqual({each["name"] for each in found["inputs"]}, {"loop/0/scaled", "x"})

    def test_fused_steps_give_their_values(self):
        w = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), helper.make_node("Relu", ["c"], ["y"], name="relu")]
        graph = helper.make_graph(nodes, "fused", [info("x", shape=[1, 3, 8, 8])], [info("y")], [numpy_helper.from_array(w, "w")])
        model = self.save("fused.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))
        np.save(self.folder / "x.npy", np.random.default_rng(2).standard_normal((1, 3, 8, 8)).astype(np.float32))
        self.run_it(model, "-q", "--save-intermediates", self.folder / "v.npz", "--save-outputs", self.folder / "y.npy")
        with np.load(self.folder / "v.npz") as saved:
            np.testing.assert_array_equal(np.maximum(saved["c"], 0), np.load(self.folder / "y.npy"))

    def test_usage(self):
        for arguments in (["--save-intermediates", "values.pb"], ["--values", "h"], ["--names", "n.json"], ["--expected-intermediates", "v.npy"],
                          ["--expected-intermediates", self.folder / "absent.npz"]):
            result = self.run_it(self.model, *arguments, code=2)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
