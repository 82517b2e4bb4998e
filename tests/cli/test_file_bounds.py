"""What each reader takes of memory for a byte of its file, and what it says of a file beyond its bound."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
MIB = 1 << 20
SANITIZED = bool(os.environ.get("GRURUN_SANITIZE"))


class FileBounds(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def file(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_grurun(self, *arguments):
        """The exit code, what was printed on both streams, and the most bytes that a process held."""
        with (self.root / "out").open("w+b") as out:
            process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=out, stderr=out, cwd=self.root)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            return process.returncode, out.read().decode(), used.ru_maxrss * 1024

    def suite(self):
        case = next((ROOT / "testdata/recurrent").rglob("model.onnx")).parent
        shutil.copytree(case, self.root / "suite/node/case")
        return self.root / "suite"

    def save(self, model, name="model.onnx"):
        path = self.root / name
        onnx.save(model, path)
        return path

    def test_files_beyond_their_bound(self):
        suite = self.suite()
        large = self.file("large", b" " * (16 * MIB + 1))
        with (self.root / "report.json").open("wb") as report:
            report.truncate(256 * MIB + 1)
        rows = [(("conformance", suite, "--policy", large), f"{large}: a policy has at most 16 MiB"),
                (("conformance", suite, "--expectations", large), f"{large}: a list of expectations has at most 16 MiB"),
                (("report", "show", "report.json"), "report.json: a report has at most 256 MiB"),
                (("report", "diff", "report.json", "report.json"), "report.json: a report has at most 256 MiB"),
                (("report", "merge", "report.json"), "report.json: a report has at most 256 MiB"),
                (("conformance", suite, "--resume", "report.json"), "report.json: a report has at most 256 MiB"),
                (("conformance", suite, "--compare-to", "report.json"), "report.json: a report has at most 256 MiB")]
        for arguments, text in rows:
            code, said, _ = self.run_grurun(*arguments)
            self.assertEqual((code, text in said), (2, True), said)
        self.file("suite/node/case/data.json", '{"a": [' + "0," * 32_000_000 + "0]}")
        code, said, used = self.run_grurun("conformance", suite, "-j", "1")
        self.assertEqual(code, 1, said)
        self.assertIn("invalid", said)
        self.assertIn("a data.json has at most 1 MiB", said)
        if not SANITIZED:
            self.assertLess(used, 256 * MIB)

    def test_missing_files_are_named_alike(self):
        suite = self.suite()
        model = next(suite.rglob("model.onnx"))
        for arguments in (("conformance", suite, "--policy", "nope.toml"), ("conformance", suite, "--expectations", "nope.toml"),
                          ("conformance", suite, "--compare-to", "nope.toml"), ("conformance", suite, "--resume", "nope.toml"),
                          ("report", "show", "nope.toml"), ("report", "diff", "nope.toml", "nope.toml"),
                          ("report", "merge", "nope.toml"), ("report", "headroom", "nope.toml"), ("report", "rejudge", "nope.toml"),
                          ("compare", "nope.toml", "nope.toml"), ("compare", model, model, "--policy", "nope.toml"),
                          (model, "--inputs", "nope.toml"), (model, "--expected", "nope.toml"), ("nope.toml",), ("check", "nope.toml"),
                          ("inspect", "nope.toml"), ("diff", "nope.toml", model), ("bisect", model, "--against", "nope.toml")):
            code, said, _ = self.run_grurun(*arguments)
            self.assertEqual(code, 2, said)
            self.assertIn("nope.toml: no such file", said, arguments)

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_memory_for_a_byte_of_a_file(self):
        suite = self.suite()
        report = self.root / "report.json"
        self.run_grurun("conformance", suite, "--json", report)
        one = json.loads(report.read_text())
        unknown = '{"unknown": [' + "[]," * (1 * MIB) + "0]," + report.read_text()[1:]
        many = dict(one, cases=one["cases"] * 8000)
        rule = '[[rule]]\nrtol=1\nreason="x"\n'
        self.file("unknown.json", unknown)
        self.file("many.json", json.dumps(many))
        self.file("rules.toml", rule * (4 * MIB // len(rule)))
        self.file("keys.toml", "".join(f"a{i}=0\n" for i in range(MIB // 2)))
        self.file("list.txt", "a differs x\n" * (MIB // 3))
        self.file("value.json", "[" + "0," * (8 * MIB) + "0]")
        rows = [("unknown.json", ("report", "show", "unknown.json"), 8), ("many.json", ("report", "show", "many.json"), 12),
                ("rules.toml", ("conformance", suite, "--policy", "rules.toml"), 100),
                ("keys.toml", ("conformance", suite, "--policy", "keys.toml"), 100),
                ("list.txt", ("conformance", suite, "--expectations", "list.txt"), 32),
                ("value.json", ("compare", "value.json", "value.json"), 32)]
        idle = self.run_grurun("conformance", suite)[2]
        for name, arguments, most in rows:
            size = (self.root / name).stat().st_size
            code, said, used = self.run_grurun(*arguments)
            self.assertIn(code, (0, 1, 2), said)
            with self.subTest(name):
                self.assertLess((used - idle) / size, most, said[-500:])

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_what_an_archive_unpacks_to_is_held_to_max_memory(self):
        np.savez_compressed(self.root / "a.npz", X=np.zeros(1 << 28, np.float32))
        code, said, used = self.run_grurun("compare", "a.npz", "a.npz", "--max-memory", "256M")
        self.assertEqual(code, 5, said)
        self.assertLess(used, 512 * MIB)

    def test_a_comparison_ends_with_a_documented_code(self):
        np.save(self.root / "pickled.npy", np.array([None]), allow_pickle=True)
        np.save(self.root / "dates.npy", np.array(["2020-01-01"], "datetime64[D]"))
        self.file("broken.npy", b"\x93NUMPY")
        footer = self.run_grurun("compare", "--help")[1]
        for name, expected in (("pickled.npy", 4), ("dates.npy", 4), ("broken.npy", 3)):
            code, said, _ = self.run_grurun("compare", name, name)
            self.assertEqual(code, expected, said)
            self.assertRegex(footer, rf"\b{expected}\s+(unsupported|invalid)")

    def test_lists_that_a_file_makes_are_cut(self):
        suite = self.suite()
        inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [1]) for i in range(70)]
        nodes = [helper.make_node("Abs", [f"x{i}"], [f"y{i}"]) for i in range(70)]
        outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [1]) for i in range(70)]
        graph = helper.make_graph(nodes, "g", inputs, outputs)
        wide = self.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))
        other = self.save(helper.make_model(helper.make_graph([helper.make_node("Neg", [f"x{i}"], [f"y{i}"]) for i in range(70)],
                                                              "g", inputs, outputs),
                                            opset_imports=[helper.make_opsetid("", 20)], ir_version=10), "other.onnx")
        self.file("rules.toml", '[[rule]]\ncase="none"\nrtol=1\nreason="x"\n' * 70)
        self.file("list.txt", "none differs x\n" * 70)
        np.savez(self.root / "zeros.npz", **{f"x{i}": np.zeros(1) for i in range(70)})
        np.savez(self.root / "ones.npz", **{f"x{i}": np.ones(1) for i in range(70)})
        for arguments, line in (((wide, "-q"), "grurun: and 20 more\n"), ((wide,), "\nand 20 more\n"),
                                (("conformance", suite, "--policy", "rules.toml"), "policy       and 20 more\n"),
                                (("conformance", suite, "--expectations", "list.txt"), "expectation  and 20 more\n"),
                                (("compare", "zeros.npz", "ones.npz"), "differs  and 20 more\n"),
                                (("diff", wide, other), "  and 20 more\n"), (("inspect", wide), "and 20 more\n")):
            said = self.run_grurun(*arguments)[1]
            self.assertIn(line, said)


if __name__ == "__main__":
    unittest.main()
