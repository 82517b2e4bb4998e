"""grurun conformance --actual and --runtime: outputs that another runtime made."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from tests.optional_packages import require

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
CASE = ROOT / "testdata/recurrent"
OFFICIAL = ROOT / "testdata/official/onnx-1.23.2/node"
BROKEN = b"\x08\x01\x10\x01\x22\x04\x00\x00\x80\x3f"  # a tensor [1] of float, 1


def run(*arguments, env=None):
    return subprocess.run([BINARY, "conformance", *map(str, arguments)], capture_output=True, text=True, env=env)


class Folders(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        cases = sorted(path.parent for path in CASE.rglob("model.onnx"))[:3]
        self.assertEqual(len(cases), 3)
        self.data, self.actual = self.root / "data", self.root / "actual"
        self.names = [case.name for case in cases]
        for case in cases:
            shutil.copytree(case, self.data / "node" / case.name)

    def copy_outputs(self, target):
        for name in self.names:
            for output in (self.data / "node" / name).glob("test_data_set_*/output_*"):
                place = target / name / output.parent.name
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(output, place)

    def report(self, code, *arguments, env=None):
        file = self.root / "r.json"
        done = run(self.data, "--json", file, *arguments, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        report = json.loads(file.read_text())
        return done.stdout, report, {case["name"]: case for case in report["cases"]}

    def test_outputs_in_a_folder_with_the_kind_or_without(self):
        for target in (self.actual / "node", self.actual):
            with self.subTest(target=target):
                shutil.rmtree(self.actual, ignore_errors=True)
                self.copy_outputs(target)
                text, report, _ = self.report(0, "--actual", self.actual, "--actual-name", "peer")
                self.assertEqual(report["summary"]["passed"], 3)
                self.assertEqual((report["actual"], report["expected"]), (f"peer ({self.actual})", "the files of the cases"))
                self.assertIn(f"actual: peer ({self.actual}); expected: the files of the cases\n", text)

    def test_a_runtime_that_is_far_off_does_not_want_precision(self):
        case = ROOT / "testdata/recurrent/test_gru_14_float"
        shutil.copytree(case / "test_data_set_0", self.actual / case.name / "test_data_set_0")
        output = self.actual / case.name / "test_data_set_0/output_0.pb"
        output.write_bytes(output.read_bytes()[:-1] + b"\x45")  # sign and exponent of the last float: some thousands
        done = run(case, "--actual", self.actual)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "agree with a recomputation in double; what is compared with them is off by .* more than rounding explains")

    def test_what_is_absent_is_missing_and_what_differs_is_explained(self):
        self.copy_outputs(self.actual)
        shutil.rmtree(self.actual / self.names[0])
        next((self.actual / self.names[1]).glob("*/output_0.pb")).unlink()
        output = next((self.actual / self.names[2]).glob("*/output_0.pb"))
        output.write_bytes(BROKEN)
        text, report, cases = self.report(1, "--actual", self.actual)
        self.assertEqual([cases[name]["verdict"] for name in self.names], ["missing", "missing", "differs"])
        self.assertIn("no folder node/", cases[self.names[0]]["message"])
        self.assertIn("has no output_0.pb or .npy for output", cases[self.names[1]]["message"])
        self.assertEqual(report["summary"]["missing"], 2)
        listed = self.root / "list.txt"
        listed.write_text("".join(f"{name} {cases[name]['verdict']} known\n" for name in self.names))
        self.report(0, "--actual", self.actual, "--expectations", listed)

    def test_a_runtime_that_said_why_is_quoted(self):
        self.copy_outputs(self.actual)
        place = next((self.actual / self.names[0]).glob("*"))
        for file in place.iterdir():
            file.unlink()
        (place / "error.txt").write_text("no kernel for GRU\n")
        _, _, cases = self.report(1, "--actual", self.actual)
        self.assertRegex(cases[self.names[0]]["message"], "; the runtime said: no kernel for GRU$")

    def test_the_engine_as_reference(self):
        self.copy_outputs(self.actual)
        for file in self.data.glob("node/*/test_data_set_*/output_0.pb"):
            file.write_bytes(BROKEN)  # what the files expect plays no part
        _, report, _ = self.report(0, "--actual", self.actual, "--reference", "engine")
        self.assertEqual((report["summary"]["passed"], report["expected"]), (3, "grurun"))
        self.assertEqual(run(self.data, "--reference", "engine").returncode, 2)

    def test_two_cases_cannot_share_outputs(self):
        self.copy_outputs(self.actual)
        shutil.copytree(self.data / "node" / self.names[0], self.data / "other" / self.names[0])
        done = run(self.data, "--actual", self.actual)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.actual / self.names[0]} holds the outputs of ", done.stderr)

    def test_a_command_for_each_data_set(self):
        tool = self.root / "tool.py"
        tool.write_text("""import os, pathlib, shutil, signal, sys, time
