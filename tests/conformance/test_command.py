"""grurun conformance as its users run it: flags, files and exit codes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
CASES = sorted(p.parent for p in ROOT.glob("testdata/**/model.onnx") if "official" not in p.parts)


def run(*arguments, cwd=None):
    return subprocess.run([BINARY, "conformance", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.assertGreaterEqual(len(CASES), 3, "testdata/ has cases")
        self.kind = self.folder / "kind"
        for case in CASES[:3]:
            shutil.copytree(case, self.kind / case.name)
        self.names = [case.name for case in CASES[:3]]

    def expect(self, code, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        if code == 2:
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result

    def break_case(self, name):
        """The expected output becomes that of another shape."""
        output = next((self.kind / name).glob("test_data_set_*")) / "output_0.pb"
        output.write_bytes(b"\x08\x01\x10\x01\x22\x04\x00\x00\x80\x3f")  # [1], float: 1

    def test_all_as_expected(self):
        result = self.expect(0, self.folder, "-j", "2", "--min-cases", "3")
        self.assertIn("3 cases in", result.stdout)
        self.assertIn("3 passed", result.stdout)
        self.assertEqual(result.stderr, "", "no progress bar where there is no terminal")

    def test_a_difference_is_named_and_fails(self):
        self.break_case(self.names[1])
        result = self.expect(1, self.folder)
        self.assertIn(f"differs      kind/{self.names[1]}: ", result.stdout)
        self.assertIn("2 passed, 1 differs; 1 not as expected", result.stdout)

    def test_reports(self):
        self.break_case(self.names[0])
        self.expect(1, self.folder, "--json", self.folder / "r.json", "--junit", self.folder / "r.xml")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["summary"]["passed"], 2)
        self.assertEqual(sum(report["summary"].values()), 3)
        self.assertEqual([case["name"] for case in report["cases"]], self.names)
        for case in report["cases"]:
            self.assertLessEqual({"name", "path", "kind", "verdict", "message", "seconds", "outputs"}, case.keys())
            self.assertEqual(case["kind"], "kind")
            self.assertTrue(os.path.isdir(case["path"]))
        self.assertLess(0, report["cases"][1]["outputs"][0]["total"])
        suites = xml.etree.ElementTree.parse(self.folder / "r.xml").getroot()
        self.assertEqual((suites.get("tests"), suites.get("failures"), suites.get("errors")), ("3", "1", "0"))
        self.assertIn("expected [1]", suites.find(".//failure").get("message"))

    def test_a_summary_that_other_commands_write_to_is_added_to(self):
        self.break_case(self.names[0])
        summary = self.folder / "summary.md"
        summary.write_text("# Of a step before\n")
        for _ in range(2):
            environment = os.environ | {"GITHUB_STEP_SUMMARY": str(summary)}
            result = subprocess.run([BINARY, "conformance", self.folder, "--report", f"markdown={summary}"],
                                    capture_output=True, text=True, env=environment)
            self.assertEqual(result.returncode, 1, result.stderr)
        text = summary.read_text()
        self.assertTrue(text.startswith("# Of a step before\n## Conformance: not as expected\n"), text)
        self.assertEqual(text.count(f"- **differs** kind/{self.names[0]}".replace("_", "\\_")), 2, text)
        self.expect(1, self.folder, "--report", f"markdown={summary}")
        self.assertTrue(summary.read_text().startswith("## Conformance"), "any other file is replaced")

    def test_annotations_for_github_are_ten_at_most(self):
        for i in range(12):
            shutil.copytree(self.kind / self.names[0], self.kind / f"test_%{i:02}")
            self.break_case(f"test_%{i:02}")
        lines = self.expect(1, self.folder, "--output-format", "github").stdout.splitlines()
        errors = [line for line in lines if line.startswith("::error ")]
        self.assertEqual(len(errors), 10)
        self.assertTrue(errors[0].startswith(f"::error file={self.kind}/test_%2500,title=differs kind/test_%2500::"), errors[0])
        self.assertIn("2 more annotations; the console report has all of them", lines[-1])

    def test_what_a_terminal_shows_while_cases_run(self):
        import fcntl
        import pty
        import struct
        import termios
        self.break_case(self.names[1])
        for columns, environment in ((30, {}), (80, {}), (80, {"CI": "true"})):
            try:
                parent, child = pty.openpty()
            except OSError as error:
                self.skipTest(f"this system opens no terminals: {error}")
            fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            variables = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
            result = subprocess.run([BINARY, "conformance", self.folder], stdout=subprocess.PIPE, stderr=child, text=True,
                                    env=variables | {"TERM": "xterm"} | environment)
            os.close(child)
            shown = b""
            try:
                while part := os.read(parent, 65536):
                    shown += part
            except OSError:  # its end
                pass
            os.close(parent)
            self.assertEqual(result.returncode, 1)
            self.assertNotIn("\x1b", result.stdout, "stdout is no terminal")
            if environment:
                self.assertEqual(shown, b"")
                continue
            lines = re.sub("\x1b\\[[0-9;]*[mK]", "", shown.decode()).replace("\r\n", "\n").splitlines()
            self.assertTrue(any(line.strip("\r").startswith("differs      kind/") for line in lines), lines)
            for line in shown.decode().split("\r"):
                plain = re.sub("\x1b\\[[0-9;]*[mK]", "", line).strip("\n")
                if re.search(r"\d/3", plain) and "kind/" not in plain:
                    self.assertLess(len(plain), columns)

    def test_a_report_on_standard_output_is_alone_there(self):
        self.break_case(self.names[0])
        result = self.expect(1, self.folder, "--json", "-")
        self.assertEqual(json.loads(result.stdout)["summary"]["differs"], 1)
        self.assertIn("2 passed, 1 differs", result.stderr)
        self.assertFalse(pathlib.Path("-").exists())
        result = self.expect(1, self.folder, "--junit", "-")
        self.assertEqual(xml.etree.ElementTree.fromstring(result.stdout).get("failures"), "1")
        self.assertIn("one of them", self.expect(2, self.folder, "--json", "-", "--junit", "-").stderr)

    @unittest.skipUnless(os.access("/dev/full", os.W_OK), "there is no /dev/full here")
    def test_a_report_that_cannot_be_written_is_told_after_the_verdicts(self):
        self.break_case(self.names[0])
        for flag, other in (("--json", "--junit"), ("--junit", "--json")):
            written = self.folder / ("other" + other)
            result = run(self.folder, flag, "/dev/full", other, written)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn(f"differs      kind/{self.names[0]}: ", result.stdout)
            self.assertIn("2 passed, 1 differs; 1 not as expected", result.stdout)
            self.assertEqual(result.stderr, "grurun: usage: /dev/full: the report could not be written\n")
            self.assertIn(self.names[0], written.read_text())
        result = run(self.folder, "--json", "/dev/full", "--junit", "-")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(xml.etree.ElementTree.fromstring(result.stdout).get("failures"), "1")
        self.assertTrue(result.stderr.endswith("grurun: usage: /dev/full: the report could not be written\n"))

    def test_a_reader_who_goes_away_changes_neither_the_verdict_nor_the_reports(self):
        self.break_case(self.names[0])
        for flags in ([], ["--json", "-", "--junit", self.folder / "r.xml"]):
            read, write = os.pipe()
            os.close(read)
            result = subprocess.run([BINARY, "conformance", self.folder, *flags], stdout=write, stderr=subprocess.PIPE)
            os.close(write)
            self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(xml.etree.ElementTree.parse(self.folder / "r.xml").getroot().get("failures"), "1")

    def test_expectations(self):
        self.break_case(self.names[0])
        listed = self.folder / "list.txt"
        listed.write_text(f"# why\n{self.names[0]} differs its output was broken\n")
        result = self.expect(0, self.folder, "--expectations", listed)
        self.assertIn("its output was broken", result.stdout)
        listed.write_text(f"{self.names[0]} unsupported wrong verdict\n")
        self.expect(1, self.folder, "--expectations", listed)
        listed.write_text(f"{self.names[0]} differs r\n{self.names[1]} differs but it passes\n")
        self.assertIn("remove that line", self.expect(1, self.folder, "--expectations", listed).stdout)
        listed.write_text(f"{self.names[0]} differs r\nno_such_case differs r\n")
        self.assertIn("'no_such_case' matches no case", self.expect(1, self.folder, "--expectations", listed).stdout)
        listed.write_text("a line\n")
        self.expect(2, self.folder, "--expectations", listed)

    def test_filter_and_list(self):
        result = self.expect(0, self.folder, "-k", self.names[2], "--list")
        self.assertEqual(result.stdout, f"kind/{self.names[2]}\t{self.kind / self.names[2]}\n")
        self.assertIn("1 case in", self.expect(0, self.folder, "-k", f"kind/{self.names[2]}").stdout)
        self.expect(2, self.folder, "-k", "no such case")

    def selected(self, *flags):
        return [line.split("\t")[0] for line in self.expect(0, self.folder, "--list", *flags).stdout.splitlines()]

    def test_selection_by_name_kind_operator_and_opset(self):
        import onnx.parser  # not at the top: all other tests do without
        other = self.folder / "other"
        for name, opset, node in (("test_a", 7, "Relu(X)"), ("test_b", 13, "If (c) <then_branch = g () => (float[2] y) "
                                  "{ y = Tanh(X) }, else_branch = h () => (float[2] y) { y = Relu(X) }>")):
            (other / name / "test_data_set_0").mkdir(parents=True)
            model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[2] X, bool c) => '
                                            f"(float[2] Y) {{ Y = {node} }}")
            onnx.save(model, other / name / "model.onnx")
        broken = other / "test_broken"
        (broken / "test_data_set_0").mkdir(parents=True)
        (broken / "model.onnx").write_bytes(b"no model")
        a, b, c = (f"other/test_{name}" for name in ("a", "b", "broken"))
        self.assertEqual(self.selected("-k", "test_a", "-k", "*broken"), [a, c])
        self.assertEqual(self.selected("--kind", "other"), [a, b, c])
        self.assertEqual(self.selected("--kind", "k*nd"), [f"kind/{name}" for name in self.names])
        other = ["--kind", "other"]
        self.assertEqual(self.selected(*other, "--op", "Tanh"), [b, c], "in a body; what cannot be read stays")
        self.assertEqual(self.selected(*other, "--op", "Tanh", "--op", "Relu"), [a, b, c])
        self.assertEqual(self.selected(*other, "--since", "8"), [b, c])
        self.assertEqual(self.selected(*other, "--until", "12"), [a, c])
        self.assertEqual(self.selected("-k", "test_a", "--since", "7", "--until", "7"), [a])
        self.assertIn("--op Tahn: no case holds it; did you mean 'Tan' or 'Tanh'?",
                      self.expect(2, self.folder, "--op", "Tahn").stderr)
        self.assertIn("-k test_a, --op Tanh leaves none of 6",
                      self.expect(2, self.folder, "-k", "test_a", "--op", "Tanh").stderr)
        self.assertIn("--since 9 is beyond --until 8", self.expect(2, self.folder, "--since", "9", "--until", "8").stderr)

    def test_no_case_and_too_few(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.assertIn("no case", self.expect(2, empty).stderr)
        self.assertIn("--min-cases", self.expect(2, self.folder, "--min-cases", "4").stderr)
        self.expect(2, self.folder / "missing")

    def test_no_case_says_what_stood_there_instead(self):
        model = self.folder / "empty" / "a" / "model.onnx"
        model.parent.mkdir(parents=True)
        model.write_bytes(b"")
        error = self.expect(2, self.folder / "empty").stderr
        self.assertIn(f"; a model without expected outputs: {model}\n", error)
        (self.folder / "empty" / "test_a").symlink_to("nowhere")
        error = self.expect(2, self.folder / "empty").stderr
        self.assertIn(f"; {self.folder}/empty/test_a: the symbolic link cannot be followed: No such file", error)

    def test_what_cannot_be_seen_fails_the_run(self):
        broken = self.kind / self.names[0] / "test_data_set_9"
        broken.symlink_to("nowhere")
        result = self.expect(1, self.folder, "-k", self.names[1], "--json", self.folder / "r.json")
        self.assertIn(f"invalid      {self.names[0]}/test_data_set_9: the symbolic link cannot be followed", result.stdout)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual([case["path"] for case in report["cases"]], [str(self.kind / self.names[1]), str(broken)])
        self.assertIn(str(broken), self.expect(0, self.folder, "--list").stdout)
        self.assertIn("--min-cases", self.expect(2, self.folder, "--min-cases", "4").stderr)
        listed = self.folder / "list.txt"
        listed.write_text("test_data_set_9 invalid to come\n")
        self.expect(0, self.folder, "--expectations", listed)

    @unittest.skipUnless(shutil.which("setpriv") if os.geteuid() == 0 else True, "root reads every folder")
    def test_folder_that_cannot_be_read_fails_the_run(self):
        closed = self.kind / self.names[0]
        os.chmod(self.folder, 0o755)
        closed.chmod(0)
        self.addCleanup(closed.chmod, 0o700)
        as_user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
        result = subprocess.run([*as_user, BINARY, "conformance", str(self.folder)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(f"invalid      kind/{self.names[0]}: the folder cannot be read: Permission denied", result.stdout)
        self.assertIn("3 cases in", result.stdout)

    def test_tolerances_that_cannot_be_read_fail_the_run(self):
        light = self.folder / "light"
        light.mkdir()
        shutil.copy(self.kind / self.names[0] / "model.onnx", light / "a.onnx")
        (light / "a_output_0.pb").write_bytes(b"")
        marker = self.folder / "real/test_a/data.json"
        marker.parent.mkdir(parents=True)
        for text, fails in (("{}", False), ('{"url": ', True)):
            marker.write_text(text)
            listed = self.folder / "list.txt"
            listed.write_text("light/* invalid no model of one output\n")
            result = self.expect(int(fails), light, "--expectations", listed)
            self.assertEqual(f"invalid      real/test_a: {light}/../real/test_a/data.json: no JSON" in result.stdout, fails, result.stdout)

    def test_expectations_that_are_written_are_met(self):
        for name in ("a b", "c[d", "e*f", "g\x1bh", "i\nj", "k\u00fcl", "m\\n"):
            shutil.copytree(self.kind / self.names[0], self.kind / name)
        for name in ["a b", "c[d", "e*f", "g\x1bh", "i\nj", "k\u00fcl", "m\\n", self.names[1]]:
            self.break_case(name)
        shutil.copytree(self.kind, self.folder / "other" / "kind")
        shutil.rmtree(self.folder / "other" / "kind" / "a b")
        self.expect(1, self.folder, "--json", self.folder / "r.json")
        listed = self.folder / "list.txt"
        subprocess.run([sys.executable, ROOT / "scripts/write-expectations", self.folder / "r.json", listed], check=True, capture_output=True)
        result = self.expect(0, self.folder, "--expectations", listed)
        self.assertIn("15 differs", result.stdout)

    def test_usage(self):
        for flags in (["--rtol", "-1"], ["--atol", "nan"], ["--max-time", "-1"], ["-j", "-2"], ["--no-such-flag"]):
            self.expect(2, self.folder, *flags)
        for flags in (["--max-time", "1e10"], ["--seed", "-1"], ["--min-cases", "-1"], ["--junit", ""], ["--list", "--json", "r"]):
            self.expect(2, self.folder, *flags)
        self.assertIn("both write", self.expect(2, self.folder, "--json", self.folder / "r", "--junit", self.folder / "r").stderr)
        self.expect(2, self.folder, "--json", self.folder / "missing" / "r.json")
        model = self.kind / self.names[0] / "model.onnx"
        before = model.read_bytes()
        self.assertIn("would write over what a case reads", self.expect(2, self.folder, "--json", model).stderr)
        self.assertEqual(model.read_bytes(), before)
        (self.folder / "empty").mkdir()
        self.assertIn("no case is below it", self.expect(2, self.kind, self.folder / "empty").stderr)
        self.expect(2)

    def test_a_limit_of_less_than_a_millisecond_is_no_longer_one(self):
        for limit in ("1e-9", "0.00001", "1e-300"):
            self.assertIn("3 timed-out", self.expect(1, self.folder, "--max-time", limit).stdout)
        for limit in ("0", "999999999"):
            self.assertIn("3 passed", self.expect(0, self.folder, "--max-time", limit).stdout)

    def test_links_and_single_cases(self):
        links = self.folder / "links"
        links.mkdir()
        (links / "test_linked").symlink_to(self.kind / self.names[0])
        self.assertIn("1 case in", self.expect(0, links).stdout)
        self.assertIn("1 case in", self.expect(0, links / "test_linked").stdout)
        self.assertIn("1 case in", self.expect(0, self.kind / self.names[0] / "model.onnx").stdout)
        (links / "test_in_part" / "test_data_set_1").mkdir(parents=True)
        for name in ("model.onnx", "test_data_set_0"):
            (links / "test_in_part" / name).symlink_to(self.kind / self.names[0] / name)
        for file in (self.kind / self.names[0] / "test_data_set_0").iterdir():
            (links / "test_in_part" / "test_data_set_1" / file.name).symlink_to(file)
        self.assertIn("2 passed", self.expect(0, links).stdout)
        result = run(".", cwd=self.kind / self.names[0])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_fail_fast(self):
        for name in self.names:
            self.break_case(name)
        result = self.expect(1, self.folder, "--fail-fast", "-j", "1")
        self.assertIn("2 not run (stopped at the first unexpected verdict)", result.stdout)

    def test_tolerances(self):
        self.expect(0, self.folder, "--rtol", "1e-2", "--atol", "1e-2")
        case = self.kind / self.names[0]
        (case / "data.json").write_text('{"rtol": 0.5}')
        self.expect(0, self.folder, "--json", self.folder / "r.json")
        outputs = json.loads((self.folder / "r.json").read_text())["cases"][0]["outputs"]
        self.assertEqual([output["rtol"] for output in outputs], [0.5] * len(outputs))


if __name__ == "__main__":
    unittest.main()
