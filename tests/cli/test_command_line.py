"""The command line as people meet it: help, misspelt words, completions, many models, shapes without a name."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import onnx.parser

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
COMMANDS = ("conformance", "report", "bench", "check", "schema", "inspect", "ops")


def model(text):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}').SerializeToString()


RELU = model("g (float[n] X) => (float[n] Y) { Y = Relu(X) }")
ADD = model("g (float[n] X, float[m] Z) => (float[k] Y) { Y = Add(X, Z) }")
BROKEN = model("g (float[2] X) => (float[2] Y) { Y = Elu <aplha = 1.0> (X) }")
# Two nodes of one name: a warning, and no error.
WARNED = model("g (float[2] X) => (float[2] Y) { [n] q = Relu(X) [n] Y = Relu(q) }")


class CommandLine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def grurun(self, *arguments, code=0):
        result = subprocess.run([BINARY, *arguments], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def fails(self, *arguments, code=2):
        """One line on stderr, and nothing on stdout."""
        result = self.grurun(*arguments, code=code)
        self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1), result.stdout + result.stderr)
        return result.stderr


class Help(CommandLine):
    def test_help_of_a_command_is_that_of_its_flag(self):
        for command in COMMANDS:
            self.assertEqual(self.grurun("help", command).stdout, self.grurun(command, "--help").stdout)
        self.assertEqual(self.grurun("help").stdout, self.grurun("--help").stdout)

    def test_help_of_what_is_no_command(self):
        self.assertIn("there is no command 'chek'; did you mean 'check'?", self.fails("help", "chek"))
        self.assertIn("one command", self.fails("help", "check", "ops"))

    def test_a_misspelt_command_flag_or_file_is_told_what_was_meant(self):
        self.write("a/relu.onnx", RELU)
        for arguments, meant in (
            (["chek", "a/relu.onnx"], "'check'"),
            (["inspct"], "'inspect'"),
            (["check", "a/relu.onnx", "--selct", "GRU"], "'--select'"),
            (["a/relu.onnx", "--sed=3"], "'--seed' or '--set'"),
            (["a/relu.onx"], "'a/relu.onnx'"),
            (["inspect", "a/rely.onnx"], "'a/relu.onnx'"),
            (["check", "a/rely.onnx"], "'a/relu.onnx'"),
            (["conformance", "b"], "'a'"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(f"did you mean {meant}?", self.fails(*arguments))

    def test_a_file_named_nearly_like_a_command_is_that_file(self):
        self.write("chek", RELU)
        self.assertIn("Y  tensor", self.grurun("chek", "--set", "n=2").stdout)


class Completions(CommandLine):
    def bash(self, *words):
        """What bash offers for the last of the words."""
        script = self.folder / "completions"
        script.write_text(self.grurun("completions", "bash").stdout)
        ask = f'. "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _grurun; printf "%s\\n" "${{COMPREPLY[@]}}"'
        result = subprocess.run(["bash", "-euc", ask, "bash", *words], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_bash_offers_commands_flags_and_files(self):
        self.write("conf.onnx", RELU)
        self.assertEqual(sorted(self.bash("grurun", "conf")), ["conf.onnx", "conformance"])
        self.assertEqual(self.bash("grurun", "check", "--sel"), ["--select"])
        self.assertEqual(self.bash("grurun", "m.onnx", "--save-inp"), ["--save-inputs"])
        self.assertEqual(self.bash("grurun", "help", "insp"), ["inspect"])
        self.assertEqual(self.bash("grurun", "report", "re"), ["render", "rejudge"])

    def flags_of(self, *command):
        return set(re.findall(r"^  (?:-\w,)?(--[-\w]+)", self.grurun(*command, "--help").stdout, re.MULTILINE))

    def test_every_flag_of_every_command_is_in_all_of_them(self):
        flags = self.flags_of().union(*(self.flags_of(command) for command in COMMANDS))
        self.assertGreater(len(flags), 40)
        manual = self.grurun("manual").stdout.replace("\\-", "-")
        texts = {shell: self.grurun("completions", shell).stdout for shell in ("bash", "zsh", "fish")}
        for flag in flags:
            for text in (manual, texts["bash"], texts["zsh"]):
                self.assertIn(flag, text)
            self.assertIn(f" -l {flag[2:]} ", texts["fish"])
        self.assertIn("'tcsh' is none of", self.fails("completions", "tcsh"))

    def test_shells_can_read_them(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                if shutil.which(shell) is None:
                    self.skipTest(f"{shell} is not installed: apt-get install {shell}")
                script = self.folder / shell
                script.write_text(self.grurun("completions", shell).stdout)
                result = subprocess.run([shell, "-n", script], capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed: apt-get install fish")
    def test_fish_completes(self):
        (self.folder / "grurun.fish").write_text(self.grurun("completions", "fish").stdout)

        def completed(line):
            result = subprocess.run(["fish", "--no-config", "-c", f"source grurun.fish; complete -C '{line}'"], capture_output=True, text=True,
                                    cwd=self.folder)
            return [each.split("\t")[0] for each in result.stdout.splitlines()]

        self.assertEqual(completed("grurun confor"), ["conformance"])
        self.assertEqual(completed("grurun check --sel"), ["--select"])
        self.assertEqual(completed("grurun report mer"), ["merge"])
        self.assertEqual(completed("grurun report merge --rep"), ["--report"])

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_the_man_page_is_right(self):
        page = self.grurun("manual").stdout
        result = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        shown = re.sub("\x1b\\[[0-9;]*m|.\x08", "", result.stdout)
        for text in ("grurun check [OPTIONS] MODEL...", "--fail-on", "  grurun model.onnx --set batch=4 --seed 7"):
            self.assertIn(text, shown)


class ManyModels(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("m/a.onnx", RELU)
        self.write("m/deep/er/b.onnx", ADD)
        self.write("m/deep/c.onnx", BROKEN)
        self.write("m/deep/readme.txt", b"no model")

    def test_check_takes_folders(self):
        result = self.grurun("check", "m", "--severity", "error", "-j", "2", code=3)
        lines = result.stdout.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["m/a.onnx", "m/deep/c.onnx", "m/deep/c.onnx",
                                                                  "m/deep/er/b.onnx", "3 models checked, 1 with errors"])
        self.assertEqual(result.stderr, "")
        alone = json.loads(self.grurun("check", "m/deep/c.onnx", "--output-format", "json", code=3).stdout)["models"]
        together = json.loads(self.grurun("check", "m", "--output-format", "json", code=3).stdout)["models"]
        self.assertEqual(together[1], alone[0])

    def test_what_cannot_be_read_is_told_once_and_keeps_nothing_from_being_checked(self):
        self.write("m/bad.onnx", b"this is no model\n")
        result = self.grurun("check", "m", code=3)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertNotIn("bad.onnx", result.stdout)
        self.assertIn("3 models checked, 1 with errors, 1 could not be read", result.stdout)
        result = self.grurun("inspect", "m", code=3)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual(len(re.findall("^m/", result.stdout, re.MULTILINE)), 3)

    def test_a_folder_without_models(self):
        self.write("empty/readme.txt", b"")
        for command in ("check", "inspect"):
            self.assertIn("no model is below", self.fails(command, "empty"))

    def test_inspect_makes_one_report_of_many(self):
        models = json.loads(self.grurun("inspect", "m", "--set", "n=3", "--output-format", "json").stdout)["models"]
        self.assertEqual([entry["path"] for entry in models], ["m/a.onnx", "m/deep/c.onnx", "m/deep/er/b.onnx"])
        self.assertEqual([entry["inputs"][0]["shape"] for entry in models], [[3], [2], [3]])
        alone = json.loads(self.grurun("inspect", "m/deep/c.onnx", "--output-format", "json").stdout)
        self.assertEqual(models[1], alone)
        self.assertIn("no model has an input with this dimension", self.fails("inspect", "m", "--set", "zz=3"))

    def test_fail_on(self):
        self.write("warned.onnx", WARNED)
        result = self.grurun("check", "warned.onnx")
        code = re.search(r"warning (\w+)", result.stdout)[1]
        for value in ("warning", "note", code, code[:5], "GRU," + code):
            self.grurun("check", "warned.onnx", "--fail-on", value, code=3)
        self.grurun("check", "warned.onnx", "--fail-on", "error")
        self.grurun("check", "warned.onnx", "--fail-on", "GRU065")
        self.grurun("check", "warned.onnx", "--fail-on", "warning", "--ignore", code)
        self.assertIn("--fail-on: no code begins with 'x'", self.fails("check", "warned.onnx", "--fail-on", "x"))


class InputShapes(CommandLine):
    def test_a_shape_without_a_name_is_that_of_the_only_input(self):
        self.write("relu.onnx", RELU)
        self.write("add.onnx", ADD)
        self.write("two.onnx", model("g (float[n,m] X) => (float[n,m] Y) { Y = Relu(X) }"))
        for shape in ("[3]", "3", "X:[3]"):
            self.assertIn("Y  tensor(float) [3]", self.grurun("relu.onnx", "--input-shapes", shape, "-q").stdout)
        for shape in (["--input-shapes", "[2,3]"], ["--input-shapes=[2,3]"], ["--input-shapes", "X:[2,3]"]):
            self.assertIn("Y  tensor(float) [2,3]", self.grurun("two.onnx", *shape, "-q").stdout)
        self.assertIn("the model has 2 inputs; name the one that is meant, as in X:[3]",
                      self.fails("add.onnx", "--input-shapes", "[3]"))


if __name__ == "__main__":
    unittest.main()
