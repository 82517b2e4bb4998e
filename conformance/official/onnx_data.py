"""Writes ONNX's official test cases as files, in the layout of its backend tests.

Up to onnx 1.22 a wheel carries all cases. Later wheels, and checkouts since August 2026, hold the node cases as Python code in
onnx/backend/test/case/node, which this program runs. A folder appears whole or not at all.

usage: onnx_data.py release VERSION DIR        the cases of a release, from its wheel
       onnx_data.py checkout CHECKOUT DIR      the cases of a checkout of onnx, or of an installed package's folder
       onnx_data.py node-cases CHECKOUT CACHE  the node cases alone, once for each state of the generators; the last line printed is
                                               their folder
       onnx_data.py write-node-cases ONNX DIR  in a Python that imports onnx; ONNX: the folder of the package onnx, or - for the
                                               one that is imported

Exit status: 0; 1 for cases that a generator could not make, which DIR/incomplete.txt lists; 2 for data that cannot be had.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Every release whose wheel can be had and carries test data.
RELEASES = """1.2.1 1.2.2 1.2.3 1.3.0 1.4.0 1.4.1 1.5.0 1.6.0 1.7.0 1.8.0 1.8.1 1.9.0 1.10.0 1.10.1 1.10.2 1.11.0 1.12.0 1.13.0 1.13.1
    1.14.0 1.14.1 1.15.0 1.16.0 1.16.1 1.16.2 1.17.0 1.18.0 1.19.0 1.19.1 1.20.0 1.20.1 1.21.0 1.22.0 1.23.2""".split()

DATA = "onnx/backend/test/data/"
INCOMPLETE = "incomplete.txt"

# Data is the same in each wheel of a release: any interpreter and platform will do.
INTERPRETERS = [("3.11", "cp311"), ("3.12", "cp312"), ("3.13", "cp313"), ("3.10", "cp310"), ("3.9", "cp39"),
                ("3.8", "cp38"), ("3.7", "cp37m"), ("3.6", "cp36m"), ("3.5", "cp35m")]
FIRST_FOR_NEW_INTERPRETERS = (1, 13)  # releases before it have wheels for those at the end of the list
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux_2_12_x86_64",
             "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]

# How the test suite of onnx compares where a case names no tolerance.
DEFAULT_RTOL = 1e-3
DEFAULT_ATOL = 1e-7


class Unavailable(Exception):
    """The data cannot be had; the message says why."""


def last_line(text):
    return (text.strip().splitlines() or ["no reason given"])[-1]


def make_environment(folder):
    """The Python of a new virtual environment with pip."""
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode:
        raise Unavailable(f"{sys.executable} makes no virtual environment; install python3-venv, or name another Python in GRURUN_PYTHON: "
                          f"{last_line(made.stderr + made.stdout)}")
    return str(folder / "bin" / "python")


def pip(python, *arguments):
    return subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], capture_output=True, text=True)


def download_wheel(version, scratch):
    python = sys.executable if importlib.util.find_spec("pip") else make_environment(scratch / "pip")
    wanted = ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(scratch), f"onnx=={version}"]
    is_new = tuple(map(int, version.split(".")[:2])) >= FIRST_FOR_NEW_INTERPRETERS
    for python_version, abi in INTERPRETERS if is_new else reversed(INTERPRETERS):
        tags = ["--implementation", "cp", "--python-version", python_version, "--abi", abi, "--abi", "abi3"]
        for platform in PLATFORMS:
            tags += ["--platform", platform]
        last = pip(python, *wanted, *tags)
        if last.returncode == 0:
            break
    wheels = list(scratch.glob("onnx-*.whl"))
    if not wheels:
        raise Unavailable(f"pip finds no wheel of onnx {version}: {last_line(last.stderr)}")
    return wheels[0]


def installed_version():
    """The version of onnx that this Python imports, or None."""
    try:
        return importlib.metadata.version("onnx") if importlib.util.find_spec("onnx") else None
    except importlib.metadata.PackageNotFoundError:
        return None


def copy_package_data(version, target, scratch):
    """Copies the data that the release's wheel carries, from this Python's packages when they hold that release."""
    if installed_version() == version:
        shutil.copytree(importlib.metadata.distribution("onnx").locate_file(DATA), target)
        return
    with zipfile.ZipFile(download_wheel(version, scratch)) as wheel:
        members = [name for name in wheel.namelist() if name.startswith(DATA)]
        wheel.extractall(scratch / "wheel", members)
    data = scratch / "wheel" / DATA
    if not data.is_dir():
        raise Unavailable(f"the wheel of onnx {version} carries no test data")
    shutil.move(data, target)


def python_with(requirements, is_wanted, scratch):
    """A Python that imports one of these releases of onnx, the first that installs: this one, or one in a new environment."""
    if is_wanted(installed_version() or ""):
        return sys.executable
    python = make_environment(scratch / "venv")
    for requirement in requirements:
        installed = pip(python, "install", requirement)
        if installed.returncode == 0:
            return python
    raise Unavailable(f"onnx does not install here ({requirements[0]}): {last_line(installed.stderr)}")


def write_node_cases(python, package, target):
    """Runs the generators in `package` (-: those of the release that the Python imports)."""
    made = subprocess.run([python, "-W", "ignore", __file__, "write-node-cases", package, target], capture_output=True, text=True)
    if made.returncode not in (0, 1):
        raise Unavailable(f"onnx does not make its node cases: {last_line(made.stderr)}")


def without_sources(folder):
    for leftover in [*folder.rglob("__pycache__"), *folder.rglob("*.py")]:
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()


def appear(made, target):
    """Moves what was made to its place, and returns what it holds in words."""
    kinds = sorted(folder for folder in made.iterdir() if folder.is_dir())
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)
    return ", ".join(f"{kind.name} {sum(1 for _ in (target / kind.name).iterdir())}" for kind in kinds)


def obtain_release(version, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as name:
        scratch = pathlib.Path(name)
        data = scratch / "data"
        copy_package_data(version, data, scratch)
        without_sources(data)
        if not (data / "node").is_dir():
            python = python_with([f"onnx=={version}"], lambda found: found == version, scratch)
            write_node_cases(python, "-", data / "node")
        (data / "complete").write_text(f"onnx {version}\n")
        return appear(data, target)


def package_of(checkout):
    """The folder of the package onnx: in a checkout, or installed; any folder between it and the cases will do."""
    for folder in (checkout, *checkout.parents):
        for package in (folder / "onnx", folder):
            if (package / "backend" / "test").is_dir():
                return package
    raise Unavailable(f"{checkout}: neither a checkout of onnx nor the folder of the package: it has no onnx/backend/test")


def version_of(package):
    """MAJOR.MINOR of a checkout or an installed package; empty where neither says so."""
    for file, pattern in ((package.parent / "VERSION_NUMBER", r"(\d+\.\d+)"), (package / "version.py", r"version = ['\"](\d+\.\d+)")):
        found = re.search(pattern, file.read_text()) if file.is_file() else None
        if found:
            return found[1]
    return ""


def make_node_cases(package, target, scratch):
    """By the generators of `package`, with the compiled library of the release that is nearest to it."""
    if not (package / "backend" / "test" / "case" / "node").is_dir():
        raise Unavailable(f"{package}: it holds no node cases, neither as files nor as code in backend/test/case/node")
    version = version_of(package)
    python = python_with([*([f"onnx=={version}.*"] if version else []), "onnx"],
                         lambda found: bool(version) and found.startswith(version + "."), scratch)
    write_node_cases(python, str(package), target)


def obtain_checkout(checkout, target):
    package = package_of(checkout.resolve())
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as name:
        scratch = pathlib.Path(name)
        data = scratch / "data"
        if not (package / "backend" / "test" / "data").is_dir():
            raise Unavailable(f"{package}: it has no backend/test/data")
        shutil.copytree(package / "backend" / "test" / "data", data)
        without_sources(data)
        if not (data / "node").is_dir():
            make_node_cases(package, data / "node", scratch)
        return appear(data, target)


def obtain_node_cases(checkout, cache):
    """The folder of the node cases below cache: made once for each state of the generators."""
    package = package_of(checkout.resolve())
    state = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    sources = package / "backend" / "test" / "case"
    for file in sorted(sources.rglob("*.py")):
        state.update(f"{file.relative_to(sources)}\n".encode() + file.read_bytes())
    target = cache / f"onnx-node-cases-{state.hexdigest()[:16]}" / "node"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as name:
            made = pathlib.Path(name) / "node"
            make_node_cases(package, made, pathlib.Path(name))
            made.rename(target)
    return target


def to_proto(value, info):
    """One value of a data set as the message that the declared type of `info` (a ValueInfoProto) calls for."""
    import onnx
    from onnx import numpy_helper

    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if isinstance(value, onnx.TensorProto):
        return value
    return numpy_helper.from_array(value, info.name)


def write_values(folder, prefix, values, infos):
    if len(values) > len(infos):
        raise ValueError(f"{folder}: {len(values)} {prefix} values for {len(infos)} declared")
    for index, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{prefix}_{index}.pb").write_bytes(to_proto(value, info).SerializeToString())


def write_case(case, root):
    """DIR/<name>/{model.onnx, data.json, test_data_set_<i>/{input,output}_<j>.pb}; data.json where tolerances are not the defaults."""
    folder = root / case.name
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    if case.rtol != DEFAULT_RTOL or case.atol != DEFAULT_ATOL:
        (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}) + "\n")
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data_set = folder / f"test_data_set_{index}"
        data_set.mkdir()
        write_values(data_set, "input", inputs, case.model.graph.input)
        write_values(data_set, "output", outputs, case.model.graph.output)


def run_generators(package):
    """Imports every module below `package`, which makes its cases. Returns what could not be made: a line for each module."""
    import importlib
    import pkgutil

    failed = []
    for module in pkgutil.iter_modules(package.__path__):
        name = f"{package.__name__}.{module.name}"
        try:
            made = importlib.import_module(name)
        except Exception as error:  # of a stranger's module: whatever it raises
            failed.append(f"{name}: {type(error).__name__}: {last_line(str(error))}")
            continue
        if module.ispkg:
            failed += run_generators(made)
    return failed


def write_all_node_cases(package, root):
    import importlib
    import random

    import numpy as np
    import onnx.backend

    if package != "-":  # the generators of another state of onnx over the library of this one
        onnx.backend.__path__.insert(0, str(pathlib.Path(package) / "backend"))
    root.mkdir(parents=True, exist_ok=True)
    # Cases draw their inputs as they are made: a fixed seed gives every machine the same data.
    random.seed(0)
    np.random.seed(0)
    cases = importlib.import_module("onnx.backend.test.case.node")
    failed = run_generators(cases)
    for case in cases._NodeTestCases:
        try:
            write_case(case, root)
        except Exception as error:
            shutil.rmtree(root / case.name, ignore_errors=True)
            failed.append(f"{case.name}: {type(error).__name__}: {last_line(str(error))}")
    if failed:
        (root / INCOMPLETE).write_text("".join(line + "\n" for line in failed))
    return 1 if failed else 0


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    command, source, target = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    try:
        if command == "write-node-cases":
            return write_all_node_cases(source, target)
        if command == "node-cases":
            target = obtain_node_cases(pathlib.Path(source), target)
            print(target)
            return int((target / INCOMPLETE).exists())
        if command == "release":
            print(f"Obtaining the official test data of onnx {source}", flush=True)
            print(f"{target}: {obtain_release(source, target)}")
        elif command == "checkout":
            print(f"{target}: {obtain_checkout(pathlib.Path(source), target)}")
        else:
            sys.exit(__doc__)
    except (Unavailable, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return int((target / "node" / INCOMPLETE).exists())


if __name__ == "__main__":
    sys.exit(main())
