import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

# file, its include, whether the rules allow it
CASES = [
    ("tensor/a.h", '"tensor/shape.h"', True),
    ("tensor/a.h", '"tensor/memory/limits.h"', True),
    ("tensor/a.h", '"onnx_io/models/model.h"', False),
    ("onnx_io/a.cc", '"opset/schema/registry.h"', False),
    ("onnx_io/a.cc", "<onnx/onnx_pb.h>", True),
    ("onnx_io/a.cc", "<onnx/onnx-data.pb.h>", True),
    ("onnx_io/a.cc", "<onnx/checker.h>", False),
    ("onnx_io/a.cc", "<google/protobuf/message.h>", True),
    ("opset/schema/a.cc", '"onnx_io/models/model.h"', True),
    ("opset/schema/a.cc", '"engine/graph/plan.h"', False),
    ("opset/schema/a.cc", '"opset/findings/labels.h"', True),
    ("opset/schema/added/a.cc", '"opset/schema/registry.h"', True),
    ("opset/schema/added/a.cc", '"opset/check/check.h"', False),
    ("opset/findings/a.h", '"opset/schema/registry.h"', False),
    ("opset/pages/a.h", '"opset/inference/infer.h"', False),
    ("opset/check/a.h", '"opset/inference/infer.h"', True),
    ("opset/check/a.h", '"opset/summary/flops.h"', False),
    ("opset/schema/a.h", "<onnx/defs/schema.h>", True),
    ("opset/inference/a.h", "<onnx/shape_inference/implementation.h>", True),
    ("opset/check/a.h", "<onnx/defs/schema.h>", False),
    ("opset/check/a.cc", "<onnx/checker.h>", True),
    ("opset/check/a.cc", '"onnx/onnx_pb.h"', True),
    ("opset/cells/a.cc", "<onnx/checker.h>", False),
    ("opset/a.cc", "<vector>", False),
    ("engine/graph/a.h", '"tensor/dispatch.h"', True),
    ("engine/graph/a.h", '"engine/ops/shared/elementwise.h"', False),
    ("engine/ops/rnn/a.op.cc", '"engine/graph/op_registry.h"', True),
    ("engine/ops/rnn/a.op.cc", '"engine/ops/shared/elementwise.h"', True),
    ("engine/ops/shared/a.cc", '"engine/ops/rnn/layer.h"', False),
    ("engine/ops/rnn/a.op.cc", '"engine/kernels/gates/activation.h"', True),
    ("engine/ops/rnn/a.op.cc", "<hwy/highway.h>", False),
    ("engine/ops/rnn/a.op.cc", '"onnx/defs/schema.h"', False),
    ("engine/kernels/vec/a.cc", '"hwy/highway.h"', True),
    ("engine/kernels/vec/a.cc", '"engine/kernels/machine/parallel.h"', True),
    ("engine/kernels/vec/a.cc", '"engine/kernels/gemm/gemm.h"', False),
    ("engine/kernels/gemm/a.cc", '"engine/kernels/vec/vec_map-inl.h"', True),
    ("engine/kernels/integer/a.cc", '"engine/kernels/gates/activation.h"', False),
    ("engine/kernels/gates/a.cc", '"tensor/dtype.h"', True),
    ("engine/kernels/gates/a.cc", '"engine/graph/plan.h"', False),
    ("engine/kernels/gates/a.cc", '"onnx_io/models/model.h"', False),
    ("engine/kernels/vec/a.cc", "<re2/re2.h>", False),
    ("trial/a.cc", '"engine/graph/plan.h"', True),
    ("trial/a.cc", '"conformance/run.h"', False),
    ("trial/diagnosis/a.cc", '"trial/data_set.h"', True),
    ("trial/a.cc", '"trial/diagnosis/search.h"', False),
    ("report/suite/a.cc", '"conformance/run.h"', True),
    ("conformance/a.cc", '"report/suite/junit.h"', False),
    ("report/suite/a.cc", '"cli/flags.h"', False),
    ("conformance/a.cc", "<CLI/CLI.hpp>", False),
    ("python/bindings/a.cc", '"trial/trial.h"', True),
    ("python/bindings/a.cc", '"cli/program.h"', True),
    ("python/bindings/a.cc", "<nanobind/nanobind.h>", True),
    ("cli/a.cc", '"python/bindings/values.h"', False),
    ("trial/a.cc", "<nanobind/nanobind.h>", False),
    ("onnx_io/a.cc", "<zip.h>", True),
    ("engine/ops/image/a.cc", "<zip.h>", False),
    ("engine/ops/image/a.cc", "<png.h>", True),
    ("engine/ops/text/a.op.cc", "<re2/re2.h>", True),
    ("opset/check/a.cc", "<nlohmann/json.hpp>", False),
    ("onnx_io/a.cc", "<pugixml.hpp>", True),
    ("cli/a.cc", "<pugixml.hpp>", False),
    ("conformance/a.cc", "<nettle/sha2.h>", True),
    ("tensor/a.cc", "<nettle/sha2.h>", False),
    ("tensor/a.cc", "<sys/mman.h>", True),
    ("tensor/a.cc", "<vector>", True),
    ("tensor/a.cc", "<fmt/format.h>", True),
    ("tensor/a.cc", "<new_library/x.h>", False),
    ("cli/a.cc", '"conformance/run.h"', True),
    ("tensor/a.cc", '"nowhere.h"', False),
]


def load_check():
    """The function check() of scripts/check-layering, which has no ending that import knows."""
    loader = importlib.machinery.SourceFileLoader("check_layering", str(ROOT / "scripts" / "check-layering"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.check


check = load_check()


class Layering(unittest.TestCase):
    def test_the_repository_keeps_its_arrows_down(self):
        found, files = check(ROOT)
        self.assertEqual(found, [])
        self.assertGreater(files, 100)

    def test_each_rule(self):
        for file, include, allowed in CASES:
            with self.subTest(file=file, include=include), tempfile.TemporaryDirectory() as root:
                path = pathlib.Path(root, file)
                path.parent.mkdir(parents=True)
                path.write_text(f"#include {include}\n")
                self.assertEqual(len(check(pathlib.Path(root))[0]), 0 if allowed else 1)

    def test_the_graph_of_the_engine_names_no_operator(self):
        with tempfile.TemporaryDirectory() as root:
            for file, line in (("opset/pages/math.cc", '{.op_type = "Abs"},'), ("engine/graph/a.cc", 'node.op_type == "Abs"')):
                path = pathlib.Path(root, file)
                path.parent.mkdir(parents=True)
                path.write_text(line + "\n")
            self.assertEqual(len(check(pathlib.Path(root))[0]), 1)

    def test_the_command_fails_on_an_arrow_up_and_on_an_empty_tree(self):
        with tempfile.TemporaryDirectory() as root:
            command = [ROOT / "scripts" / "check-layering", root]
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 1)
            pathlib.Path(root, "tensor").mkdir()
            source = pathlib.Path(root, "tensor", "a.h")
            source.write_text('#include "tensor/shape.h"\n')
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
            source.write_text('#include "cli/flags.h"\n')
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
