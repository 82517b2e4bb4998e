"""Python packages that only some tests need: installed into the environment that runs the tests when they are missing."""

import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest


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
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
            done = subprocess.run([*command, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                raise unittest.SkipTest(f"{arguments[-1]} cannot be installed: {done.stderr.strip()[-300:]}")
    importlib.invalidate_caches()
