"""grurun.Session, check, compare and the exceptions, in process."""

import concurrent.futures
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings

import numpy as np
from onnx import TensorProto, helper

from tests.python.models import add_model, clip_model, endless_model, gru_model, identity_model, model, needs_package

try:
    import ml_dtypes

    import grurun
except ModuleNotFoundError:
    if not os.environ["GRURUN_SANITIZE"]:
        raise


def run(proto, feeds, **options):
    return grurun.Session(proto, **options).run(None, feeds)


@needs_package
class Runs(unittest.TestCase):
    def test_outputs_in_the_order_asked_for(self):
        session = grurun.Session(gru_model())
        x = np.ones((5, 2, 4), np.float32)
        y, y_h = session.run(None, {"X": x})
        again, first = session.run(["Y_h", "Y"], {"X": x})
        np.testing.assert_array_equal(y[-1, 0], y_h[0])
        np.testing.assert_array_equal(again, y_h)
        np.testing.assert_array_equal(first, y)
        self.assertEqual([str(each.type) for each in session.inputs], ["tensor(float)"])
        self.assertEqual(session.inputs[0].shape, ["steps", "batch", 4])
        self.assertEqual([each.name for each in session.outputs], ["Y", "Y_h"])

    def test_a_path_bytes_and_a_message_are_one_model(self):
        proto = add_model()
        feeds = {"x": np.ones((2, 3), np.float32), "y": np.full((2, 3), 2, np.float32)}
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(proto.SerializeToString())
            file.flush()
            for source in (file.name, proto.SerializeToString(), proto):
                np.testing.assert_array_equal(run(source, feeds)[0], np.full((2, 3), 3, np.float32))

    def test_what_a_file_breaks_is_mended_as_the_commands_do(self):
        unsorted = model([helper.make_node("Exp", ["a"], ["y"], name="late"), helper.make_node("Neg", ["x"], ["a"], name="early")],
                         [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
        unimported = model([helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", scale=[2.0], offset=[0.0])],
                           [("x", TensorProto.FLOAT, [1, 2])], [("y", TensorProto.FLOAT, [1, 2])])
        del unimported.opset_import[1]
        x = np.array([0, 1], np.float32)
        for proto, fed, expected, text in ((unsorted, x, np.exp(-x), "GRAPH002.*'late'.*'early'"), (unimported, x[None], 2 * x[None], "ai.onnx.ml")):
            with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
                file.write(proto.SerializeToString())
                file.flush()
                for source in (file.name, proto.SerializeToString(), proto):
                    with self.assertWarnsRegex(grurun.ModelWarning, text) as caught:
                        session = grurun.Session(source)
                    self.assertEqual(caught.filename, __file__)
                    np.testing.assert_allclose(session.run(None, {"x": fed})[0], expected, rtol=1e-6)
                    self.assertEqual({"warning"}, {finding.severity for finding in session.check()})
                    self.assertEqual(session.check(), grurun.check(source))

    def test_strict_refuses_forms(self):
        feeds = {"x": np.array([-1, 3], np.float32), "low": np.zeros(1, np.float32)}
        with self.assertWarnsRegex(grurun.ModelWarning, "FORM001"):
            run(clip_model(), feeds)
        for source in (clip_model(), clip_model(None)):  # the second shows its form in a run only
            session = grurun.Session(source, strict=True)
            with self.assertRaisesRegex(grurun.InvalidModelError, r"\[FORM001\]"):
                session.run(None, feeds)
            with self.assertRaisesRegex(grurun.InvalidModelError, r"\[FORM001\]"):
                session.intermediates(None, feeds)
        scalar = {**feeds, "low": np.float32(0)}
        np.testing.assert_array_equal(session.run(None, scalar)[0], [0, 3])
        with self.assertRaisesRegex(grurun.InvalidModelError, r"\[FORM001\]"):  # of a plan that has run
            session.run(None, feeds)
        self.assertEqual([("FORM001", "error")], [found[:2] for found in grurun.Session(clip_model(), strict=True).check()])
        self.assertEqual([("FORM001", "error")], [found[:2] for found in grurun.check(clip_model(), strict=True)])
        self.assertEqual([("FORM001", "warning")], [found[:2] for found in grurun.check(clip_model())])
        unsorted = model([helper.make_node("Exp", ["a"], ["y"]), helper.make_node("Neg", ["x"], ["a"])],
                         [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
        with self.assertRaisesRegex(grurun.InvalidModelError, r"\[GRAPH002\]"):
            grurun.Session(unsorted, strict=True)
        with warnings.catch_warnings(record=True) as caught:  # another session's strictness is its own
            warnings.simplefilter("always")
            run(clip_model(), feeds)
        self.assertEqual(1, len(caught))

    def test_every_element_type_comes_back_as_it_went(self):
        types = {"FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "INT8": np.int8, "INT16": np.int16,
                 "INT32": np.int32, "INT64": np.int64, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32,
                 "UINT64": np.uint64, "BOOL": np.bool_, "COMPLEX64": np.complex64, "COMPLEX128": np.complex128,
                 "BFLOAT16": ml_dtypes.bfloat16, "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E5M2": ml_dtypes.float8_e5m2,
                 "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
                 "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu, "FLOAT4E2M1": ml_dtypes.float4_e2m1fn, "INT4": ml_dtypes.int4,
                 "UINT4": ml_dtypes.uint4, "INT2": ml_dtypes.int2, "UINT2": ml_dtypes.uint2}
        values = {"BOOL": [True, False], "INT4": [-8, -1, 7], "UINT4": [0, 15], "INT2": [-2, -1, 1], "UINT2": [0, 3],
                  "FLOAT4E2M1": [-6, 0.5], "FLOAT8E8M0": [1, 2], "FLOAT8E4M3FNUZ": [-1, 2], "FLOAT8E5M2FNUZ": [-1, 2]}
        for name, dtype in types.items():
            with self.subTest(name):
                x = np.array(values.get(name, [1, 2, 3]), dtype)
                (y,) = run(identity_model(getattr(TensorProto, name)), {"x": x})
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y.view(np.uint8), x.view(np.uint8))

    def test_small_integers_are_computed_with(self):
        proto = model([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT32)], [("x", TensorProto.INT4, ["n"])],
                      [("y", TensorProto.INT32, ["n"])], opset=25)
        np.testing.assert_array_equal(run(proto, {"x": np.arange(-8, 8).astype(ml_dtypes.int4)})[0], np.arange(-8, 8))

    def test_strings(self):
        proto = identity_model(TensorProto.STRING)
        for given in (["a", "b"], np.array(["a", "b"]), np.array(["a", "b"], object), np.array([b"a", b"b"])):
            (y,) = run(proto, {"x": given})
            self.assertEqual(y.tolist(), ["a", "b"])
        (y,) = run(proto, {"x": np.array([b"\xff"], object)})
        self.assertEqual(y[0].encode("utf-8", "surrogateescape"), b"\xff")

    def test_arrays_that_do_not_lie_row_by_row(self):
        proto = identity_model(TensorProto.FLOAT, ("n", "m"))
        base = np.arange(12, dtype=np.float32).reshape(3, 4)
        unaligned = np.frombuffer(b"\0" + base.tobytes(), np.float32, offset=1).reshape(3, 4)
        for x in (base.T, base[:, ::2], base[::-1], np.asfortranarray(base), base.astype(">f4"), unaligned, base[:0]):
            np.testing.assert_array_equal(run(proto, {"x": x})[0], x)

    def test_lists_and_numbers_take_the_declared_type(self):
        (y,) = run(identity_model(TensorProto.INT64), {"x": [1, 2]})
        self.assertEqual((y.dtype, y.tolist()), (np.int64, [1, 2]))
        (y,) = run(identity_model(TensorProto.FLOAT16, ()), {"x": 1.5})
        self.assertEqual((y.dtype, y.shape, float(y)), (np.float16, (), 1.5))

    def test_other_objects_hand_out_dlpack(self):
        class Holder:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__(**kwargs)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = np.arange(3, dtype=np.float32)
        np.testing.assert_array_equal(run(identity_model(TensorProto.FLOAT), {"x": Holder(x)})[0], x)

    def test_outputs_are_the_callers_own(self):
        x = np.arange(4, dtype=np.float32)
        session = grurun.Session(identity_model(TensorProto.FLOAT))
        for _ in range(4):
            (y,) = session.run(None, {"x": x})
            y += 1
            np.testing.assert_array_equal(x, np.arange(4))
        constant = helper.make_tensor("c", TensorProto.FLOAT, [2], [1, 2])
        session = grurun.Session(model([helper.make_node("Identity", ["c"], ["y"])], [], [("y", TensorProto.FLOAT, [2])], [constant]))
        for _ in range(4):
            (y,) = session.run(None, {})
            self.assertEqual(y.tolist(), [1, 2])
            y[:] = 9

    def test_earlier_outputs_stay(self):
        session = grurun.Session(gru_model())
        kept = []
        for i in range(8):
            kept.append(session.run(["Y"], {"X": np.full((20, 2, 4), i, np.float32)})[0])
        for i, y in enumerate(kept):
            np.testing.assert_array_equal(y, session.run(["Y"], {"X": np.full((20, 2, 4), i, np.float32)})[0])

    def test_sequences_maps_and_optionals(self):
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        sequence = helper.make_sequence_type_proto(tensor)
        length = model([helper.make_node("SequenceLength", ["x"], ["n"]), helper.make_node("Identity", ["x"], ["y"])],
                       [("x", sequence)], [("n", TensorProto.INT64, []), ("y", sequence)])
        n, y = run(length, {"x": [np.zeros(2, np.float32), np.ones(3, np.float32)]})
        self.assertEqual((int(n), [each.tolist() for each in y]), (2, [[0, 0], [1, 1, 1]]))
        self.assertEqual(run(length, {"x": []})[1], [])
        optional = helper.make_optional_type_proto(tensor)
        has = model([helper.make_node("OptionalHasElement", ["x"], ["h"]), helper.make_node("Identity", ["x"], ["y"])],
                    [("x", optional)], [("h", TensorProto.BOOL, []), ("y", optional)])
        self.assertEqual([bool(run(has, {"x": None})[0]), run(has, {"x": None})[1]], [False, None])
        h, y = run(has, {"x": np.ones(1, np.float32)})
        self.assertEqual((bool(h), y.tolist()), (True, [1]))
        maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, tensor))
        zip_map = model([helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b"])],
                        [("x", TensorProto.FLOAT, [1, 2])], [("y", maps)])
        (y,) = run(zip_map, {"x": np.array([[1, 2]], np.float32)})
        self.assertEqual(y, [{"a": 1.0, "b": 2.0}])
        vectorizer = model([helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"])],
                           [("x", helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))],
                           [("y", TensorProto.FLOAT, None)])
        self.assertEqual(run(vectorizer, {"x": {"c": 3.0, "a": 1.0}})[0].reshape(-1).tolist(), [1, 0, 3])
        one_element = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
        vectorizer.graph.input[0].type.CopyFrom(helper.make_map_type_proto(TensorProto.STRING, one_element))
        self.assertEqual(run(vectorizer, {"x": {"c": 3.0, "a": 1.0}})[0].reshape(-1).tolist(), [1, 0, 3])

    def test_initializers_give_way_to_what_is_fed(self):
        bias = helper.make_tensor("y", TensorProto.FLOAT, [3], [1, 1, 1])
        proto = model([helper.make_node("Add", ["x", "y"], ["z"])], [("x", TensorProto.FLOAT, [3]), ("y", TensorProto.FLOAT, [3])],
                      [("z", TensorProto.FLOAT, [3])], [bias])
        session = grurun.Session(proto)
        x = np.zeros(3, np.float32)
        for _ in range(3):
            self.assertEqual(session.run(None, {"x": x})[0].tolist(), [1, 1, 1])
            self.assertEqual(session.run(None, {"x": x, "y": x})[0].tolist(), [0, 0, 0])
        self.assertEqual([each.name for each in session.overridable_initializers], ["y"])

    def test_intermediates(self):
        proto = model([helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Exp", ["a"], ["b"]), helper.make_node("Abs", ["b"], ["y"])],
                      [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
        session = grurun.Session(proto)
        x = np.array([0, 1], np.float32)
        found = session.intermediates(["a", "x"], {"x": x})
        self.assertEqual(sorted(found), ["a", "x"])
        np.testing.assert_array_equal(found["a"], -x)
        self.assertEqual(sorted(session.intermediates(None, {"x": x})), ["a", "b", "y"])
        with self.assertRaisesRegex(grurun.UsageError, "'c' is no value"):
            session.intermediates(["c"], {"x": x})

    def test_several_threads_share_a_session(self):
        session = grurun.Session(gru_model(), threads=2)
        alone = grurun.Session(gru_model(), threads=1)
        inputs = [np.random.default_rng(i).normal(size=(3 + i % 3, 2, 4)).astype(np.float32) for i in range(40)]
        expected = [alone.run(["Y"], {"X": x})[0] for x in inputs]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for got, wanted in zip(pool.map(lambda x: session.run(["Y"], {"X": x})[0], inputs), expected):
                np.testing.assert_array_equal(got, wanted)

    def test_memory_stays_flat(self):
        script = textwrap.dedent("""
            import resource, sys
            import numpy as np, grurun
            from tests.python.models import gru_model
            session = grurun.Session(gru_model(), threads=1)
            x = np.ones((5, 1, 4), np.float32)
            def runs(n):
                for _ in range(n):
                    session.run(None, {"X": x})
                return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            first = runs(2000)
            print(runs(100000) - first)
        """)
        grown = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
        self.assertLess(grown, 512, "kB that 100000 runs have added")


@needs_package
class Failures(unittest.TestCase):
    def test_each_kind_has_its_class(self):
        x = np.ones((2, 3), np.float32)
        session = grurun.Session(add_model())
        cases = [(grurun.UsageError, "no input 'q'; its inputs are x, y", lambda: session.run(None, {"q": x})),
                 (grurun.UsageError, "no output 'q'; its outputs are z", lambda: session.run(["q"], {"x": x, "y": x})),
                 (grurun.InvalidModelError, r"input 'x' must be tensor\(float\), but is tensor\(double\)",
                  lambda: session.run(None, {"x": x.astype(np.float64), "y": x})),
                 (grurun.InvalidModelError, "input 'y' is missing", lambda: session.run(None, {"x": x})),
                 (grurun.InvalidModelError, "no ONNX model|protobuf", lambda: grurun.Session(b"not a model")),
                 (grurun.UsageError, "nowhere.onnx", lambda: grurun.Session("nowhere.onnx")),
                 (grurun.UsageError, "not an object of the type int", lambda: grurun.Session(7)),
                 (grurun.UnsupportedError, "ir_version 99", lambda: self.newer()),
                 (grurun.LimitError, "longer than its time limit",
                  lambda: run(endless_model(), {"trips": 2**62, "v": [0]}, max_time=0.2)),
                 (grurun.LimitError, "memory", lambda: run(add_model(), {"x": np.ones((99999, 3), np.float32),
                                                                        "y": np.ones((99999, 3), np.float32)}, max_memory=1 << 19))]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text) as caught:
                call()
            self.assertEqual(type(caught.exception), kind)
            self.assertIsInstance(caught.exception, grurun.Error)
            copied = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(copied), copied.context), (str(caught.exception), caught.exception.context))

    def newer(self):
        proto = add_model()
        proto.ir_version = 99
        grurun.Session(proto)

    def test_what_no_tensor_is_made_of(self):
        for x in (object(), [object()], np.array(["2020"], "datetime64[D]")):
            with self.assertRaises((TypeError, grurun.UsageError)):
                run(identity_model(TensorProto.FLOAT), {"x": x})

    def test_what_a_loop_collects_is_bounded_by_its_true_cost(self):
        """Numbers of 8 bytes, each a tensor of its own, until the limit."""
        code = textwrap.dedent("""
            import resource
            import numpy as np
            import grurun
            from tests.python.models import collecting_model
            grurun.Session(collecting_model().SerializeToString()).run(None, {"trips": np.int64(9)})
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            session = grurun.Session(collecting_model().SerializeToString(), max_memory=200 << 20)
            try:
                session.run(None, {"trips": np.int64(1 << 62)})
            except grurun.LimitError:
                print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
            """)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 300)

    def test_without_max_memory_the_memory_that_there_is_is_the_limit(self):
        """A Loop that doubles a tensor, where the process may map 4 GiB, and a tensor larger than any machine."""
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Concat", ["v", "v"], ["v_out"], axis=0)], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("v", TensorProto.FLOAT, [None])],
            [helper.make_tensor_value_info("c_out", TensorProto.BOOL, []), helper.make_tensor_value_info("v_out", TensorProto.FLOAT, [None])])
        growing = model([helper.make_node("Loop", ["trips", "", "v"], ["y"], body=body)],
                        [("trips", TensorProto.INT64, []), ("v", TensorProto.FLOAT, [None])], [("y", TensorProto.FLOAT, [None])])
        code = textwrap.dedent("""
            import resource, sys
            import numpy as np
            import grurun
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            session = grurun.Session(sys.stdin.buffer.read(), threads=1)
            for _ in range(2):
                try:
                    session.run(None, {"trips": np.int64(1 << 62), "v": np.ones(1000, np.float32)})
                except grurun.LimitError as error:
                    print(error)
            """)
        done = subprocess.run([sys.executable, "-c", code], input=growing.SerializeToString(), capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"memory"), 2, done.stdout)
        huge = model([helper.make_node("ConstantOfShape", ["n"], ["y"])], [("n", TensorProto.INT64, [1])], [("y", TensorProto.FLOAT, [None])])
        with self.assertRaisesRegex(grurun.LimitError, "memory"):
            run(huge, {"n": np.array([1 << 44], np.int64)})

    def test_a_session_runs_on_after_a_failure(self):
        session = grurun.Session(add_model())
        good = {"x": np.ones((2, 3), np.float32), "y": np.ones((2, 3), np.float32)}
        for _ in range(4):
            self.assertEqual(session.run(None, good)[0].sum(), 12)
            with self.assertRaises(grurun.InvalidModelError):
                session.run(None, {**good, "y": np.ones((7, 3), np.float32)})

    def test_names_may_be_no_utf8(self):
        data = add_model().SerializeToString().replace(b"\x0a\x01x", b"\x0a\x01\xff")
        names = [each.name for each in grurun.Session(data).inputs]
        self.assertIn("\udcff", names)

    def test_ctrl_c_ends_a_run(self):
        script = textwrap.dedent("""
            import grurun
            from tests.python.models import endless_model
            session = grurun.Session(endless_model())
            print("runs", flush=True)
            try:
                session.run(None, {"trips": 2**62, "v": [0]})
            except KeyboardInterrupt:
                print("interrupted")
        """)
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "runs\n")
            time.sleep(0.5)  # in the run
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"))

    def test_a_model_that_breaks_a_rule_and_runs_is_a_warning(self):
        proto = add_model()
        proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 4
        feeds = {"x": np.ones((2, 3), np.float32), "y": np.ones((2, 3), np.float32)}
        with self.assertWarnsRegex(grurun.ModelWarning, "SHAPE004"):
            run(proto, feeds)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(add_model(), feeds)


