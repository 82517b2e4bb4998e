#!/usr/bin/env python3
"""Writes the tables of docs/element-types.md from the records in bench/results of how long operators take on other element types than
float32, one for each machine, and says why a row is above its limit. Fails when such a row has no reason, and when a reason has no such row.

usage: bench/element_types.py [--check] [--record ROWS.json --name NAME --machine TEXT --note TEXT]

  --check    writes nothing, and fails when the page is not up to date
  --record   what bench/compare_operators.py --types --json wrote becomes bench/results/operator-types.NAME.json
"""

import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/element-types.md"
BEGIN, END = "<!-- element types: bench/element_types.py -->\n", "<!-- end of element types -->\n"

# Time of a type / time of float32. An element of 64 bits is twice as much memory.
LIMITS = {"float16": 1.5, "bfloat16": 1.5, "float64": 2.2, "int64": 2.2, "int32": 1.5, "int8": 1.5}

HALVES, DOUBLE, INTEGERS = ("float16", "bfloat16"), ("float64",), ("int64", "int32", "int8")
# Why rows are above the limit: a sentence, types, and names of cases, in which * stands for any text. The first that fits counts.
REASONS = [
    ("The functions of doubles are those of the C library, for its bits: one element at a time.", DOUBLE,
     ["*softmax*", "reduce_log_sum_exp *", "mish", "*elu*", "erf", "sigmoid", "tanh", "exp", "log", "softplus", "pow *", "sin", "sinh", "tan", "a*sin*",
      "a*cos*", "a*tan*", "attention*", "mod *"]),
    ("The first stage is computed in float32, as stash_type says: rows are converted, and back, in three to four times the instructions.", DOUBLE,
     ["layer_normalization", "rms_normalization", "group_normalization", "simplified layer_normalization", "microsoft skip *"]),
    ("No processor here divides vectors of integers.", INTEGERS, ["div *"]),
    ("Sums of integers from which a mean or a root follows are exact, in 128 bits.", INTEGERS, ["reduce_mean *", "reduce_l2 *"]),
    ("AVX2 multiplies no 64-bit integers: a product is three of 32 bits, and shifts. AVX-512 multiplies half as many as floats, and adds in another instruction.",
     ("int64",),
     ["matmul *", "einsum heads", "einsum outer", "prelu channels"]),
    ("A vector multiplies half as many 32-bit integers in a cycle as floats, and does not add in the same instruction.", ("int32",),
     ["matmul *", "einsum outer"]),
    ("Integers are raised to a power one at a time, by a loop of products.", INTEGERS, ["pow *"]),
    ("Integers are interpolated in double, those of 64 bits in long double, which has no vectors.", INTEGERS, ["resize linear*", "resize cubic"]),
    ("Integers are divided in double: half as many in a vector.", ("int32",), ["quantize_linear*"]),
    ("Vectors of doubles are divided, and have their roots taken, in twice the time for half as many.", DOUBLE, ["sqrt", "reciprocal"]),
    ("A double is rounded to float so that no tie arises, and then to 16 bits: two conversions, of half as many in a vector.", DOUBLE,
     ["cast to float16"]),
    ("Squares of 16 bytes are turned, of four elements of 64 bits or sixteen of 32: 2.3 times the instructions.", ("float64", "int64"), ["transpose *"]),
    ("Of 64 bits half as many are compared at a time, and masks become bytes in more steps: 2.4 to 2.7 times the instructions.", ("float64", "int64"),
     ["arg_max last"]),
    ("Instructions are twice as many at most. So are the bytes, which come from farther away: misses of the caches or of the TLB are 2 to 12 times as many.",
     ("float64", "int64"),
     ["concat *", "space_to_depth", "reduce_max *", "resize linear down", "einsum diagonal", "conv depthwise 3x3", "col2im"]),
    ("Sums of integers are read and written for each row; those of floats stay in registers.", ("int64", "int32"), ["reduce_sum *"]),
    ("A plane, or row, is converted as a whole before its windows are taken, and does not stay in the innermost cache.", (*HALVES, "int8"),
     ["max_pool *", "average_pool *", "col2im", "resize linear*"]),
    ("Elements are read one by one, where places say: a float16 becomes a float in some ten instructions then, a bfloat16 in one.", ("float16",),
     ["scatter_elements add", "grid_sample *"]),
    ("Keys and values are converted for a single query, which reads them once.", HALVES, ["attention one query"]),
    ("Each step is rounded to the type, as the function body of the standard has it: conversions between the steps.", HALVES,
     ["softmax *", "log_softmax middle", "layer_normalization", "rms_normalization", "group_normalization", "simplified layer_normalization",
      "microsoft skip *"]),
    ("The quotient is rounded to the type before it is rounded to an integer: two conversions more.", HALVES, ["quantize_linear*"]),
    ("An element becomes an integer in the order of the numbers before it is compared: NaN is not in it, zeros have two signs.", HALVES, ["greater"]),
    ("The whole tensor is converted before and after.", (*HALVES, "int8"), ["cum_sum *", "arg_max last", "einsum outer", "pow *", "hardmax", "attention causal"]),
    ("A 16-bit float is widened twice, to float and to double, in which sums are.", HALVES, ["reduce_*", "global_average_pool"]),
    ("An element is rounded to bfloat16 by eight instructions (that of AVX512-BF16 loses subnormal numbers): as long as the operation on it takes.", ("bfloat16",),
     ["batch_normalization", "hard_*", "thresholded_relu", "prelu channels", "min of three", "add row", "mul short channels", "floor", "round", "reciprocal",
      "microsoft quick_gelu", "lp_normalization", "sigmoid", "exp"]),
    ("Inputs and outputs of 64 bits take 2 to 13 MB, beyond the second cache: the ratio moves from run to run.", ("float64", "int64"),
     ["max_pool k3s1", "average_pool k3s1", "slice *", "expand", "gather_nd", "reverse_sequence", "min of three", "matmul batched"]),
]


