"""Writes the cases of this folder: models that onnxruntime's dynamic quantization makes of an LSTM, with the outputs that onnxruntime
computes on one thread. Its weights are int8 with a zero point of 0; some cases hold the same weights as uint8 around another one.

usage: python testdata/microsoft/generate.py     needs numpy, onnx, onnxruntime and sympy
"""

import pathlib
import shutil
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

HERE = pathlib.Path(__file__).parent
STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6
CASES = {
    "signed": dict(),
    "unsigned": dict(unsigned=True),
    "signed_by_column": dict(by_column=True, direction="bidirectional"),
    "unsigned_by_column": dict(unsigned=True, by_column=True, direction="reverse"),
    "lengths": dict(direction="bidirectional", lengths=[4, 2, 3]),
    "peepholes": dict(P=True),
    "positive": dict(positive=True),
    "clip": dict(P=True, clip=0.4),
    "input_forget": dict(input_forget=1),
    "functions": dict(direction="bidirectional", activations=["Relu", "Tanh", "Sigmoid", "HardSigmoid", "Softsign", "Tanh"]),
}


def model_of(random, direction="forward", lengths=None, P=False, positive=False, **attributes):
    D = 2 if direction == "bidirectional" else 1
    floats = lambda *shape: (random.standard_normal(shape) * 0.4).astype(np.float32)
    weights = {"W": floats(D, 4 * HIDDEN, INPUT), "R": floats(D, 4 * HIDDEN, HIDDEN), "B": floats(D, 8 * HIDDEN)}
    weights |= {"P": floats(D, 3 * HIDDEN)} if P else {}
    inputs = {"X": floats(STEPS, BATCH, INPUT) * 3, "initial_h": floats(D, BATCH, HIDDEN), "initial_c": floats(D, BATCH, HIDDEN)}
    if positive:
        inputs = {name: np.abs(array) + 1 for name, array in inputs.items()}
    if lengths:
        inputs["sequence_lens"] = np.array(lengths, np.int32)
        inputs["X"][max(lengths):] *= 5  # nothing reads it
    names = [n if n in weights | inputs else "" for n in ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")]
    node = helper.make_node("LSTM", names, ["Y", "Y_h", "Y_c"], name="lstm", hidden_size=HIDDEN, direction=direction, **attributes)
    shapes = {"Y": [STEPS, D, BATCH, HIDDEN], "Y_h": [D, BATCH, HIDDEN], "Y_c": [D, BATCH, HIDDEN]}
    value = lambda name, a: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    graph = helper.make_graph([node], "lstm", [value(*item) for item in inputs.items()],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), inputs


def make_unsigned(path):
    model = onnx.load(path)
    for initializer in model.graph.initializer:
        array = numpy_helper.to_array(initializer)
        if array.dtype == np.int8:
            zero = 100 if initializer.name.startswith("W") else 120
            initializer.CopyFrom(numpy_helper.from_array((array.astype(np.int32) + zero).astype(np.uint8), initializer.name))
    onnx.save(model, path)


def outputs_of(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def write_tensor(path, array):
    path.write_bytes(numpy_helper.from_array(array).SerializeToString())


def main():
    for seed, (name, options) in enumerate(CASES.items()):
        options = dict(options)
        unsigned, by_column = options.pop("unsigned", False), options.pop("by_column", False)
        model, inputs = model_of(np.random.default_rng(seed), **options)
        folder = HERE / f"test_dynamic_quantize_lstm_{name}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "test_data_set_0").mkdir(parents=True)
        with tempfile.TemporaryDirectory() as scratch:
            plain = pathlib.Path(scratch) / "plain.onnx"
            onnx.save(model, plain)
            # Kernels for signed weights saturate on processors without VNNI; in the reduced range none does.
            quantize_dynamic(plain, folder / "model.onnx", weight_type=QuantType.QInt8, per_channel=by_column, reduce_range=True)
        if unsigned:
            make_unsigned(folder / "model.onnx")
        for k, array in enumerate(inputs.values()):
            write_tensor(folder / f"test_data_set_0/input_{k}.pb", array)
        for k, array in enumerate(outputs_of(folder / "model.onnx", inputs)):
            write_tensor(folder / f"test_data_set_0/output_{k}.pb", array)


if __name__ == "__main__":
    main()
