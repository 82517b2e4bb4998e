"""What makes a gate of grurun conformance: pinned expectations, repeated runs, policies, reports of runs before."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))


def run(*arguments, env=None):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, env=env)


class Gate(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.data = self.root / "data"
        self.cases = [path.parent for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx"))[:3]]
        self.names = [case.name for case in self.cases]
        for case in self.cases:
            shutil.copytree(case, self.data / "node" / case.name)

    def shift(self, which, by):
        """The first output of a case is expected to be so much larger than it is."""
        name = self.names[which]
        original = next(self.cases[which].glob("test_data_set_*/output_0.pb"))
        tensor = onnx.TensorProto()
        tensor.ParseFromString(original.read_bytes())
        moved = numpy_helper.from_array((numpy_helper.to_array(tensor) + np.float32(by)).astype(np.float32), tensor.name)
        next((self.data / "node" / name).glob("test_data_set_*/output_0.pb")).write_bytes(moved.SerializeToString())
        return numpy_helper.to_array(tensor).size

    def conformance(self, code, *flags, env=None):
        done = run("conformance", self.data, "--no-diagnosis", *flags, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def json(self, name, *flags, code=None):
        file = self.root / name
        done = run("conformance", self.data, "--no-diagnosis", "--json", file, *flags)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return file, json.loads(file.read_text())

    def test_a_pinned_difference_cannot_get_worse_unseen(self):
        size = self.shift(0, 0.5)
        listed = self.root / "list.txt"
        done = self.conformance(0, "--update-expectations", listed)
        self.assertIn("1 line added, 0 changed, 0 removed", done.stderr)
        self.assertRegex(listed.read_text(), rf"^node/{self.names[0]}  differs  max_abs=0\.5\d* differing={size} run: ")
        before = listed.read_text()
        self.conformance(0, "--expectations", listed)
        self.conformance(0, "--update-expectations", listed)
        self.assertEqual(listed.read_text(), before, "what holds is left alone")
        self.shift(0, 0.75)
        self.assertIn("worse than", self.conformance(1, "--expectations", listed).stdout)
        self.shift(0, 0.01)
        self.assertRegex(self.conformance(0, "--expectations", listed).stdout, "better by far: max_abs 0.01.* instead of 0.5.*; tighten that line")
        self.shift(0, 0)
        self.conformance(1, "--expectations", listed)
        self.conformance(0, "--update-expectations", listed)
        self.assertEqual(listed.read_text(), "")
        self.assertEqual(run("conformance", self.data, "--expectations", self.root / "x", "--update-expectations", listed).returncode, 2)

    def test_what_ends_well_at_another_run_is_flaky(self):
        tool = self.root / "tool.py"
        tool.write_text("""import pathlib, shutil, sys
model, inputs, outputs, count = map(pathlib.Path, sys.argv[1:])
mark = count / (model.parent.name + "x" * len(list(count.glob(model.parent.name + "*"))))
mark.touch()
if model.parent.name == "%s" and len(list(count.glob(model.parent.name + "*"))) < 3:
    sys.exit("not yet")
for file in inputs.glob("output_*"):
    shutil.copy(file, outputs)
