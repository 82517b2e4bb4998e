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


def renamed(case, i, **changes):
    """A case of a real report under another name."""
    return case | {"name": f"test_{i}", "path": f"suite/kind_{i % 3}/test_{i}", "kind": f"kind_{i % 3}",
                   "seconds": 0.001 * (i % 50)} | changes


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
    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        cls.profile = profile.name  # a browser with a profile starts sooner

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def mistaken_case(self, name="test_mistaken"):
        """A GRU whose exporter forgot linear_before_reset; its expected outputs are right."""
        folder = self.folder / "cases" / name
        shutil.copytree(ROOT / "testdata/recurrent/test_export_no_bias_batch_3_gru", folder)
        attribute = b"\x0a\x13linear_before_reset\x18"
        model = (folder / "model.onnx").read_bytes()
        self.assertIn(attribute + b"\1", model)
        (folder / "model.onnx").write_bytes(model.replace(attribute + b"\1", attribute + b"\0"))

    def good_case(self, name):
        shutil.copytree(ROOT / "testdata/recurrent/test_gru_14_float_everything", self.folder / "cases" / name)

    def run_suite(self, *flags, exit_code):
        result = subprocess.run([BINARY, "conformance", "cases", "--report", "html=page.html", "--report", "json=report.json",
                                 "--report", "markdown=page.md", *flags], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(result.returncode, exit_code, result.stderr)
        return self.folder / "page.html"

    def many(self, count):
        """The page of a real report, its cases many times over."""
        self.good_case("test_good")
        self.mistaken_case()
        page = self.run_suite("--values", "differing", exit_code=1)
        before, report, behind = re.fullmatch('(.*<script type="application/json" id="report">)(.*?)(</script>.*)',
                                              page.read_text(), re.DOTALL).groups()
        report = json.loads(report)
        good, bad = sorted(report["cases"], key=lambda each: each["unexpected"])
        cases = [renamed(good, i, operators=[f"Op{i % 150}"], opsets={"ai.onnx": 7 + i % 18}) for i in range(count - 1)]
        cases.append(renamed(bad, count, message=bad["message"] + HOSTILE))
        # To print tens of megabytes takes the browser longer than to show them: the report leaves when it has been read.
        behind = behind.replace("</body>", "<script>document.getElementById('report').remove();</script></body>")
        page.write_text(before + json.dumps(with_cases(report, cases)).replace("<", "\\u003c") + behind)
        return page

    def browse(self, page, fragment="", *flags):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.profile}",
                   "--virtual-time-budget=2000", "--window-size=1280,1000", *flags, f"file://{page}{fragment}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def dom(self, page, fragment=""):
        text = self.browse(page, fragment, "--dump-dom").stdout
        return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)

    def test_a_case_that_differs(self):
        self.good_case("test_good")
        self.mistaken_case()
        page = self.run_suite("--values", "differing", exit_code=1)
        text = page.read_text()
        self.assertEqual(re.findall(r"(?:src|href)=[\"'](?!#|data:)[^\"']*", text), [], "nothing is fetched")
        cases = json.loads((self.folder / "report.json").read_text())["cases"]
        output = next(case for case in cases if case["verdict"] == "differs")["outputs"][0]
        differences = [abs(float(each["actual"]) - float(each["expected"])) for each in output["elements"]]
        dom = self.dom(page)
        self.assertEqual(re.search(r"<title>(.*?)</title>", dom)[1], "✗ grurun conformance")
        for fragment in ('data-go="operator=GRU&amp;opset=14"', ">1/2<", "with linear_before_reset = 1", 'aria-label="Axis down"',
                         f"{output['differing']} of {output['total']}", "Asked: rtol 0.00001, atol 0.000001; ", " would pass"):
            self.assertIn(fragment, dom)
        greatest = re.search(r"Greatest difference ([\d.]+); dark: equal", dom)
        self.assertAlmostEqual(float(greatest[1]), max(differences), delta=1e-4)
        canvas = re.search(r"<canvas [^>]*Differences of Y, axis 0 down, axis 3 across[^>]*>", dom)
        self.assertIsNotNone(canvas, "time goes down, units across")
        chart = re.search(r'<svg [^>]*aria-label="Elements of Y by distance: ([^"]*)"', dom)[1]
        counted = [int(part.split()[0]) for part in chart.split(", ")]
        self.assertEqual(counted, [n for n in output["ulps"] if n], "a bar for each distance that occurs")
        self.assertEqual(sum(counted), output["unequal"])

    def test_elements_that_were_not_kept_are_told(self):
        self.mistaken_case()
        self.assertIn("only the first 4 of", self.dom(self.run_suite("--values", "differing=4", exit_code=1)))

    def test_the_rule_the_bounds_and_the_attempts(self):
        self.mistaken_case()
        (self.folder / "policy.toml").write_text('[[rule]]\ncase = "*"\nmax_ulp = 3\nreason = "as <agreed>"\n')
        (self.folder / "list.txt").write_text("test_mistaken  differs max_abs=1e-3  known since spring\n")
        page = self.run_suite("--policy", "policy.toml", "--expectations", "list.txt", "--retries", "1", exit_code=1)
        dom, markdown = self.dom(page), (self.folder / "page.md").read_text()
        for fragment in ("Judged by policy.toml:1: as &lt;agreed&gt;", "3 ULP", "differs within max_abs=0.001", "Run again, and it never"):
            self.assertIn(fragment, dom)
        self.assertIn("--values differing shows an image", dom)
        self.assertNotIn("<canvas", dom)
        for fragment in ("judged by policy.toml:1: as &lt;agreed>", "bounds of the list: max\\_abs=0.001", "run again: differs at run 2"):
            self.assertIn(fragment, markdown)

    def test_what_a_policy_leaves_unused(self):
        self.good_case("test_good")
        (self.folder / "policy.toml").write_text('[[rule]]\noutput = "no"\nmax_ulp = 3\nreason = "none"\n')
        page = self.run_suite("--policy", "policy.toml", exit_code=1)
        self.assertIn("unused of the policy: policy.toml:1", self.dom(page))
        self.assertIn("### Unused rules of the policy\n\n- policy.toml:1: ", (self.folder / "page.md").read_text())

    def test_a_link_opens_its_case_and_filters(self):
        page = self.many(300)
        path = urllib.parse.quote("suite/kind_1/test_298", safe="")
        self.assertIn("suite/kind_1/test_298 · ", self.dom(page, f"#case={path}"))
        self.assertIn("1 of 300", self.dom(page, "#kind=kind_0&verdict=differs"))
        dom = self.dom(page, "#query=nothing+like+this&case=suite%2Fgone")
        self.assertIn("0 of 300", dom)
        self.assertIn("is not among the cases", dom)

    def test_the_trend_against_a_former_run(self):
        for name in ("test_gone", "test_kept", "test_breaks"):
            self.good_case(name)
        self.mistaken_case("test_mended")
        self.mistaken_case("test_worse")
        self.run_suite(exit_code=1)
        (self.folder / "report.json").rename(self.folder / "old.json")
        cases = self.folder / "cases"
        for name in ("test_gone", "test_breaks", "test_mended"):
            shutil.rmtree(cases / name)
        self.mistaken_case("test_breaks")
        self.good_case("test_mended")
        self.good_case("test_added")
        # The last byte is the sign and exponent of the last float: what is expected there is in the thousands.
        expected = cases / "test_worse/test_data_set_0/output_0.pb"
        expected.write_bytes(expected.read_bytes()[:-1] + b"\x45")
        page = self.run_suite("--compare-to", "old.json", exit_code=1)
        dom, markdown = self.dom(page), (self.folder / "page.md").read_text()
        for fragment in ("Since old.json.", "New failures: 1", "Fixed: 1", "New cases: 1", "Worse: 1", "Gone: 1"):
            self.assertIn(fragment, dom)
        for fragment in ("### Since old.json\n", "- **new** cases/test\\_breaks", "- **worse** cases/test\\_worse: max\\_abs",
                         "- **fixed** cases/test\\_mended", "- **gone** cases/test\\_gone"):
            self.assertIn(fragment, markdown)

    def test_twenty_thousand_cases_stay_fluent(self):
        page = self.many(20_000)
        begin = time.monotonic()
        dom = self.dom(page)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("20000 of 20000", dom)
        self.assertEqual(re.search(r"<title>(.*?)</title>", dom)[1], "✗ grurun conformance", "text of a case runs as no script")
        self.assertIn(html.escape(HOSTILE, quote=False), dom)
        self.assertLess(dom.count('role="option"'), 60, "rows out of sight do not exist")


if __name__ == "__main__":
    unittest.main()
