"""What the tests of this folder run, and the packages that most of them need."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # what stands beside this file is imported from the source tree

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))

try:
    import numpy as np
    import onnx
except ImportError:
    np = onnx = None

SANITIZED = bool(os.environ.get("GRURUN_SANITIZE"))  # ten times as slow: long lists of cases are taken in part

needs_onnx = unittest.skipIf(onnx is None, "needs Python's onnx and numpy, which scripts/setup puts into .venv")


def run(*arguments, **keywords):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, **keywords)