def records():
    return [json.loads(path.read_text()) for path in sorted((ROOT / "bench/results").glob("operator-types.*.json"))]


def reason_of(case, kind):
    return next((why for why, kinds, names in REASONS if kind in kinds and any(fnmatch.fnmatchcase(case, name) for name in names)), None)


def tables(rows):
    """The tables, the reasons in them, and the rows that have none."""
    above, without, counts = {}, [], {kind: [0, 0] for kind in LIMITS}
    for row in rows:
        for kind in (kind for kind in LIMITS if kind in row):
            ratio = round(row[kind] / row["float32"], 2)
            counts[kind][0] += 1
            if ratio <= LIMITS[kind]:
                counts[kind][1] += 1
            elif (why := reason_of(row["case"], kind)) is None:
                without.append(f"{row['case']}, {kind}: {ratio:.2f}")
            else:
                above.setdefault(why, {}).setdefault(row["case"], []).append(f"{kind} {ratio:.2f}")
    lines = ["| type | limit | rows | within it |", "|---|--:|--:|--:|"]
    lines += [f"| {kind} | {LIMITS[kind]} | {total} | {within} |" for kind, (total, within) in counts.items()]
    lines += ["", "| why | operators above the limit |", "|---|---|"]
    for why, cases in above.items():
        lines.append(f"| {why} | " + "; ".join(f"{case} ({', '.join(ratios)})" for case, ratios in cases.items()) + " |")
    return "\n".join(lines) + "\n", set(above), without


def write_record(flags):
    machine = {"name": flags.machine, "cpus": os.cpu_count(), "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}
    rows = [{key: value if isinstance(value, str) else round(value, 2) for key, value in row.items()} for row in json.loads(flags.record.read_text())]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    (ROOT / f"bench/results/operator-types.{flags.name}.json").write_text(
        f'{{\n "machine": {json.dumps(machine)},\n "note": {json.dumps(flags.note)},\n "rows": [\n{lines}\n ]\n}}\n')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--record", type=pathlib.Path)
    arguments.add_argument("--name", default="zen3")
    arguments.add_argument("--machine", default="EPYC (Zen 3)")
    arguments.add_argument("--note", default="All in one run.")
    flags = arguments.parse_args()
    if flags.record:
        write_record(flags)
    made, needed, wrong = [], set(), []
    for record in records():
        machine = record["machine"]
        text, reasons, without = tables(record["rows"])
        made += [textwrap.fill(f"Measured on {machine['date']}, {machine['name']}. {record['note']}", 100), "", text]
        needed |= reasons
        wrong += [f"no reason for {row} on the {machine['name']}" for row in without]
    wrong += [f"no row needs: {why}" for why, _, _ in REASONS if why not in needed]
    if wrong:
        sys.exit("\n".join(wrong))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    page_made = "\n".join([before + BEGIN, *made, END]) + rest.split(END)[1]
    if flags.check:
        sys.exit("docs/element-types.md: run bench/element_types.py" if page_made != page else 0)
    PAGE.write_text(page_made)


if __name__ == "__main__":
    main()
