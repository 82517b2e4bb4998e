"""What users call a model, as a path, bytes or a ModelProto."""

from __future__ import annotations

import os
from typing import Any

from grurun._errors import UsageError

KINDS = "a path, bytes, a ModelProto, a torch.onnx.ONNXProgram, an onnx_ir.Model or an onnxscript function"


def model_source(model: Any) -> Any:
    """A path, bytes or a ModelProto of each of KINDS. Raises UsageError for anything else."""
    if isinstance(model, (str, bytes, os.PathLike)):
        return model
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        kind = getattr(getattr(model, "DESCRIPTOR", None), "name", "ModelProto")
        if kind != "ModelProto":
            raise UsageError(f"usage: a {kind} is a part of a model; a model is {KINDS}")
        return model
    if hasattr(model, "large_initializers") and hasattr(model, "model_proto"):
        from grurun._models import model_of_container

        return model_of_container(model)
    if _is_program(model):
        return _of_ir(model.model)
    if _is_ir(model):
        return _of_ir(model)
    if hasattr(model, "to_model_proto"):
        return model.to_model_proto()
    raise UsageError(f"usage: a model is {KINDS}, not an object of the type {type(model).__qualname__}")


def is_model(value: Any) -> bool:
    """Whether model_source takes it, where it may be a callable that makes one."""
    return hasattr(value, "SerializeToString") or hasattr(value, "to_model_proto") or _is_program(value) or _is_ir(value)


def _is_program(model: Any) -> bool:
    return any(kind.__name__ == "ONNXProgram" for kind in type(model).__mro__)


def _is_ir(model: Any) -> bool:
    return any(kind.__name__ == "Model" and kind.__module__.split(".")[0] in ("onnx_ir", "onnxscript") for kind in type(model).__mro__)


def _of_ir(model: Any) -> Any:
    """The ModelProto of an onnx_ir.Model, with the tensors that it keeps in files."""
    import onnx
    import onnx_ir

    proto = onnx_ir.serde.serialize_model(model)
    folders = {os.fspath(value.const_value.base_dir) for value in model.graph.initializers.values()
               if hasattr(value.const_value, "base_dir")}
    if len(folders) == 1:
        onnx.external_data_helper.load_external_data_for_model(proto, folders.pop() or ".")
    return proto
