"""What the GitHub action and the GitLab template run: `python -m grurun.ci conformance|check PATH...`.

It runs the command, leaves its reports in a folder, and tells the CI system: on GitHub as annotations and in the job's summary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from grurun._conformance import Report, command, environment

# GitHub shows so many annotations of a step.
_MOST_ANNOTATIONS = 10
_MOST_ROWS = 50


def _escaped(text: str, *, is_property: bool = False) -> str:
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")] + ([(":", "%3A"), (",", "%2C")] if is_property else [])
    for character, escape in pairs:
        text = text.replace(character, escape)
    return text


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def summary_of(report: Report) -> str:
    """The job's summary of a conformance run, as Markdown."""
    counts = [(verdict, count) for verdict, count in report.summary.items() if count]
    lines = [f"### grurun conformance: {'as expected' if report.ok else 'not as expected'}", "", "| verdict | cases |", "|---|---|"]
    lines += [f"| {verdict} | {count} |" for verdict, count in counts]
    unexpected = [case for case in report.cases if case.unexpected]
    if unexpected:
        lines += ["", "| case | verdict | |", "|---|---|---|"]
        lines += [f"| {_cell(case.full_name)} | {case.verdict} | {_cell(case.message)} |" for case in unexpected[:_MOST_ROWS]]
        if len(unexpected) > _MOST_ROWS:
            lines += ["", f"{len(unexpected) - _MOST_ROWS} more"]
    lines += [f"\nStale: {_cell(line)}" for line in report.data["stale_expectations"]]
    return "\n".join(lines) + "\n"


def annotations_of(report: Report) -> list[str]:
    unexpected = [case for case in report.cases if case.unexpected]
    lines = [f"::error title={_escaped(f'{case.full_name} {case.verdict}', is_property=True)}::{_escaped(case.message or 'it is to fail')}"
             for case in unexpected[:_MOST_ANNOTATIONS]]
    return lines + [f"::error title=stale expectation::{_escaped(line)}" for line in report.data["stale_expectations"]]


def _run(*arguments: str) -> int:
    sys.stdout.flush()
    return subprocess.run(command(*arguments), env=environment(), check=False).returncode


def _conformance(paths: Sequence[str], reports: Path, more: Sequence[str]) -> tuple[int, str, list[str]]:
    file = reports / "grurun.json"
    code = _run("conformance", *more, "--report", f"json={file}", "--report", f"junit={reports / 'grurun.xml'}", "--", *paths)
    if code not in (0, 1):
        return code, f"### grurun conformance: exit code {code}\n", [f"::error::grurun conformance ended with exit code {code}"]
    report = Report.from_json(file.read_bytes())
    return code, summary_of(report), annotations_of(report)


def _check(paths: Sequence[str], reports: Path, more: Sequence[str]) -> tuple[int, str, list[str]]:
    models = [str(found) for path in paths for found in ([Path(path)] if not Path(path).is_dir() else sorted(Path(path).rglob("*.onnx")))]
    if not models:
        print(f"no model is below {', '.join(paths)}", file=sys.stderr)
        return 2, "### grurun check: no model\n", ["::error::grurun check found no model"]
    notes = reports / "annotations.txt"
    code = _run("check", *more, "--report", "text=-", "--report", f"sarif={reports / 'grurun.sarif'}", "--report", f"github={notes}",
                "--report", f"json={reports / 'grurun.json'}", "--", *models)
    annotations = notes.read_text().splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    lines = [f"### grurun check: exit code {code}", "", f"{len(models)} models, {len(annotations)} findings"]
    return code, "\n".join(lines) + "\n", annotations


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grurun.ci", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["conformance", "check"])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--reports", type=Path, default=Path("grurun-reports"), help="folder of the reports (grurun-reports)")
    parser.add_argument("--flags", default="[]", help='more flags of the command, as a JSON list: ["-k", "gru"]')
    given = parser.parse_args(arguments)
    try:
        more = json.loads(given.flags or "[]")
    except json.JSONDecodeError:
        more = None
    if not isinstance(more, list) or not all(isinstance(flag, str) for flag in more):
        parser.error(f"--flags takes a JSON list of strings, not {given.flags}")
    given.reports.mkdir(parents=True, exist_ok=True)
    code, summary, annotations = {"conformance": _conformance, "check": _check}[given.command](given.paths, given.reports, more)
    if os.environ.get("GITHUB_ACTIONS"):
        print("\n".join(annotations))
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(file, "a", encoding="utf-8") as out:
            out.write(summary)
    return code


if __name__ == "__main__":
    sys.exit(main())
