"""Every hostile model gets the verdict that is on record, in the sandbox, within its time and memory."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
SUITE = ROOT / "testdata" / "hostile"
sys.path.insert(0, str(SUITE))

try:
    import make
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: scripts/setup makes an environment that has it") from missing

SANITIZED = bool(os.environ.get("GRURUN_SANITIZE"))
# Of the resident memory of a process: 512 MiB for what it counts, and what the system's limit leaves beside it.
MOST_RESIDENT = 1400 << 20


def expected():
    """{name: verdict} of expected.txt."""
    lines = (SUITE / "expected.txt").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="grurun-hostile-")
        cls.suite = pathlib.Path(cls.folder.name) / "hostile"
        cls.names = make.make(cls.suite)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_suite(self, *flags):
        """The report, and the lines that were printed."""
        report = pathlib.Path(self.folder.name) / "report.json"
        command = [os.environ["GRURUN_BINARY"], "conformance", self.suite, "--json", report, "-j", "2", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(report.read_text()), done.stdout + done.stderr

    def test_verdicts(self):
        self.assertGreaterEqual(len(self.names), 400)
        self.assertEqual(sorted(expected()), self.names, "expected.txt has a line for each case")
        report, printed = self.run_suite("--max-time", "10" if SANITIZED else "2", "--max-memory", "512M")
        verdicts = {case["name"]: case["verdict"] for case in report["cases"]}
        messages = {case["name"]: case["message"] for case in report["cases"]}
        wrong = [
            f"{name}: {verdicts.get(name)}, not {wanted}: {messages.get(name, '')[:200]}"
            for name, wanted in expected().items()
            if verdicts.get(name) not in (wanted, "timed-out" if SANITIZED else wanted)
        ]
        self.assertEqual(wrong, [], "\n".join(wrong))
        for line in printed.splitlines():
            self.assertFalse(line.lstrip().startswith("::"), line)

    @unittest.skipIf(SANITIZED, "the sanitizers take memory of their own")
    def test_resident_memory(self):
        command = [os.environ["GRURUN_BINARY"], "conformance", self.suite, "-k", "many_*", "-j", "2", "--max-time", "5", "--max-memory", "512M"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        self.assertLess(usage.ru_maxrss << 10, MOST_RESIDENT)

    def test_check_and_inspect_end(self):
        """What only reads a model ends, too: with findings, an error or a limit, and no crash."""
        paths = [str(self.suite / name / "model.onnx") for name in self.names]
        command = [os.environ["GRURUN_BINARY"], "check", *paths, "--max-time", "5", "--max-memory", "1G", "--output-format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertIn(done.returncode, (2, 3, 5), done.stderr[-500:])
        self.assertEqual([model["path"] for model in json.loads(done.stdout)["models"]], paths)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("grurun: "), line)
            self.assertNotIn("internal error", line)


if __name__ == "__main__":
    unittest.main()
