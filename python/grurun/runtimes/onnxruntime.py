"""ONNX Runtime on the CPU: `python -m grurun.runtimes.onnxruntime MODEL INPUTS OUTPUTS`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from grurun.runtimes import Invalid, Unsupported, main


def run(model: str, inputs: Mapping[str, Any], threads: int = 1) -> list[Any]:
    """The outputs of a model, in the graph's order. Raises Invalid and Unsupported where ONNX Runtime says so."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 4
    if os.environ.get("GRURUN_VALUES_BETWEEN"):
        # What is fused has other values between, and which nodes are fused depends on the values that are asked for.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # one run gains nothing of what they keep
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (state.NotImplemented, state.Fail) as error:  # Fail: a version or a type that it does not know
        raise Unsupported(str(error)) from error
    except (state.InvalidGraph, state.InvalidProtobuf) as error:
        raise Invalid(str(error)) from error
    try:
        return session.run(None, dict(inputs))
    except (state.NotImplemented, TypeError) as error:
        raise Unsupported(str(error)) from error
    except RuntimeError as error:
        # What its Python interface says of element types that numpy has no name for.
        if "Unsupported" in str(error) or "not supported" in str(error):
            raise Unsupported(str(error)) from error
        raise


if __name__ == "__main__":
    sys.exit(main(run, __doc__))
