"""What scripts/check-counts reads from valgrind, and when it complains."""

import importlib.machinery
import importlib.util
import os
import pathlib
import unittest

SCRIPT = pathlib.Path(os.environ["GRURUN_SOURCE_DIR"]) / "scripts" / "check-counts"
loader = importlib.machinery.SourceFileLoader("check_counts", str(SCRIPT))
check_counts = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_counts", loader))
loader.exec_module(check_counts)

PROFILE = """
fn=(1) run()
0x100 5 40
cfn=(2) malloc
calls=9 0x200
0x104 6 300
0x108 7 10

fn=(2)
0x204 1 90
0x200 0 3
fn=(3) malloc'2
0x204 1 6
0x200 0 2
"""


class CheckCounts(unittest.TestCase):
    def test_a_function_has_its_own_instructions_only(self):
        self.assertEqual(check_counts.Profile(PROFILE).functions, {"run()": 50, "malloc": 93, "malloc'2": 8})

    def test_allocations_are_executions_of_the_first_instruction(self):
        self.assertEqual(check_counts.Profile(PROFILE).allocations, 5)

    def test_growth_beyond_3_percent_names_the_function(self):
        before = {"instructions": 1000, "allocations": 40, "functions": {"a()": 600, "b()": 400}}
        grown = {"instructions": 1031, "allocations": 41, "functions": {"a()": 600, "b()": 431}}
        within = {"instructions": 1030, "allocations": 41, "functions": {"a()": 600, "b()": 430}}
        self.assertEqual(list(check_counts.complaints("gru", within, before)), [])
        self.assertEqual(list(check_counts.complaints("gru", grown, before)),
                         ["gru: 1031 instructions, 3.1% more than the 1000 on record", "  +31 in b()"])
        self.assertEqual(list(check_counts.complaints("gru", {**within, "allocations": 42}, before)),
                         ["gru: 42 allocations a run, 40 on record"])


if __name__ == "__main__":
    unittest.main()
