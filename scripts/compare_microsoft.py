"""Compares the operators of com.microsoft with the onnxruntime package, on random data.

Each operator of microsoft_*.py is drawn several times: attributes, optional inputs, shapes, types and which inputs are
initializers. What onnxruntime makes of a draw is expected of grurun. A draw that onnxruntime refuses does not count.
Exit status 1: a case differs, or docs/microsoft.md says something else.

usage: compare_microsoft.py [--write] [--keep FOLDER] [--draws N] [OPERATOR...]     --write: writes docs/microsoft.md
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from microsoft_cases import OPERATORS
from microsoft_draws import Draw

ROOT = pathlib.Path(__file__).resolve().parent.parent
AGREEING = ("passed", "passed-not-comparable")  # Sampling draws: its outputs are checked by their distribution
PAGE = ROOT / "docs" / "microsoft.md"
BEGIN, END = "<!-- compare_microsoft.py -->", "<!-- end -->"
# What its graph optimizer alone writes, and what copies between devices.
INTERNAL = ("com.microsoft.nchwc",), ("MemcpyFromHost", "MemcpyToHost", "SampleOp")
OTHER_PROCESSORS = "not yet supported on this hardware platform"
NARROW = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}


def model_of(case):
    """The node with its inputs; those of a 16-bit float type are cast from float, and its outputs to float."""
    nodes, inputs, initializers, names = [], [], [], []
    for i, (array, is_constant) in enumerate(zip(case.inputs, case.constant)):
        if array is None:
            names.append("")
            continue
        names.append(f"in_{i}")
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        stored = f"wide_{i}" if case.dtype in NARROW and array.dtype == np.float32 and i not in case.wide else names[-1]
        if case.packed.get(i):
            element = case.packed[i]
        if is_constant:
            initializers.append(helper.make_tensor(stored, element, array.shape, array.flatten()))
        else:
            inputs.append(helper.make_tensor_value_info(stored, element, array.shape))
        if stored != names[-1]:
            nodes.append(helper.make_node("Cast", [stored], [names[-1]], to=NARROW[case.dtype]))
    while names and not names[-1]:
        names.pop()
    outputs = [f"out_{i}" if wanted else "" for i, wanted in enumerate(case.outputs)]
    attributes = {name: value for name, value in case.attributes.items() if value is not None}
    nodes.append(helper.make_node(case.op, names, outputs, domain=case.domain, **attributes))
    for name in [o for o in outputs if o and not case.shared]:
        i = outputs.index(name)
        if i in case.stated:
            initializers.append(numpy_helper.from_array(case.stated[i], f"stated_{i}"))
            nodes.append(helper.make_node("Constant", [], [f"zero_{i}"], value_float=0.0))
            nodes.append(helper.make_node("CastLike", [f"zero_{i}", name], [f"none_{i}"]))
            nodes.append(helper.make_node("Where", [f"stated_{i}", name, f"none_{i}"], [f"{name}_alone"]))
            name = f"{name}_alone"
        nodes.append(helper.make_node("Cast" if case.dtype in NARROW else "Identity", [name], [f"out_{i}_seen"]))
        if case.dtype in NARROW:
            nodes[-1].attribute.append(helper.make_attribute("to", TensorProto.FLOAT))
    seen = [onnx.ValueInfoProto(name=name if case.shared else f"{name}_seen") for name in outputs if name]
    graph = helper.make_graph(nodes, case.op, inputs, seen, initializers)
    imports = [helper.make_opsetid("", case.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def fed_of(case):
    """Arrays of the graph's inputs, in order."""
    return [a for a, constant in zip(case.inputs, case.constant) if a is not None and not constant]


def run_in_place(case, session, named):
    """As session.run, with outputs in the memory of inputs."""
    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array.copy()) for name, array in named.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for i, output in enumerate(session.get_outputs()):
        if i in case.shared:
            binding.bind_ortvalue_output(output.name, values[f"in_{case.shared[i]}"])
        else:
            binding.bind_output(output.name)
    session.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()


def sparse_inputs(case, model):
    """What the package is fed where input 0, an initializer, is a sparse tensor: that must be fed, in two rows of indices."""
    value, constant = model.graph.input.add(name="in_0"), model.graph.initializer[0]
    model.graph.initializer.remove(constant)
    value.type.sparse_tensor_type.elem_type = constant.data_type
    for size in case.inputs[0].shape:
        value.type.sparse_tensor_type.shape.dim.add(dim_value=size)
    places = np.ascontiguousarray(np.argwhere(case.inputs[0]))
    tensor = onnxruntime.SparseTensor.sparse_coo_from_numpy(
        np.asarray(case.inputs[0].shape, np.int64), case.inputs[0][tuple(places.T)], places, onnxruntime.OrtDevice.make("cpu", 0))
    return {"in_0": onnxruntime.OrtValue.ort_value_from_sparse_tensor(tensor), "in_1": onnxruntime.OrtValue.ortvalue_from_numpy(case.inputs[1])}


