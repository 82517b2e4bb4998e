"""The reference implementation of the package onnx: `python -m grurun.runtimes.reference MODEL INPUTS OUTPUTS`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from grurun.runtimes import Unsupported, main


def run(model: str, inputs: Mapping[str, Any]) -> list[Any]:
    """The outputs of a model, in the graph's order. Raises Unsupported where the reference has no such operator."""
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import RuntimeImplementationError

    try:
        return ReferenceEvaluator(model).run(None, dict(inputs))
    except (NotImplementedError, RuntimeImplementationError) as error:
        raise Unsupported(str(error)) from error


if __name__ == "__main__":
    sys.exit(main(run, __doc__))