""" % self.names[1])
        counts = self.root / "counts"
        counts.mkdir()
        command = f"'{sys.executable}' {tool} {{model}} {{inputs}} {{outputs}} {counts}"
        file, report = self.json("r.json", "--runtime", command, "--retries", "1", code=1)
        case = next(case for case in report["cases"] if case["name"] == self.names[1])
        self.assertEqual((case["verdict"], case["flaky"], len(case["attempts"])), ("crashed", False, 1))
        shutil.rmtree(counts)
        counts.mkdir()
        junit = self.root / "r.xml"
        file, report = self.json("r.json", "--runtime", command, "--retries", "3", "--junit", junit, code=0)
        case = next(case for case in report["cases"] if case["name"] == self.names[1])
        self.assertEqual((report["flaky"], case["verdict"], case["flaky"], len(case["attempts"])), (1, "passed", True, 2))
        self.assertIn("not yet", case["attempts"][0]["message"])
        text = run("report", "show", file).stdout
        self.assertRegex(text, rf"flaky +node/{self.names[1]}: passed at run 3; run 1: crashed: .*not yet; run 2: crashed")
        self.assertIn("; 1 flaky", text)
        self.assertIn("flaky: passed at run 3", junit.read_text())
        self.assertEqual(self.conformance(2, "--retries", "2", "--fail-fast").stdout, "")

    def test_reports_of_two_runs(self):
        self.shift(0, 0.5)
        self.shift(1, 0.5)
        old, _ = self.json("old.json", code=1)
        self.shift(0, 0.75)
        self.shift(1, 0)
        self.shift(2, 0.25)
        new, _ = self.json("new.json", code=1)
        done = run("report", "diff", old, new)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rf"(?m)^new      node/{self.names[2]}: differs: ")
        self.assertRegex(done.stdout, rf"(?m)^worse    node/{self.names[0]}: max_abs 0\.75\d* instead of 0\.5")
        self.assertRegex(done.stdout, rf"(?m)^fixed    node/{self.names[1]}: passed")
        for kinds, code in (("new,worse", 1), ("fixed", 1), ("gone", 0), ("nonsense", 2)):
            self.assertEqual(run("report", "diff", old, new, "--fail-on", kinds).returncode, code, kinds)
        changes = json.loads(run("report", "diff", old, new, "--output-format", "json").stdout)
        self.assertEqual((changes["counts"]["new"], changes["counts"]["worse"], changes["compared"]), (1, 1, 3))
        listed = self.root / "list.txt"
        self.conformance(0, "--update-expectations", listed)
        flags = ["--expectations", listed, "--compare-to", old]
        self.assertIn("1 new, 1 worse, 1 fixed", self.conformance(0, *flags).stdout)
        self.conformance(1, *flags, "--fail-on", "new")
        self.conformance(0, *flags, "--fail-on", "gone")
        self.conformance(2, "--fail-on", "new")

    def test_a_report_is_judged_again(self):
        size = self.shift(0, 0.5)
        file, report = self.json("r.json", "--values", "differing", code=1)
        output = next(case for case in report["cases"] if case["name"] == self.names[0])["outputs"][0]
        self.assertEqual((output["unequal"], len(output["elements"])), (size, size))
        self.assertAlmostEqual(output["least_atol"], 0.5, delta=1e-2)
        passes = ["--atol", output["least_atol"]]
        self.assertEqual(run("report", "rejudge", file, *passes).returncode, 0)
        self.assertEqual(run("report", "rejudge", file, "--atol", output["least_atol"] * 0.999).returncode, 1)
        self.conformance(0, *passes)
        # What is judged again is what a run would have said.
        for flags in (["--atol", "0.3"], ["--rtol", "1.5", "--atol", "0.1"]):
            again = self.root / "again.json"
            run("report", "rejudge", file, *flags, "--report", f"json={again}")
            _, fresh = self.json("fresh.json", *flags, "--values", "differing")
            for mine, theirs in zip(json.loads(again.read_text())["cases"], fresh["cases"], strict=True):
                self.assertEqual((mine["verdict"], mine["message"], mine["outputs"]), (theirs["verdict"], theirs["message"], theirs["outputs"]))
        small, _ = self.json("small.json", "--values", "differing=1")
        self.assertEqual(run("report", "rejudge", small, *passes).returncode, 0, "a tolerance needs no elements")
        policy = self.root / "p.toml"
        policy.write_text("[[rule]]\ncase = '%s'\ndiffering = 0.5\nreason = 'half of it'\n" % self.names[0])
        done = run("report", "rejudge", small, "--policy", policy)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--values differing=N", done.stderr)
        self.assertEqual(run("report", "rejudge", file, "--policy", policy).returncode, 1)

    def test_a_policy_decides_and_is_named(self):
        self.shift(0, 0.5)
        policy = self.root / "p.toml"
        policy.write_text(f'[[rule]]\ncase = "node/{self.names[0]}"\natol = 0.6\nreason = "moved on purpose"\n')
        _, report = self.json("r.json", "--policy", policy, code=0)
        outputs = {case["name"]: case["outputs"][0] for case in report["cases"]}
        rule = outputs[self.names[0]]["rule"]
        self.assertEqual((rule["place"], rule["reason"]), (f"{policy}:1", "moved on purpose"))
        self.assertIsNone(outputs[self.names[1]]["rule"])
        policy.write_text(policy.read_text().replace("0.6", "0.4"))
        self.assertIn(f"atol 0.4 by {policy}:1", self.conformance(1, "--policy", policy).stdout)
        policy.write_text(policy.read_text().replace("0.4", "0.6") + '\n[[rule]]\noperator = "Abs"\nrtol = 1\nreason = "none here"\n')
        done = self.conformance(1, "--policy", policy, "--junit", self.root / "r.xml")
        self.assertIn(f"policy       {policy}:6: the rule decided for no output (none here)", done.stdout)
        self.assertIn("1 rule of the policy unused", done.stdout)
        self.assertIn('<failure type="unused"', (self.root / "r.xml").read_text())
        self.conformance(0, "--policy", policy, "-k", self.names[0])
        policy.write_text("[[rule]]\natol = 1\n")
        self.assertIn(f"{policy}:1: the rule has no reason", self.conformance(2, "--policy", policy).stderr)

    def test_the_suggested_policy_passes_and_is_tight(self):
        self.shift(0, 0.5)
        suggested = self.root / "suggested.toml"
        file, _ = self.json("r.json", "--suggest-policy", suggested, code=1)
        self.conformance(0, "--policy", suggested)
        self.assertEqual(run("report", "rejudge", file, "--policy", suggested).returncode, 0)
        lines = suggested.read_text().splitlines()
        atol = max(float(line.removeprefix("atol = ")) for line in lines if line.startswith("atol"))
        self.assertAlmostEqual(atol, 1.0, delta=0.02)
        tighter = self.root / "tighter.toml"
        tighter.write_text(suggested.read_text().replace(f"{atol:.2e}", f"{atol * 0.49:.2e}"))
        self.conformance(1, "--policy", tighter)

    def test_headroom(self):
        self.shift(0, 0.5)
        file, _ = self.json("r.json")
        done = run("report", "headroom", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^float +\d+ +0\.(499|5)\S* ")
        self.assertRegex(done.stdout, rf"(?m)^ +0\.\S+ +\S+  node/{self.names[0]}, test_data_set_0, output ")
        report = json.loads(run("report", "headroom", file, "--output-format", "json").stdout)
        self.assertAlmostEqual(report["by_type"]["float"]["least_atol"], 0.5, delta=1e-2)
        self.assertGreater(sum(report["by_type"]["float"]["ulps"]), 0)


class Compare(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.x = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)

    def compare(self, code, actual, expected, *flags):
        done = run("compare", self.root / actual, self.root / expected, *flags)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_files_and_folders(self):
        np.save(self.root / "a.npy", self.x + np.float32(0.25))
        (self.root / "b.pb").write_bytes(numpy_helper.from_array(self.x, "Y").SerializeToString())
        text = self.compare(1, "a.npy", "b.pb")
        self.assertIn(f"actual: {self.root / 'a.npy'}\nexpected: {self.root / 'b.pb'}\n", text)
        self.assertIn("differs  6 of 6 elements differ beyond rtol 0.001, atol 1e-07 (max abs 0.25", text)
        self.assertIn("[0,0]: 0.25, expected 0", text)
        self.assertIn("as expected  6 elements equal within", self.compare(0, "a.npy", "b.pb", "--atol", "0.25"))
        np.savez(self.root / "a.npz", Y=self.x, Z=self.x)
        np.savez(self.root / "b.npz", Y=self.x)
        self.assertIn("differs  Z: the expected side has no such value\n", self.compare(1, "a.npz", "b.npz"))
        for folder, files in (("A", ["output_0.npy"]), ("B", ["output_0.npy", "output_1.npy"])):
            (self.root / folder / "set").mkdir(parents=True)
            for file in files:
                np.save(self.root / folder / "set" / file, self.x)
        self.assertIn("differs  set/output_1: the actual side has no such value\n2 values, 1 not as expected\n", self.compare(1, "A", "B"))
        report = json.loads(self.compare(1, "A", "B", "--output-format", "json"))
        self.assertEqual([(each["name"], each["in_actual"]) for each in report["values"]], [("set/output_0", True), ("set/output_1", False)])
        self.compare(2, "A", "a.npz")
        self.compare(2, "A", "nowhere")

    def test_a_policy(self):
        np.savez(self.root / "a.npz", Y=self.x + np.float32(0.25), Z=self.x)
        np.savez(self.root / "b.npz", Y=self.x, Z=self.x)
        policy = self.root / "p.toml"
        policy.write_text("[[rule]]\noutput = 'Y'\natol = 0.3\nreason = 'known'\n")
        self.compare(1, "a.npz", "b.npz")
        self.compare(0, "a.npz", "b.npz", "--policy", policy)


if __name__ == "__main__":
    unittest.main()