@needs_package
class Checks(unittest.TestCase):
    def test_findings_are_those_of_the_command(self):
        proto = gru_model()
        proto.graph.node[0].attribute.append(helper.make_attribute("activations", ["Sigmoid", "Tanh", "Relu"]))
        findings = grurun.check(proto)
        self.assertIn("error", {finding.severity for finding in findings})
        self.assertEqual(findings, grurun.Session(proto).check())
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(proto.SerializeToString())
            file.flush()
            printed = subprocess.run([os.environ["GRURUN_BINARY"], "check", file.name], capture_output=True, text=True).stdout
        for finding in findings:
            self.assertIn(f": {finding}\n", printed)
        self.assertEqual(grurun.check(gru_model()), [])

    def test_versions_are_judged(self):
        proto = add_model()
        proto.ir_version = 99
        self.assertTrue(any("ir_version" in finding.message for finding in grurun.check(proto)))

    def test_comparisons(self):
        expected = np.array([1, 2, 0, np.nan], np.float32)
        same = grurun.compare(expected, expected.copy())
        self.assertTrue(same)
        self.assertEqual((same.differing, same.least_rtol, same.least_atol, same.snr_db), (0, 0, 0, float("inf")))
        for seed in range(50):
            x = np.random.default_rng(seed).normal(size=7)
            self.assertEqual(grurun.compare(x, x).cosine, 1)
            self.assertLessEqual(grurun.compare(x, 3 * x).cosine, 1)
        found = grurun.compare(np.array([1, 2.5, 1e-3, np.nan], np.float32), expected, rtol=0, atol=0)
        self.assertEqual((found.ok, found.total, found.differing), (False, 4, 2))
        self.assertEqual(found.worst_elements[0].index, (1,))
        self.assertEqual(found.least_atol, 0.5)
        self.assertEqual(found.least_rtol, float("inf"))  # of an expected 0
        self.assertTrue(grurun.compare(np.array([1, 2.5, 1e-3, np.nan], np.float32), expected, rtol=0, atol=found.least_atol))
        close = grurun.compare(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
        self.assertAlmostEqual(close.cosine, 17 / np.sqrt(14 * 21))
        self.assertAlmostEqual(close.snr_db, 10 * np.log10(21))
        self.assertTrue(grurun.compare(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), rtol=close.least_rtol))
        shape = grurun.compare(np.zeros(2), np.zeros(3))
        self.assertIn("shape", shape.structure)
        self.assertFalse(grurun.compare([np.zeros(2)], [np.zeros(2), np.zeros(1)]))
        self.assertTrue(grurun.compare({"a": 1.0}, {"a": 1.0}))
        with self.assertRaises(grurun.UsageError):
            grurun.compare(expected, expected, rtol=-1)

    def test_assert_allclose_says_what_differs(self):
        grurun.assert_allclose(np.ones(3), np.ones(3))
        with self.assertRaisesRegex(AssertionError, r"(?s)Y: 1 of 3 elements differ.*\[2\]: 1.5, expected 1.*rtol=0.5"):
            grurun.assert_allclose(np.array([1, 1, 1.5]), np.ones(3), name="Y")


