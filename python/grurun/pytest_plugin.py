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
    group.addoption("--grurun-random", action="store_true", help="let outputs pass by their distribution that a random operator reaches")
    group.addoption("--grurun-strict", action="store_true", help="refuse the forms that the standard forbids and that are taken with a warning")


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
        report = conformance(self.case_path, jobs=1, expectations=expectations, random=self.config.getoption("--grurun-random"),
                             strict=self.config.getoption("--grurun-strict"))
        (case,) = report.cases
        said = f"{case.verdict}: {case.message}" if case.message else case.verdict
        self.add_report_section("call", "grurun", said)
        listed = report.data["cases"][0].get("expectation", {})
        if not case.unexpected:
            if listed:
                pytest.xfail(f"{case.verdict}, as {expectations}:{listed['line']} says: {listed['reason']}")
            return
        if listed and listed["verdict"] != case.verdict:
            said = f"{expectations}:{listed['line']} says {listed['verdict']}, but it is {said}"
        elif case.note:
            said = f"{case.note}\n{said}"
        lines = [said]
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


class StaleExpectations(pytest.Item):
    """Fails: lines of the expectations that decide for no case. There is one where there are such lines."""

    def __init__(self, *, lines: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.lines = lines

    def runtest(self) -> None:
        raise CaseFailed("\n".join(self.lines))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Any, None, str]:
        return self.path, None, f"grurun {self.name}"


def _stale(config: pytest.Config) -> list[str]:
    """The stale lines, found by the command. It judges them by all cases, but has to run one."""
    from grurun import conformance

    folders = config.getoption("--grurun")
    expectations = config.getoption("--grurun-expectations")
    cases = [case for folder in folders for case in _cases(folder)]
    if not expectations or not cases:
        return []
    name = cases[0][0]
    only = f"[{name[0]}]{name[1:]}" if name.count("/") == 1 else name
    return conformance(folders, k=only, jobs=1, expectations=expectations, strict=config.getoption("--grurun-strict")).data["stale_expectations"]


def pytest_collection(session: pytest.Session) -> None:
    for folder in session.config.getoption("--grurun"):
        _cases(folder)  # what cannot be collected is told before anything runs


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    for folder in config.getoption("--grurun"):
        suite = GrurunSuite.from_parent(session, name=f"grurun:{folder}", nodeid=f"grurun:{folder}", folder=folder)
        items.extend(suite.collect())
    if lines := _stale(config):
        items.append(StaleExpectations.from_parent(session, name="stale expectations", nodeid="grurun:stale expectations", lines=lines))


@pytest.fixture
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """grurun.testing.gate; the case that reproduces a failure is below pytest's folder of the test."""
    from grurun.testing import bound_gate, fixture_folder

    return bound_gate(fixture_folder(request, tmp_path_factory))
