"""What scripts/check-wheel runs where nothing but the wheel and its dependencies are installed: usage: wheel_smoke.py CASES [emulated]

Emulated, nothing is timed, and no program started: QEMU's emulation of one process runs no others.
"""

import pathlib
import subprocess
import sys
import time
import warnings

start = time.process_time()
import grurun  # noqa: E402

took = time.process_time() - start
emulated = sys.argv[2:] == ["emulated"]
again = took if emulated else float(subprocess.run([sys.executable, "-c", "import time; t = time.process_time(); import grurun; print(time.process_time() - t)"],
                             capture_output=True, text=True, check=True).stdout)
assert emulated or min(took, again) < 0.05, f"import grurun takes {took:.3f} s, then {again:.3f} s"
assert "numpy" not in sys.modules

import numpy as np  # noqa: E402

cases = pathlib.Path(sys.argv[1])
report = "emulated"
if not emulated:
    command = pathlib.Path(sys.executable).parent / "grurun"
    version = subprocess.run([command, "-v"], capture_output=True, text=True, check=True).stdout
    assert version.startswith(f"grurun {grurun.__version__}\n"), version
    report = grurun.conformance(cases, k="*gru*")
    assert report.ok and len(report.cases) > 10, str(report)
model = next(iter(sorted(cases.rglob("test_gru*/model.onnx"))))
session = grurun.Session(model)
assert grurun.check(model) == [] or all(finding.severity != "error" for finding in grurun.check(model))
feeds = {each.name: np.ones([dim if isinstance(dim, int) else 2 for dim in each.shape],
                            {"tensor(float)": np.float32, "tensor(int32)": np.int32}[each.type]) for each in session.inputs}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", grurun.ModelWarning)
    outputs = session.run(None, feeds)
assert all(np.isfinite(output).all() for output in outputs)
try:
    grurun.Session(b"no model")
except grurun.InvalidModelError:
    pass
else:
    raise AssertionError("a model was made of nothing")
package = pathlib.Path(grurun.__file__).parent
assert (package / "py.typed").exists()
print(f"Python {sys.version.split()[0]}: {report}, import {min(took, again) * 1000:.0f} ms")
