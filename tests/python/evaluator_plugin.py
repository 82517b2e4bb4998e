"""A plugin of pytest that puts an evaluator in the place of whatever a foreign test suite runs models with: scripts/foreign-suite.

GRURUN_EVALUATOR=grurun replaces onnx.reference.ReferenceEvaluator by grurun's; any other value leaves it. Sessions of onnxruntime become
evaluators of the suite's own class derived from it, too, so that one evaluator judges every test.
"""

import os

import onnx.reference
import onnxruntime

if os.environ.get("GRURUN_EVALUATOR") == "grurun":
    import grurun.reference

    onnx.reference.ReferenceEvaluator = grurun.reference.ReferenceEvaluator


class InferenceSession:
    def __init__(self, model, sess_options=None, providers=None, **kwargs):
        from test_utils import ReferenceEvaluatorEx

        self._evaluator = ReferenceEvaluatorEx(model)

    def get_inputs(self):
        return self._evaluator.get_inputs()

    def get_outputs(self):
        return self._evaluator.get_outputs()

    def run(self, output_names, input_feed, run_options=None):
        return self._evaluator.run(output_names, input_feed)


onnxruntime.InferenceSession = InferenceSession
