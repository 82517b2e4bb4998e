"""Five users, each from an installed package to red to green."""

import json
import sys
import unittest

import numpy as np
import onnx

from tests.stories.story import PYTEST, Story, parsed, softmax


class Exporter(Story):
    """Writes an exporter and holds it against what it exports from, in pytest."""

    EXPORTER = """import numpy as np
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(0)
weights = [rng.normal(0, 0.5, shape).astype(np.float32) for shape in ((12, 3), (12, 4), (12,), (12,))]  # PyTorch's r, z, n

def layer(x):
    (w, r, b, c), h, out = weights, np.zeros((x.shape[1], 4), np.float32), []
    sigmoid = lambda a: 1 / (1 + np.exp(-a))
    for step in x:
        i, k = step @ w.T + b, h @ r.T + c
        reset, update = sigmoid(i[:, :4] + k[:, :4]), sigmoid(i[:, 4:8] + k[:, 4:8])
        h = (1 - update) * np.tanh(i[:, 8:] + reset * k[:, 8:]) + update * h
        out.append(h)
    return np.stack(out)[:, None]

def export():
    parts = [np.split(weight, 3) for weight in weights]
    w, r, b, c = (np.concatenate([part[k] for k in ORDER]) for part in parts)
    tensors = [numpy_helper.from_array(array[None], name) for name, array in (("W", w), ("R", r), ("B", np.concatenate([b, c])))]
    node = helper.make_node("GRU", ["X", "W", "R", "B"], ["Y"], name="gru", hidden_size=4, linear_before_reset=1, doc_string="layer(), exporter.py")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["steps", "batch", 3])],
                              [helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["steps", 1, "batch", 4])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
"""
    TEST = """import numpy as np
from exporter import export, layer

def test_export(gate):
    gate(export, np.linspace(-1, 1, 30, dtype=np.float32).reshape(5, 2, 3), expected=layer, dynamic_shapes={"X": {0: "steps", 1: "batch"}})
"""

    def test_from_gates_in_the_wrong_order_to_green(self):
        self.write("test_export.py", self.TEST)
        self.write("exporter.py", self.EXPORTER.replace("ORDER", "(0, 1, 2)"))
        text = self.run_program(PYTEST, 1)
        for said in ("output 'Y' differs", "gates in r,z,h order", "layer(), exporter.py", "grurun conformance "):
            self.assertIn(said, text)
        self.write("exporter.py", self.EXPORTER.replace("ORDER", "(1, 0, 2)"))
        self.assertIn("1 passed", self.run_program(PYTEST, 0))


class RuntimeAuthor(Story):
    """Has a runtime of their own judged, with a failure that is known and must not grow."""

    RUNTIME = """import sys
import numpy as np
from grurun import runtimes

def run(model, inputs):
    import onnx
    op = onnx.load(model).graph.node[0].op_type
    (x,) = inputs.values()
    if op == "Softmax":
        e = np.exp(x)
        return [(e / (e.sum(-1, keepdims=True) + EPSILON)).astype(np.float32)]
    raise runtimes.Unsupported(f"{op} is not done")

sys.exit(runtimes.main(run, "A runtime"))
"""

    def test_from_a_wrong_kernel_to_green(self):
        self.case("data/node/test_softmax", parsed("y = Softmax(x)"), softmax(self.x))
        self.case("data/node/test_abs", parsed("y = Abs(x)"), abs(self.x))
        judge = ["conformance", "data", "--runtime", f"{sys.executable} mine.py {{model}} {{inputs}} {{outputs}}", "--actual-name", "mine", "-j", "2"]
        self.write("mine.py", self.RUNTIME.replace("EPSILON", "0.1"))
        text = self.grurun(1, *judge, "--json", "first.json")
        for said in ("unsupported  node/test_abs: ", "Abs is not done", "differs      node/test_softmax: ", "actual: mine (", "2 not as expected"):
            self.assertIn(said, text)
        self.grurun(0, *judge, "--update-expectations", "known.txt")
        self.assertIn("max_abs=", (self.home / "known.txt").read_text())
        self.write("mine.py", self.RUNTIME.replace("EPSILON", "0.5"))
        text = self.grurun(1, *judge, "--expectations", "known.txt", "--compare-to", "first.json", "--fail-on", "worse")
        self.assertIn("worse than known.txt:", text)
        self.assertIn("worse    node/test_softmax", text)
        self.write("mine.py", self.RUNTIME.replace("EPSILON", "0").replace("    raise ", "    if op == 'Abs':\n        return [abs(x)]\n    raise "))
        self.assertIn("remove that line", self.grurun(1, *judge, "--expectations", "known.txt"))
        self.grurun(0, *judge, "--update-expectations", "known.txt")
        self.assertEqual((self.home / "known.txt").read_text(), "")


