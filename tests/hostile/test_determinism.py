"""Bits do not depend on threads, workers, the sandbox, or on how often a model ran before."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
BINARY = os.environ["GRURUN_BINARY"]


class Determinism(unittest.TestCase):
    def test_outputs(self):
        models = sorted((ROOT / "testdata/recurrent").rglob("model.onnx"))[::60]
        self.assertGreater(len(models), 5)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.npz"
            for model in models:
                outputs = set()
                for flags in (["--threads", "1"], ["--threads", "2"], ["--threads", "8"], ["--threads", "8"], ["--sandbox", "off"]):
                    subprocess.run([BINARY, model, "--inputs", model.parent / "test_data_set_0", "-q", "--save-outputs", out, *flags], check=True, capture_output=True)
                    outputs.add(out.read_bytes())
                self.assertEqual(len(outputs), 1, model)

    def test_reports(self):
        reports = []
        for flags in (["-j", "1"], ["-j", "4"], ["-j", "2", "--sandbox", "off"]):
            done = subprocess.run(
                [BINARY, "conformance", ROOT / "testdata/recurrent", "-k", "gru", "--output-format", "json", *flags], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            cases = json.loads(done.stdout)["cases"]
            for case in cases:
                del case["seconds"]
            reports.append(cases)
        self.assertGreater(len(reports[0]), 50)
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])


if __name__ == "__main__":
    unittest.main()