def made_of_sparse(case, options):
    model = model_of(case)
    fed = sparse_inputs(case, model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return [value.numpy() for value in session.run_with_ort_values(None, fed)]


def write_case(case, folder):
    """Writes what onnxruntime computes as a case, or returns why it refuses."""
    model = model_of(case)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    fed = fed_of(case)
    try:
        session = None if case.sparse else onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        named = {}
        for value, array in zip(model.graph.input, fed):
            element = value.type.tensor_type.elem_type
            if element in (TensorProto.INT4, TensorProto.UINT4):
                return "4-bit inputs are no arrays"
            named[value.name] = array
        if case.sparse:
            made = made_of_sparse(case, options)
        else:
            made = run_in_place(case, session, named) if case.shared else session.run(None, named)
    except Exception as error:  # noqa: BLE001: whatever it says is why it refuses
        return str(error).replace("\n", " ")[:300]
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    for output, array in zip(model.graph.output, made):
        output.type.CopyFrom(helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), None))
    onnx.save(model, folder / "model.onnx")
    for i, array in enumerate(fed):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(array, model.graph.input[i].name).SerializeToString())
    for i, array in enumerate(made):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(array, model.graph.output[i].name).SerializeToString())
    (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    return None


def draw_all(operators, draws, folder):
    """({(operator, type): [names of cases]}, {(operator, type): [why onnxruntime refused]})"""
    cases, refused = collections.defaultdict(list), collections.defaultdict(list)
    for name in operators:
        maker, dtypes = OPERATORS[name]
        for dtype in dtypes:
            random = np.random.default_rng([*name.encode(), *dtype.encode()])
            for number in range(draws):
                case = maker(Draw(random, name, dtype))
                where = f"{name}_{dtype}_{number}"
                why = write_case(case, folder / "node" / where)
                if why is None:
                    cases[name, dtype].append(where)
                else:
                    refused[name, dtype].append(why)
    return cases, refused


def verdicts_of(folder):
    """{name of a case: (verdict, what is told of it)}"""
    grurun = os.environ.get("GRURUN", ROOT / "build" / "release" / "bin" / "grurun")
    report = folder / "report.json"
    command = [grurun, "conformance", folder / "node", "--json", report, "--no-diagnosis", "--random"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return {c["name"]: (c["verdict"], c.get("message", "")) for c in json.loads(report.read_text())["cases"]}


def missing_table():
    """Operators that onnxruntime's CPU package runs, in any version, and grurun in none."""
    from onnxruntime.capi import onnxruntime_pybind11_state

    grurun = os.environ.get("GRURUN", ROOT / "build" / "release" / "bin" / "grurun")
    listed = subprocess.run([grurun, "ops", "--output-format", "json"], capture_output=True, text=True, check=True)
    runs = {(o["domain"], o["operator"]) for o in json.loads(listed.stdout)["operators"] if o["by"] not in ("none", "deprecated")}
    runs |= {("ai.onnx", name) for name, (maker, _) in OPERATORS.items() if maker.__name__.startswith("early")}
    runs.add(("ai.onnx", "DynamicSlice"))  # of the experiments, which grurun ops does not list
    missing = set()
    for kernel in onnxruntime_pybind11_state.get_all_opkernel_def():
        domain = kernel.domain or "ai.onnx"
        if kernel.provider != "CPUExecutionProvider" or domain in INTERNAL[0] or kernel.op_name in INTERNAL[1]:
            continue
        if (domain, kernel.op_name) not in runs:
            missing.add((domain, kernel.op_name))
    by_domain = collections.defaultdict(list)
    for domain, name in sorted(missing):
        by_domain[domain].append(name)
    return "\n".join(["| domain | operators |", "|---|---|", *(f"| {d} | {', '.join(n)} |" for d, n in sorted(by_domain.items()))])


def table_of(cases, verdicts):
    rows = ["| operator | type | draws that agree |", "|---|---|---|"]
    for (name, dtype), names in sorted(cases.items()):
        good = sum(verdicts[n][0] in AGREEING for n in names)
        rows.append(f"| {name} | {dtype} | {good} of {len(names)} |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("operators", nargs="*")
    arguments = parser.parse_args()
    operators = arguments.operators or sorted(OPERATORS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or pathlib.Path(scratch)
        cases, refused = draw_all(operators, arguments.draws, folder)
        verdicts = verdicts_of(folder)
    failed = False
    for names in cases.values():
        for name in names:
            verdict, message = verdicts[name]
            if verdict not in AGREEING:
                failed = True
                print(f"{name}: {verdict}: {message}")
    for key in refused:
        if key not in cases and OTHER_PROCESSORS not in refused[key][0]:
            failed = True
            print(f"{key[0]} {key[1]}: onnxruntime refuses all: {refused[key][0]}")
    table = table_of(cases, verdicts)
    print(table)
    if arguments.operators:
        return 1 if failed else 0
    page = PAGE.read_text()
    fresh = page
    for part in (table, missing_table()):
        begin = fresh.index(BEGIN, 0 if part is table else fresh.index(END)) + len(BEGIN)
        fresh = f"{fresh[:begin]}\n{part}\n{fresh[fresh.index(END, begin):]}"
    if arguments.write:
        PAGE.write_text(fresh)
    elif fresh != page:
        print(f"{PAGE} is not what this run found: --write writes it")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
