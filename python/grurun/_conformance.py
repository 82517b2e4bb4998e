"""Conformance cases, run by the command in a process of its own: what a model does there cannot harm this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grurun._errors import InternalError, InvalidModelError, LimitError, UnsupportedError, UsageError

GOOD_VERDICTS = ("passed", "passed-not-comparable", "known-wrong")


@dataclass(frozen=True)
class CaseReport:
    """One case. Attributes are the keys of the JSON report, which docs/conformance.md describes."""

    name: str
    kind: str
    path: str
    verdict: str
    unexpected: bool
    message: str
    seconds: float
    operators: list[str] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    diagnosis: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def passed(self) -> bool:
        """The verdict needs no line in a list of expectations."""
        return self.verdict in GOOD_VERDICTS


@dataclass(frozen=True)
class Report:
    """What became of many cases. `data` is the whole JSON report."""

    data: dict[str, Any]
    cases: list[CaseReport]

    @property
    def ok(self) -> bool:
        """Every case ended as expected, and every expectation has its case."""
        return self.data["as_expected"]

    @property
    def summary(self) -> dict[str, int]:
        return self.data["summary"]

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.summary.items() if count)
        return f"{len(self.cases)} cases: {counts or 'none ran'}"

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Of what `grurun conformance --json` wrote."""
        data = json.loads(text)
        known = CaseReport.__dataclass_fields__
        return cls(data, [CaseReport(**{key: case[key] for key in known if key in case}) for case in data["cases"]])


def command(*arguments: str | os.PathLike[str]) -> list[str]:
    """The command line that runs this package's grurun."""
    return [sys.executable, "-m", "grurun", *map(os.fspath, arguments)]


def environment() -> dict[str, str]:
    """That of the process, with the package found where it was found here."""
    root = str(Path(__file__).resolve().parent.parent)
    found = [path for path in sys.path if path and (Path(path) / "grurun" / "__init__.py").exists()]
    paths = [found[0] if found else root, os.environ.get("PYTHONPATH", "")]
    return {"GRURUN_PYTHON": sys.executable, **os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def flags_of(**flags: Any) -> Iterable[str]:
    for name, value in flags.items():
        if value is None or value is False:
            continue
        yield ("-k" if name == "k" else "--" + name.replace("_", "-"))
        if value is not True:
            yield str(value)


def json_report(name: str, flags: Iterable[str], arguments: Iterable[str | os.PathLike[str]]) -> bytes:
    """The JSON report of a command that ends with 0 or 1. Raises the error that its exit code stands for."""
    with tempfile.TemporaryDirectory(prefix="grurun-") as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(command(name, *flags, "--json", report, "--", *arguments), capture_output=True, text=True, env=environment(),
                              check=False)
        if done.returncode in (0, 1) and report.exists():
            return report.read_bytes()
    line = (done.stderr.strip().splitlines() or [f"the command ended with {done.returncode}"])[-1].removeprefix("grurun: ")
    kinds = {kind.exit_code: kind for kind in (UsageError, InvalidModelError, UnsupportedError, LimitError)}
    raise kinds.get(done.returncode, InternalError)(line)


def conformance(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, k: str | None = None, jobs: int = 0,
                max_time: float = 60, max_memory: str | int | None = None, rtol: float | None = None,
                atol: float | None = None, expectations: str | os.PathLike[str] | None = None, min_cases: int = 1, seed: int = 0,
                fail_fast: bool = False, precise: bool = False, diagnosis: bool = True, fusion: bool = True,
                policy: str | os.PathLike[str] | None = None, retries: int | None = None, strict: bool = False,
                actual: str | os.PathLike[str] | None = None, runtime: str | None = None, actual_name: str | None = None,
                reference: str | None = None, update_expectations: str | os.PathLike[str] | None = None) -> Report:
    """`grurun conformance`: runs the cases below the paths, in worker processes, and compares them with their expected outputs.

    Arguments are the command's flags. Raises UsageError where the command would end with exit code 2.
    """
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return Report.from_json(json_report("conformance", flags_of(
        k=k, jobs=jobs, max_time=max_time, max_memory=max_memory, rtol=rtol, atol=atol, expectations=expectations, min_cases=min_cases,
        seed=seed, fail_fast=fail_fast, precise=precise, no_diagnosis=not diagnosis, no_fusion=not fusion, policy=policy, retries=retries,
        strict=strict, actual=actual, runtime=runtime, actual_name=actual_name, reference=reference, update_expectations=update_expectations), listed))
