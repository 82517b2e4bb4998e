"""grurun.ci and what runs it: the GitHub action's script, the GitLab template, the pre-commit hook."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx

from tests.python.models import gru_model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
X = np.ones((3, 2, 4), np.float32)


@needs_package
class Templates(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        session = grurun.Session(gru_model())
        outputs = dict(zip(("Y", "Y_h"), session.run(None, {"X": X})))
        for name, change in (("test_good", 0), ("test_bad", 1)):
            folder = self.root / "my cases" / "gru" / name
            folder.mkdir(parents=True)
            onnx.save(gru_model(), folder / "model.onnx")
            grurun._core.write_data_set(session, str(folder / "test_data_set_0"), {"X": X}, {**outputs, "Y": outputs["Y"] + change})
        bin_folder = self.root / "bin"
        bin_folder.mkdir()
        (bin_folder / "python3").symlink_to(sys.executable)
        self.env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "GITHUB_ACTIONS": "true",
                    "GITHUB_STEP_SUMMARY": str(self.root / "summary.md")}

    def action(self, **inputs):
        script = ROOT / ".github/actions/grurun/run.sh"
        done = subprocess.run(["bash", script], env={**self.env, "REPORTS": str(self.root / "reports"), "FLAGS": "[]", **inputs},
                              capture_output=True, text=True, cwd=self.root)
        return done.returncode, done.stdout + done.stderr

    def test_a_conformance_run_is_told(self):
        code, out = self.action(COMMAND="conformance", PATHS="\nmy cases\n")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"(?m)^::error title=gru/test_bad differs::test_data_set_0%?.*output 'Y'")
        summary = (self.root / "summary.md").read_text()
        self.assertIn("not as expected", summary)
        self.assertIn("| passed | 1 |", summary)
        self.assertIn("| gru/test_bad | differs |", summary)
        self.assertEqual(sorted(file.name for file in (self.root / "reports").iterdir()), ["grurun.json", "grurun.xml"])
        code, out = self.action(COMMAND="conformance", PATHS="my cases", FLAGS='["-k", "good"]')
        self.assertEqual(code, 0, out)
        self.assertNotIn("::error", out)
        self.assertEqual(json.loads((self.root / "reports/grurun.json").read_text())["summary"]["passed"], 1)

    def test_models_are_checked(self):
        code, out = self.action(COMMAND="check", PATHS="my cases")
        self.assertEqual(code, 0, out)
        broken = gru_model()
        broken.graph.node[0].attribute[0].i = 9  # hidden_size
        onnx.save(broken, self.root / "broken.onnx")
        code, out = self.action(COMMAND="check", PATHS="broken.onnx\nmy cases")
        self.assertEqual(code, 3, out)
        self.assertRegex(out, r"(?m)^::error .*broken\.onnx")
        self.assertTrue((self.root / "reports/grurun.sarif").exists())
        self.assertEqual(self.action(COMMAND="check", PATHS="bin")[0], 2)
        self.assertEqual(self.action(COMMAND="check", PATHS="my cases", FLAGS="-k")[0], 2)

    def test_the_gitlab_template_runs_the_same(self):
        text = (ROOT / ".gitlab/grurun.yml").read_text()
        line = re.search(r"^    - (python3 -m grurun\.ci .*)$", text, re.MULTILINE)[1]
        variables = dict(re.findall(r"^    (GRURUN_\w+): \"?([^\"\n]*)\"?$", text, re.MULTILINE))
        (self.root / "my cases").rename(self.root / "cases")
        done = subprocess.run(["bash", "-c", line], env={**self.env, **variables, "GRURUN_PATHS": "cases"}, capture_output=True, text=True,
                              cwd=self.root)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertTrue((self.root / re.search(r"junit: (.*)", text)[1]).exists())

    def test_the_hook_checks_what_changed(self):
        entry = re.search(r"^  entry: grurun (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)[1]
        command = [sys.executable, "-m", "grurun", *entry.split()]
        good = self.root / "my cases/gru/test_good/model.onnx"
        self.assertEqual(subprocess.run([*command, good], capture_output=True).returncode, 0)
        bad = self.root / "bad.onnx"
        bad.write_bytes(b"no model")
        self.assertEqual(subprocess.run([*command, good, bad], capture_output=True).returncode, 3)


if __name__ == "__main__":
    unittest.main()
