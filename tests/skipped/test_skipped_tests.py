"""What is skipped is seen: by tests/run_unittest.py, and by scripts/skipped-tests in what ctest wrote."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
SCRIPT = ROOT / "scripts" / "skipped-tests"
loader = importlib.machinery.SourceFileLoader("skipped_tests", str(SCRIPT))
skipped_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("skipped_tests", loader))
loader.exec_module(skipped_tests)

LOG = """\
1/2 Testing: engine/1-of-9
1/2 Test: engine/1-of-9
Output:
----------------------------------------------------------
tests/engine/kernels/gemm/split_product_test.cc:87: Skipped
no tile registers

[  SKIPPED ] 1 test.
<end of output>
2/2 Testing: models/test_nsnet2
Output:
----------------------------------------------------------
test_a (test_nsnet2.Nsnet2.test_a) ... skipped 'onnxruntime cannot be installed:\\nno network'
test_b (test_nsnet2.Nsnet2.test_b) ... ok
test_c (test_nsnet2.Nsnet2.test_c)
What it is for. ... skipped "it's so"
<end of output>
"""

PASS, SKIP, FAIL = "pass", "self.skipTest('no network')", "self.fail()"


def status(*bodies, module_skipped=False):
    """The exit status of a file whose tests have these bodies."""
    lines = ["import unittest", "class Tests(unittest.TestCase):"]
    lines += [f"    def test_{i}(self): {body}" for i, body in enumerate(bodies)]
    if module_skipped:
        lines += ["def setUpModule(): raise unittest.SkipTest('no network')"]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "test_sample.py").write_text("\n".join(lines) + "\n")
        command = [sys.executable, ROOT / "tests" / "run_unittest.py", "test_sample.py"]
        return subprocess.run(command, cwd=folder, capture_output=True).returncode


class Skipped(unittest.TestCase):
    def test_the_log_of_ctest(self):
        self.assertEqual(skipped_tests.skipped(LOG), [
            ("engine/1-of-9", "tests/engine/kernels/gemm/split_product_test.cc:87", "no tile registers"),
            ("models/test_nsnet2", "test_a", "onnxruntime cannot be installed:\nno network"),
            ("models/test_nsnet2", "What", "it's so"),
        ])

    def test_exit_status(self):
        for bodies, expected in [((PASS, PASS), 0), ((PASS, SKIP), 0), ((SKIP, SKIP), 77), ((SKIP, FAIL), 1), ((FAIL,), 1)]:
            with self.subTest(bodies=bodies):
                self.assertEqual(status(*bodies), expected)
        self.assertEqual(status(PASS, module_skipped=True), 77)


if __name__ == "__main__":
    unittest.main()
