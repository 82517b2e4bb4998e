"""The n-th allocation, read, write, open, mmap, fork, pipe and rename fails: the right result or one clean error, every time."""

import functools
import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

try:
    import numpy
    import onnx
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: scripts/setup makes an environment that has it") from missing

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
# The C library itself ends a program that has no memory for what a thread is to destroy.
OF_THE_LIBRARY = "Fatal glibc error: failed to register TLS destructor"
COMMANDS = ("check", "conformance")
# All places, until none is left that could fail, which takes minutes, or some of them.
EVERY = os.environ.get("GRURUN_FAULTS") == "all"
COMPILER = shutil.which(os.environ.get("CC", "cc"))


def model_with_external_data(folder):
    weights = numpy.ones((64, 64), numpy.float32)
    tensor = onnx.TensorProto(name="W", data_type=onnx.TensorProto.FLOAT, dims=weights.shape, data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights.bin")
    (folder / "weights.bin").write_bytes(weights.tobytes())
    value = functools.partial(onnx.helper.make_tensor_value_info, elem_type=onnx.TensorProto.FLOAT, shape=(64, 64))
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["X", "W"], ["Y"])], "g", [value("X")], [value("Y")], [tensor])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)]), folder / "external.onnx")
    return folder / "external.onnx"


@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "the sanitizers bring an allocator of their own")
@unittest.skipUnless(COMPILER, "a C compiler makes the library that lets calls fail")
class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="grurun-faults-")
        cls.library = pathlib.Path(cls.folder.name) / "fail_calls.so"
        source = pathlib.Path(__file__).with_name("fail_calls.c")
        subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", cls.library, source, "-ldl"], check=True)
        cls.external = model_with_external_data(pathlib.Path(cls.folder.name))
        cls.case = next(path.parent for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx")))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_failing(self, call, at, arguments):
        """What became of it, and whether that call was made at all, and failed."""
        note = pathlib.Path(self.folder.name) / "note"
        note.write_bytes(b"\0")
        environment = os.environ | {"LD_PRELOAD": str(self.library), "FAIL_CALL": call, "FAIL_AT": str(at), "FAIL_NOTE": str(note)}
        command = [os.environ["GRURUN_BINARY"], *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=self.folder.name)
        return done, note.read_bytes() == b"\1"

    def sweep(self, call, arguments, right, places, exit_codes, told=("grurun: ",), step=1):
        """Lets each of the places fail; right(result) says whether a run that ended well did what it should."""
        wrong, failed, ended_well = [], 0, 0
        for at in itertools.count(1, step) if EVERY else places:
            result, has_failed = self.run_failing(call, at, arguments)
            if EVERY and not has_failed:
                break
            failed += has_failed
            ended_well += result.returncode == 0
            lines = result.stderr.splitlines()
            if result.stderr.startswith(OF_THE_LIBRARY):
                continue
            clean = result.returncode in exit_codes and all(line.startswith(told) for line in lines)
            if not clean or (result.returncode == 0 and not right(result)):
                wrong.append(f"{call} {at}: exit code {result.returncode}: {result.stderr[-300:]}")
        if EVERY:
            print(f"{arguments[0] if arguments[0] in COMMANDS else 'run'}: {failed} calls of {call} failed: {ended_well} right results, {failed - ended_well - len(wrong)} errors, {len(wrong)} wrong")
        self.assertEqual(wrong, [], "\n".join(wrong))
        self.assertGreater(failed, 0, f"{call} is never called")

    def test_a_run(self):
        out = pathlib.Path(self.folder.name) / "out.npz"
        arguments = [self.external, "--save-outputs", out, "-q", "--threads", "2"]
        self.assertEqual(self.run_failing("none", 1, arguments)[0].returncode, 0)
        whole = out.read_bytes()
        for call, sandbox in itertools.product(("open", "openat2", "read", "pread", "write", "pwrite", "mmap", "rename", "fork", "pipe2"), ("auto", "off")):
            if sandbox == "off" and call in ("write", "fork", "pipe2"):
                continue  # another process keeps the outputs of one in the sandbox alone
            # A run that fails leaves the file that was there.
            self.sweep(call, [*arguments, "--sandbox", sandbox], lambda result: True, range(1, 7), (0, 2, 3, 5))
            self.assertEqual(out.read_bytes(), whole)
            self.assertEqual([file.name for file in out.parent.glob("out*")], ["out.npz"])

    def test_allocations(self):
        arguments = [self.case / "model.onnx", "--inputs", self.case / "test_data_set_0", "-q", "--threads", "1"]
        places = sorted({*(int(1.2**i) for i in range(64)), *range(150, 190)})  # with flags being added
        self.sweep("malloc", arguments, lambda result: True, places, (0, 2, 5))

    def test_allocations_of_a_check(self):
        """ONNX's registry is filled, and leaves out what it has no memory for: it says so, and what needs it is refused."""
        places = sorted({int(1.3**i) for i in range(45)})
        arguments = ["check", self.case / "model.onnx"]
        self.sweep("malloc", arguments, lambda result: "ok" in result.stdout, places, (0, 2, 5), ("grurun: ", "Schema error: "), step=37)

    def test_allocations_of_a_suite(self):
        """A case whose worker has no memory is the case's own fault, or that of nobody: the parent tells of its own."""
        places = sorted({int(1.5**i) for i in range(20)})
        arguments = ["conformance", self.case, "-j", "2"]
        self.sweep("malloc", arguments, lambda result: "1 passed" in result.stdout, places, (0, 1, 2, 5, 70))

    def test_workers(self):
        arguments = ["conformance", self.case, "-j", "2"]
        for call in ("fork", "pipe2", "mmap", "open", "read"):
            self.sweep(call, arguments, lambda result: "1 passed" in result.stdout, (1, 2, 3), (0, 1, 2, 70))


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "a small disk is mounted, as root alone may")
class FullDisk(unittest.TestCase):
    """No room for what flags name: one line, and nothing half-written; what was there stays."""

    def setUp(self):
        self.disk = pathlib.Path(tempfile.mkdtemp(prefix="grurun-full-disk-"))
        self.addCleanup(os.rmdir, self.disk)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.disk], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"this system lets root mount nothing: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        self.case = next(path.parent for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx")))

    def fill(self):
        with (self.disk / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"\0" * 4096):
                    pass
            except OSError:
                pass

    def test_outputs(self):
        run = [self.case / "model.onnx", "--inputs", self.case / "test_data_set_0", "-q"]
        commands = [
            *([*run, "--save-outputs", f"there.{ending}"] for ending in ("npz", "json")),
            [*run, "--save-outputs", "folder/"],
            [*run, "--save-inputs", "folder/"],
            [*run, "--save-intermediates", "there.npz"],
            [*run, "--report", "json=there.json"],
            ["check", self.case / "model.onnx", "--report", "sarif=there.sarif"],
            ["inspect", self.case / "model.onnx", "--report", "json=there.json"],
            ["generate", self.case / "model.onnx", "-o", "folder"],
            *(["conformance", ROOT / "testdata/recurrent", "-k", "gru", "--report", f"{name}=there.{name}"] for name in ("json", "junit", "html", "markdown")),
        ]  # fmt: skip
        for command in commands:
            for sandbox in ("auto", "off"):
                with self.subTest(command=" ".join(map(str, command)), sandbox=sandbox):
                    self.check_full([*command, "--sandbox", sandbox])

    def check_full(self, command):
        self.fill()
        before = self.names()
        done = subprocess.run([os.environ["GRURUN_BINARY"], *command], cwd=self.disk, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("grurun: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], "No space left on device|could not be written")
        self.assertEqual(self.names(), before)

    def names(self):
        return sorted(str(path.relative_to(self.disk)) for path in self.disk.rglob("*") if path.is_file())


if __name__ == "__main__":
    unittest.main()
