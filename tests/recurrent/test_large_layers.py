"""Diagnosis of layers too large to be recomputed under every hypothesis: what is said of a part must hold for all of it."""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from under_test import SANITIZED, needs_onnx, np, onnx, run  # noqa: E402

if onnx is not None:
    from onnx import helper, numpy_helper, save

OUTPUTS = ("Y", "Y_h", "Y_c")
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


class Layer:
    """A layer by its inputs; grurun itself says what it gives, since the mistakes are what is under test."""

    def __init__(self, op, T, N, I, H, **attributes):
        self.op, self.attributes = op, {"hidden_size": H, **attributes}
        D = 2 if attributes.get("direction") == "bidirectional" else 1
        self.random = np.random.default_rng(5)
        rows = GATES[op] * H
        self.arrays = {"X": self.draw(T, N, I), "W": self.draw(D, rows, I) / I**0.5, "R": self.draw(D, rows, H) / H**0.5 / 2,
                       "B": self.draw(D, 2 * rows) / 4}
        self.outputs = OUTPUTS[:3 if op == "LSTM" else 2]

    def draw(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def write(self, folder, without=(), **other):
        arrays = {n: a for n, a in {**self.arrays, **other}.items() if n not in without}
        names = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c"]
        node = helper.make_node(self.op, [n if n in arrays else "" for n in names[:7 if self.op == "LSTM" else 6]],
                                [n if n in self.outputs else "" for n in OUTPUTS[:3 if self.op == "LSTM" else 2]], **self.attributes)
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in arrays.items()]
        outputs = [helper.make_tensor_value_info(n, 1, None) for n in self.outputs]
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        save(helper.make_model(helper.make_graph([node], "large", inputs, outputs), opset_imports=[helper.make_opsetid("", 22)],
                               ir_version=10), folder / "model.onnx")
        for k, (n, a) in enumerate(arrays.items()):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(a, n).SerializeToString())
        return data

    def truth(self, folder, **other):
        data = self.write(folder, **other)
        run(folder / "model.onnx", "--inputs", data, "--save-outputs", folder / "o.npz", "-q", check=True)
        with np.load(folder / "o.npz") as outputs:
            return {n: outputs[n] for n in self.outputs}


@needs_onnx
class LargeLayers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.wide = Layer("LSTM", 2, 512, 33, 129)

    def truth(self, layer, **other):
        folder = self.folder / "truth"
        shutil.rmtree(folder, ignore_errors=True)
        return layer.truth(folder, **other)

    def finding(self, layer, expected, **change):
        """Of the layer as changed, held against what is expected."""
        case = self.folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        data = layer.write(case, **change)
        for k, n in enumerate(layer.outputs):
            (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(np.ascontiguousarray(expected[n]), n).SerializeToString())
        done = run("conformance", case, "--json", "-")
        (finding,) = json.loads(done.stdout)["cases"][0]["diagnosis"]
        return finding

    def test_lengths_that_later_rows_lost(self):
        lengths = np.where(np.arange(512) < 300, 2, 1).astype(np.int32)
        found = self.finding(self.wide, self.truth(self.wide, sequence_lens=lengths))
        self.assertEqual((found["kind"], found["hypotheses"]), ("reproduced", ["sequence-lens-missing"]), found["text"])
        self.assertRegex(found["text"], r"Y, Y_h and Y_c are .*sequence_lens = \[(2, ){16}\.\.\.\].*found by \d+ of 512 rows, confirmed by all")

    @unittest.skipIf(SANITIZED, "every cause is tried, which takes a minute")
    def test_what_differs_in_later_rows_alone_is_not_called_precision(self):
        initial = self.wide.draw(1, 512, 129)
        initial[:, :300] = 0
        turned = {n: np.concatenate([v[..., :300, :], v[..., 300:, ::-1]], axis=-2) for n, v in self.truth(self.wide).items()}
        for expected in (self.truth(self.wide, initial_h=initial), turned):
            found = self.finding(self.wide, expected)
            self.assertEqual(found["kind"], "unexplained")
            self.assertIn("Y parts first at step 0 (time 0), direction 0 (forward), batch row 300", found["text"])
            self.assertNotIn("precision", found["text"])

    def test_an_lstm_that_began_with_other_states(self):
        wide = Layer("LSTM", 6, 2, 8, 128)
        wide.arrays |= {"initial_h": wide.draw(1, 2, 128) / 2, "initial_c": wide.draw(1, 2, 128) / 2}
        for lost in (["initial_h"], ["initial_h", "initial_c"]):
            found = self.finding(wide, self.truth(wide), without=lost)
            self.assertEqual(found["kind"], "unexplained")
            self.assertIn("all other steps follow from the expected ones before them and from one cell state", found["text"])
        other = self.truth(wide)
        other["Y"] = other["Y"] + np.float32(0.01) * wide.draw(*other["Y"].shape)
        self.assertNotIn("all other steps", self.finding(wide, other)["text"])

    def test_a_final_state_alone_is_looked_at(self):
        long = Layer("GRU", 120, 2, 16, 257, direction="bidirectional")
        expected = self.truth(long)
        expected["Y_h"] = expected["Y_h"] + np.float32(0.25)
        found = self.finding(long, expected)
        self.assertEqual(found["kind"], "unexplained")
        self.assertRegex(found["text"], "Y_h parts first in direction 0 .*; Y agrees")

    def test_lengths_behind_final_states_of_many_units(self):
        for direction in ("forward", "reverse"):
            many = Layer("GRU", 12, 4, 64, 512, linear_before_reset=1, direction=direction)
            many.outputs = ("Y_h",)
            found = self.finding(many, self.truth(many, sequence_lens=np.array([12, 5, 9, 1], np.int32)))
            self.assertEqual((found["kind"], found["hypotheses"]), ("reproduced", ["sequence-lens-missing"]), found["text"])
            self.assertIn("sequence_lens = [12, 5, 9, 1], by the final states", found["text"])

    @unittest.skipIf(SANITIZED, "every cause is tried, which takes a minute")
    def test_a_cause_of_some_rows_is_none_of_all(self):
        right, without = self.truth(self.wide), self.truth(self.wide, without=["B"])
        mixed = {n: np.concatenate([without[n][..., :2, :], v[..., 2:, :]], axis=-2) for n, v in right.items()}
        noisy = {n: v.copy() for n, v in without.items()}
        for v in noisy.values():
            v[..., 200:, :] += np.float32(0.05) * self.wide.draw(*v[..., 200:, :].shape)
        late = {n: v.copy() for n, v in without.items()}
        late["Y"][1, :, 77] += np.float32(0.05)
        for expected in (mixed, noisy, late):
            found = self.finding(self.wide, expected)
            self.assertEqual((found["kind"], found["hypotheses"]), ("unexplained", []), found["text"])
        self.assertRegex(found["text"], r"\(\d+ of 512 rows come out with B left out: .*; but batch row 77 parts at step 1\)")

    def test_a_cause_of_all_rows_is_confirmed(self):
        found = self.finding(self.wide, self.truth(self.wide, without=["B"]))
        self.assertEqual((found["kind"], found["hypotheses"]), ("reproduced", ["B-ignored"]), found["text"])
        self.assertIn("confirmed by all", found["text"])

    def test_precision_is_confirmed(self):
        expected = self.truth(self.wide)
        found = self.finding(self.wide, expected | {"Y_c": expected["Y_c"] + np.float32(2e-6)})
        self.assertRegex(found["text"], "^the expected Y, Y_h and Y_c agree with a recomputation in double: the difference is one of precision$")


if __name__ == "__main__":
    unittest.main()
