"""The pages on gating PyTorch and scikit-learn show what their code does."""

import logging
import os
import pathlib
import unittest

from tests.docs.code_blocks import compare

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
logging.getLogger("torch.onnx").setLevel(logging.ERROR)


class Pages(unittest.TestCase):
    def test_pytorch(self):
        self.assertGreaterEqual(compare(self, ROOT / "docs/gate-pytorch.md"), 5)

    def test_readme(self):
        self.assertEqual(compare(self, ROOT / "README.md"), 2)

    def test_scikit_learn(self):
        self.assertGreaterEqual(compare(self, ROOT / "docs/gate-scikit-learn.md"), 3)


if __name__ == "__main__":
    unittest.main()
