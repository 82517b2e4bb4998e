"""SARIF of grurun check against the schema of SARIF 2.1.0, which pydantic-sarif has as classes made from it."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from tests import optional_packages

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
# An error with a node, a warning without one, and a text that is no plain ASCII.
MODELS = {
    "error.onnxtxt": '<ir_version: 8, opset_import: ["" : 13]> g (float[2] X) => (float[2] Y) { [n] Y = Elu <aplha = 1.0> (X) }',
    "names é.onnxtxt": '<ir_version: 8, opset_import: ["" : 13]> g (float[2] X) => (float[2] Y) { [n] q = Relu(X) [n] Y = Relu(q) }',
}


class Sarif(unittest.TestCase):
    def test_findings_fit_the_schema(self):
        optional_packages.require({"pydantic_sarif": ["pydantic-sarif==0.1.1"]})
        import pydantic
        import pydantic_sarif.model
        schema = pydantic_sarif.model.StaticAnalysisResultsFormatSarifVersion210JsonSchema
        with tempfile.TemporaryDirectory() as folder:
            for name, text in MODELS.items():
                (pathlib.Path(folder) / name).write_text(text)
            (pathlib.Path(folder) / "broken.onnx").write_bytes(b"no model")
            result = subprocess.run([BINARY, "check", folder, "--output-format", "sarif"], capture_output=True, text=True)
        log = json.loads(result.stdout)
        run = schema.model_validate(log).runs[0]
        self.assertEqual({found.level.value for found in run.results} >= {"error", "warning"}, True)
        log["runs"][0]["results"][0]["levle"] = "error"
        with self.assertRaises(pydantic.ValidationError):
            schema.model_validate(log)


if __name__ == "__main__":
    unittest.main()
