#!/usr/bin/env python3
"""Writes the recurrent suite: cases of RNN, GRU and LSTM in ONNX's backend layout.

Needs numpy and onnx. Every value comes from the seed in writing.py; running this again changes no byte. pairs.json lists, for each version's every
attribute and optional input, two cases that differ in it alone; their expected outputs lie at least MARGIN apart, or nothing is
written.
"""
import argparse
import json
import pathlib
import shutil

import numpy as np

from cases import all_layers
from exports import all_exports
from pairs import all_pairs

MARGIN = 0.01


def distance(first, second):
    """How far apart two cases' outputs are at most, over outputs of one name and shape."""
    return max(float(np.max(np.abs(first[n].astype(float) - second[n].astype(float))))
               for n in first if n in second and first[n].shape == second[n].shape)


def build_all():
    """Cases by name, and the rows of pairs.json."""
    layers, rows = {}, []
    for pair in all_pairs():
        for member in (pair.first, pair.second):
            layers.setdefault(member.full_name, member)
            assert layers[member.full_name] == member, member.full_name
    for member in all_layers():
        assert member.full_name not in layers, f"two cases are called {member.full_name}"
        layers[member.full_name] = member
    cases = {name: member.build() for name, member in layers.items()}
    for case in all_exports():
        assert case.name not in cases, case.name
        cases[case.name] = case
    for pair in all_pairs():
        names = pair.first.full_name, pair.second.full_name
        apart = distance(*(cases[n].rounded() for n in names))
        assert apart >= MARGIN, f"{names} differ in {pair.subject}, their outputs by {apart} only"
        rows.append({"op": pair.first.op, "version": pair.first.opset, pair.kind: pair.subject, "cases": names})
    return cases, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent, metavar="FOLDER",
                        help="where cases of an earlier run, test_*, are replaced (the folder of this script)")
    folder = parser.parse_args().folder.resolve()
    cases, rows = build_all()
    for name, case in cases.items():
        for output, value in case.rounded().items():
            assert np.all(np.isfinite(value.astype(float))), f"{name}: {output} is not finite"
    for old in folder.glob("test_*"):
        shutil.rmtree(old)
    for case in cases.values():
        case.write(folder)
    lines = ",\n".join(json.dumps(row) for row in rows)
    (folder / "pairs.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(cases)} cases, {len(rows)} pairs")


if __name__ == "__main__":
    main()
