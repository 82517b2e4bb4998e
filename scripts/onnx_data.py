"""Obtains the official test data of an ONNX release from the Python package index.

Every wheel carries onnx/backend/test/data; up to 1.22 that includes the node cases, later releases build them in Python
(onnx_node_cases.py). The folder appears whole or not at all.

usage: onnx_data.py VERSION FOLDER
"""

import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile

# Every release whose wheel can be had and carries test data.
RELEASES = """1.2.1 1.2.2 1.2.3 1.3.0 1.4.0 1.4.1 1.5.0 1.6.0 1.7.0 1.8.0 1.8.1 1.9.0 1.10.0 1.10.1 1.10.2 1.11.0 1.12.0 1.13.0 1.13.1
    1.14.0 1.14.1 1.15.0 1.16.0 1.16.1 1.16.2 1.17.0 1.18.0 1.19.0 1.19.1 1.20.0 1.20.1 1.21.0 1.22.0 1.23.2""".split()

DATA = "onnx/backend/test/data/"
NODE_CASES = pathlib.Path(__file__).with_name("onnx_node_cases.py")

# Data is the same in each wheel of a release: any interpreter and platform will do.
INTERPRETERS = [("3.11", "cp311"), ("3.12", "cp312"), ("3.13", "cp313"), ("3.10", "cp310"), ("3.9", "cp39"),
                ("3.8", "cp38"), ("3.7", "cp37m"), ("3.6", "cp36m"), ("3.5", "cp35m")]
FIRST_FOR_NEW_INTERPRETERS = (1, 13)  # releases before it have wheels for those at the end of the list
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux_2_12_x86_64",
             "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]


class Unavailable(Exception):
    """The data of a release cannot be had; the message says why."""


def pip(python, *arguments):
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def download_wheel(version, folder):
    wanted = ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), f"onnx=={version}"]
    is_new = tuple(map(int, version.split(".")[:2])) >= FIRST_FOR_NEW_INTERPRETERS
    for python_version, abi in INTERPRETERS if is_new else reversed(INTERPRETERS):
        tags = ["--implementation", "cp", "--python-version", python_version, "--abi", abi, "--abi", "abi3"]
        for platform in PLATFORMS:
            tags += ["--platform", platform]
        last = pip(sys.executable, *wanted, *tags)
        if last.returncode == 0:
            break
    wheels = list(folder.glob("onnx-*.whl"))
    if not wheels:
        reason = (last.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"pip has no wheel of onnx {version}: {reason}")
    return wheels[0]


def copy_package_data(version, target, scratch):
    """Copies the data that the release's wheel carries, from the environment when it is that release."""
    distribution = importlib.metadata.distribution("onnx")
    if distribution.version == version:
        shutil.copytree(distribution.locate_file(DATA), target)
        return
    with zipfile.ZipFile(download_wheel(version, scratch)) as wheel:
        members = [name for name in wheel.namelist() if name.startswith(DATA)]
        wheel.extractall(scratch / "wheel", members)
    data = scratch / "wheel" / DATA
    if not data.is_dir():
        raise Unavailable(f"the wheel of onnx {version} carries no test data")
    shutil.move(data, target)


def python_with(version, scratch):
    """A Python that imports onnx of that release: this one, or one in an environment made for the purpose."""
    if importlib.metadata.version("onnx") == version:
        return sys.executable
    venv.create(scratch / "venv", with_pip=True)
    python = str(scratch / "venv" / "bin" / "python")
    installed = pip(python, "install", f"onnx=={version}")
    if installed.returncode:
        raise Unavailable(f"onnx {version} does not install here: {installed.stderr.strip().splitlines()[-1]}")
    return python


def write_node_cases(version, target, scratch):
    made = subprocess.run([python_with(version, scratch), "-W", "ignore", NODE_CASES, target], capture_output=True, text=True)
    if made.returncode:
        raise Unavailable(f"onnx {version} did not make its node cases: {made.stderr.strip().splitlines()[-1]}")


def obtain(version, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as name:
        scratch = pathlib.Path(name)
        data = scratch / "data"
        copy_package_data(version, data, scratch)
        for leftover in list(data.rglob("__pycache__")) + list(data.rglob("*.py")):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        if not (data / "node").is_dir():
            write_node_cases(version, data / "node", scratch)
        kinds = sorted(folder for folder in data.iterdir() if folder.is_dir())
        summary = ", ".join(f"{kind.name} {sum(1 for _ in kind.iterdir())}" for kind in kinds)
        (data / "complete").write_text(f"onnx {version}: {summary}\n")
        shutil.rmtree(target, ignore_errors=True)
        data.rename(target)
    return summary


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    version, target = sys.argv[1], pathlib.Path(sys.argv[2])
    print(f"Obtaining the official test data of onnx {version}", flush=True)
    try:
        print(f"{target}: {obtain(version, target)}")
    except (Unavailable, OSError) as error:
        sys.exit(f"fetch-onnx-data: {error}")


if __name__ == "__main__":
    main()
