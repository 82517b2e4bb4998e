"""testdata/openvino: grurun passes every case, and no rule of `grurun check` is broken."""

import unittest

from tests.openvino_ir.peer import ROOT, grurun

FOLDER = ROOT / "testdata/openvino"


class Cases(unittest.TestCase):
    def test_grurun_passes_every_case(self):
        count = len(list(FOLDER.glob("*/model.xml")))
        self.assertGreaterEqual(count, 7)
        done = grurun("conformance", FOLDER, "--min-cases", count)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{count} cases", done.stdout)

    def test_no_rule_is_broken(self):
        done = grurun("check", *sorted(FOLDER.glob("*/model.xml")))
        self.assertEqual((done.returncode, " warning " in done.stdout), (0, False), done.stdout)


if __name__ == "__main__":
    unittest.main()
