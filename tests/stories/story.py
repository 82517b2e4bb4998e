"""What the stories share: a folder of a user's own, the command, models and cases."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx.parser
from onnx import numpy_helper

# scripts/check-wheel runs the stories where the wheel is installed, ctest where the build's package is on the path.
INSTALLED = pathlib.Path(sys.executable).parent / "grurun"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *([] if INSTALLED.exists() else ["-p", "grurun.pytest_plugin"])]
COMMAND = os.environ.get("GRURUN_BINARY", str(INSTALLED))


def parsed(nodes, shape="batch, 4", name="g"):
    """A model of x and y in ONNX's text syntax."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 22]> {name} (float[{shape}] x) => (float[{shape}] y) {{ {nodes} }}')


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "the Python package is not built with sanitizers")
class Story(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.home)
        self.x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)

    def run_program(self, program, code):
        done = subprocess.run([*map(str, program)], cwd=self.home, capture_output=True, text=True, env=os.environ | {"CI": "true"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def grurun(self, code, *arguments):
        return self.run_program([COMMAND, *arguments], code)

    def write(self, name, text):
        (self.home / name).write_text(text)

    def case(self, path, model, expected):
        """A case as ONNX lays out its own, of one data set."""
        folder = self.home / path / "test_data_set_0"
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder.parent / "model.onnx")
        for file, array in (("input_0", self.x), ("output_0", expected)):
            (folder / f"{file}.pb").write_bytes(numpy_helper.from_array(array.astype(np.float32)).SerializeToString())
