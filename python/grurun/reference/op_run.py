"""What onnx.reference.op_run has: a class that computes nodes in Python (new_ops of ReferenceEvaluator) derives from OpRun."""

from onnx.reference.op_run import (
    OpFunction,
    OpRun,
    OpRunExpand,
    RuntimeContextError,
    RuntimeImplementationError,
    RuntimeTypeError,
)

__all__ = ["OpFunction", "OpRun", "OpRunExpand", "RuntimeContextError", "RuntimeImplementationError", "RuntimeTypeError"]
