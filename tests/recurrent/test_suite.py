"""testdata/recurrent: grurun passes it, it says what its generator says, and nothing in it can be left out unnoticed."""

import collections
import filecmp
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from under_test import ROOT, onnx, run  # noqa: E402

SUITE = ROOT / "testdata/recurrent"
PAIRS = json.loads((SUITE / "pairs.json").read_text())
WITHOUT_EFFECT = {"hidden_size", "output_sequence"}  # pairs.py says why

if onnx is not None:
    import numpy
    from onnx import numpy_helper


def files_below(folder):
    return {str(p.relative_to(folder)) for p in folder.glob("test_*/**/*") if p.is_file()} | {"pairs.json"}


class Runs(unittest.TestCase):
    def test_grurun_passes_every_case_on_every_instruction_set(self):
        cases = len(list(SUITE.glob("test_*")))
        self.assertGreaterEqual(cases, 600)
        details = run("-v", check=True).stdout
        sets = re.search(r"^Instruction sets: (.*);", details, re.MULTILINE)[1].split(", ")
        for isa in sets:
            with self.subTest(isa=isa), tempfile.NamedTemporaryFile(suffix=".json") as report:
                done = run("conformance", SUITE, "--isa", isa, "--min-cases", cases, "--json", report.name)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                summary = json.loads(pathlib.Path(report.name).read_text())["summary"]
                self.assertEqual(summary["passed"], cases)

    def test_the_folder_is_small(self):
        self.assertLess(sum(p.stat().st_size for p in SUITE.glob("**/*") if p.is_file()), 2_000_000)


class Mutants(unittest.TestCase):
    """Building them takes minutes (make mutate); here only that they are still what the document says."""

    def test_each_applies_and_is_in_the_table(self):
        loader = importlib.machinery.SourceFileLoader("mutate_recurrent", str(ROOT / "scripts/mutate-recurrent"))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(script)
        mutants = script.all_mutants()
        table = (ROOT / "docs/recurrent-suite.md").read_text()
        wrong = []
        for mutant in mutants:
            done = subprocess.run(["git", "apply", "--check", mutant.patch], cwd=ROOT, capture_output=True, text=True)
            wrong += [f"{mutant.name}: {done.stderr.strip()}"] if done.returncode != 0 else []
            wrong += [] if mutant.unit.endswith(".cc") and (ROOT / mutant.unit).exists() else [f"{mutant.name}: compiles no source"]
            wrong += [] if f"| `{mutant.name}` | {mutant.what} | killed |" in table else [f"{mutant.name}: not in the table"]
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(len(mutants), 90)


@unittest.skipIf(onnx is None, "needs Python's onnx and numpy, which scripts/setup puts into .venv")
class Content(unittest.TestCase):
    def test_generating_it_again_changes_no_byte(self):
        with tempfile.TemporaryDirectory() as again:
            subprocess.run([sys.executable, "-B", SUITE / "generate.py", again], check=True, capture_output=True)
            self.assertEqual(files_below(pathlib.Path(again)), files_below(SUITE))
            _, differing, errors = filecmp.cmpfiles(SUITE, again, files_below(SUITE), shallow=False)
            self.assertEqual(differing + errors, [])

    def test_every_attribute_and_optional_input_of_every_version_has_a_pair(self):
        have = collections.Counter((p["op"], p["version"], p.get("attribute") or p.get("input")) for p in PAIRS)
        missing = []
        for schema in onnx.defs.get_all_schemas_with_history():
            if schema.domain or schema.name not in ("RNN", "GRU", "LSTM"):
                continue
            optional = [i.name for i in schema.inputs if i.option == onnx.defs.OpSchema.FormalParameterOption.Optional]
            for name in [*(set(schema.attributes) - WITHOUT_EFFECT), *optional]:
                if have.pop((schema.name, schema.since_version, name), 0) != 1:
                    missing.append(f"{schema.name}-{schema.since_version} {name}")
        self.assertEqual(missing, [])
        self.assertEqual(have, {}, "pairs for what the schemas do not have")

    def test_pairs_differ_in_one_thing_and_in_their_outputs(self):
        found = []
        for pair in PAIRS:
            first, second = (Member(SUITE / name) for name in pair["cases"])
            what = first.differences(second)
            subject = f"{'input' if 'input' in pair else 'attribute'} {pair.get('input') or pair.get('attribute')}"
            if what != [subject]:
                found.append(f"{pair['cases']}: they differ in {what}, not in {subject}")
            elif first.output_distance(second) < 0.01:
                found.append(f"{pair['cases']}: the outputs are {first.output_distance(second)} apart")
        self.assertEqual(found, [])

    def test_every_case_has_a_tolerance_of_its_type(self):
        bounds = {onnx.TensorProto.FLOAT: 1e-5, onnx.TensorProto.DOUBLE: 1e-11, onnx.TensorProto.FLOAT16: 1e-3,
                  onnx.TensorProto.BFLOAT16: 2.0**-6}
        loose = []
        for case in SUITE.glob("test_*"):
            output = onnx.load(case / "model.onnx").graph.output[0].type.tensor_type.elem_type
            if json.loads((case / "data.json").read_text())["rtol"] > bounds[output]:
                loose.append(case.name)
        self.assertEqual(loose, [])


class Member:
    """One case of a pair: its node, and every tensor by name."""

    def __init__(self, folder):
        model = onnx.load(folder / "model.onnx")
        self.version = [(o.domain, o.version) for o in model.opset_import]
        self.node, = model.graph.node
        self.tensors = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        initialized = set(self.tensors)
        fed = [i.name for i in model.graph.input if i.name not in initialized]
        self.tensors.update(self.read(folder, "input", fed))
        self.outputs = self.read(folder, "output", [o.name for o in model.graph.output])

    @staticmethod
    def read(folder, kind, names):
        return {n: numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / f"{kind}_{k}.pb"))
                for k, n in enumerate(names)}

    def differences(self, other):
        assert self.version == other.version and self.node.output == other.node.output
        found = [f"input {n}" for n in sorted({*self.node.input} | {*other.node.input})
                 if n and ((n in self.node.input) != (n in other.node.input)
                           or not numpy.array_equal(self.tensors[n], other.tensors[n]))]
        mine, theirs = ({a.name: a.SerializeToString(deterministic=True) for a in m.node.attribute} for m in (self, other))
        return found + [f"attribute {n}" for n in sorted({*mine, *theirs}) if mine.get(n) != theirs.get(n)]

    def output_distance(self, other):
        return max(float(numpy.max(numpy.abs(a.astype(float) - other.outputs[n].astype(float)))) for n, a in self.outputs.items())


if __name__ == "__main__":
    unittest.main()
