#!/usr/bin/env python3
"""Writes the tables of docs/element-types.md from the newest record in bench/results of how long operators take on other element types than
float32, and says why a row is above its limit. Fails when such a row has no reason, and when a reason has no such row.

usage: bench/element_types.py [--check] [--record ROWS.json --name NAME --machine TEXT]

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/element-types.md"
BEGIN, END = "<!-- element types: bench/element_types.py -->\n", "<!-- end of element types -->\n"

# Time of a type / time of float32. An element of 64 bits is twice as much memory.
LIMITS = {"float16": 1.5, "bfloat16": 1.5, "float64": 2.2, "int64": 2.2, "int32": 1.5, "int8": 1.5}

HALVES, DOUBLE, INTEGERS = ("float16", "bfloat16"), ("float64",), ("int64", "int32", "int8")
# Why rows are above the limit: a sentence, types, and names of cases, in which * stands for any text. The first that fits counts.
REASONS = [
    ("The functions of doubles are those of the C library, for its bits: one element at a time.", DOUBLE,
     ["*softmax*", "reduce_log_sum_exp *", "mish", "*elu", "gelu*", "erf", "sigmoid", "tanh", "exp", "log", "softplus", "pow *", "sin", "sinh", "tan", "a*sin*",
      "a*cos*", "a*tan*", "attention*", "mod *"]),
    ("No processor here divides vectors of integers.", INTEGERS, ["div *"]),
    ("Sums of integers from which a mean or a root follows are exact, in 128 bits.", INTEGERS, ["reduce_mean *", "reduce_l2 *"]),
    ("AVX2 multiplies no 64-bit integers: a product is three of 32 bits, and shifts.", ("int64",), ["matmul *", "gemm *", "einsum *", "reduce_prod *", "pow *"]),
    ("A vector multiplies half as many 32-bit integers in a cycle as floats, and does not add in the same instruction.", ("int32", "int8"),
     ["matmul *", "gemm *", "einsum *", "pow *"]),
    ("Integers are interpolated in double, those of 64 bits in long double, which has no vectors.", INTEGERS, ["resize linear*", "resize cubic"]),
    ("Vectors of doubles are divided, and have their roots taken, in twice the time for half as many.", DOUBLE, ["sqrt", "reciprocal"]),
    ("float32 just fits into a cache near the processor; twice the memory does not.", ("float64", "int64"),
     ["transpose *", "concat *", "space_to_depth", "tile rows", "reduce_m* *", "max_pool *", "average_pool *", "layer_normalization", "rms_normalization",
      "instance_normalization", "group_normalization", "lrn", "resize linear*", "prelu channels", "mul channels", "einsum *", "conv *", "matmul *", "col2im"]),
    ("Integers are added one vector at a time, which waits for memory; doubles in eight.", ("int64", "int32"), ["reduce_sum *"]),
    ("Results of comparisons are a byte each: masks of 64 bits are packed in three steps.", ("float64", "int64"), ["greater", "is_nan", "arg_max last"]),
    ("AVX2 turns no doubles into 64-bit integers, whose low bits smaller ones are.", DOUBLE, ["cast to int64", "cast to uint8"]),
    ("A plane, or row, is converted as a whole before its windows are taken, and does not stay in the innermost cache.", (*HALVES, "int8"),
     ["max_pool *", "average_pool *", "conv depthwise *", "col2im", "resize linear*", "resize cubic", "grid_sample *"]),
    ("Elements are added one by one, in the order of the indices.", HALVES, ["scatter_elements add"]),
    ("Keys and values are converted for a single query, which reads them once.", HALVES, ["attention one query"]),
    ("Each step is rounded to the type, as the function body of the standard has it: six conversions instead of two.", HALVES,
     ["softmax *", "layer_normalization", "rms_normalization", "instance_normalization", "group_normalization"]),
    ("The whole tensor is converted before and after.", HALVES, ["cum_sum *", "arg_max last", "einsum outer", "pow *", "hardmax", "attention masked"]),
    ("Of bfloat16 without AVX512-BF16 an element is rounded by eight instructions: as long as the operation on it in the cache takes.", ("bfloat16",),
     ["*"]),
]


def taken_as_float(nodes, version):
    """Names of values that an operator takes as float32 alone, whatever type the others have."""
    from onnx import defs, parser

    names = set()
    for node in parser.parse_graph(f"case () => () {{ {nodes} }}").node:
        if not defs.has(node.op_type, node.domain):
            continue
        inputs = defs.get_schema(node.op_type, version, node.domain).inputs
        names.update(name for i, name in enumerate(node.input) if set(inputs[min(i, len(inputs) - 1)].types) == {"tensor(float)"})
    return names


def newest_record():
    records = [json.loads(path.read_text()) for path in (ROOT / "bench/results").glob("operator-types.*.json")]
    return max(records, key=lambda record: record["machine"]["date"])


def reason_of(case, kind):
    return next((reason for reason in REASONS if kind in reason[1] and any(fnmatch.fnmatchcase(case, name) for name in reason[2])), None)


def tables(rows):
    """The text between BEGIN and END, and what is wrong with it."""
    above, without, counts = {}, [], {kind: [0, 0] for kind in LIMITS}
    for row in rows:
        for kind in (kind for kind in LIMITS if kind in row):
            ratio = row[kind] / row["float32"]
            counts[kind][0] += 1
            if round(ratio, 2) <= LIMITS[kind]:
                counts[kind][1] += 1
            elif (reason := reason_of(row["case"], kind)) is None:
                without.append(f"{row['case']}, {kind}: {ratio:.2f}")
            else:
                above.setdefault(reason[0], {}).setdefault(row["case"], []).append(f"{kind} {ratio:.2f}")
    lines = ["| type | limit | rows | within it |", "|---|--:|--:|--:|"]
    lines += [f"| {kind} | {LIMITS[kind]} | {total} | {within} |" for kind, (total, within) in counts.items()]
    lines += ["", "| why | operators above the limit |", "|---|---|"]
    for why, cases in above.items():
        lines.append(f"| {why} | " + "; ".join(f"{case} ({', '.join(ratios)})" for case, ratios in cases.items()) + " |")
    wrong = [f"no reason for {row}" for row in without] + [f"no row needs: {reason[0]}" for reason in REASONS if reason[0] not in above]
    return "\n".join(lines) + "\n", wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--record", type=pathlib.Path)
    arguments.add_argument("--name", default="zen3")
    arguments.add_argument("--machine", default="EPYC (Zen 3)")
    flags = arguments.parse_args()
    if flags.record:
        machine = {"name": flags.machine, "cpus": os.cpu_count(), "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}
        rows = [{key: value if isinstance(value, str) else round(value, 2) for key, value in row.items()} for row in json.loads(flags.record.read_text())]
        lines = ",\n".join("  " + json.dumps(row) for row in rows)
        (ROOT / f"bench/results/operator-types.{flags.name}.json").write_text(f'{{\n "machine": {json.dumps(machine)},\n "rows": [\n{lines}\n ]\n}}\n')
    record = newest_record()
    text, wrong = tables(record["rows"])
    if wrong:
        sys.exit("\n".join(wrong))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    made = f"{before}{BEGIN}\nMeasured on {record['machine']['date']}, {record['machine']['name']}:\n\n{text}\n{END}{rest.split(END)[1]}"
    if flags.check:
        sys.exit("docs/element-types.md: run bench/element_types.py" if made != page else 0)
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
