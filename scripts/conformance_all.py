"""Runs grurun conformance on the official cases of every release of ONNX that has a wheel, and says of each how its cases ended.

Most cases are the same in several releases, byte by byte: each is run once. The data of a release is fetched when it is not in
testdata/official yet. Exit status 1: a case neither passed nor is known to be wrong, or docs/releases.md says something else.

usage: conformance_all.py [--write] [ARGUMENT...]     --write: writes docs/releases.md; arguments are handed on to grurun conformance
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OFFICIAL_DATA = ROOT / "conformance" / "official"
sys.path.insert(0, str(OFFICIAL_DATA))

from onnx_data import RELEASES  # it stands beside the program that embeds it

OFFICIAL = ROOT / "testdata" / "official"
PAGE = ROOT / "docs" / "releases.md"
GOOD = ("passed", "passed-not-comparable", "known-wrong")


def obtain(release):
    folder = OFFICIAL / f"onnx-{release}"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, OFFICIAL_DATA / "onnx_data.py", "release", release, folder], check=True)


def digest(paths, folder, more=b""):
    made = hashlib.sha256(more)
    for path in sorted(paths):
        content = path.read_bytes()
        made.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return made.hexdigest()


def cases_of(folder):
    """{path of a case below the release's folder: digest of its files}"""
    found = {}
    for model in folder.glob("*/*/model.onnx"):
        case = model.parent
        found[case.relative_to(folder).as_posix()] = digest((p for p in case.rglob("*") if p.is_file()), folder)
    # Their tolerances stand in real/.
    tolerances = b"".join(p.read_bytes() for p in sorted(folder.glob("real/*/data.json")))
    for model in folder.glob("light/*.onnx"):
        files = [model, *model.parent.glob(f"{model.stem}_output_*.pb")]
        found[model.relative_to(folder).as_posix()] = digest(files, folder, tolerances)
    return found


def known_cases_of(release):
    """cases_of, remembered beside the data, which does not change."""
    folder = OFFICIAL / f"onnx-{release}"
    remembered = folder / "digests.json"
    if not remembered.exists():
        remembered.write_text(json.dumps(cases_of(folder), indent=0, sort_keys=True))
    return json.loads(remembered.read_text())


def run(paths, arguments):
    """{path: verdict}"""
    program = shlex.split(os.environ.get("GRURUN", "build/release/bin/grurun"))
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        done = subprocess.run([*program, "conformance", "--json", report, *arguments, *paths], cwd=ROOT)
        if not report.exists():
            sys.exit(done.returncode or 1)
        return {case["path"]: case["verdict"] for case in json.loads(report.read_text())["cases"]}


def page(table):
    total = [sum(column) for column in zip(*table.values())]
    rows = [(release, *counts) for release, counts in table.items()] + [("all", *total)]
    lines = ["# Official cases by release", "",
             "This page says how the official cases of each release of ONNX end, those that its Python wheel",
             "carries or builds. `make conformance-all`, which CI runs, fails when the page would be another. With",
             "`ARGS=--write` it writes the page. Cases known to be wrong contradict the standard:",
             "[known-wrong.md](known-wrong.md) proves each.", "",
             "| release | cases | passed | known to be wrong | other verdicts |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    arguments = [argument for argument in arguments if argument != "--write"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(obtain, RELEASES))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        releases = dict(zip(RELEASES, pool.map(known_cases_of, RELEASES)))
    first = {}  # (path below a release, digest): where it is
    for release, cases in releases.items():
        for path, key in cases.items():
            first.setdefault((path, key), f"testdata/official/onnx-{release}/{path}")
    verdicts = run(sorted(first.values()), arguments)
    table = {}
    for release, cases in releases.items():
        ends = [verdicts.get(first[case], "not run") for case in cases.items()]
        wrong = ends.count("known-wrong")
        others = sum(end not in GOOD for end in ends)
        table[release] = (len(ends), len(ends) - wrong - others, wrong, others)
    print(f"{'release':>8} {'cases':>6} {'passed':>6} {'known-wrong':>11} {'others':>6}")
    for release, counts in table.items():
        print("{:>8} {:>6} {:>6} {:>11} {:>6}".format(release, *counts))
    cases, passed, wrong, others = (sum(column) for column in zip(*table.values()))
    print(f"{len(table)} releases, {cases} cases, {len(first)} of them different: {passed} passed, {wrong} known to be wrong, "
          f"{others} neither")
    if write:
        PAGE.write_text(page(table))
    elif PAGE.read_text() != page(table):
        sys.exit("conformance-all: docs/releases.md says something else; make conformance-all ARGS=--write writes it anew")
    if others:
        sys.exit(1)


if __name__ == "__main__":
    main()
