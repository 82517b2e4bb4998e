"""Runs the same IR in OpenVINO and in grurun, and says where they differ.

The package openvino is installed into the environment that runs the tests; where that is not possible they are skipped and say
why.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile

import numpy

from tests.optional_packages import require

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
PACKAGE = "openvino==2026.4.1"


def openvino():
    """The package, installed when it is missing."""
    require({"openvino": [PACKAGE]})
    import openvino as package

    return package


def grurun(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)


class Bundle:
    """Many small graphs in one model: building, reading and compiling one is dear, a graph more in it is cheap."""

    def __init__(self, seed):
        self.package = openvino()
        self.random = numpy.random.default_rng(seed)
        self.parameters = []
        self.inputs = {}
        self.results = []
        self.names = []

    def values(self, *shape, scale=1.0, dtype=numpy.float32):
        return (self.random.standard_normal(shape) * scale).astype(dtype)

    def constant(self, values):
        from openvino import op

        values = numpy.asarray(values)
        return op.Constant(numpy.ascontiguousarray(values) if values.ndim else values)

    def parameter(self, values, shape=None):
        """An input of the model; shape holds -1 for a size that the model is not to know."""
        from openvino import op

        values = numpy.asarray(values)
        declared = self.package.PartialShape(list(values.shape) if shape is None else shape)
        name = f"in_{len(self.parameters)}"
        made = op.Parameter(self.package.Type(values.dtype), declared)
        made.set_friendly_name(name)
        made.output(0).get_tensor().set_names({name})
        self.parameters.append(made)
        self.inputs[name] = values
        return made

    def result(self, output, name):
        from openvino import op

        made = op.Result(output)
        made.set_friendly_name(name)
        self.results.append(made)
        self.names.append(name)

    def model(self):
        return self.package.Model(self.results, self.parameters, "bundle")

    def save(self, folder, version=11):
        path = pathlib.Path(folder) / "model.xml"
        self.package.serialize(self.model(), path)
        if version != 11:
            text = path.read_text()
            path.write_text(text.replace('version="11"', f'version="{version}"', 1))
        return path

    def differences(self, rtol=1e-4, atol=1e-5, version=11):
        """What differs, one line each; [] when nothing does. grurun check must have no complaint either."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.save(folder, version)
            return compare(self.package, path, self.inputs, self.names, rtol, atol)


def run_openvino(package, path, inputs):
    core = package.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    compiled = core.compile_model(core.read_model(path), "CPU")
    made = compiled([inputs[port.any_name] for port in compiled.inputs])
    return [made[port] for port in compiled.outputs]


def run_grurun(path, inputs):
    """The outputs in their order, or grurun's complaint."""
    with tempfile.TemporaryDirectory() as folder:
        command = [path, "-q", "--inputs"]
        for number, (name, value) in enumerate(inputs.items()):
            file = os.path.join(folder, f"{number}.npy")
            numpy.save(file, value)
            command.append(f"{name}={file}")
        made = os.path.join(folder, "out.npz")
        done = grurun(*command, "--save-outputs", made)
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr.strip()}"
        with contextlib.closing(numpy.load(made)) as archive:
            return [archive[name] for name in archive.files]


def compare(package, path, inputs, names, rtol, atol):
    check = grurun("check", path)
    if check.returncode != 0 or " warning " in check.stdout:
        return [f"grurun check: {check.stdout}{check.stderr}"]
    ours = run_grurun(path, inputs)
    if isinstance(ours, str):
        return [ours]
    theirs = run_openvino(package, path, inputs)
    lines = []
    for name, mine, other in zip(names, ours, theirs, strict=True):
        if mine.shape != other.shape or mine.dtype != other.dtype:
            lines.append(f"{name}: {mine.dtype}{list(mine.shape)}, OpenVINO has {other.dtype}{list(other.shape)}")
        elif not numpy.allclose(mine, other, rtol=rtol, atol=atol, equal_nan=True):
            lines.append(f"{name}: differs by up to {numpy.abs(mine.astype(float) - other.astype(float)).max():.3g}")
    return lines
