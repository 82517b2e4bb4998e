"""grurun node, generate, reduce and diff as their users run them."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
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
WIDTH = 64


def weight(seed, *shape):
    return (np.random.default_rng(seed).standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)


def transformer(epsilon=1e-5, layers=3):
    """Layers of attention and of two products; the epsilon of the second norm of the second layer may be wrong."""
    nodes, tensors, x = [], [], "x"

    def tensor(name, *shape):
        tensors.append(numpy_helper.from_array(weight(len(tensors), *shape), name))
        return name

    def add(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=f"node_{output}", **attributes))
        return output

    for i in range(layers):
        p = f"layer{i}."
        normed = add("LayerNormalization", [x, tensor(p + "g1", WIDTH)], p + "normed", epsilon=1e-5)
        q, k, v = (add("MatMul", [normed, tensor(p + "w" + name, WIDTH, WIDTH)], p + name) for name in "qkv")
        scores = add("MatMul", [q, add("Transpose", [k], p + "kt", perm=[0, 2, 1])], p + "scores")
        mixed = add("MatMul", [add("Softmax", [scores], p + "weights"), v], p + "mixed")
        summed = add("Add", [x, mixed], p + "summed")
        normed = add("LayerNormalization", [summed, tensor(p + "g2", WIDTH)], p + "normed2", epsilon=epsilon if i == 1 else 1e-5)
        hidden = add("Relu", [add("MatMul", [normed, tensor(p + "up", WIDTH, 2 * WIDTH)], p + "up_out")], p + "hidden")
        x = add("Add", [summed, add("MatMul", [hidden, tensor(p + "down", 2 * WIDTH, WIDTH)], p + "down_out")], p + "out")
    return model(nodes, tensors, {"x": ["batch", "seq", WIDTH]}, {x: ["batch", "seq", WIDTH]})


def model(nodes, tensors, inputs, outputs, opset=17, functions=(), imports=()):
    infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *infos, tensors)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in imports)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


@unittest.skipIf(onnx is None, "needs onnx")
class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def save(self, name, saved):
        onnx.save(saved, self.folder / name)
        return self.folder / name

    def run_command(self, *arguments, code=0):
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def verdict(self, case, *flags):
        done = subprocess.run([BINARY, "conformance", self.folder / case, "--json", "-", *flags], capture_output=True, text=True)
        (result,) = json.loads(done.stdout)["cases"]
        return result["verdict"]

    def size(self, case):
        return sum(file.stat().st_size for file in (self.folder / case).rglob("*") if file.is_file())


class Node(Cases):
    def test_sizes_and_types_come_of_flags_and_of_the_page(self):
        self.run_command("node", "GRU", "--opset", 14, "--attr", "hidden_size=4", "--attr", "direction=bidirectional", "--input", "sequence_lens",
                         "--input-shapes", "X:[3,2,7]", "-o", "case")
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        made = onnx.load(self.folder / "case/model.onnx")
        onnx.checker.check_model(made, full_check=True)
        self.assertEqual(made.opset_import[0].version, 14)
        self.assertEqual(list(node.input), ["X", "W", "R", "", "sequence_lens"])
        self.assertEqual(list(node.output), ["Y", "Y_h"])
        w = numpy_helper.to_array(onnx.load_tensor(self.folder / "case/test_data_set_0/input_1.pb"))
        self.assertEqual(w.shape, (2, 12, 7))
        self.assertEqual(self.verdict("case"), "passed")

    def test_values_and_types_are_those_that_are_told(self):
        self.run_command("node", "Reshape", "--input-shapes", "data:[2,6]", "--value", "shape=3,4", "--type", "T=float16", "-o", "case")
        y = numpy_helper.to_array(onnx.load_tensor(self.folder / "case/test_data_set_0/output_0.pb"))
        self.assertEqual((y.dtype, y.shape), (np.float16, (3, 4)))

    def test_what_cannot_be_made_is_refused_in_a_line(self):
        for arguments, told in [(["Gru"], "did you mean 'GRU'"), (["Loop"], "'body', which no flag can give"), (["GRU", "--attr", "hiden_size=4"], "no attribute 'hiden_size'"),
                                (["Conv", "--input", "Q"], "its inputs are"), (["Relu", "--type", "X=string"], "takes tensor("),
                                (["MatMul", "--input-shapes", "A:[2,3]", "--input-shapes", "B:[4,5]"], "no case of MatMul"),
                                (["Relu", "--opset", "999"], "has versions 1 to")]:
            with self.subTest(arguments=arguments):
                self.assertIn(told, self.run_command("node", *arguments, "-o", "case", code=4 if arguments[0] == "Loop" else 2))
                self.assertFalse((self.folder / "case").exists())

    def test_a_folder_that_holds_something_stays(self):
        (self.folder / "case").mkdir()
        (self.folder / "case/mine.txt").write_text("mine")
        self.assertIn("not empty", self.run_command("node", "Relu", "-o", "case", code=2))


class Generate(Cases):
    def test_sizes_seeds_and_double(self):
        self.save("m.onnx", transformer(layers=1))
        told = json.loads(self.run_command("generate", "m.onnx", "-o", "case", "--seed", 7, "--sets", 2, "--set", "batch=1,3,seq=4", "--precise", "--json", "-"))
        self.assertEqual([(each["seed"], each["sizes"]["batch"]) for each in told["data_sets"]], [(7, 1), (8, 1), (7, 3), (8, 3)])
        self.assertEqual(self.verdict("case"), "passed")
        self.assertEqual((self.folder / "case/model.onnx").read_bytes(), (self.folder / "m.onnx").read_bytes())

    def test_a_frozen_batch_names_the_constant(self):
        shape = numpy_helper.from_array(np.array([2, -1, WIDTH], np.int64), "fixed")
        nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Reshape", ["r", "fixed"], ["f"], name="flat"), helper.make_node("Add", ["x", "f"], ["y"], name="sum")]
        self.save("m.onnx", model(nodes, [shape], {"x": ["batch", 3, WIDTH]}, {"y": ["batch", 3, WIDTH]}))
        told = json.loads(self.run_command("generate", "m.onnx", "-o", "case", "--sweep", "--json", "-", code=1))
        self.assertEqual([each["sizes"] for each in told["data_sets"]], [{"batch": 2}, {"batch": 1}] if len(told["data_sets"]) == 2 else [{"batch": 2}])
        self.assertTrue(told["frozen"])
        for frozen in told["frozen"]:
            self.assertEqual(frozen["dimension"], "batch")
            self.assertIn("'flat' (Reshape-14)", frozen["node"])
            self.assertIn("'fixed'", frozen["constant"])


class Reduce(Cases):
    def test_one_wrong_epsilon_in_a_transformer_is_left_alone(self):
        self.save("right.onnx", transformer())
        self.save("wrong.onnx", transformer(epsilon=0.5))
        self.run_command("reduce", "wrong.onnx", "--set", "batch=2,seq=16", "--against", "right.onnx", "--anonymize", "-o", "case", "--json", "told.json")
        told = json.loads((self.folder / "told.json").read_text())
        self.assertEqual([node["operator"] for node in told["nodes"]], ["LayerNormalization"])
        self.assertEqual(self.verdict("case"), "differs")
        self.assertLess(self.size("case"), 10_000)
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual([a.f for a in node.attribute if a.name == "epsilon"], [0.5])
        self.assertNotIn("layer", onnx.load(self.folder / "case/model.onnx").graph.input[0].name)

    def test_a_crash_of_another_runtime(self):
        """The runtime dies of a Softmax over the last axis; bodies and functions are looked into."""
        runtime = self.folder / "runtime.py"
        runtime.write_text("import onnx, os, signal, subprocess, sys\nmodel = onnx.load(sys.argv[1])\n"
                           "nodes = [*model.graph.node, *(n for f in model.functions for n in f.node), *(n for m in model.graph.node for a in m.attribute for n in a.g.node)]\n"
                           "if any(n.op_type == 'Softmax' for n in nodes): os.kill(os.getpid(), signal.SIGSEGV)\n"
                           f"sys.exit(subprocess.call([{BINARY!r}, sys.argv[1], '--inputs', sys.argv[2], '--save-outputs', sys.argv[3] + '/']))\n")
        soft = helper.make_function("test", "Soft", ["a"], ["b"], [helper.make_node("Softmax", ["a"], ["s"]), helper.make_node("Neg", ["s"], ["b"])],
                                    [helper.make_opsetid("", 17)])
        branches = {name: helper.make_graph([helper.make_node(op, ["r"], [name], domain=domain)], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
                    for name, op, domain in (("then", "Soft", "test"), ("else", "Neg", ""))}
        nodes = [helper.make_node("Relu", ["x"], ["r"]),
                 helper.make_node("If", ["yes"], ["c"], then_branch=branches["then"], else_branch=branches["else"]),
                 helper.make_node("Add", ["c", "x2"], ["y"])]
        self.save("m.onnx", model(nodes, [numpy_helper.from_array(np.array(True), "yes")], {"x": [2, 8], "x2": [2, 8]}, {"y": [2, 8]}, functions=[soft], imports=["test"]))
        command = f"{sys.executable} {runtime} {{model}} {{inputs}} {{outputs}}"
        told = self.run_command("reduce", "m.onnx", "--seed", 1, "--runtime", command, "-o", "case")
        self.assertIn("SIGSEGV", told)
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual(node.op_type, "Softmax")
        self.assertEqual(self.verdict("case", "--runtime", command), "crashed")
        self.assertEqual(self.verdict("case"), "passed")

    def test_what_the_engine_refuses_is_cut_out(self):
        nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Nobody", ["r"], ["n"], name="odd", domain="their.domain"), helper.make_node("Neg", ["n"], ["y"])]
        self.save("m.onnx", model(nodes, [], {"x": [2, 8]}, {"y": [2, 8]}, imports=["their.domain"]))
        self.run_command("reduce", "m.onnx", "--seed", 1, "-o", "case")
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual(node.op_type, "Nobody")
        self.assertEqual(self.verdict("case"), "unsupported")

    def test_against_a_runtime_of_the_package(self):
        """Something that is started as the package's runtimes are, for which every alpha is 0.1."""
        python = self.folder / "python"
        half, tenth = np.float32(0.5).tobytes(), np.float32(0.1).tobytes()
        python.write_text(f"#!{sys.executable}\nimport subprocess, sys\n_, _, _, path, inputs, outputs = sys.argv\n"
                          f"open(path + '.right', 'wb').write(open(path, 'rb').read().replace({half!r}, {tenth!r}))\n"
                          f"sys.exit(subprocess.call([{BINARY!r}, path + '.right', '--inputs', inputs, '--save-outputs', outputs + '/']))\n")
        python.chmod(0o755)
        os.environ["GRURUN_PYTHON"] = str(python)
        self.addCleanup(os.environ.pop, "GRURUN_PYTHON")
        nodes = [helper.make_node(op, [a], [b], **more) for op, a, b, more in
                 (("Neg", "x", "a", {}), ("LeakyRelu", "a", "b", {"alpha": 0.5}), ("Exp", "b", "c", {}), ("Neg", "c", "y", {}))]
        self.save("m.onnx", model(nodes, [], {"x": [3]}, {"y": [3]}))
        self.run_command("reduce", "m.onnx", "--seed", 1, "--against", "reference", "-o", "case")
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual(node.op_type, "LeakyRelu")
        x, y = (numpy_helper.to_array(onnx.load_tensor(self.folder / f"case/test_data_set_0/{name}_0.pb")) for name in ("input", "output"))
        np.testing.assert_allclose(y, np.where(x < 0, 0.1 * x, x), rtol=1e-6)
        self.assertEqual(self.verdict("case"), "differs")
        self.assertIn("--against reference starts a program", self.run_command("reduce", "m.onnx", "--seed", 1, "--against", "reference", "--sandbox", "strict", "-o", "other", code=2))

    def growing(self, alpha):
        """A loop that ends when the largest element is not below 40."""
        infos = [helper.make_tensor_value_info(name, kind, None if kind == TensorProto.FLOAT else [])
                 for name, kind in (("i", TensorProto.INT64), ("c", TensorProto.BOOL), ("s", TensorProto.FLOAT), ("c2", TensorProto.BOOL), ("s2", TensorProto.FLOAT))]
        nodes = [helper.make_node("Add", ["s", "s"], ["t"]), helper.make_node("LeakyRelu", ["t"], ["s2"], alpha=alpha), helper.make_node("ReduceMax", ["s2"], ["m"], keepdims=0),
                 helper.make_node("Less", ["m", "most"], ["c2"])]
        body = helper.make_graph(nodes, "body", infos[:3], infos[3:])
        nodes = [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Sub", ["x", "a"], ["b"]), helper.make_node("Loop", ["", "yes", "x"], ["l"], name="loop", body=body),
                 helper.make_node("Add", ["l", "b"], ["y"])]
        return model(nodes, [numpy_helper.from_array(np.array(True), "yes"), numpy_helper.from_array(np.float32(40), "most")], {"x": [4]}, {"y": [4]})

    def test_a_loop_that_ends_by_itself_is_taken_apart(self):
        np.save(self.folder / "x.npy", np.float32([1, -2, 3, -4]))
        self.save("a.onnx", self.growing(0.1))
        self.save("b.onnx", self.growing(0.3))
        for against in ("a.onnx", "a.npz"):
            with self.subTest(against=against):
                self.run_command("a.onnx", "--inputs", "x.npy", "-q", "--save-intermediates", "a.npz")
                self.run_command("reduce", "b.onnx", "--inputs", "x.npy", "--against", against, "-o", "case-" + against)
                (node,) = onnx.load(self.folder / f"case-{against}/model.onnx").graph.node
                self.assertEqual(node.op_type, "LeakyRelu")
                self.assertEqual(self.verdict("case-" + against), "differs")

    def test_a_crash_of_a_loop_leaves_out_nodes_of_its_body(self):
        runtime = self.folder / "runtime.py"
        runtime.write_text("import os, signal, subprocess, sys\n"
                           "if b'Loop' in open(sys.argv[1], 'rb').read(): os.kill(os.getpid(), signal.SIGSEGV)\n"
                           f"sys.exit(subprocess.call([{BINARY!r}, sys.argv[1], '--inputs', sys.argv[2], '--save-outputs', sys.argv[3] + '/']))\n")
        np.save(self.folder / "x.npy", np.float32([1, -2, 3, -4]))
        self.save("m.onnx", self.growing(0.3))
        command = f"{sys.executable} {runtime} {{model}} {{inputs}} {{outputs}}"
        self.run_command("reduce", "m.onnx", "--inputs", "x.npy", "--runtime", command, "-o", "case")
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual(node.op_type, "Loop")
        (body,) = [a.g for a in node.attribute]
        self.assertNotIn("LeakyRelu", [each.op_type for each in body.node])
        self.assertEqual(self.verdict("case", "--runtime", command), "crashed")

    def loop(self, alpha):
        infos = [helper.make_tensor_value_info(name, kind, None if kind == TensorProto.FLOAT else [])
                 for name, kind in (("i", TensorProto.INT64), ("c", TensorProto.BOOL), ("s", TensorProto.FLOAT), ("c2", TensorProto.BOOL), ("s2", TensorProto.FLOAT))]
        nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("LeakyRelu", ["s"], ["t"], alpha=alpha), helper.make_node("Neg", ["t"], ["s2"])]
        body = helper.make_graph(nodes, "body", infos[:3], infos[3:])
        nodes = [helper.make_node("Loop", ["M", "", "x"], ["l"], body=body), helper.make_node("Exp", ["l"], ["y"]), helper.make_node("Neg", ["l"], ["z"])]
        return model(nodes, [numpy_helper.from_array(np.array(3), "M")], {"x": [2, 4]}, {"y": [2, 4], "z": [2, 4]})

    def test_a_step_of_a_loop(self):
        self.save("a.onnx", self.loop(0.1))
        self.save("b.onnx", self.loop(0.3))
        self.run_command("reduce", "b.onnx", "--seed", 1, "--against", "a.onnx", "-o", "case")
        (node,) = onnx.load(self.folder / "case/model.onnx").graph.node
        self.assertEqual(node.op_type, "LeakyRelu")
        self.assertEqual(self.verdict("case"), "differs")

    def test_with_outputs_alone_one_of_them_and_what_it_needs_is_left(self):
        self.save("a.onnx", self.loop(0.1))
        self.save("b.onnx", self.loop(0.3))
        self.run_command("a.onnx", "--seed", 1, "--save-outputs", "a.npz")
        self.run_command("reduce", "b.onnx", "--seed", 1, "--expected", "a.npz", "-o", "case")
        self.assertEqual([node.op_type for node in onnx.load(self.folder / "case/model.onnx").graph.node], ["Loop", "Exp"])
        self.assertEqual(self.verdict("case"), "differs")

    def test_what_does_not_fail_is_told(self):
        self.save("right.onnx", transformer(layers=1))
        self.assertIn("nothing to reduce", self.run_command("reduce", "right.onnx", "--set", "batch=1,seq=2", "--against", "right.onnx", "-o", "case", code=1))
        self.assertFalse((self.folder / "case").exists())
        self.assertIn("give --expected", self.run_command("reduce", "right.onnx", "--set", "batch=1,seq=2", "-o", "case", code=2))


