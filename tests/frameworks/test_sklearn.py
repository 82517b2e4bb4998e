"""grurun.testing.gate on what skl2onnx makes of scikit-learn's estimators: green for right ones, red for planted mistakes."""

import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import onnx
import pandas
import skl2onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import grurun
from grurun.testing import gate

warnings.filterwarnings("ignore", category=ConvergenceWarning)
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)).astype(np.float32)
CLASSES = np.digitize(X.sum(1), [-1, 1])


class Estimators(unittest.TestCase):
    def red(self, subject, *patterns, **kwargs):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "case"
            with self.assertRaises(AssertionError) as caught:
                gate(subject, (X,), folder=folder, **kwargs)
            message = str(caught.exception)
            for pattern in patterns:
                self.assertRegex(message, pattern)
            self.assertIn(f"grurun conformance --atol 1e-05 {folder}", message)
            if " differs" in message:
                (case,) = grurun.conformance(folder, jobs=1, atol=1e-5).cases
                self.assertEqual(case.verdict, "differs")
                self.assertIn(case.message, message)

    @classmethod
    def setUpClass(cls):
        cls.scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(X, X @ [1, 2, 3] + 1)
        cls.network = MLPClassifier([5], max_iter=20, random_state=0).fit(X, CLASSES)

    def network_outputs(self, x):
        return [self.network.predict(x), self.network.predict_proba(x).astype(np.float32)]

    def network_model(self):
        return skl2onnx.to_onnx(self.network, X[:1], options={"zipmap": False})

    def test_right_ones_pass(self):
        gate(RandomForestClassifier(5, random_state=0).fit(X, CLASSES), (X,))
        gate(self.scaled, (X,), atol=1e-5)
        gate(StandardScaler().fit(X), X, atol=1e-5)
        gate(self.network, (X,), atol=1e-5)
        gate(self.network_model(), (X,), expected=self.network_outputs, dynamic_shapes={"X": {0: "batch"}}, atol=1e-5)

    def test_the_scale_lost(self):
        proto = skl2onnx.to_onnx(self.scaled, X[:1])
        scaler = next(node for node in proto.graph.node if node.op_type == "Scaler")
        scale = next(each for each in scaler.attribute if each.name == "scale")
        scale.floats[:] = [1] * len(scale.floats)
        self.red(proto, "output 'variable' differs", "elements differ beyond rtol 0.001, atol 1e-05",
                 expected=lambda x: self.scaled.predict(x).reshape(-1, 1).astype(np.float32), atol=1e-5)

    def test_a_wrong_axis(self):
        proto = self.network_model()
        softmax = next(node for node in proto.graph.node if node.op_type == "Softmax")
        softmax.doc_string = "convert_mlp.py, line 12"
        softmax.attribute.append(onnx.helper.make_attribute("axis", 0))
        self.red(proto, "output 'probabilities' differs", r"Softmax '.*', doc_string: convert_mlp\.py, line 12", expected=self.network_outputs,
                 atol=1e-5)

    def test_a_frozen_batch(self):
        proto = skl2onnx.convert_sklearn(self.scaled, initial_types=[("X", FloatTensorType([40, 3]))])
        self.red(proto, "input 'X': axis 0 is to be dynamic, but the model has the size 40 there: the exporter froze it",
                 expected=lambda x: self.scaled.predict(x).reshape(-1, 1).astype(np.float32), atol=1e-5,
                 dynamic_shapes={"X": {0: "batch"}})

    def test_columns_of_unlike_types(self):
        frame = pandas.DataFrame({"a": X[:, 0].astype(np.float64), "b": np.array(["u", "v", "w", "u"] * 10), "c": X[:, 2].astype(np.float64)})
        classes = (frame["b"] == "u").to_numpy().astype(int) + (frame["a"] > 0).to_numpy()
        columns = ColumnTransformer([("numbers", StandardScaler(), ["a", "c"]), ("words", OneHotEncoder(handle_unknown="ignore"), ["b"])])
        pipeline = make_pipeline(columns, RandomForestClassifier(5, random_state=0)).fit(frame, classes)
        gate(pipeline, frame)
        gate(pipeline, {name: frame[name].to_numpy() for name in frame}, atol=1e-5)
        proto = skl2onnx.to_onnx(pipeline, frame[:1], options={"zipmap": False})
        outputs = lambda x: [pipeline.predict(x), pipeline.predict_proba(x).astype(np.float32)]  # noqa: E731
        gate(proto, frame, expected=outputs)
        encoder = next(node for node in proto.graph.node if node.op_type == "OneHotEncoder")
        words = next(each for each in encoder.attribute if each.name == "cats_strings")
        words.strings[:] = [*words.strings[1:], words.strings[0]]
        with self.assertRaisesRegex(AssertionError, "which of the model's .* nodes is wrong is not known") as caught:
            gate(proto, frame, expected=outputs)
        self.assertRegex(str(caught.exception), r"grurun bisect \S+ --inputs \S+ --against GOOD.onnx")


if __name__ == "__main__":
    unittest.main()