@needs_package
class Commands(unittest.TestCase):
    def test_the_package_brings_the_command(self):
        def of(command):
            done = subprocess.run([*command, "-v"], capture_output=True, text=True)
            return done.returncode, done.stdout

        self.assertEqual(of([sys.executable, "-m", "grurun"]), of([os.environ["GRURUN_BINARY"]]))
        failed = subprocess.run([sys.executable, "-m", "grurun", "nowhere.onnx"], capture_output=True, text=True)
        self.assertEqual((failed.returncode, failed.stderr.count("\n")), (2, 1))

    def test_conformance_gives_the_report(self):
        folder = os.path.join(os.environ["GRURUN_SOURCE_DIR"], "testdata", "recurrent")
        report = grurun.conformance(folder, k="*gru*", jobs=2)
        self.assertTrue(report.ok, str(report))
        self.assertGreater(len(report.cases), 10)
        self.assertEqual(report.summary["passed"], len(report.cases))
        with self.assertRaisesRegex(grurun.UsageError, "leaves none of"):
            grurun.conformance(folder, k="no such case")

    def test_importing_is_quick_and_leaves_numpy_alone(self):
        script = "import sys, time; t = time.process_time(); import grurun; print(time.process_time() - t, 'numpy' in sys.modules)"
        found = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
        self.assertEqual({numpy for _, numpy in found}, {"False"})
        self.assertLess(min(float(seconds) for seconds, _ in found), 0.05)


if __name__ == "__main__":
    unittest.main()