class Diff(Cases):
    def two(self, change):
        a = b = transformer(layers=1)
        a = transformer(layers=1)
        change(b)
        self.save("a.onnx", a)
        self.save("b.onnx", b)

    def replace(self, changed, name, array):
        (tensor,) = [t for t in changed.graph.initializer if t.name == name]
        tensor.CopyFrom(numpy_helper.from_array(array, name))

    def test_weights_and_attributes(self):
        q = weight(1, WIDTH, WIDTH)

        def change(b):
            arrays = {t.name: numpy_helper.to_array(t) for t in b.graph.initializer}
            self.replace(b, "layer0.wq", arrays["layer0.wq"].T.copy())
            self.replace(b, "layer0.wk", arrays["layer0.wk"] * np.float32(0.5))
            self.replace(b, "layer0.wv", np.concatenate([arrays["layer0.wv"][32:], arrays["layer0.wv"][:32]]))
            next(n for n in b.graph.node if n.name == "node_layer0.normed2").attribute[0].f = 0.25

        self.assertEqual(q.shape, (WIDTH, WIDTH))
        self.two(change)
        told = json.loads(self.run_command("diff", "a.onnx", "b.onnx", "--json", "-", code=1))
        self.assertEqual({w["a"]: w["relation"] for w in told["weights"]["other"]},
                         {"layer0.wq": "transposed, perm 1, 0", "layer0.wk": "scaled by 0.5", "layer0.wv": "blocks of 32 rows in the order 1, 0"})
        self.assertEqual([(a["what"].split()[0], a["a"], a["b"]) for a in told["attributes"]], [("epsilon", "1e-05", "0.25")])
        self.assertIn("scaled by 0.5", self.run_command("diff", "a.onnx", "b.onnx", "--output-format", "markdown", code=1))

    def test_cast_and_quantized(self):
        def change(b):
            arrays = {t.name: numpy_helper.to_array(t) for t in b.graph.initializer}
            up = arrays["layer0.up"]
            scale = np.float32(np.abs(up).max() / 127)
            self.replace(b, "layer0.up", np.round(up / scale).astype(np.int8))
            b.graph.initializer.append(numpy_helper.from_array(scale, "up.scale"))
            self.replace(b, "layer0.down", arrays["layer0.down"].astype(np.float16))
            place = [n.name for n in b.graph.node].index("node_layer0.up_out")
            b.graph.node[place].input[1] = "up.float"
            b.graph.node.insert(place, helper.make_node("DequantizeLinear", ["layer0.up", "up.scale"], ["up.float"]))
            place = [n.name for n in b.graph.node].index("node_layer0.down_out")
            b.graph.node[place].input[1] = "down.float"
            b.graph.node.insert(place, helper.make_node("Cast", ["layer0.down"], ["down.float"], to=TensorProto.FLOAT))

        self.two(change)
        told = json.loads(self.run_command("diff", "a.onnx", "b.onnx", "--seed", 3, "--rtol", 1, "--atol", 1, "--json", "-"))
        relations = {w["a"]: w["relation"] for w in told["weights"]["other"]}
        self.assertRegex(relations["layer0.up"], "^quantized to int8, scale .*: off by at most [^,]*$")
        self.assertEqual(relations["layer0.down"], "cast from float to float16")
        self.assertEqual(len(told["runs"]), 7)

    def test_equivalence_at_sizes(self):
        self.two(lambda b: None)
        self.assertIn("the same: no node", self.run_command("diff", "a.onnx", "b.onnx"))
        self.two(lambda b: b.graph.node.append(helper.make_node("Identity", ["x"], ["unused"])))
        told = self.run_command("diff", "a.onnx", "b.onnx", "--seed", 3)
        self.assertIn("equivalent: outputs agree in 7 of 7 runs", told)
        self.assertIn("nodes of B alone", told)
        self.assertNotIn("where they part", told)

    def test_where_they_part(self):
        def change(b):
            next(n for n in b.graph.node if n.name == "node_layer0.normed2").attribute[0].f = 0.25

        self.two(change)
        told = json.loads(self.run_command("diff", "a.onnx", "b.onnx", "--seed", 3, "--json", "-", code=1))
        (wrong,) = [row for row in told["parting"]["differences"] if row["made_here"]]
        self.assertEqual((wrong["node"], wrong["details"]["attributes"][0]), ("node 'node_layer0.normed2' (LayerNormalization-17)", "epsilon = 0.25"))
        self.assertIn("where they part: first wrong: node 'node_layer0.normed2'",
                      self.run_command("diff", "a.onnx", "b.onnx", "--seed", 3, code=1))


class CastFloats(Cases):
    def test_float_expectations_of_float16_outputs(self):
        nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT16)]
        half = model(nodes, [], {"x": [2]}, {"y": [2]})
        half.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
        self.save("model.onnx", half)
        x = np.array([1 / 3, -2], np.float32)
        (self.folder / "case/test_data_set_0").mkdir(parents=True)
        shutil.move(self.folder / "model.onnx", self.folder / "case/model.onnx")
        for name in ("input_0", "output_0"):
            onnx.save_tensor(numpy_helper.from_array(x, "y"), self.folder / f"case/test_data_set_0/{name}.pb")
        np.save(self.folder / "half.npy", x.astype(np.float16))
        np.save(self.folder / "float.npy", x)
        for arguments in (["case/model.onnx", "--inputs", "case/test_data_set_0", "--expected", "case/test_data_set_0"], ["conformance", "case"],
                          ["compare", "half.npy", "float.npy"]):
            with self.subTest(arguments=arguments):
                self.assertIn("float16", self.run_command(*arguments, code=1))
                self.run_command(*arguments, "--cast")


if __name__ == "__main__":
    unittest.main()
