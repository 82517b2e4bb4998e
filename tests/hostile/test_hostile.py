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
        cls.limited = pathlib.Path(cls.folder.name) / "limited"
        cls.names = make.make(cls.suite)
        cls.limited.mkdir()
        cls.paths = {name: cls.suite / name for name in cls.names}
        for name, verdict in expected().items():
            if verdict == "timed-out":
                cls.paths[name] = cls.paths[name].rename(cls.limited / name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_suite(self, folder, max_time):
        """The report, the lines that were printed, and the most that a process held of memory."""
        report, printed = (pathlib.Path(self.folder.name) / name for name in ("report.json", "printed"))
        command = [os.environ["GRURUN_BINARY"], "conformance", folder, "--json", report, "-j", "2", "--max-time", str(max_time), "--max-memory", "512M"]
        with printed.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(process.returncode, (0, 1), printed.read_text()[-500:])
        return json.loads(report.read_text()), printed.read_text(), usage.ru_maxrss << 10

    def test_verdicts(self):
        self.assertGreaterEqual(len(self.names), 400)
        self.assertEqual(sorted(expected()), self.names, "expected.txt has a line for each case")
        # What ends at a limit is not to be waited for long, what ends by itself is to have the time on a busy machine.
        verdicts, messages, printed = {}, {}, ""
        for folder, max_time in ((self.suite, 10 if SANITIZED else 4), (self.limited, 2 if SANITIZED else 1)):
            report, lines, resident = self.run_suite(folder, max_time)
            verdicts |= {case["name"]: case["verdict"] for case in report["cases"]}
            messages |= {case["name"]: case["message"] for case in report["cases"]}
            printed += lines
            if not SANITIZED:  # the sanitizers take memory of their own
                self.assertLess(resident, MOST_RESIDENT)
        wrong = [
            f"{name}: {verdicts.get(name)}, not {wanted}: {messages.get(name, '')[:200]}"
            for name, wanted in expected().items()
            if verdicts.get(name) not in (wanted, "timed-out" if SANITIZED else wanted)
        ]
        self.assertEqual(wrong, [], "\n".join(wrong))
        for line in printed.splitlines():
            self.assertFalse(line.lstrip().startswith("::"), line)

    def test_check_and_inspect_end(self):
        """What only reads a model ends, too: with findings, an error or a limit, and no crash."""
        paths = [str(path / "model.onnx") for path in self.paths.values()]
        command = [os.environ["GRURUN_BINARY"], "check", *paths, "--max-time", "5", "--max-memory", "1G", "--output-format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertIn(done.returncode, (2, 3, 5), done.stderr[-500:])
        self.assertEqual([model["path"] for model in json.loads(done.stdout)["models"]], paths)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("grurun: "), line)
            self.assertNotIn("internal error", line)


if __name__ == "__main__":
    unittest.main()
