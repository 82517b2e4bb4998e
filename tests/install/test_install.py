import os
import pathlib
import re
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


def cached(build, variable):
    """What CMake's cache of a build has for a variable; "" where it has none."""
    found = re.search(rf"^{variable}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def instrumented():
    """True for a sanitizer's or a coverage build, whose libraries do not link into a plain program."""
    return cached(BUILD, "GRURUN_SANITIZE") != "" or cached(BUILD, "GRURUN_COVERAGE") == "ON"


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

    def test_the_man_page_and_completions_are_installed(self):
        share = self.prefix / "share"
        for path, fragment in (("man/man1/grurun.1", ".TH GRURUN 1"), ("bash-completion/completions/grurun", "complete -o filenames"),
                               ("zsh/site-functions/_grurun", "#compdef grurun"),
                               ("fish/vendor_completions.d/grurun.fish", "complete -c grurun")):
            self.assertIn(fragment, (share / path).read_text())

    def test_what_is_missing_is_told_at_once(self):
        lacking = subprocess.run(["cmake", "-S", ROOT, "-B", self.folder / "lacking", "-G", "Ninja"], capture_output=True, text=True,
                                 env={**os.environ, "PKG_CONFIG_LIBDIR": str(self.folder)})
        self.assertNotEqual(lacking.returncode, 0)
        self.assertIn("Of Debian: apt-get install libhwy-dev libre2-dev libzip-dev ", " ".join(lacking.stderr.split()))

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

    def test_installed_headers_include_what_is_there(self):
        """Each other and the standard library's, and fmt's, which grurun::tensor brings: ONNX's, for one, are not installed."""
        headers = self.prefix / "include" / "grurun"
        files = sorted(headers.rglob("*.h"))
        self.assertGreater(len(files), 100)
        for file in files:
            for line in re.findall(r"^\s*#\s*include\s*(.*)", file.read_text(), re.MULTILINE):
                with self.subTest(header=file.relative_to(headers), include=line):
                    ours = line.startswith('"') and (headers / line.strip('"')).is_file()
                    self.assertTrue(ours or re.fullmatch(r"<(\w+|fmt/\w+\.h)>", line), "not there for who embeds the engine")

    def configured(self, name, *arguments):
        build = self.folder / name
        self.succeed("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DBUILD_TESTING=OFF",
                     f"-DGRURUN_DEPS_DIR={cached(BUILD, 'GRURUN_DEPS_DIR')}", *arguments)
        return build

    def test_without_a_preset_it_is_a_release_build(self):
        build = self.configured("by_hand")
        self.assertEqual(cached(build, "CMAKE_BUILD_TYPE"), "Release")
        self.assertEqual(cached(build, "CMAKE_CXX_FLAGS_RELEASE"), "-O2 -DNDEBUG")

    def test_flags_that_are_given_stay(self):
        build = self.configured("flags", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_RELEASE=-O1")
        self.assertEqual(cached(build, "CMAKE_BUILD_TYPE"), "Debug")
        self.assertEqual(cached(build, "CMAKE_CXX_FLAGS_RELEASE"), "-O1")

    def test_no_installed_file_names_the_build_tree(self):
        for file in self.prefix.rglob("*.cmake"):
            with self.subTest(file=file.name):
                self.assertNotIn(str(ROOT), file.read_text())


if __name__ == "__main__":
    unittest.main()
