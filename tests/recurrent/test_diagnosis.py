"""Diagnosis of recurrent nodes as users meet it: reports of grurun conformance, and a run with --expected."""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from under_test import ROOT, SANITIZED, needs_onnx, np, onnx, run  # noqa: E402

if onnx is not None:
    from onnx import numpy_helper

    import mistakes


@needs_onnx
class Diagnosis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.cases = cls.folder / "mistakes"
        cls.mistakes = {m.name: m for m in mistakes.write_all(cls.cases)}
        cls.tested = {i for m in cls.mistakes.values() for i in m.ids or []}
        if SANITIZED:
            for name in [name for k, name in enumerate(cls.mistakes) if k % 4 and name not in ("gates_GRU_rzh", "noise_GRU")]:
                shutil.rmtree(cls.cases / name)
                del cls.mistakes[name]
        cls.console = run("conformance", cls.cases, "--json", cls.folder / "r.json", "--junit", cls.folder / "r.xml").stdout
        cls.report = json.loads((cls.folder / "r.json").read_text())

    def test_every_mistake_is_named(self):
        self.assertEqual(len(self.report["cases"]), len(self.mistakes))
        wrong = []
        for case in self.report["cases"]:
            mistake = self.mistakes[case["name"]]
            if mistake.ids is None:
                continue
            found = [(f["kind"], f["hypotheses"]) for f in case["diagnosis"]]
            text = "".join(f["text"] for f in case["diagnosis"])
            if found != [(mistake.kind, mistake.ids)] or any(part not in text for part in mistake.text):
                wrong.append(f"{mistake.name}: {case['verdict']} {found} {text}; wanted {mistake.kind} {mistake.ids} {mistake.text}")
        self.assertEqual(wrong, [])

    def test_no_claim_where_one_number_speaks_for_it(self):
        tiny = [c for c in self.report["cases"] if self.mistakes[c["name"]].ids is None]
        self.assertGreater(len(tiny), 2 if SANITIZED else 10)
        self.assertEqual([f["text"] for c in tiny for f in c["diagnosis"] if f["kind"] == "reproduced"], [])

    def test_one_value_everywhere_speaks_for_nothing(self):
        """What a side leaves behind that wrote nothing, or saturated."""
        folder = self.folder / "constant"
        for op in mistakes.OPS:
            for value in (0, 0.25, 1):
                for outputs in (mistakes.OUTPUTS, ("Y", "Y_h"), ("Y_h",)):
                    truth = mistakes.layer("", op, hidden_size=8, optional=() if value == 1 else ("B",), outputs=outputs)
                    model = mistakes.Model(truth)
                    model.expected = {n: np.full_like(v, value) for n, v in model.expected.items()}
                    model.write(folder, mistakes.Mistake(f"{op}_{value}_{len(outputs)}", truth, []))
        run("conformance", folder, "--json", self.folder / "constant.json")
        cases = json.loads((self.folder / "constant.json").read_text())["cases"]
        self.assertEqual([c["verdict"] for c in cases], ["differs"] * 27)
        found = {c["name"]: f for c in cases for f in c["diagnosis"]}
        self.assertEqual({n: f["text"] for n, f in found.items() if f["kind"] == "reproduced"}, {})
        self.assertIn("the expected Y is 0 everywhere, Y_h is 0 everywhere, which many a cause would give", found["GRU_0_2"]["text"])

    def test_each_hypothesis_of_the_sources_has_a_mistake(self):
        sources = "".join(p.read_text() for p in (ROOT / "trial/diagnosis").glob("*.cc") if p.name != "explain.cc")
        known = set(re.findall(r'(?:\badd|\badd_all|\badd_lengths|\bwith)\(\s*"([A-Za-z-]+)"|Inference\{\s*"([A-Za-z-]+)"', sources))
        known = {name for names in known for name in names if name}
        known |= set(re.findall(r'push_back\(\s*\{"([A-Za-z-]+)"', sources))
        known |= set(re.findall(r'\{"(gate-order[A-Za-z-]*)"', sources))
        known |= {"Rb-missing", "Wb-missing", "B-missing", "initial-states-missing", "initial-states-other"}
        self.assertGreater(len(known), 45)
        self.assertEqual(known, self.tested)

    def test_a_model_held_against_its_neighbour(self):
        """The recurrent suite's pairs differ in one attribute or input: the one's outputs explain the other's model."""
        suite = ROOT / "testdata/recurrent"
        both = self.folder / "pairs"
        for pair in json.loads((suite / "pairs.json").read_text()):
            for one, other in (pair["cases"], pair["cases"][::-1]):
                case = both / f"{one}-for-{other}"
                shutil.copytree(suite / one, case)
                for output in case.glob("test_data_set_0/output_*.pb"):
                    shutil.copyfile(suite / other / "test_data_set_0" / output.name, output)
        run("conformance", both, "--json", self.folder / "pairs.json")
        cases = json.loads((self.folder / "pairs.json").read_text())["cases"]
        self.assertEqual(len(cases), 252)
        unexplained = [c["name"] for c in cases if [f["kind"] for f in c["diagnosis"]] not in (["reproduced"], ["suspected"])]
        # LSTM's three activations are all others there: that is more than two mistakes.
        three = [f"test_lstm_{v}_everything-for-test_lstm_{v}_with_activations" for v in (1, 14, 22, 7)]
        self.assertEqual(sorted(unexplained), sorted(three))

    def test_shapes_that_differ_and_sizes_of_zero(self):
        sizes = ({"batch_size": 0, "sequence_lens": ()}, {"hidden_size": 0}, {"seq_length": 0}, {"input_size": 0}, {})
        folder = self.folder / "sizes"
        for op, (k, size) in [(op, s) for op in mistakes.OPS for s in enumerate(sizes)]:
            model = mistakes.Model(mistakes.layer("sizes", op, outputs=("Y", "Y_h"), **size))
            model.expected["Y_h"] = np.ones((1, 2, 2))
            model.write(folder, mistakes.Mistake(f"{op}_{k}", model.truth, []))
        run("conformance", folder, "--json", self.folder / "sizes.json")
        cases = json.loads((self.folder / "sizes.json").read_text())["cases"]
        self.assertEqual([c["verdict"] for c in cases], ["differs"] * 15)
        self.assertEqual({f["kind"] for c in cases for f in c["diagnosis"]}, {"unexplained"})

    def test_all_reports_say_it(self):
        text = "gates in r,z,h order: W, R, B were not reordered from PyTorch's layout"
        self.assertRegex(self.console, r"differs      mistakes/gates_GRU_rzh: .*\n             why: test_data_set_0, node that makes 'Y' \(GRU-22\): "
                         r"expected Y is reproduced \(max ULP \d+, max abs [^)]*\) with " + re.escape(text) + "\n")
        suites = xml.etree.ElementTree.parse(self.folder / "r.xml").getroot()
        body = suites.find(".//testcase[@name='gates_GRU_rzh']/failure").text
        self.assertIn("why: test_data_set_0, node that makes 'Y' (GRU-22): expected Y is reproduced", body)
        finding = next(c for c in self.report["cases"] if c["name"] == "gates_GRU_rzh")["diagnosis"][0]
        self.assertEqual(finding.keys(), {"kind", "data_set", "node", "hypotheses", "max_ulp", "text"})
        self.assertLess(finding["max_ulp"], 10)
        data = self.cases / "gates_GRU_rzh/test_data_set_0"
        alone = run(data.parent / "model.onnx", "--inputs", data, "--expected", data, "-q")
        self.assertEqual(alone.returncode, 1)
        self.assertIn(text, alone.stdout.splitlines()[-1])

    def test_it_can_be_turned_off_and_is_not_there_where_nothing_differs(self):
        one = self.cases / "gates_GRU_rzh"
        self.assertNotIn("why:", run("conformance", one, "--no-diagnosis").stdout)
        passing = run("conformance", ROOT / "testdata/recurrent", "-k", "gru_22_wide", "--json", self.folder / "p.json")
        self.assertEqual(passing.returncode, 0)
        self.assertEqual(json.loads((self.folder / "p.json").read_text())["cases"][0]["diagnosis"], [])

    def test_truth_in_double(self):
        one = ROOT / "testdata/recurrent/test_gru_22_everything"
        data = one / "test_data_set_0"
        outputs = run(one / "model.onnx", "--inputs", data, "--expected", data, "-q", "--precise").stdout
        self.assertRegex(outputs, r"output 'Y': in double precision: .* within 0\.\d+ ULP of the truth")
        expected = numpy_helper.to_array(mistakes_onnx().load_tensor(data / "output_0.pb"))
        off = self.folder / "off.npy"
        np.save(off, (expected.view(np.int32) + 5000).view(np.float32))
        outputs = run(one / "model.onnx", "--inputs", data, "--expected", f"Y={off}", "-q", "--precise").stdout
        self.assertRegex(outputs, r"output 'Y': in double precision: actual is the nearer side, within [0-4](\.\d+)? ULP of the truth; "
                         r"expected is off by up to 5e\+03 ULP")
        conformance = run("conformance", self.cases / "noise_GRU", "--precise").stdout
        self.assertIn("why: test_data_set_0, output 'Y': in double precision: actual is the nearer side", conformance)

    def test_gates_of_every_step(self):
        for case in ("test_gru_22_double_everything", "test_gru_22_double", "test_lstm_22_double_everything", "test_rnn_22_double"):
            with self.subTest(case=case):
                self.check_trace(case)

    def check_trace(self, name):
        folder = ROOT / "testdata/recurrent" / name
        data = folder / "test_data_set_0"
        file = self.folder / "gates.npz"
        done = run(folder / "model.onnx", "--inputs", data, "--trace-gates", file, "--save-outputs", self.folder / "o.npz", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace, outputs = np.load(file), np.load(self.folder / "o.npz")
        t = {key.removeprefix("Y."): trace[key] for key in trace}
        Y = outputs["Y"]
        model = mistakes_onnx().load(folder / "model.onnx")
        if any(a.name == "layout" and a.i == 1 for a in model.graph.node[0].attribute):
            Y = Y.transpose(1, 2, 0, 3)
        np.testing.assert_allclose(t["H"], Y, rtol=1e-12, atol=1e-14)
        gates = {"gru": "zrh", "lstm": "iofc", "rnn": "i"}[name.split("_")[1]]
        self.assertEqual(set(t), {*gates, "H"} | ({"C"} if gates == "iofc" else set()))
        H, before = t["H"][1:, 0], t["H"][:-1, 0]
        live = np.any(H != 0, axis=-1, keepdims=True)  # steps before a row's end
        if gates == "zrh":
            np.testing.assert_allclose(H, live * ((1 - t["z"][1:, 0]) * t["h"][1:, 0] + t["z"][1:, 0] * before), rtol=1e-9, atol=1e-12)
        elif gates == "iofc":
            C, old = t["C"][1:, 0], t["C"][:-1, 0]
            np.testing.assert_allclose(C, live * (t["f"][1:, 0] * old + t["i"][1:, 0] * t["c"][1:, 0]), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(H, t["o"][1:, 0] * np.tanh(C), rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(t["i"], t["H"])

    def test_layers_in_functions(self):
        """Of the model's opset they are seen; of another a line says that they are not, since one graph cannot hold both."""
        case = self.folder / "function"
        shutil.copytree(self.cases / "gates_GRU_rzh", case)
        onnx = mistakes_onnx()
        model = onnx.load(case / "model.onnx")
        gru = model.graph.node[0]
        gru.name = "gru"
        inputs, opset = [n for n in gru.input if n], model.opset_import[0].version
        call = onnx.helper.make_node("Cell", inputs, ["Y"], name="call", domain="ns")
        for version, found in ((opset, ("reproduced", f"node 'call/gru' (GRU-{opset})", ["gate-order"])),
                               (14, ("unexplained", "node 'gru' (GRU-14)", []))):
            function = onnx.helper.make_function("ns", "Cell", inputs, ["Y"], [gru], [onnx.helper.make_opsetid("", version)])
            graph = onnx.helper.make_graph([call], "g", model.graph.input, model.graph.output, model.graph.initializer)
            onnx.save(onnx.helper.make_model(graph, functions=[function], ir_version=10, opset_imports=[
                onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid("ns", 1)]), case / "model.onnx")
            run("conformance", case, "--json", self.folder / "f.json")
            (result,) = json.loads((self.folder / "f.json").read_text())["cases"]
            self.assertEqual(result["verdict"], "differs", result)
            self.assertEqual([(f["kind"], f["node"], f["hypotheses"]) for f in result["diagnosis"]], [found])
        self.assertEqual(result["diagnosis"][0]["text"], "not examined: it stands in function 'Cell' of another opset, which is not looked into")

    def test_mistakes_of_stacked_layers(self):
        """One exporter writes both layers, and only the last one's Y is seen."""
        def in_torch_order(arrays):
            gates = {n: a.reshape(len(a), -1, 3, 4, *a.shape[2:])[:, :, [1, 0, 2]] for n, a in arrays.items()}
            return {n: gates[n].reshape(a.shape) for n, a in arrays.items()}

        def transposed(arrays):
            return arrays | {"R": arrays["R"].reshape(-1, 3, 4, 4).swapaxes(2, 3).reshape(arrays["R"].shape)}

        for direction, layout in (("forward", 0), ("bidirectional", 0), ("bidirectional", 1)):
            attributes = {"direction": direction, "linear_before_reset": 1, "layout": layout}
            lower = mistakes.layer("stacked/0", "GRU", attributes=attributes, key="stacked/0")
            Y = lower.expected()["Y"].astype(np.float32)
            middle = Y.reshape(3, 5, -1) if layout else Y.transpose(0, 2, 1, 3).reshape(5, 3, -1)
            upper = mistakes.layer("stacked/1", "GRU", attributes=attributes, key="stacked/1", input_size=middle.shape[2],
                                   values={"X": middle})
            right = [{n: a for n, a in layer.arrays().items() if n != "X"} for layer in (lower, upper)]
            for name, wrong, kind, ids, text in (
                    ("both", [in_torch_order(w) for w in right], "reproduced", ["gate-order"], ", in this layer and below it in node 'layer0'"),
                    ("below", [transposed(right[0]), right[1]], "reproduced", ["R-transposed"], "transposed, below it in node 'layer0'"),
                    ("unknown", [right[0] | {"W": right[0]["W"] / 2}, right[1]], "unexplained", [],
                     "X depends on node 'layer0' (GRU-22): the mistake may be there")):
                with self.subTest(name=name, direction=direction, layout=layout):
                    graph = self.stacked(wrong, attributes)
                    found = self.diagnosed(f"stacked_{name}_{direction}_{layout}", graph, [lower.arrays()["X"]], [upper.expected()["Y"]])
                    self.assertEqual([(f["kind"], f["hypotheses"]) for f in found], [(kind, ids)], found)
                    self.assertIn(text, found[0]["text"])

    def test_a_mistake_of_one_of_three_stacked_layers(self):
        attributes = {"linear_before_reset": 1, "layout": 0}
        layers, X = [], None
        for k in range(3):
            more = {} if X is None else {"input_size": X.shape[2], "values": {"X": X}}
            layers.append(mistakes.layer(f"of_three/{k}", "GRU", attributes=attributes, key=f"of_three/{k}", **more))
            X = layers[-1].expected()["Y"].astype(np.float32)[:, 0]
        right = [{n: a for n, a in layer.arrays().items() if n != "X"} for layer in layers]
        for k in range(2):
            with self.subTest(layer=k):
                wrong = list(right)
                wrong[k] = right[k] | {"R": right[k]["R"].reshape(-1, 3, 4, 4).swapaxes(2, 3).reshape(right[k]["R"].shape)}
                (found,) = self.diagnosed(f"of_three_{k}", self.stacked(wrong, attributes), [layers[0].arrays()["X"]],
                                          [layers[2].expected()["Y"]])
                self.assertEqual((found["kind"], found["hypotheses"]), ("reproduced", ["R-transposed"]), found)
                self.assertTrue(found["text"].endswith(f"below it in node 'layer{k}' (GRU-22)"), found["text"])

    def stacked(self, weights, attributes):
        """GRUs, each one's directions joined for the next."""
        helper, perm = mistakes_onnx().helper, [0, 1, 2, 3] if attributes["layout"] else [0, 2, 1, 3]
        nodes = [helper.make_node("GRU", [f"X{k}", *(f"{n}{k}" for n in arrays)], [f"Y{k}"], name=f"layer{k}", hidden_size=4, **attributes)
                 for k, arrays in enumerate(weights)]
        for k in reversed(range(len(weights) - 1)):
            nodes[k + 1:k + 1] = [helper.make_node("Transpose", [f"Y{k}"], [f"T{k}"], perm=perm),
                                  helper.make_node("Reshape", [f"T{k}", "shape"], [f"X{k + 1}"])]
        constants = [numpy_helper.from_array(np.ascontiguousarray(a), f"{n}{k}")
                     for k, arrays in enumerate(weights) for n, a in arrays.items()]
        constants.append(numpy_helper.from_array(np.array([0, 0, -1]), "shape"))
        return helper.make_graph(nodes, "stacked", [helper.make_tensor_value_info("X0", 1, None)],
                                 [helper.make_tensor_value_info(f"Y{len(weights) - 1}", 1, None)], constants)

    def diagnosed(self, name, graph, inputs, outputs):
        """What conformance says of a case of this graph, opset 22."""
        onnx = mistakes_onnx()
        case = self.folder / name
        data = case / "test_data_set_0"
        data.mkdir(parents=True)
        model = onnx.helper.make_model(graph, ir_version=10, opset_imports=[onnx.helper.make_opsetid("", 22)])
        onnx.save(model, case / "model.onnx")
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for k, array in enumerate(arrays):
                tensor = numpy_helper.from_array(array.astype(np.float32))
                (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString())
        run("conformance", case, "--json", self.folder / "one.json")
        (result,) = json.loads((self.folder / "one.json").read_text())["cases"]
        self.assertEqual(result["verdict"], "differs", result)
        return result["diagnosis"]

    def test_what_comes_out_behind_other_operators(self):
        onnx = mistakes_onnx()
        layer = mistakes.layer("behind", "GRU")
        constants = [numpy_helper.from_array(a, n) for n, a in layer.arrays().items() if n != "X"]
        nodes = [onnx.helper.make_node("GRU", ["X", "W", "R", "B"], ["Y"], name="gru", hidden_size=4),
                 onnx.helper.make_node("Relu", ["Y"], ["Z0"]), onnx.helper.make_node("Identity", ["Z0"], ["Z"])]
        graph = onnx.helper.make_graph(nodes, "behind", [onnx.helper.make_tensor_value_info("X", 1, None)],
                                       [onnx.helper.make_tensor_value_info("Z", 1, None)], constants)
        found = self.diagnosed("behind", graph, [layer.arrays()["X"]], [layer.expected()["Y"]])
        self.assertEqual([(f["kind"], f["node"], f["hypotheses"], f["text"]) for f in found], [
            ("unexplained", "node 'gru' (GRU-22)", [],
             "not examined: output 'Z' is made by Relu after it, through which nothing is traced back; the node was not shown wrong")])

    def test_layers_share_the_time(self):
        """One that nothing known explains must not keep the next one from being looked at."""
        onnx = mistakes_onnx()
        truth = [mistakes.layer("shared", op, seq_length=20, batch_size=4, input_size=8, hidden_size=32, scale=0.25) for op in ("LSTM", "GRU")]
        X = truth[0].arrays()["X"]
        weights = [{n: a for n, a in t.arrays().items() if n != "X"} for t in truth]
        expected = [t.but("", values={"X": X}).expected()["Y"] for t in truth]
        weights[0]["W"] = np.random.default_rng(1).uniform(-0.25, 0.25, weights[0]["W"].shape).astype(np.float32)
        nodes, constants, outputs = [], [], []
        for k, (layer, arrays) in enumerate(zip(truth, weights)):
            nodes.append(onnx.helper.make_node(layer.op, ["X", *(f"{n}{k}" for n in arrays)], [f"Y{k}"], name=f"layer{k}", hidden_size=32,
                                               **({"linear_before_reset": 1} if k else {})))
            constants += [numpy_helper.from_array(a, f"{n}{k}") for n, a in arrays.items()]
            outputs.append(onnx.helper.make_tensor_value_info(f"Y{k}", 1, expected[k].shape))
        graph = onnx.helper.make_graph(nodes, "g", [onnx.helper.make_tensor_value_info("X", 1, X.shape)], outputs, constants)
        found = self.diagnosed("shared", graph, [X], expected)
        self.assertEqual([f["hypotheses"] for f in found], [[], ["linear-before-reset"]], found)

    def test_flags_refuse_what_they_cannot_do(self):
        one = ROOT / "testdata/recurrent/test_gru_22_wide"
        refused = run(one / "model.onnx", "--inputs", one / "test_data_set_0", "--trace-gates", self.folder / "x.json", "-q")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--trace-gates takes a file that ends in .npz", refused.stderr)


def mistakes_onnx():
    import onnx

    return onnx


if __name__ == "__main__":
    unittest.main()
