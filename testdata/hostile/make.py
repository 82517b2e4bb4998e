#!/usr/bin/env python3
"""Makes the hostile suite: each case a model that a stranger might send, in the layout of conformance.

usage: testdata/hostile/make.py FOLDER

expected.txt beside this script has the verdict that each must get; tests/hostile runs them all.
"""

import pathlib
import sys

import onnx
from onnx import numpy_helper
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import external  # noqa: E402
import loops  # noqa: E402
import nodes  # noqa: E402
import recurrent  # noqa: E402
import structure  # noqa: E402
import tensors  # noqa: E402
import wire  # noqa: E402


def all_cases():
    """{name: case}; a case is bytes of a model, or a function that fills the case's folder."""
    cases = {}
    for part in (wire, structure, tensors, external, loops, nodes, recurrent):
        for name, case in part.cases():
            if name in cases:
                raise ValueError(f"two cases are named {name}")
            cases[name] = case
    return cases


def write_value(path, array):
    path.write_bytes(numpy_helper.from_array(numpy.asarray(array)).SerializeToString())


def make(folder):
    """Writes every case below the folder; returns their names."""
    folder = pathlib.Path(folder)
    for name, case in all_cases().items():
        target = folder / name
        data = target / "test_data_set_0"
        data.mkdir(parents=True)
        inputs = [numpy.array([1, 2], numpy.float32)]
        if callable(case):
            case = case(target)
        if isinstance(case, tuple):
            case, inputs = case
        if isinstance(case, onnx.ModelProto):
            case = case.SerializeToString()
        (target / "model.onnx").write_bytes(case)
        for i, value in enumerate(inputs):
            write_value(data / f"input_{i}.pb", value)
        # What comes out is compared with this: a model that runs passes or differs.
        write_value(data / "output_0.pb", numpy.zeros(1, numpy.float32))
    return sorted(all_cases())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(len(make(sys.argv[1])), "cases")
