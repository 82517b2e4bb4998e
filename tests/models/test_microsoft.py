"""testdata/microsoft: grurun passes every case with every instruction set, and knows the operator."""

import os
import pathlib
import re
import subprocess
import unittest

BINARY = os.environ["GRURUN_BINARY"]
FOLDER = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])) / "testdata/microsoft"


def grurun(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True)


class Cases(unittest.TestCase):
    def test_grurun_passes_every_case(self):
        count = len(list(FOLDER.glob("*/model.onnx")))
        self.assertGreaterEqual(count, 9)
        listed = re.search(r"Instruction sets: ([^;]*)", grurun("-v").stdout + grurun("-v").stderr)
        self.assertIsNotNone(listed)
        for isa in re.findall(r"amx|avx512\w*|avx2|sse4|scalar|neon", listed[1]):
            done = grurun("conformance", FOLDER, "--min-cases", str(count), "--isa", isa)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"{count} passed", done.stdout)

    def test_no_rule_is_broken(self):
        done = grurun("check", *sorted(FOLDER.glob("*/model.onnx")))
        self.assertEqual((done.returncode, " warning " in done.stdout), (0, False), done.stdout)


if __name__ == "__main__":
    unittest.main()
