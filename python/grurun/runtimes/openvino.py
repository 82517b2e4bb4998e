"""OpenVINO on the CPU: `python -m grurun.runtimes.openvino MODEL INPUTS OUTPUTS`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from grurun.runtimes import Unsupported, main


def run(model: str, inputs: Mapping[str, Any], threads: int = 1) -> list[Any]:
    """The outputs of a model, in the graph's order. Float models are computed in float, whatever the CPU prefers. Raises Unsupported
    where OpenVINO does not read or compile the model."""
    import numpy as np
    import openvino

    if not all(isinstance(value, np.ndarray) for value in inputs.values()):
        raise Unsupported("OpenVINO takes tensors only")
    core = openvino.Core()
    try:
        read = core.read_model(model)
        compiled = core.compile_model(read, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"})
    except RuntimeError as error:
        raise Unsupported(str(error)) from error
    known = {name for each in compiled.inputs for name in each.names}
    results = compiled({name: value for name, value in inputs.items() if name in known})
    return [results[output] for output in compiled.outputs]


if __name__ == "__main__":
    sys.exit(main(run, __doc__))
