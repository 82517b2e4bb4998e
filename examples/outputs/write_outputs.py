#!/usr/bin/env python3
"""Leaves the outputs of ONNX Runtime for all cases below a folder, where `grurun conformance DATA --actual DIR` judges them.

usage: write_outputs.py DATA DIR

Another runtime goes the same way: read_inputs, the runtime, write_outputs. What fails leaves an error.txt. Processes take many
cases; where one brings its process down, each that is left gets a process of its own.
"""

import concurrent.futures
import multiprocessing
import os
import pathlib
import sys

from grurun.runtimes import cases_below, read_inputs, write_outputs
from grurun.runtimes.onnxruntime import run


def write_case(task):
    case, sets, target = task
    for folder in sets:
        outputs = target / case.parent.name / case.name / folder.name
        try:
            write_outputs(outputs, run(str(case / "model.onnx"), read_inputs(case / "model.onnx", folder)))
        except Exception as error:
            note(outputs, str(error))


def note(outputs, error):
    outputs.mkdir(parents=True, exist_ok=True)
    (outputs / "error.txt").write_text(" ".join(error.split()) + "\n")


def write_alone(task):
    process = multiprocessing.Process(target=write_case, args=(task,))
    process.start()
    process.join()
    if process.exitcode != 0:
        case, sets, target = task
        note(target / case.parent.name / case.name / sets[0].name, f"its process ended with {process.exitcode}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, target = map(pathlib.Path, sys.argv[1:])
    tasks = [(case, sets, target) for case, sets in cases_below(data)]
    left = dict(enumerate(tasks))
    try:
        with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            futures = {pool.submit(write_case, task): number for number, task in left.items()}
            for future in concurrent.futures.as_completed(futures):
                future.result()
                del left[futures[future]]
    except concurrent.futures.process.BrokenProcessPool:
        for task in left.values():
            write_alone(task)


if __name__ == "__main__":
    main()
