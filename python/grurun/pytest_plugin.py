"""The plugin of pytest: `pytest --grurun DIR` collects conformance cases as tests, and the fixture `gate` is grurun.testing.gate."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("grurun", "conformance cases of ONNX models")
    group.addoption("--grurun", action="append", default=[], metavar="DIR", help="collect the conformance cases below DIR as tests")
    group.addoption("--grurun-expectations", metavar="FILE", help="cases that may fail, as grurun conformance --expectations takes it")


class CaseFailed(Exception):
    """A case that did not end as expected."""


class GrurunCase(pytest.Item):
    """One conformance case."""

    def __init__(self, *, case_path: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case_path = case_path

    def runtest(self) -> None:
        from grurun import conformance

        expectations = self.config.getoption("--grurun-expectations")
        report = conformance(self.case_path, jobs=1)
        (case,) = report.cases
        self.add_report_section("call", "grurun", f"{case.verdict}: {case.message}" if case.message else case.verdict)
        listed = _listed(self.config, self.name, self.case_path) if expectations else None
        if case.verdict == (listed or case.verdict) and (listed or case.passed):
            if listed:
                pytest.xfail(f"{case.verdict}, as {expectations} says")
            return
        lines = [f"{case.verdict}: {case.message}" if case.message else case.verdict]
        if listed:
            lines[0] = f"{expectations} says {listed}, but it is {lines[0]}"
        lines += [f"  {each['node']}: {each['kind']} {each['text']}" for each in case.diagnosis]
        lines += [f"  warning {each['code']}: {each['text']}" for each in case.warnings]
        raise CaseFailed("\n".join(lines))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, None, str]:
        return self.path, None, f"grurun {self.name}"


class GrurunSuite(pytest.Collector):
    """The cases below a folder."""

    def __init__(self, *, folder: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.folder = folder

    def collect(self) -> Iterator[GrurunCase]:
        for name, path in _cases(self.folder):
            yield GrurunCase.from_parent(self, name=name, case_path=path)


def _cases(folder: str) -> list[tuple[str, str]]:
    from grurun._conformance import command, environment

    done = subprocess.run(command("conformance", "--list", "--", folder), capture_output=True, text=True, env=environment(), check=False)
    if done.returncode != 0:
        raise pytest.UsageError(f"--grurun {folder}: {done.stderr.strip().removeprefix('grurun: ')}")
    pairs = [tuple(line.split("\t", 1)) for line in done.stdout.splitlines()]
    names = [name for name, _ in pairs]
    return [(path if names.count(name) > 1 else name, path) for name, path in pairs]


def _listed(config: pytest.Config, name: str, path: str) -> str | None:
    """The verdict that the expectations list for a case: asked of the command, whose patterns these are."""
    from grurun._conformance import conformance

    report = conformance(path, jobs=1, expectations=config.getoption("--grurun-expectations"))
    return report.data["cases"][0].get("expectation", {}).get("verdict")


def pytest_collection(session: pytest.Session) -> None:
    for folder in session.config.getoption("--grurun"):
        _cases(folder)  # what cannot be collected is told before anything runs


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    for folder in config.getoption("--grurun"):
        suite = GrurunSuite.from_parent(session, name=f"grurun:{folder}", nodeid=f"grurun:{folder}", folder=folder)
        items.extend(suite.collect())


@pytest.fixture
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """grurun.testing.gate; the case that reproduces a failure is below pytest's folder of the test."""
    from grurun.testing import bound_gate, fixture_folder

    return bound_gate(fixture_folder(request, tmp_path_factory))
