"""A suite on several machines: shards, merged reports, runs that go on."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
CASE = ROOT / "testdata/microsoft/test_dynamic_quantize_lstm_clip"
CASES, BROKEN, SHARDS = 96, 40, 8
# Variables that say which part a process is to do, here those of the machine that runs the tests.
SYSTEMS = ("GRURUN_SHARD", "SLURM_ARRAY", "JOB_COMPLETION_INDEX", "CI_NODE", "BUILDKITE_PARALLEL")
WRONG = b"\x08\x01\x10\x01\x22\x04\x00\x00\x80\x3f"  # [1], float: 1


def without_times(report):
    """The report with all seconds 0."""
    if isinstance(report, dict):
        return {key: 0 if key == "seconds" else without_times(value) for key, value in report.items()}
    return [without_times(each) for each in report] if isinstance(report, list) else report


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Shards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        for i in range(CASES):
            case = cls.folder / ("a" if i % 2 else "b") / f"test_{i:02}"
            shutil.copytree(CASE, case)
            if i < BROKEN:
                (case / "test_data_set_0" / "output_0.pb").write_bytes(WRONG)
        (cls.folder / "list.txt").write_text("".join(f"test_{i:02} differs its output was broken\n" for i in range(BROKEN)))
        cls.suite = ["a", "b", "--expectations", "list.txt", "--no-diagnosis"]

    def run_grurun(self, code, *arguments, env=None):
        variables = {name: value for name, value in os.environ.items() if not name.startswith(SYSTEMS)}
        result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                                env=variables | (env or {}))
        self.assertEqual(result.returncode, code, result.stdout[-2000:] + result.stderr)
        return result

    def conformance(self, *arguments, code=0, env=None):
        return self.run_grurun(code, "conformance", *arguments, env=env)

    def shard(self, number, *flags, count=SHARDS, suite=None):
        file = self.folder / f"part-{number}.json"
        self.conformance(*(suite or self.suite), "--shard", f"{number}/{count}", "--json", file, *flags)
        return file

    def listed(self, *flags, env=None, paths=("a", "b")):
        return [line.split("\t")[1] for line in self.conformance(*paths, "--list", *flags, env=env).stdout.splitlines()]

    def test_shards_with_known_failures_are_green_and_their_merge_is_the_report_of_one_run(self):
        self.conformance(*self.suite, "--json", "whole.json", "--junit", "whole.xml")
        parts = [self.shard(k + 1) for k in range(SHARDS)]
        self.run_grurun(0, "report", "merge", *reversed(parts), "--report", "json=merged.json", "--report", "jsonl=m.jsonl")
        whole, merged = (json.loads((self.folder / name).read_text()) for name in ("whole.json", "merged.json"))
        self.assertEqual(whole["summary"]["differs"], BROKEN)
        self.assertEqual(without_times(merged), without_times(whole))
        self.assertEqual(list(merged), list(whole), "keys stand in the same order")
        self.assertEqual(without_times(lines_of(self.folder / "m.jsonl")[1:-1]), without_times(whole["cases"]))
        lines = [self.folder / f"part-{k + 1}.jsonl" for k in range(2)]
        for k, file in enumerate(lines, 1):
            self.conformance(*self.suite, "--shard", f"{k}/2", "--report", f"jsonl={file}")
        self.run_grurun(0, "report", "merge", *lines, "--report", "json=merged.json", "--report", "jsonl=m.jsonl")
        merged = json.loads((self.folder / "merged.json").read_text())
        for cases in (merged["cases"], whole["cases"]):
            cases.sort(key=lambda case: case["path"])  # those of lines stand as they ended
        self.assertEqual(without_times(merged), without_times(whole))

    def test_what_is_no_whole_suite_is_refused(self):
        parts = [self.shard(k, count=3) for k in (1, 2, 3)]
        self.assertIn("no report of shard 2/3", self.run_grurun(2, "report", "merge", parts[0], parts[2]).stderr)
        self.assertIn("shard 1/3 is there twice", self.run_grurun(2, "report", "merge", *parts, parts[0]).stderr)
        other = self.folder / "other.json"
        self.conformance("a", "--expectations", "list.txt", "--shard", "2/3", "--json", other, code=1)
        self.assertIn("of another suite", self.run_grurun(2, "report", "merge", parts[0], other, parts[2]).stderr)
        self.conformance("a", "--json", other, code=1)
        self.assertIn("no report of a shard", self.run_grurun(2, "report", "merge", other).stderr)

    def test_a_stale_line_fails_every_shard(self):
        listed = self.folder / "stale.txt"
        listed.write_text((self.folder / "list.txt").read_text() + "gone differs it was renamed\n")
        for k in (1, 2):
            result = self.conformance("a", "b", "--expectations", listed, "--shard", f"{k}/2", code=1)
            self.assertIn("'gone' matches no case", result.stdout)

    def test_a_rule_that_no_shard_used_fails_the_merge(self):
        rule = "[[rule]]\ncase = '{}'\noperator = '{}'\nrtol = 0.01\nreason = 'wide'\n"
        policy = self.folder / "policy.toml"
        suite = [*self.suite, "--policy", policy]
        for rules, code in ((["a/test_41", "b/test_42", "*"], 0), (["a/test_41", "b/test_42", "*", "test_43"], 1)):
            policy.write_text("".join(rule.format(case, "com.microsoft.DynamicQuantizeLSTM") for case in rules))
            parts = [self.shard(k + 1, count=2, suite=suite) for k in range(2)]
            lines = [self.folder / f"part-{k}.jsonl" for k in range(2)]
            for k, file in enumerate(lines, 1):
                self.conformance(*suite, "--shard", f"{k}/2", "--report", f"jsonl={file}")
            self.conformance(*suite, "--json", "whole.json", code=code)
            self.run_grurun(code, "report", "merge", *parts, "--report", "json=merged.json")
            self.run_grurun(code, "report", "merge", *lines, "--report", "jsonl=merged.jsonl")
            whole, merged = (json.loads((self.folder / name).read_text()) for name in ("whole.json", "merged.json"))
            self.assertEqual(len(whole["unused_rules"]), code)
            self.assertEqual(without_times(merged), without_times(whole))
            self.assertEqual(lines_of(self.folder / "merged.jsonl")[-1]["unused_rules"], whole["unused_rules"])
        policy.write_text(policy.read_text().replace("0.01", "0.02"))
        other = self.shard(2, count=2, suite=suite)
        self.assertIn("or of the same with other flags", self.run_grurun(2, "report", "merge", parts[0], other).stderr)

    def test_every_case_is_in_one_shard_whatever_the_order_of_the_folders(self):
        times = self.folder / "times.json"
        self.conformance(*self.suite, "--json", times)
        for flags in ([], ["--times", times]):
            shards = [self.listed("--shard", f"{k}/5", *flags) for k in range(1, 6)]
            self.assertEqual(sorted(itertools.chain(*shards)), sorted(self.listed()))
            again = [self.listed("--shard", f"{k}/5", *flags, paths=("./b", "a")) for k in range(1, 6)]
            for one, other in zip(shards, again):
                self.assertEqual(sorted(one), sorted(path.removeprefix("./") for path in other))
            self.assertLess(max(map(len, shards)), CASES / 2)

    def test_recorded_times_make_shards_take_equally_long(self):
        self.conformance(*self.suite, "--json", "t.json")
        report = json.loads((self.folder / "t.json").read_text())
        for i, case in enumerate(report["cases"]):
            case["seconds"] = 30 if i == 0 else 10 if i < 4 else 0.001
        (self.folder / "t.json").write_text(json.dumps(report))
        first = {case["path"] for case in report["cases"][:1]}
        shards = [set(self.listed("--shard", f"{k}/2", "--times", "t.json")) for k in (1, 2)]
        slow = [path for path in (case["path"] for case in report["cases"][1:4])]
        for shard in shards:
            self.assertTrue(first <= shard or set(slow) <= shard)
            self.assertLess(20, len(shard))
        self.assertIn("--times divides", self.conformance("a", "--times", "t.json", code=2).stderr)

    def test_auto_asks_the_system(self):
        for k, env in (
            (2, {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "3"}),
            (3, {"JOB_COMPLETION_INDEX": "2", "GRURUN_SHARDS": "3"}),
            (1, {"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}),
            (2, {"BUILDKITE_PARALLEL_JOB": "1", "BUILDKITE_PARALLEL_JOB_COUNT": "3"}),
            (3, {"GRURUN_SHARD": "3", "GRURUN_SHARDS": "3"}),
        ):
            self.assertEqual(self.listed("--shard", "auto", env=env), self.listed("--shard", f"{k}/3"))
        for env, fragment in (({}, "none of GRURUN_SHARD, SLURM_ARRAY_TASK_ID"),
                              ({"JOB_COMPLETION_INDEX": "0"}, "but not GRURUN_SHARDS"),
                              ({"CI_NODE_INDEX": "4", "CI_NODE_TOTAL": "3"}, "CI_NODE_INDEX=4 is none of 3"),
                              ({"CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "3"}, "'x', which is no whole number")):
            self.assertIn(fragment, self.conformance("a", "--shard", "auto", code=2, env=env).stderr)
        for text in ("0/3", "4/3", "1", "1/0", "a/b"):
            self.assertIn("--shard takes K/N", self.conformance("a", "--shard", text, code=2).stderr)

    def test_more_shards_than_cases(self):
        suite = ["a/test_41", "a/test_43"]
        parts = [self.shard(k + 1, count=9, suite=suite) for k in range(9)]
        self.assertIn("2 cases in", self.run_grurun(0, "report", "merge", *parts).stdout)

    def test_a_run_goes_on_with_what_has_not_run(self):
        self.conformance("a", "b", "-j", "1", "--fail-fast", "--json", "half.json", code=1)
        half = json.loads((self.folder / "half.json").read_text())
        self.assertLess(0, half["not_run"])
        self.conformance(*self.suite, "--resume", "half.json", "--json", "rest.json")
        rest = json.loads((self.folder / "rest.json").read_text())
        self.conformance(*self.suite, "--json", "whole.json")
        self.assertEqual(without_times(rest), without_times(json.loads((self.folder / "whole.json").read_text())))
        taken = {case["path"]: case["seconds"] for case in half["cases"]}
        for case in rest["cases"]:
            if case["path"] in taken:
                self.assertEqual(case["seconds"], taken[case["path"]])

    def test_a_report_that_is_read_is_not_lost(self):
        self.conformance("a", "--json", "kept.json", code=1)
        before = (self.folder / "kept.json").read_text()
        for arguments in (["conformance", "a", "--resume", "kept.json", "--json", "kept.json"],
                          ["report", "show", "kept.json", "--report", "json=kept.json"]):
            self.run_grurun(2, *arguments)
            self.assertEqual((self.folder / "kept.json").read_text(), before)

    def test_json_lines_of_a_run_that_was_killed(self):
        lines = self.folder / "run.jsonl"
        self.conformance(*self.suite, "--report", "jsonl=run.jsonl")
        text = lines.read_text().splitlines(keepends=True)
        self.assertEqual(len(text), CASES + 2)
        lines.write_text("".join(text[:20]) + text[20][:30])
        self.assertIn("its last line is missing", self.run_grurun(2, "report", "show", "run.jsonl").stderr)
        self.conformance(*self.suite, "--resume", "run.jsonl", "--report", "jsonl=again.jsonl")
        again = lines_of(self.folder / "again.jsonl")
        self.assertEqual(len({case["path"] for case in again[1:-1]}), CASES)
        by_path = {case["path"]: case for case in again[1:-1]}
        for case in map(json.loads, text[1:20]):
            self.assertEqual(case["seconds"], by_path[case["path"]]["seconds"], "taken over")

    def test_json_lines_are_merged_without_being_kept(self):
        for k in (1, 2):
            self.conformance(*self.suite, "--shard", f"{k}/2", "--report", f"jsonl=part{k}.jsonl")
        result = self.run_grurun(0, "report", "merge", "part1.jsonl", "part2.jsonl", "--report", "jsonl=all.jsonl")
        self.assertEqual(result.stdout, f"{CASES} cases of {CASES}: {CASES - BROKEN} passed, {BROKEN} differs\n")
        self.conformance(*self.suite, "--report", "jsonl=whole.jsonl")
        merged, whole = (without_times(lines_of(self.folder / name)) for name in ("all.jsonl", "whole.jsonl"))
        self.assertEqual((merged[0], merged[-1]), (whole[0], whole[-1]))
        self.assertEqual(*(sorted(lines[1:-1], key=lambda case: case["path"]) for lines in (merged, whole)))
        self.assertIn("no report of shard 2/2", self.run_grurun(2, "report", "merge", "part1.jsonl", "--report", "jsonl=x.jsonl").stderr)
        shown = self.run_grurun(0, "report", "show", "all.jsonl")
        self.assertIn(f"{BROKEN} differs", shown.stdout)

    @unittest.skipIf(os.environ.get("GRURUN_SANITIZE"), "a sanitizer takes memory of its own")
    def test_merging_many_results_takes_little_memory(self):
        """The quick form of what bench/merge_lines.py measures with a million."""
        result = subprocess.run([sys.executable, ROOT / "bench/merge_lines.py", "--cases", "40000", "--most-seconds", "20",
                                 "--most-memory", "60M", "--program", BINARY], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