class ModelPublisher(Story):
    """Publishes models: what the standard says of them, and how far a smaller one may be from the first."""

    def test_from_a_broken_rule_and_a_lossy_model_to_green(self):
        (self.home / "models").mkdir()
        model = parsed("y = Softmax <axis: int = 7> (x)")
        onnx.save(model, self.home / "models/scores.onnx")
        text = self.grurun(3, "check", "models", "--report", "sarif=found.sarif", "--report", "github=found.txt")
        self.assertIn("attribute axis names axis 7", text)
        self.assertTrue(json.loads((self.home / "found.sarif").read_text())["runs"][0]["results"])
        self.assertIn("::error file=models/scores.onnx", (self.home / "found.txt").read_text())
        onnx.save(parsed("[n] e = Exp(x) [n] y = Softmax(e)"), self.home / "models/scores.onnx")
        self.grurun(0, "check", "models")
        self.assertIn("GRAPH011", self.grurun(3, "check", "models", "--fail-on", "warning"))
        onnx.save(parsed("[n] e = Exp(x) [m] y = Softmax(e)"), self.home / "models/scores.onnx")
        self.grurun(0, "check", "models", "--fail-on", "warning")

        half = parsed("h = Cast <to: int = 10> (x)  s = Softmax(h)  y = Cast <to: int = 1> (s)")
        self.case("cases/release/scores", half, softmax(self.x))
        strict = ["conformance", "cases", "--rtol", "1e-5", "--atol", "1e-6"]
        self.assertIn("would pass", self.grurun(1, *strict, "--suggest-policy", "suggested.toml"))
        self.grurun(0, *strict, "--policy", "suggested.toml")
        rule = "[[rule]]\ncase = 'release/%s'\nrtol = 2e-3\nreason = 'half precision, agreed with its users'\n"
        self.write("policy.toml", rule % "scores")
        self.grurun(0, *strict, "--policy", "policy.toml")
        self.write("policy.toml", rule % "scores" + rule % "gone")
        self.assertIn("policy.toml:5: the rule decided for no output", self.grurun(1, *strict, "--policy", "policy.toml"))


class OwnerOfAnOldSuite(Story):
    """Has hundreds of cases, some that nobody will mend, and several machines."""

    def test_from_known_failures_to_a_green_list_on_four_machines(self):
        for i in range(24):
            self.case(f"suite/old/test_{i:02}", parsed("y = Neg(x)"), -self.x + np.float32(i < 5))
        suite = ["conformance", "suite", "--no-diagnosis"]
        self.assertIn("5 not as expected", self.grurun(1, *suite, "--json", "before.json"))
        self.write("list.txt", "# kept since 2019\n")
        self.grurun(0, *suite, "--update-expectations", "list.txt")
        self.assertTrue((self.home / "list.txt").read_text().startswith("# kept since 2019\n"))
        parts = [f"part-{k}.json" for k in range(1, 5)]

        def shards(*codes):
            for k, (part, code) in enumerate(zip(parts, codes, strict=True), 1):
                self.grurun(code, *suite, "--expectations", "list.txt", "--shard", f"{k}/4", "--json", part)

        shards(0, 0, 0, 0)
        self.grurun(0, "report", "merge", *parts, "--report", "json=all.json", "--report", "junit=all.xml")
        self.assertIn(": no change", self.grurun(0, "report", "diff", "before.json", "all.json", "--fail-on", "new,worse"))
        self.case("suite/old/test_03", parsed("y = Neg(x)"), -self.x + np.float32(2))
        owner = next(k for k, part in enumerate(parts) if any(each["name"] == "test_03" for each in json.loads((self.home / part).read_text())["cases"]))
        shards(*(int(k == owner) for k in range(4)))
        self.assertIn("worse than list.txt", self.grurun(1, "report", "merge", *parts, "--report", "json=all.json"))
        self.assertIn("worse    old/test_03", self.grurun(1, "report", "diff", "before.json", "all.json", "--fail-on", "worse"))
        self.case("suite/old/test_03", parsed("y = Neg(x)"), -self.x + np.float32(1))
        shards(0, 0, 0, 0)
        self.grurun(0, "report", "merge", *parts)

    def test_their_reference_evaluator(self):
        """A test of theirs that takes onnx's evaluator goes on with the other one."""
        text = "import numpy as np, onnx.parser\nfrom EVALUATOR import ReferenceEvaluator\n" \
            "model = onnx.parser.parse_model('<ir_version: 10, opset_import: [\"\" : 22]> g (float[n] x) => (float[n] y) { y = Neg(x) }')\n" \
            "(y,) = ReferenceEvaluator(model).run(None, {'x': np.ones(3, np.float32)})\nassert (y == WANTED).all(), y\n"
        for evaluator, wanted, code in (("onnx.reference", "-1", 0), ("grurun.reference", "1", 1), ("grurun.reference", "-1", 0)):
            self.write("test.py", text.replace("EVALUATOR", evaluator).replace("WANTED", wanted))
            self.run_program([sys.executable, "test.py"], code)


class Newcomer(Story):
    """Has a model and a command that was just installed."""

    def test_from_the_first_command_to_green(self):
        self.assertIn("did you mean 'check'", self.grurun(2, "chekc", "model.onnx"))
        self.assertIn("conformance", self.grurun(0, "--help"))
        broken = parsed("y = Softmax(x)")
        broken.graph.node[0].op_type = "Sofmax"
        onnx.save(broken, self.home / "model.onnx")
        self.assertRegex(self.grurun(3, "check", "model.onnx"), "Sofmax.*Softmax")
        self.grurun(3, "model.onnx", "--set", "batch=3")
        onnx.save(parsed("y = Softmax <axis: int = 0> (x)"), self.home / "model.onnx")
        self.grurun(0, "check", "model.onnx")
        np.save(self.home / "x.npy", self.x)
        np.save(self.home / "y.npy", softmax(self.x))
        run = ["model.onnx", "--inputs", "x.npy", "--expected", "y.npy"]
        self.assertIn("12 of 12 elements differ", self.grurun(1, *run))
        onnx.save(parsed("y = Softmax(x)"), self.home / "model.onnx")
        self.grurun(0, *run)
        self.grurun(0, "model.onnx", "--inputs", "x.npy", "--save-outputs", "out.npz")
        self.assertIn("as expected", self.grurun(0, "compare", "out.npz", "out.npz"))


if __name__ == "__main__":
    unittest.main()
