"""JUnit reports against the schema that Jenkins publishes, of which pytest's source package has a copy: junit-10.xsd."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from tests import optional_packages

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))


class Junit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        optional_packages.require({"xmlschema": ["xmlschema==4.3.2"]})
        import xmlschema
        text = optional_packages.file_of_source("pytest==9.2.0", "testing/example_scripts/junit-10.xsd")
        cls.schema = xmlschema.XMLSchema(text.decode())
        cls.invalid = xmlschema.XMLSchemaValidationError

    def test_the_golden_report_fits(self):
        text = (ROOT / "tests/report/suite/golden/junit.xml").read_text()
        self.schema.validate(text)
        for there, instead in (("<skipped ", "<skip "), ('tests="13" ', 'tests="13" skips="2" '), (' name="test_good"', "")):
            self.assertIn(there, text)
            with self.assertRaises(self.invalid):
                self.schema.validate(text.replace(there, instead, 1))

    def test_reports_of_runs_fit(self):
        """Of a suite with another runtime's outputs, of which none are there, and of two files."""
        with tempfile.TemporaryDirectory() as folder:
            data, nothing = ROOT / "testdata/microsoft", pathlib.Path(folder) / "nothing"
            nothing.mkdir()
            value = next(data.rglob("output_0.pb"))
            for arguments, code, there in ((["conformance", data, "--actual", nothing, "-k", "clip"], 1, 'type="missing"'),
                                           (["compare", value, value], 0, 'name="expected" value=')):
                done = subprocess.run([BINARY, *map(str, arguments), "--output-format", "junit"], capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(there, done.stdout)
                self.schema.validate(done.stdout)


if __name__ == "__main__":
    unittest.main()
