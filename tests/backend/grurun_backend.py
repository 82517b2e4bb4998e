"""grurun as a backend of ONNX's Python package: onnx.backend.base over the command line."""

import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
import onnx.backend.base
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from onnx_node_cases import to_proto  # noqa: E402

GRURUN = os.environ["GRURUN_BINARY"]


class Unsupported(Exception):
    """grurun says that it does not support the model (exit status 4)."""


def from_file(path, info):
    data = path.read_bytes()
    kind = info.type.WhichOneof("value")
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "map_type":
        return numpy_helper.to_dict(onnx.MapProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


class GrurunRep(onnx.backend.base.BackendRep):
    def __init__(self, model):
        self.model = model

    def fed(self, count):
        """The graph inputs that `count` values belong to: all, or those that no initializer stands for."""
        inputs = list(self.model.graph.input)
        if len(inputs) == count:
            return inputs
        initialized = {t.name for t in self.model.graph.initializer}
        return [info for info in inputs if info.name not in initialized]

    def run(self, inputs, **kwargs):
        with tempfile.TemporaryDirectory(prefix="grurun-backend-") as name:
            folder = pathlib.Path(name)
            onnx.save(self.model, folder / "model.onnx")
            command = [GRURUN, folder / "model.onnx", "--quiet", "--save-outputs", folder / "out"]
            for k, (value, info) in enumerate(zip(inputs, self.fed(len(inputs)), strict=True)):
                path = folder / f"value_{k}.pb"
                path.write_bytes(to_proto(value, info).SerializeToString())
                command += ["--inputs"] if k == 0 else []
                command.append(f"{info.name}={path}")
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode == 4:
                raise Unsupported(ran.stderr.strip())
            if ran.returncode != 0:
                raise RuntimeError(ran.stderr.strip())
            return tuple(from_file(folder / "out" / f"output_{k}.pb", info)
                         for k, info in enumerate(self.model.graph.output))


class GrurunBackend(onnx.backend.base.Backend):
    """prepare() makes a GrurunRep; only the device CPU is known."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return GrurunRep(model)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"
