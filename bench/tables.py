#!/usr/bin/env python3
"""Writes the tables of docs/performance.md and docs/models.md from bench/results: the newest record of each processor for each question.

A record is QUESTION.NAME.json with "machine" (its name and the date) and "rows": cells by label. A report of bench/compare.py is one,
too, and so are the rows of bench/compare_models.py. A table stands behind the line `<!-- QUESTION -->`.

usage: bench/tables.py [--check]     --check writes nothing, and fails when the page is not up to date
"""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "docs/performance.md", ROOT / "docs/models.md"]


def number(value):
    """Two decimals below 100, none above. Text stays as it is."""
    return value if isinstance(value, str) else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def model_cells(rows):
    """Label to cell of what bench/compare_models.py writes: milliseconds with one thread, the ratios by number of threads, and megabytes."""
    models = {}
    for row in sorted(rows, key=lambda row: row["threads"]):
        models.setdefault(row["model"], []).append(row)
    cells = {}
    for model, found in models.items():
        first = found[0]
        cells[model] = (f"{number(first['grurun_us'] / 1e3)} ms: {', '.join(number(row['ratio']) for row in found)}; "
                        f"{max(first['grurun_mb'], 0):.1f}, {first['onnxruntime_mb']:.1f} MB")
    columns = list(zip(*[[row["ratio"] for row in found] for found in models.values()]))
    return cells | {"models": str(len(models)), "geometric mean": [geometric_mean(column) for column in columns],
                    "least": [min(column) for column in columns], "below 1": ", ".join(str(sum(ratio < 1 for ratio in column)) for column in columns)}


def layer_cells(rows):
    """Label to cell of the report of bench/compare.py: the time with one thread, then the ratios by number of threads."""
    first, ratios = {}, {}
    for row in rows:
        layer = row["layer"].replace(" linear_before_reset=1", "")
        first.setdefault(layer, row["median_us"])
        ratios.setdefault(layer, []).append(row["ratio"])
    cells = {layer: f"{number(first[layer])} us: {', '.join(map(number, ratios[layer]))}" for layer in ratios}
    long = [ratios[layer] for layer in ratios if first[layer] >= 5]  # of others the call takes most of a peer's time
    means = [geometric_mean(column) for column in zip(*long)]
    return cells | {"geometric mean of those from 5 us on": means}


def cells_of(rows):
    if not isinstance(rows, list):
        return rows
    return model_cells(rows) if "model" in rows[0] else layer_cells(rows)


def newest(question):
    """The newest record of each processor, by its name."""
    records = {}
    for file in sorted((ROOT / "bench/results").glob(f"{question}.*.json")):
        record = json.loads(file.read_text())
        machine = record["machine"]
        name = machine.get("name", machine.get("cpu"))
        if name not in records or records[name]["machine"]["date"] < machine["date"]:
            records[name] = record
    return records


def table(question):
    records = newest(question)
    if not records:
        sys.exit(f"bench/results has no record of '{question}'")
    columns = {name: cells_of(record["rows"]) for name, record in records.items()}
    labels = list(dict.fromkeys(label for cells in columns.values() for label in cells))
    lines = ["| | " + " | ".join(f"{name}, {records[name]['machine']['date']}" for name in columns) + " |",
             "|---|" + "--:|" * len(columns)]
    for label in labels:
        values = [cells.get(label, "") for cells in columns.values()]
        texts = [", ".join(map(number, value)) if isinstance(value, list) else number(value) for value in values]
        lines.append(f"| {label} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def with_tables(page):
    return re.sub(r"^<!-- ([\w-]+) -->\n(?:\|.*\n)*", lambda found: f"<!-- {found[1]} -->\n{table(found[1])}\n",
                  page, flags=re.MULTILINE)


def main():
    for page in PAGES:
        before = page.read_text()
        after = with_tables(before)
        if sys.argv[1:] != ["--check"]:
            page.write_text(after)
        elif after != before:
            sys.exit(f"docs/{page.name}: run bench/tables.py")


if __name__ == "__main__":
    main()