model, inputs, outputs = map(pathlib.Path, sys.argv[1:])
how = os.environ.get(model.parent.name, "copy")
if how == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if how == "hang":
    time.sleep(600)
if how.isdigit():
    sys.exit("no such kernel\\n" if how == "1" else int(how))
if how != "nothing":
    for file in inputs.glob("output_*"):
        shutil.copy(file, outputs)
""")
        command = f"'{sys.executable}' {tool} {{model}} {{inputs}} {{outputs}}"
        scratch = self.root / "tmp"
        scratch.mkdir()

        def verdicts(*how, flags=()):
            env = {**os.environ, **dict(zip(self.names, how)), "TMPDIR": str(scratch)}
            code = 0 if set(how) <= {"copy"} else 1
            _, report, cases = self.report(code, "--runtime", command, *flags, env=env)
            self.assertEqual(list(scratch.iterdir()), [], "what the command left is removed")
            return [(cases[name]["verdict"], cases[name]["message"]) for name in self.names]

        self.assertEqual(verdicts("copy", "copy", "copy"), [("passed", "")] * 3)
        began = time.monotonic()
        crashed, hung, failed = verdicts("crash", "hang", "1", flags=["--max-time", "2"])
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual((crashed[0], hung[0], failed[0]), ("crashed", "timed-out", "crashed"))
        self.assertRegex(crashed[1], "the runtime was killed by SIGSEGV")
        self.assertRegex(failed[1], "the runtime exited with status 1: no such kernel")
        left, unsupported, invalid = verdicts("nothing", "4", "3")
        self.assertEqual((left[0], unsupported[0], invalid[0]), ("missing", "unsupported", "invalid"))
        self.assertRegex(left[1], "ended without an error, but {outputs} has no output_0.pb")

    def test_a_command_that_cannot_be_meant(self):
        for command, words in (("no-such-program {model} {inputs} {outputs}", "no program that can be run"), ("cat {model}", "there is no {outputs}"),
                               ("cat '{model} {outputs}", "has no end")):
            done = run(self.data, "--runtime", command)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)


@unittest.skipUnless(OFFICIAL.is_dir(), "the official cases are not there; scripts/fetch-onnx-data gets them")
@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "there is no Python package in this build")
class OnnxRuntime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require({"onnxruntime": ["onnxruntime"]})

    def test_the_official_node_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "examples/outputs/write_outputs.py", OFFICIAL, folder], check=True)
            report = pathlib.Path(folder) / "r.json"
            done = run(OFFICIAL, "--actual", folder, "--actual-name", "onnxruntime", "--json", report, "--no-diagnosis")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            summary = json.loads(report.read_text())["summary"]
        self.assertEqual(sum(summary.values()), len(list(OFFICIAL.iterdir())))
        self.assertGreater(summary["passed"], 1500, summary)
        self.assertLess(summary["differs"], 60, summary)

    def test_the_wrapper(self):
        command = f"'{sys.executable}' -m grurun.runtimes.onnxruntime {{model}} {{inputs}} {{outputs}}"
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "r.json"
            done = run(OFFICIAL, "-k", "test_gru_", "--runtime", command, "--json", report)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            cases = {case["name"]: case for case in json.loads(report.read_text())["cases"]}
        batchwise = cases.pop("test_gru_batchwise")
        self.assertEqual(batchwise["verdict"], "unsupported", batchwise["message"])
        self.assertIn("layout == 1", batchwise["message"])
        self.assertEqual({case["verdict"] for case in cases.values()}, {"passed"})
        self.assertGreater(len(cases), 3)


if __name__ == "__main__":
    unittest.main()
