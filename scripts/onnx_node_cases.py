"""Writes the node cases of the installed onnx package to a folder in ONNX's backend layout.

Since 1.23 the wheel no longer carries these cases: onnx.backend.test builds them in Python. Each becomes
DIR/<name>/{model.onnx, data.json, test_data_set_<i>/{input,output}_<j>.pb}; data.json (rtol, atol) only where a case departs
from the defaults of the backend test suite.

usage: onnx_node_cases.py DIR
"""

import json
import pathlib
import random
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_node_model_tests

DEFAULT_RTOL = 1e-3
DEFAULT_ATOL = 1e-7


def to_proto(value, info):
    """One value of a data set as the message that the declared type of `info` (a ValueInfoProto) calls for."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if isinstance(value, onnx.TensorProto):
        return value
    return numpy_helper.from_array(value, info.name)


def write_values(folder, prefix, values, infos):
    if len(values) > len(infos):
        raise ValueError(f"{folder}: {len(values)} {prefix} values for {len(infos)} declared")
    for index, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{prefix}_{index}.pb").write_bytes(to_proto(value, info).SerializeToString())


def write_case(case, root):
    folder = root / case.name
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    if case.rtol != DEFAULT_RTOL or case.atol != DEFAULT_ATOL:
        (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}) + "\n")
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data_set = folder / f"test_data_set_{index}"
        data_set.mkdir()
        write_values(data_set, "input", inputs, case.model.graph.input)
        write_values(data_set, "output", outputs, case.model.graph.output)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    root.mkdir(parents=True, exist_ok=True)
    # The cases draw their inputs as they are built: a fixed seed gives every machine the same data.
    random.seed(0)
    np.random.seed(0)
    cases = load_node_model_tests()
    for case in cases:
        write_case(case, root)
    print(f"wrote {len(cases)} node cases of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
