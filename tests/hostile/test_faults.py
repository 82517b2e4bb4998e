"""The n-th allocation, read, write, open, mmap, fork, pipe and rename fails: the right result or one clean error, every time."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
COMPILER = shutil.which(os.environ.get("CC", "cc"))


@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "the sanitizers bring an allocator of their own")
@unittest.skipUnless(COMPILER, "a C compiler makes the library that lets calls fail")
class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="grurun-faults-")
        cls.library = pathlib.Path(cls.folder.name) / "fail_calls.so"
        source = pathlib.Path(__file__).with_name("fail_calls.c")
        subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", cls.library, source, "-ldl"], check=True)
        cls.case = next(path.parent for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx")))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_failing(self, call, at, arguments):
        environment = os.environ | {"LD_PRELOAD": str(self.library), "FAIL_CALL": call, "FAIL_AT": str(at)}
        command = [os.environ["GRURUN_BINARY"], *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=self.folder.name)

    def sweep(self, call, arguments, right, places, exit_codes, told=("grurun: ",)):
        """Lets each of the places fail; right(result) says whether a run that ended well did what it should."""
        wrong = []
        for at in places:
            result = self.run_failing(call, at, arguments)
            lines = result.stderr.splitlines()
            clean = result.returncode in exit_codes and all(line.startswith(told) for line in lines)
            if not clean or (result.returncode == 0 and not right(result)):
                wrong.append(f"{call} {at}: exit code {result.returncode}: {result.stderr[-300:]}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_a_run(self):
        out = pathlib.Path(self.folder.name) / "out.npz"
        arguments = [self.case / "model.onnx", "--inputs", self.case / "test_data_set_0", "--save-outputs", out, "-q", "--threads", "2"]
        self.assertEqual(self.run_failing("none", 1, arguments).returncode, 0)
        whole = out.read_bytes()
        for call in ("open", "read", "pread", "write", "mmap", "rename"):
            # A run that fails leaves the file that was there.
            self.sweep(call, arguments, lambda result: True, range(1, 12), (0, 2, 3, 5))
            self.assertEqual(out.read_bytes(), whole)
        self.assertEqual([file.name for file in out.parent.glob("out*")], ["out.npz"])

    def test_allocations(self):
        arguments = [self.case / "model.onnx", "--inputs", self.case / "test_data_set_0", "-q", "--threads", "1"]
        places = sorted({int(1.2**i) for i in range(64)})
        self.sweep("malloc", arguments, lambda result: True, places, (0, 2, 5))

    def test_allocations_of_a_check(self):
        """ONNX's registry is filled, and leaves out what it has no memory for: it says so, and what needs it is refused."""
        places = sorted({int(1.3**i) for i in range(45)})
        arguments = ["check", self.case / "model.onnx"]
        self.sweep("malloc", arguments, lambda result: "ok" in result.stdout, places, (0, 2, 5), ("grurun: ", "Schema error: "))

    def test_workers(self):
        arguments = ["conformance", self.case, "-j", "2"]
        for call in ("fork", "pipe2"):
            self.sweep(call, arguments, lambda result: "1 passed" in result.stdout, (1, 2, 3), (0, 70))

    def test_a_full_disk(self):
        """Nothing half-written is left where the disk is full."""
        done = subprocess.run(
            [os.environ["GRURUN_BINARY"], self.case / "model.onnx", "--inputs", self.case / "test_data_set_0", "-q", "--save-outputs", "/dev/full/out.npz"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
