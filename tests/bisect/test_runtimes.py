"""grurun bisect against other runtimes, through the Python package and through a command."""

import os
import sys
import unittest

from tests.bisect import test_bisect
from tests.bisect.test_bisect import block, np, onnx
from tests.optional_packages import require
from tests.python.models import needs_package

WIDE = ("--rtol", "1e-3", "--atol", "1e-4")


class Runtimes(unittest.TestCase):
    setUp, save, bisect, differences = test_bisect.Bisect.setUp, test_bisect.Bisect.save, test_bisect.Bisect.bisect, test_bisect.Bisect.differences

    @needs_package
    def test_a_command_and_weights_outside_the_file(self):
        model = self.folder / "model.onnx"
        onnx.save(block(epsilon=0.3), model, save_as_external_data=True, location="weights.bin", size_threshold=0)
        before = sorted(path.name for path in self.folder.iterdir())
        counting = f"{sys.executable} -c \"import sys; open('{self.folder}/../calls-{os.getpid()}', 'a').write('.'); " \
               "import grurun.runtimes, grurun.runtimes.reference as r; sys.exit(grurun.runtimes.main(r.run, ''))\" {model} {inputs} {outputs}"
        calls = self.folder.parent / f"calls-{os.getpid()}"
        self.addCleanup(lambda: calls.unlink(missing_ok=True))
        text = self.bisect(model, "--runtime", counting, *WIDE, "--max-memory", "64M", code=0).stdout
        self.assertIn("nothing differs: 7 values compared with the command of --runtime, which has nothing for 1", text)
        self.assertEqual(calls.read_text(), ".")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    @needs_package
    def test_onnxruntime_by_name(self):
        require({"onnxruntime": ["onnxruntime"]})
        os.environ["GRURUN_PYTHON"] = sys.executable
        self.addCleanup(os.environ.pop, "GRURUN_PYTHON")
        right = self.save("right.onnx", block())
        self.assertIn("7 values compared with onnxruntime", self.bisect(right, "--against", "onnxruntime", *WIDE, code=0).stdout)

    @needs_package
    def test_initializers_that_are_inputs(self):
        old = block()
        for each in old.graph.initializer:
            old.graph.input.insert(0, onnx.helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)))
        path = self.save("old.onnx", old)
        os.environ["GRURUN_PYTHON"] = sys.executable
        self.addCleanup(os.environ.pop, "GRURUN_PYTHON")
        self.assertIn("nothing differs", self.bisect(path, "--against", "reference", *WIDE, code=0).stdout)
        replaced = [path, "--inputs", f"x={self.folder / 'x.npy'}", f"ones={self.folder / 'ones.npy'}"]
        np.save(self.folder / "ones.npy", np.full(test_bisect.WIDTH, 2, np.float32))
        result = test_bisect.run(*replaced, "--against", "reference", *WIDE)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("values compared with reference", result.stdout)
        self.assertIn("nothing differs", self.bisect(self.save("new.onnx", block()), "--against", path, *WIDE, code=0).stdout)

    @needs_package
    def test_what_the_peer_refuses_is_told_in_its_words(self):
        path = self.save("model.onnx", block())
        for status, kind, code in ((3, "invalid", 3), (4, "unsupported", 4), (1, "unsupported", 4)):
            command = f"{sys.executable} -c \"import sys; print('no kernel of LayerNormalization(17)', file=sys.stderr); sys.exit({status})\" " \
                      "{model} {outputs}"
            result = self.bisect(path, "--runtime", command, code=code)
            self.assertEqual(result.stdout, "")
            self.assertIn(f"{kind}: {path}: --runtime: the runtime exited with status {status}: no kernel of LayerNormalization(17)", result.stderr)

    @needs_package
    def test_values_between_are_asked_of_a_session_that_fuses_nothing(self):
        require({"onnxruntime": ["onnxruntime"]})
        path, seen = self.save("model.onnx", block()), self.folder / "levels.txt"
        watching = f"{sys.executable} -c \"import sys, onnxruntime as o, grurun.runtimes as g, grurun.runtimes.onnxruntime as r; S = o.InferenceSession; " \
                   f"o.InferenceSession = lambda m, s, **k: (open('{seen}', 'a').write(s.graph_optimization_level.name + ' '), S(m, s, **k))[1]; " \
                   "sys.exit(g.main(r.run, ''))\" {model} {inputs} {outputs}"
        self.bisect(path, "--runtime", watching, *WIDE, code=0)
        self.assertEqual(set(seen.read_text().split()), {"ORT_DISABLE_ALL"})
        test_bisect.subprocess.run([test_bisect.BINARY, "conformance", self.case(path), "--runtime", watching], capture_output=True)
        self.assertEqual(seen.read_text().split()[-1], "ORT_ENABLE_ALL")

    def case(self, path):
        case = self.folder / "case"
        test_bisect.subprocess.run([test_bisect.BINARY, "generate", path, "-o", case, "--inputs", self.folder / "x.npy"], check=True, capture_output=True)
        return case

    @needs_package
    def test_the_function_of_the_package(self):
        import grurun

        found = grurun.bisect(block(epsilon=0.3), {"x": self.x}, against=block())
        self.assertEqual((found.ok, found.first_wrong["value"], found.first_wrong["details"]["attributes"]), (False, "normed2", ["epsilon = 0.3"]))
        self.assertTrue(grurun.bisect(block(), {"x": self.x}, against=block()).ok)
        with self.assertRaises(grurun.UsageError):
            grurun.bisect(block(), {"x": self.x}, against={"nobody": self.x})

    def test_what_fails_is_told_in_a_line(self):
        path = self.save("model.onnx", block())
        os.environ["GRURUN_PYTHON"] = "/nowhere/python"
        self.addCleanup(os.environ.pop, "GRURUN_PYTHON")
        for arguments, said in ((["--against", "onnxruntime"], "/nowhere/python is no program that can be run"),
                                (["--runtime", "cat {model}"], "there is no {outputs}"),
                                (["--runtime", f"{sys.executable} -c 'import nowhere_to_be_found' {{model}} {{outputs}}"],
                                 "Python has no module named 'nowhere_to_be_found'; install it"),
                                (["--against", "precise", "--runtime", "x"], "bisect takes one of")):
            result = self.bisect(path, *arguments, code=2)
            self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1), result.stderr)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
