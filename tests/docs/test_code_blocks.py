"""Pages whose Python needs nothing but the package and onnx show what their code does; those of tests/frameworks are tested there."""

import os
import pathlib
import unittest

from tests.docs.code_blocks import agrees, blocks_of, compare, printed_by
from tests.python.models import needs_package

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])


@needs_package
class Pages(unittest.TestCase):
    def test_any_model(self):
        self.assertGreaterEqual(compare(self, ROOT / "docs/gate-any-model.md"), 3)

    def test_what_a_block_prints_is_compared(self):
        page = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n```python\ndef test_it():\n    assert False, 'no'\n```\n"
        (first, expected), (second, nothing) = blocks_of(page)
        self.assertFalse(agrees(printed_by(first, "", {}), expected))
        self.assertEqual((printed_by(second, first, {}), nothing), ("AssertionError: no\n", None))


if __name__ == "__main__":
    unittest.main()
