"""What README.md and docs/ print behind `$ command` is what the command prints; pages are linked, short and up to date.

Left out of the comparison are times and rounding errors, which differ from machine to machine, and what a line `...` stands for. The
models of check.md and inspect.md are built in tests/cli, which compares these pages.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx
except ImportError:
    onnx = None

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
BUILT_ELSEWHERE = ("layer.onnx", "unrolled.onnx")
MADE_BY_PROGRAMS = ("coverage.md", "rules.md", "known-wrong.md", "releases.md", "foreign-suite.md")
END = "\x1e\n"

# The example on the page of GRUCell-3, whose B contradicts the page's text.
PAGE_EXAMPLE = """<net name="page" version="11"><layers>{}
<layer id="5" name="gru" type="GRUCell" version="opset3"><data hidden_size="128" linear_before_reset="true"/>
<input>{}</input><output><port id="5"><dim>1</dim><dim>128</dim></port></output></layer>
<layer id="6" name="out" type="Result" version="opset1"><input><port id="0"><dim>1</dim><dim>128</dim></port></input></layer>
</layers><edges>{}<edge from-layer="5" from-port="5" to-layer="6" to-port="0"/></edges></net>"""

# The block of bisect.md, whose second norm has an epsilon.
BLOCK = """<ir_version: 9, opset_import: ["" : 18]>
block (float[n,4] x) => (float[n,4] y) <float[4] ones = {1, 1, 1, 1}, float[4,4] w =
  {0.5, -1, 0.25, 1, -0.5, 0.75, 1, 0.5, 1, 0.25, -0.75, 0.5, 0.25, 1, 0.5, -1}> {
  [norm1] normed1 = LayerNormalization (x, ones)
  [mix] mixed = MatMul (normed1, w)
  [residual] summed = Add (mixed, x)
  [norm2] normed2 = LayerNormalization <epsilon = %s> (summed, ones)
  [soft] y = Softmax (normed2)
}"""


def page_example():
    shapes = [(1, 16), (1, 128), (384, 16), (384, 128), (768,)]
    dims = ["".join(f"<dim>{size}</dim>" for size in shape) for shape in shapes]
    parameter = ('<layer id="{0}" name="p{0}" type="Parameter" version="opset1"><data element_type="f32" shape="{1}"/>'
                 '<output><port id="0" precision="FP32">{2}</port></output></layer>')
    layers = [parameter.format(i, ",".join(map(str, shape)), dims[i]) for i, shape in enumerate(shapes)]
    ports = [f'<port id="{i}">{text}</port>' for i, text in enumerate(dims)]
    edges = [f'<edge from-layer="{i}" from-port="0" to-layer="5" to-port="{i}"/>' for i in range(len(shapes))]
    return PAGE_EXAMPLE.format("".join(layers), "".join(ports), "".join(edges))


def commands_of(page):
    """(command, what the page prints behind it), in order."""
    found = []
    for fenced, indented in re.findall(r"^```\w*\n(.*?)^```$|((?:^    [^\n]*\n)+)", page, re.MULTILINE | re.DOTALL):
        block = fenced or re.sub(r"^    ", "", indented, flags=re.MULTILINE)
        if block.startswith("$ "):
            found += [tuple((part.rstrip("\n") + "\n").split("\n", 1)) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return found


def anchors_of(page):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def comparable(text):
    text = re.sub(r"in \d+\.\d+ s\b", "in # s", text)
    text = re.sub(r"(max (?:abs|rel|ulp|ULP)) [-+.e\d]+", r"\1 #", text)
    text = re.sub(r"[.\d]+ ULP", "# ULP", text)
    text = re.sub(r"-?\d+\.\d{5,}", lambda number: f"{float(number[0]):.4g}", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def agrees(printed, page):
    pattern = ".*".join(re.escape(part) for part in re.split(r"^\.\.\.$", comparable(page), flags=re.MULTILINE))
    return re.fullmatch(pattern, comparable(printed), re.DOTALL) is not None


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Pages write files into testdata/recurrent: that folder is one of its own.
        (self.folder / "testdata/recurrent").mkdir(parents=True)
        for case in (ROOT / "testdata/recurrent").glob("test_*"):
            (self.folder / "testdata/recurrent" / case.name).symlink_to(case)
        for suite in ("microsoft", "openvino"):
            (self.folder / "testdata" / suite).symlink_to(ROOT / "testdata" / suite)
        (self.folder / "bin").mkdir()
        for name, program in (("grurun", BINARY), ("python3", sys.executable)):
            (self.folder / "bin" / name).write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "page_example.xml").write_text(page_example())
        (self.folder / "right.onnx").write_text(BLOCK % "1.0e-5")
        (self.folder / "wrong.onnx").write_text(BLOCK % "0.3")

    def outputs(self, commands):
        """One shell runs them all: a page may change folders and set variables."""
        script = "".join(f"{command}\nprintf '\\036\\n'\n" for command in commands)
        environment = os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", "exec 2>&1\n" + script], cwd=self.folder, env=environment, capture_output=True, text=True)
        return done.stdout.split(END)[:-1]

    def compare(self, name):
        """How many commands the page has that are run here."""
        shown = [(command, output) for command, output in commands_of((ROOT / name).read_text())
                 if not any(model in command for model in BUILT_ELSEWHERE)]
        outputs = self.outputs([command for command, _ in shown])
        self.assertEqual(len(outputs), len(shown), name)
        for (command, page), printed in zip(shown, outputs):
            with self.subTest(page=name, command=command):
                self.assertTrue(agrees(printed, page), f"the page shows\n{page}\nthe command prints\n{printed}")
        return len(shown)

    def test_commands_print_what_the_pages_show(self):
        pages = ["README.md"] + [f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "diagnosis.md"]
        self.assertGreaterEqual(sum(self.compare(page) for page in pages), 10)

    @unittest.skipIf(onnx is None, "needs Python's onnx and numpy, which scripts/setup puts into .venv")
    def test_diagnosis(self):
        mistakes = self.folder / "testdata/recurrent/mistakes"
        made = subprocess.run([sys.executable, ROOT / "tests/recurrent/mistakes.py", mistakes], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertGreaterEqual(self.compare("docs/diagnosis.md"), 6)


class Documents(unittest.TestCase):
    def test_readme_links_every_page(self):
        links = re.findall(r"\]\((docs/[^)#]+)", (ROOT / "README.md").read_text().partition("\n## More\n")[2])
        self.assertEqual(links[:2], ["docs/conformance.md", "docs/check.md"])
        self.assertEqual(sorted(links), sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))

    def test_the_menu_of_the_site_has_every_page(self):
        listed = re.findall(r"^ +- (?:.*: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
        pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
        self.assertEqual(sorted(listed), sorted([*pages, "cli.md"]))  # which scripts/build-site makes

    def test_links_lead_somewhere(self):
        broken = []
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
                file = page.parent / target if target else page
                if not file.exists() or (anchor and anchor not in anchors_of(file)):
                    broken.append(f"{page.name}: {target}#{anchor}")
        self.assertEqual(broken, [])

    def test_readme_tells_the_size_of_the_official_suite(self):
        version = re.search(r"^onnx==(.*)$", (ROOT / "scripts/requirements.txt").read_text(), re.MULTILINE)[1]
        size = (ROOT / f"testdata/expectations/onnx-{version}.size").read_text().strip()
        self.assertIn(f"All {size} official cases of onnx {version} pass", (ROOT / "README.md").read_text())

    def test_lines_are_short(self):
        """But for tables, blocks of code and what cannot be broken."""
        long = []
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
            text = re.sub(r"^```.*?^```$|^    [^\n]*$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            if page.name not in MADE_BY_PROGRAMS:
                long += [f"{page.name}: {line}" for line in text.splitlines()
                         if len(line) > 100 and " " in line.strip() and not line.lstrip().startswith("|")]
        self.assertEqual(long, [])

    def test_pages_begin_with_what_they_are_for_and_an_example(self):
        without = []
        for page in (ROOT / "docs").glob("*.md"):
            title, _, head = page.read_text().split("\n## ")[0].partition("\n\n")
            has_example = re.search(r"^(```|    \S)|[Ff]or\s+example", head, re.MULTILINE)
            if page.name not in MADE_BY_PROGRAMS and not (title.startswith("# ") and head.startswith("This page ") and has_example):
                without.append(page.name)
        self.assertEqual(without, [])

    def test_sizes(self):
        self.assertLessEqual(len((ROOT / "docs/performance.md").read_text().splitlines()), 150)
        releases = re.split(r"^(?=## )", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
        self.assertTrue(any(release.startswith("## 0.1.0\n") for release in releases))
        most = {"## Unreleased": 200}  # shortened when it is released
        sizes = {release.partition("\n")[0]: release.count("\n") for release in releases}
        self.assertEqual([title for title, lines in sizes.items() if lines > most.get(title, 60)], [])

    def test_tables_of_the_performance_page(self):
        made = subprocess.run([sys.executable, ROOT / "bench/tables.py", "--check"], capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stderr), (0, ""))

    def test_table_of_element_types(self):
        """It is the record's, each row above its limit has a reason, and each reason a row."""
        made = subprocess.run([sys.executable, ROOT / "bench/element_types.py", "--check"], capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stderr), (0, ""))


class Comparison(unittest.TestCase):
    def test_it_notices(self):
        self.assertTrue(agrees("a 0.123456\n9 cases in 0.02 s\n", "a 0.123457\n9 cases in 1.50 s\n"))
        self.assertTrue(agrees("a\nb\nc\n", "a\n...\nc\n"))
        for printed, page in (("a\nb\nc\n", "a\n...\nd\n"), ("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("0.12345", "0.12445"), ("a.c", "abc")):
            self.assertFalse(agrees(printed, page), (printed, page))
        self.assertEqual(commands_of("x\n```console\n$ a b\nc\nd\n$ e\n```\n    $ f\n    g\n"), [("a b", "c\nd\n"), ("e", ""), ("f", "g\n")])


if __name__ == "__main__":
    unittest.main()
