"""What code of a stranger tries in every command: each process of it that reads files is in a sandbox, where all of it is denied."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"])
GRURUN = os.environ["GRURUN_BINARY"]
COMPILER = shutil.which(os.environ.get("CC", "cc"))
SECRET = "GRURUN_TEST_SECRET"
# No sandbox stands around Python, and no flag says so.
STARTS_PROGRAMS = ["data"]
# Cases may be links: whoever looks for them reads whatever is not the system's, by any way to it.
OF_LEADERS = {"read root/etc/passwd of itself", "read cwd/secret of itself"}


def sandbox_of_this_system():
    details = subprocess.run([GRURUN, "-v"], capture_output=True, text=True, check=True).stdout
    return next((line for line in details.splitlines() if "sandbox" in line.lower()), "")


@unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "the sanitizers start and trace processes themselves")
@unittest.skipUnless(COMPILER, "a C compiler makes the library that attacks")
@unittest.skipUnless("Landlock" in sandbox_of_this_system() and "seccomp" in sandbox_of_this_system(), "this kernel has less than a whole sandbox")
class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="grurun-attacks-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.library = cls.folder / "probe_sandbox.so"
        subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", cls.library, pathlib.Path(__file__).with_name("probe_sandbox.c")], check=True)
        case = next(path.parent for path in sorted((ROOT / "testdata/recurrent").rglob("model.onnx")))
        cls.case = cls.folder / "suite" / "case"
        shutil.copytree(case, cls.case)
        (cls.folder / "secret").write_text("secret")
        (cls.folder / "reports").mkdir()
        subprocess.run([GRURUN, "conformance", cls.folder / "suite", "--shard", "1/1", "--json", cls.folder / "reports" / "report.json"], capture_output=True, check=True)

    def commands(self):
        """Every command: its arguments, and how many processes read what strangers wrote."""
        model, data, report = self.case / "model.onnx", self.case / "test_data_set_0", self.folder / "reports" / "report.json"
        out = next(data.glob("output_0.*"))
        strict = ["--sandbox", "strict"]
        return {
            "": ([model, "-q", *strict], 1),
            "check": ([model, *strict], 1),
            "check of several": (["check", model, model, "-j", "1", *strict], 2),
            "check of a folder": (["check", self.folder / "suite", "-j", "1", *strict], 2),
            "check --list-rules": (["check", "--list-rules", *strict], 1),
            "inspect": ([model, *strict], 1),
            "inspect of several": (["inspect", model, model, "-j", "1", *strict], 2),
            "conformance": ([self.folder / "suite", "-j", "1", *strict], 2),
            "conformance of some": (["conformance", self.folder / "suite", "-j", "1", "--since", "1", *strict], 3),
            "conformance --list": (["conformance", self.folder / "suite", "--list", *strict], 1),
            "bench": ([model, "--runs", "1", "--min-time", "0", *strict], 1),
            "bisect": ([model, "--inputs", data, "--against", "precise", *strict], 1),
            "diff": ([model, model, "--inputs", data, *strict], 1),
            "generate": ([model, "-o", self.folder / "generated", *strict], 1),
            "node": (["GRU", "-o", self.folder / "node", *strict], 1),
            "reduce": ([model, "--inputs", data, "--expected", data, "-o", self.folder / "reduced", *strict], 1),
            "compare": ([out, out, *strict], 1),
            "report": (["show", report, *strict], 1),
            "report diff": (["report", "diff", report, report, *strict], 1),
            "report headroom": (["report", "headroom", report, *strict], 1),
            "report rejudge": (["report", "rejudge", report, *strict], 1),
            "report merge": (["report", "merge", report, *strict], 1),
            "report render": (["report", "render", report, *strict], 1),
            "schema": (["GRU"], 1),
            "ops": (["GRU"], 1),
            "completions": (["bash"], 1),
            "manual": ([], 1),
        }

    def attacked(self, name, arguments):
        """Lines of the probe by role and process."""
        command = [GRURUN, *([name] if name and " " not in name else []), *map(str, arguments)]
        for made in ("generated", "node", "reduced"):
            shutil.rmtree(self.folder / made, ignore_errors=True)
        environment = os.environ | {"LD_PRELOAD": str(self.library), SECRET: "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=self.folder, check=False)
        self.assertIn(done.returncode, (0, 1), f"{command}: {done.stderr[-500:]}")
        self.assertNotIn(SECRET, done.stdout + done.stderr, command)
        lines = {}
        for process, line in re.findall(r"^probe (\w+ \d+): (.*)$", done.stderr, re.MULTILINE):
            lines.setdefault(process, []).append(line)
        return lines

    def test_every_command_denies_them_in_every_process(self):
        wrong = []
        for name, (arguments, processes) in self.commands().items():
            lines = self.attacked(name, arguments)
            if len(lines) != processes:
                wrong.append(f"{name or 'a run'}: {len(lines)} processes in a sandbox, not {processes}")
            for process, attempts in lines.items():
                self.assertGreater(len(attempts), 50)
                done = [line.removesuffix(": done") for line in attempts if not line.endswith(": denied")]
                wrong += [f"{name or 'a run'}: {process}: {line}" for line in done if not (process.startswith("leader") and line in OF_LEADERS)]
            if processes > 1 and not any(process.startswith("leader") for process in lines):
                wrong.append(f"{name}: nobody leads")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_no_command_is_left_out(self):
        told = subprocess.run([GRURUN, "--help"], capture_output=True, text=True, check=True).stdout
        named = re.findall(r"^  ([a-z]+) {2,}", told[re.search("subcommands", told, re.IGNORECASE).start() :], re.MULTILINE)
        told = subprocess.run([GRURUN, "report", "--help"], capture_output=True, text=True, check=True).stdout
        named += re.findall(r"^  ([a-z]+) {2,}", told[re.search("subcommands", told, re.IGNORECASE).start() :], re.MULTILINE)
        self.assertIn("conformance", named)
        self.assertIn("rejudge", named)
        tried = {word for name, (arguments, _) in self.commands().items() for word in (name, *map(str, arguments[:2]))}
        self.assertEqual([name for name in named if name not in tried], STARTS_PROGRAMS)
        for name in STARTS_PROGRAMS:
            told = subprocess.run([GRURUN, name, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("--sandbox", told)


if __name__ == "__main__":
    unittest.main()
