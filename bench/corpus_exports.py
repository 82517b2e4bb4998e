#!/usr/bin/env python3
"""Writes the models of one kind of exporter into a folder, for bench/corpus.py: torch (its dynamo exporter), classic (scikit-learn and
LightGBM), quantized (onnxruntime's quantizer, on what torch wrote).

usage: bench/corpus_exports.py torch|classic|quantized FOLDER
"""
import pathlib
import sys

import numpy as np


def export_torch(folder):
    import torch
    from torch import nn
    torch.manual_seed(0)

    def block(channels, more):
        return nn.Sequential(nn.Conv2d(channels, more, 3, 2, 1), nn.BatchNorm2d(more), nn.ReLU(), nn.Conv2d(more, more, 3, 1, 1),
                             nn.BatchNorm2d(more), nn.ReLU())

    class Encoder(nn.Module):
        def __init__(self, width, layers):
            super().__init__()
            self.embed = nn.Embedding(100, width)
            layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, activation="gelu")
            self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = nn.Linear(width, 100)

        def forward(self, tokens):
            return self.head(self.layers(self.embed(tokens)))

    class Recurrent(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.layer = kind(80, 128, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(256, 40)

        def forward(self, x):
            return self.head(self.layer(x)[0])

    def signal(channels, kernel):
        return nn.Sequential(nn.Conv1d(channels, channels, kernel, padding=kernel // 2), nn.ReLU(),
                             nn.Conv1d(channels, channels, kernel, padding=kernel // 2), nn.ReLU())

    image = torch.randn(1, 3, 96, 96)
    models = {
        "torch-cnn": (nn.Sequential(block(3, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)),
                      image),
        "torch-transformer-64": (Encoder(64, 2), torch.randint(0, 100, (1, 32))),
        "torch-transformer-256": (Encoder(256, 4), torch.randint(0, 100, (1, 64))),
        "torch-gru": (Recurrent(nn.GRU), torch.randn(1, 50, 80)),
        "torch-lstm": (Recurrent(nn.LSTM), torch.randn(1, 50, 80)),
        "torch-conv1d-32": (signal(32, 3), torch.randn(1, 32, 512)),
        "torch-conv1d-128": (signal(128, 9), torch.randn(1, 128, 64)),
    }
    for name, (module, inputs) in models.items():
        names = ["tokens"] if "transformer" in name else ["x"]
        torch.onnx.export(module.eval(), (inputs,), str(folder / (name + ".onnx")), input_names=names, dynamo=True, external_data=False,
                          verbose=False)


def write_classic(folder):
    from skl2onnx import to_onnx
    from sklearn import ensemble, linear_model, neural_network, svm
    draws = np.random.default_rng(0)
    x = draws.standard_normal((400, 20)).astype(np.float32)
    classes, values = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.int64), (x[:, 0] + x[:, 1] ** 2).astype(np.float32)
    fitted = {
        "sklearn-random-forest": ensemble.RandomForestClassifier(50, random_state=0).fit(x, classes),
        "sklearn-gradient-boosting": ensemble.GradientBoostingRegressor(random_state=0).fit(x, values),
        "sklearn-logistic": linear_model.LogisticRegression().fit(x, classes),
        "sklearn-svc": svm.SVC(probability=True, random_state=0).fit(x, classes),
        "sklearn-mlp": neural_network.MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=50, random_state=0).fit(x, values),
    }
    for name, model in fitted.items():
        options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
        (folder / (name + ".onnx")).write_bytes(to_onnx(model, x[:100], options=options).SerializeToString())
    import lightgbm
    from onnxmltools.convert import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType
    model = lightgbm.LGBMRegressor(n_estimators=100, verbosity=-1).fit(x, values)
    onnx_model = convert_lightgbm(model, initial_types=[("x", FloatTensorType([100, 20]))], target_opset=15)
    (folder / "lightgbm.onnx").write_bytes(onnx_model.SerializeToString())


def quantize(folder):
    from onnxruntime import quantization
    from onnxruntime.quantization import shape_inference

    class Random(quantization.CalibrationDataReader):
        def __init__(self):
            draws = np.random.default_rng(0)
            self.left = [{"x": draws.standard_normal((1, 3, 96, 96)).astype(np.float32)} for _ in range(8)]

        def get_next(self):
            return self.left.pop() if self.left else None

    for name in ("torch-transformer-64", "torch-transformer-256", "torch-lstm"):
        quantization.quantize_dynamic(folder / (name + ".onnx"), folder / (name + "-int8.onnx"))
    prepared = folder / "prepared"
    shape_inference.quant_pre_process(folder / "torch-cnn.onnx", prepared, skip_symbolic_shape=True)
    for suffix, form in (("qdq", quantization.QuantFormat.QDQ), ("qoperator", quantization.QuantFormat.QOperator)):
        quantization.quantize_static(prepared, folder / f"torch-cnn-{suffix}.onnx", Random(), quant_format=form)
    prepared.unlink()


KINDS = {"torch": export_torch, "classic": write_classic, "quantized": quantize}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        sys.exit(2)
    KINDS[sys.argv[1]](pathlib.Path(sys.argv[2]))
