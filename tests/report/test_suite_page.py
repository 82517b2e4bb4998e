"""The page of a suite (--report html) in a browser without a screen: what it shows, and that it stays quick."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>document.title = 'taken over'</script><b>&"


def output(name, ok, shape, elements):
    worst = max(elements, key=lambda e: abs(float(e["actual"]) - float(e["expected"])), default=None)
    kind = f"tensor(float) [{','.join(map(str, shape))}]"
    return {"data_set": "test_data_set_0", "name": name, "ok": ok, "random": False, "actual_type": kind, "expected_type": kind,
            "problem": "", "rtol": 1e-3, "atol": 1e-7, "total": 96, "differing": len(elements), "non_finite": 0, "max_abs": 0.5,
            "max_rel": 0.25, "max_ulp": 4096, "first": worst, "worst": worst, "ulps": [0, 50, 8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 9],
            "elements": elements}


def case(i, verdict="passed", unexpected=False, message="", operators=("GRU",), opset=14, outputs=(), diagnosis=()):
    return {"name": f"test_{i}", "path": f"suite/kind_{i % 3}/test_{i}", "kind": f"kind_{i % 3}", "verdict": verdict,
            "unexpected": unexpected, "message": message, "seconds": 0.001 * (i % 50), "opsets": {"ai.onnx": opset},
            "operators": list(operators), "outputs": list(outputs), "diagnosis": list(diagnosis), "warnings": []}


def failing_case(i):
    elements = [{"where": "", "index": [t, 0, u], "actual": str(0.5 + 0.01 * t * u), "expected": "0.5"}
                for t in range(1, 12) for u in range(1, 8)]
    reason = {"kind": "mistake", "data_set": "test_data_set_0", "node": "graph/gru", "hypotheses": ["linear_before_reset"],
              "max_ulp": 2, "text": "GRU-14: with linear_before_reset 1 the outputs agree within 2 ULP"}
    return case(i, "differs", True, "output 'Y': 77 of 96 elements differ " + HOSTILE,
                outputs=[output("Y", False, [12, 1, 8], elements)], diagnosis=[reason])


def counts(cases, verdicts):
    return {verdict: sum(case["verdict"] == verdict for case in cases) for verdict in verdicts}


def with_cases(report, cases):
    """A report of a run with other cases in it, and their sums."""
    verdicts = list(report["summary"])
    operators, kinds = {}, {}
    for each in cases:
        kinds.setdefault(each["kind"], []).append(each)
        for operator in each["operators"]:
            operators.setdefault(operator, []).append(each)
    unexpected = sum(case["unexpected"] for case in cases)
    return report | {
        "cases": cases, "found": len(cases), "summary": counts(cases, verdicts), "unexpected": unexpected,
        "as_expected": unexpected == 0, "by_kind": {kind: counts(kinds[kind], verdicts) for kind in sorted(kinds)},
        "by_operator": {name: counts(operators[name], verdicts) for name in sorted(operators)}}


@unittest.skipUnless(BROWSER, "no Chromium is installed: apt-get install chromium")
class SuitePage(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def page(self, cases):
        case = ROOT / "testdata/microsoft/test_dynamic_quantize_lstm_clip"
        result = subprocess.run([BINARY, "conformance", case, "--report", "html=page.html"], capture_output=True, text=True,
                                cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        before, report, behind = re.fullmatch('(.*<script type="application/json" id="report">)(.*?)(</script>.*)',
                                              (self.folder / "page.html").read_text(), re.DOTALL).groups()
        text = json.dumps(with_cases(json.loads(report), cases)).replace("<", "\\u003c")
        (self.folder / "page.html").write_text(before + text + behind)
        return self.folder / "page.html"

    def browse(self, page, fragment="", *flags):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder / 'profile'}",
                   "--virtual-time-budget=2000", "--window-size=1280,1000", *flags, f"file://{page}{fragment}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def dom(self, page, fragment=""):
        text = self.browse(page, fragment, "--dump-dom").stdout
        return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)

    def test_what_it_shows(self):
        cases = [case(i, operators=("Relu", "GRU")) for i in range(30)] + [failing_case(31), case(32, "unsupported", opset=22)]
        page = self.page(cases)
        text = page.read_text()
        self.assertEqual(re.findall(r"(?:src|href)=[\"'](?!#|data:)[^\"']*", text), [], "nothing is fetched")
        dom = self.dom(page)
        self.assertIn("31 well", dom.replace("30 of 31 well", "31 well"))
        title = re.search(r"<title>(.*?)</title>", dom)[1]
        self.assertEqual(title, "✗ grurun conformance", "text of a case runs as no script")
        self.assertIn(html.escape(HOSTILE, quote=False), dom)
        for fragment in ('data-go="operator=GRU&amp;opset=14"', "30/31", "2^10", "why: test_data_set_0, graph/gru: GRU-14: with",
                         "77 of 96", "Greatest difference 0.7700", 'aria-label="Axis down"', "[11,0,7]"):
            self.assertIn(fragment, dom)

    def test_a_link_opens_its_case_and_filters(self):
        page = self.page([case(i) for i in range(300)] + [failing_case(301)])
        path = urllib.parse.quote("suite/kind_2/test_299", safe="")
        self.assertIn("suite/kind_2/test_299 · ", self.dom(page, f"#case={path}"))
        dom = self.dom(page, "#kind=kind_1&verdict=differs")
        self.assertIn("1 of 301", dom)
        self.assertIn("0 of 301", self.dom(page, "#query=nothing+like+this"))
        self.assertIn("is not among the cases", self.dom(page, "#case=suite%2Fgone"))

    def test_the_trend_against_a_former_run(self):
        now = [case(i) for i in range(5)] + [failing_case(5), case(6)]
        page = self.page(now)
        former = [case(i) for i in range(6)]
        former[1] |= {"verdict": "crashed", "unexpected": True}
        report = {"cases": former, "summary": {"passed": 5, "crashed": 1}}
        text = page.read_text().replace("</body>", f"<script>showTrend({json.dumps(report)});</script></body>")
        page.write_text(text)  # as if that report had been chosen
        dom = self.dom(page)
        for fragment in ("New failures: 1", "Fixed: 1", "New cases: 1"):
            self.assertIn(fragment, dom)

    def test_twenty_thousand_cases_stay_fluent(self):
        page = self.page([case(i, operators=(f"Op{i % 150}",), opset=7 + i % 18) for i in range(20_000)])
        begin = time.monotonic()
        dom = self.dom(page)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("20000 of 20000", dom)
        self.assertLess(dom.count('role="option"'), 60, "rows out of sight do not exist")


if __name__ == "__main__":
    unittest.main()
