import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["GRURUN_BUILD_DIR"])


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def instrumented():
    """True for a sanitizer's or a coverage build, whose libraries do not link into a plain program."""
    cache = (BUILD / "CMakeCache.txt").read_text().splitlines()
    return any(line.startswith("GRURUN_SANITIZE:") and not line.endswith("=") for line in cache) or any(
        line.startswith("GRURUN_COVERAGE:") and line.endswith("=ON") for line in cache)


def write_model(folder):
    x, y, z = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "XYZ")
    graph = helper.make_graph([helper.make_node("Add", ["X", "Y"], ["Z"])], "sum", [x, y], [z])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), folder / "sum.onnx")
    for name in "XY":
        np.save(folder / f"{name}.npy", np.arange(6, dtype=np.float32).reshape(2, 3))


@unittest.skipIf(instrumented(), "an instrumented build does not link into a plain program")
class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix = cls.folder / "prefix"
        installed = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert installed.returncode == 0, installed.stdout + installed.stderr

    def succeed(self, *command):
        result = run(*command)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_the_installed_program_runs(self):
        self.assertRegex(self.succeed(self.prefix / "bin" / "grurun", "--version"), r"^grurun \d+\.\d+\.\d+")

    def test_a_program_embeds_the_installed_engine(self):
        build = self.folder / "embed"
        self.succeed("cmake", "-S", ROOT / "examples" / "embed", "-B", build, "-G", "Ninja",
                     f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.succeed("cmake", "--build", build)
        write_model(self.folder)
        output = self.succeed(build / "embed", self.folder / "sum.onnx", self.folder / "X.npy", self.folder / "Y.npy")
        self.assertEqual(output, "Z: tensor(float) [2,3]\n")
        missing = run(build / "embed", self.folder / "none.onnx")
        self.assertEqual(missing.returncode, 2, missing.stderr)

    def test_no_installed_file_names_the_build_tree(self):
        for file in self.prefix.rglob("*.cmake"):
            with self.subTest(file=file.name):
                self.assertNotIn(str(ROOT), file.read_text())


if __name__ == "__main__":
    unittest.main()
