"""ONNX's own test runner as an outside judge: it drives grurun.backend in its process, compares with numpy, and must come to the
verdicts of `grurun conformance`, case by case."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
VERSION = re.search(r"^onnx==(.*)$", (ROOT / "scripts/requirements.txt").read_text(), re.MULTILINE)[1]
OFFICIAL_CASES = int((ROOT / f"testdata/expectations/onnx-{VERSION}.size").read_text())
KINDS = {"OnnxBackendNodeModelTest": "node", "OnnxBackendRealModelTest": "light", "OnnxBackendSimpleModelTest": "simple",
         "OnnxBackendPyTorchConvertedModelTest": "pytorch-converted", "OnnxBackendPyTorchOperatorModelTest": "pytorch-operator"}

# What no backend can pass: docs/scoreboard/README.md says why.
# The runner takes the length of each element of a sequence; this one holds a scalar, so no right result can pass.
UNJUDGED = {"node/test_loop16_seq_none": "TypeError: Unable to compare"}
# Compared with a sample of numpy's global generator.
RANDOM = {f"node/test_bernoulli{form}{expanded}" for form in ("", "_double", "_seed") for expanded in ("", "_expanded")}


class Passed(unittest.TestResult):
    """Remembers which tests passed, and why the others did not."""

    def __init__(self):
        super().__init__()
        self.passed = set()

    def addSuccess(self, test):
        self.passed.add(test.id())


def full_name(test_id):
    """"node/test_abs" of "...OnnxBackendNodeModelTest.test_abs_cpu"."""
    group, name = test_id.rsplit(".", 2)[1:]
    name = name.removesuffix("_cpu")
    kind = KINDS[group]
    return f"{kind}/{name.replace('test_', 'light_', 1) if kind == 'light' else name}"


def judged(scratch):
    """{case: reason it failed, or None}, by ONNX's runner."""
    os.environ["ONNX_HOME"] = scratch
    import onnx.backend.test

    import grurun.backend

    warnings.simplefilter("ignore")
    suite = onnx.backend.test.BackendTest(grurun.backend, __name__).exclude("_cuda$").test_suite
    names = {full_name(test.id()) for test in suite if test.id().endswith("_cpu")}
    result = Passed()
    suite.run(result)
    verdicts = dict.fromkeys(names, "did not run")
    verdicts.update((full_name(test_id), None) for test_id in result.passed)
    for test, trace in result.failures + result.errors:
        verdicts[full_name(test.id())] = trace.strip().splitlines()[-1]
    return verdicts


def reported(scratch):
    """{case: verdict}, by grurun conformance."""
    import onnx

    subprocess.run([ROOT / "scripts" / "fetch-onnx-data"], check=True, stdout=subprocess.DEVNULL)
    report = pathlib.Path(scratch) / "report.json"
    data = ROOT / "testdata" / "official" / f"onnx-{onnx.__version__}"
    subprocess.run([os.environ["GRURUN_BINARY"], "conformance", "--json", report, data], stdout=subprocess.DEVNULL)
    return {f"{case['kind']}/{case['name']}": case["verdict"] for case in json.loads(report.read_text())["cases"]}


class OutsideJudge(unittest.TestCase):
    @unittest.skipIf(os.environ["GRURUN_SANITIZE"], "the Python package is not built with sanitizers")
    def test_verdicts_agree_case_by_case(self):
        with tempfile.TemporaryDirectory() as scratch:
            ours, theirs = reported(scratch), judged(scratch)
        self.assertGreaterEqual(len(theirs), OFFICIAL_CASES)
        self.assertEqual({name for name, reason in theirs.items() if reason is not None}, UNJUDGED.keys() | RANDOM)
        disagree = []
        for name, reason in sorted(theirs.items()):
            verdict = ours.get(name, "no such case")
            if name in UNJUDGED and reason is not None and reason.startswith(UNJUDGED[name]):
                continue
            # The runner compares random values with one sample; we check their distribution.
            if verdict != "passed-not-comparable" and (verdict == "passed") != (reason is None):
                disagree.append(f"{name}: grurun conformance says {verdict}, ONNX's runner {reason or 'passed'}")
        self.assertEqual(disagree, [])

    def test_no_backend_can_pass_what_is_unjudged(self):
        """The runner refuses the outputs that the case itself expects, in every form, so no other could do better."""
        import numpy as np
        from onnx.backend.test.loader import load_model_tests
        from onnx.backend.test.runner import Runner

        warnings.simplefilter("ignore")
        cases = {f"node/{case.name}": case for case in load_model_tests(kind="node")}
        for name, reason in UNJUDGED.items():
            with self.subTest(name):
                _, expected = cases[name].data_sets[0]
                array = np.empty(len(expected[0]), object)
                array[:] = expected[0]
                for actual, error, text in (([list(expected[0])], TypeError, reason), ([tuple(expected[0])], TypeError, reason),
                                            ([array], AttributeError, "'list' object has no attribute 'shape'")):
                    with self.assertRaises(error) as refused:
                        Runner.assert_similar_outputs(expected, actual, rtol=cases[name].rtol, atol=cases[name].atol)
                    self.assertIn(text, f"{error.__name__}: {refused.exception}")
                Runner.assert_similar_outputs(expected, [[]], rtol=cases[name].rtol, atol=cases[name].atol)  # wrong, and let pass

    def test_every_official_case_passes(self):
        with tempfile.TemporaryDirectory() as scratch:
            ours = reported(scratch)
        self.assertGreaterEqual(len(ours), OFFICIAL_CASES)
        failed = {name: verdict for name, verdict in ours.items() if verdict not in ("passed", "passed-not-comparable")}
        self.assertEqual(failed, {})


if __name__ == "__main__":
    unittest.main()
