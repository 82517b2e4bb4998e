import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

# file, its include, whether the rules allow it
CASES = [
    ("tensor/a.h", '"tensor/shape.h"', True),
    ("tensor/a.h", '"onnx_io/model.h"', False),
    ("onnx_io/a.cc", '"opset/schema.h"', False),
    ("onnx_io/a.cc", "<onnx/checker.h>", True),
    ("onnx_io/a.cc", "<google/protobuf/message.h>", True),
    ("opset/a.cc", '"onnx_io/model.h"', True),
    ("opset/a.cc", '"engine/graph/plan.h"', False),
    ("engine/graph/a.h", '"engine/ops/type_dispatch.h"', False),
    ("engine/ops/rnn/a.op.cc", '"engine/graph/op_registry.h"', True),
    ("engine/ops/rnn/a.op.cc", "<hwy/highway.h>", False),
    ("engine/ops/rnn/a.op.cc", '"onnx/defs/schema.h"', False),
    ("engine/kernels/a.cc", '"hwy/highway.h"', True),
    ("engine/kernels/a.cc", '"engine/graph/plan.h"', False),
    ("engine/kernels/a.cc", '"onnx_io/model.h"', False),
    ("conformance/report/a.cc", '"cli/flags.h"', False),
    ("conformance/a.cc", "<CLI/CLI.hpp>", False),
    ("cli/a.cc", '"conformance/run.h"', True),
]


def run(root):
    return subprocess.run([ROOT / "scripts" / "check-layering", root], capture_output=True, text=True)


class Layering(unittest.TestCase):
    def test_the_repository_keeps_its_arrows_down(self):
        result = run(ROOT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_each_rule(self):
        for file, include, allowed in CASES:
            with self.subTest(file=file, include=include), tempfile.TemporaryDirectory() as root:
                path = pathlib.Path(root, file)
                path.parent.mkdir(parents=True)
                path.write_text(f"#include {include}\n")
                result = run(root)
                self.assertEqual(result.returncode, 0 if allowed else 1, result.stdout + result.stderr)

    def test_an_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(run(root).returncode, 1)


if __name__ == "__main__":
    unittest.main()
