"""Operators of com.microsoft give onnxruntime's outputs on random data: a few draws of each operator and type."""

import os
import subprocess
import sys
import unittest

from tests.optional_packages import require

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "compare_microsoft.py")


class Draws(unittest.TestCase):
    def test_all_agree(self):
        require({"onnx": ["onnx"], "onnxruntime": ["onnxruntime"]})
        sys.path.insert(0, os.path.dirname(SCRIPT))
        from microsoft_cases import OPERATORS

        environment = os.environ | {"GRURUN": os.environ["GRURUN_BINARY"]}
        command = [sys.executable, SCRIPT, "--draws", "3", *OPERATORS]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(done.stdout.count("3 of 3"), len(OPERATORS) // 2, done.stdout)


if __name__ == "__main__":
    unittest.main()
