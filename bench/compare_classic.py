#!/usr/bin/env python3
"""Times trees and support vector machines of random numbers on grurun and on ONNX Runtime, in turns, on the same rows; checks that the
outputs agree; prints time of ONNX Runtime / time of grurun for batches from 1 to 10,000 rows.

usage: bench/compare_classic.py [-k TEXT] [--threads N] [--rows 1,10,100,1000,10000] [--turns N] [--slice-seconds S] [--json FILE]
                                [--grurun BINARY]

ONNX Runtime is called through Python, which adds 6 to 10 us: the ratios of one row are too good by that. Exit codes: 0; 1 outputs
differ; 2 usage. Those of TreeEnsemble with BRANCH_MEMBER do: ONNX Runtime 1.31.1 gives other values than the text of the standard, as a
walk of the trees one node at a time showed on 2026-11-27.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from compare_models import ROOT, Grurun, OnnxRuntime, agree  # noqa: E402
from turns import take_turns  # noqa: E402

FEATURES, TREES, DEPTH, VECTORS = 20, 100, 7, 500
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
NUMBERS = np.random.default_rng(0)


def splits_and_features(dtype):
    """Those of TREES complete trees, node by node, none of leaves. Splits are small integers, so that some equal a feature."""
    nodes = TREES * (2**DEPTH - 1)
    return NUMBERS.integers(-3, 4, nodes).astype(dtype), NUMBERS.integers(0, FEATURES, nodes)


def classic_trees(op, modes, targets=1, nan=0, double=False, labels=0, **more):
    """TreeEnsembleRegressor-3 or TreeEnsembleClassifier-3."""
    prefix = "target" if op == "TreeEnsembleRegressor" else "class"
    inner, every = 2**DEPTH - 1, 2**(DEPTH + 1) - 1
    splits, features = splits_and_features(np.float64)
    values, ids, kinds = np.zeros((TREES, every)), np.zeros((TREES, every), np.int64), np.full((TREES, every), "LEAF", object)
    values[:, :inner], ids[:, :inner] = splits.reshape(TREES, inner), features.reshape(TREES, inner)
    kinds[:, :inner] = np.array([f"BRANCH_{mode}" for mode in modes], object)[NUMBERS.integers(0, len(modes), (TREES, inner))]
    child = np.where(np.arange(every) < inner, 2 * np.arange(every) + 1, 0)
    leaves = [(tree, node) for tree in range(TREES) for node in range(inner, every)]
    weights = NUMBERS.standard_normal(len(leaves)).astype(np.float32)
    reals = {"nodes_values": values.ravel(), prefix + "_weights": weights}
    attributes = {f"{name}_as_tensor": numpy_helper.from_array(each.astype(np.float64)) for name, each in reals.items()} if double else \
        {name: each.astype(np.float32).tolist() for name, each in reals.items()}
    attributes |= {
        "nodes_treeids": np.repeat(np.arange(TREES), every).tolist(), "nodes_nodeids": np.tile(np.arange(every), TREES).tolist(),
        "nodes_featureids": ids.ravel().tolist(), "nodes_modes": kinds.ravel().tolist(),
        "nodes_truenodeids": np.tile(child, TREES).tolist(), "nodes_falsenodeids": np.tile(child + (child > 0), TREES).tolist(),
        "nodes_missing_value_tracks_true": (NUMBERS.random(TREES * every) < nan).astype(int).tolist(),
        f"{prefix}_treeids": [tree for tree, _ in leaves], f"{prefix}_nodeids": [node for _, node in leaves],
        f"{prefix}_ids": [k % targets for k in range(len(leaves))]}
    attributes |= {"n_targets": targets} if prefix == "target" else {"classlabels_int64s": list(range(labels or targets))}
    return op, 3, attributes | more


def children_of(leaves, uneven):
    """Of each node that splits, its true child and its false one [leaves - 1, 2], and whether they are leaves, which have numbers of their
    own. A node splits the first leaf there is, which makes complete trees, or, uneven, any of them."""
    children, is_leaf, ends = np.zeros((leaves - 1, 2), int), np.ones((leaves - 1, 2), int), []
    for node in range(leaves - 1):
        if node:
            split = ends.pop(NUMBERS.integers(len(ends)) if uneven else 0)
            children[split], is_leaf[split] = node, 0
        ends += [(node, 0), (node, 1)]
    for leaf, end in enumerate(ends):
        children[end] = leaf
    return children, is_leaf


def tree_ensemble(dtype, modes, targets=1, uneven=0):
    """TreeEnsemble-5 of complete trees, or of uneven ones of so many leaves, whose splits are any numbers: of few, deep nodes would not be
    reached."""
    leaves = uneven or 2**DEPTH
    inner = leaves - 1
    if uneven:
        splits, features = NUMBERS.standard_normal(TREES * inner).astype(dtype), NUMBERS.integers(0, FEATURES, TREES * inner)
    else:
        splits, features = splits_and_features(dtype)
    kinds = NUMBERS.integers(0, len(modes), splits.size)
    codes = np.array([MODES.index(mode) for mode in modes], np.uint8)[kinds]
    trees = [children_of(leaves, uneven > 0) for _ in range(TREES)]
    is_leaf = np.concatenate([each for _, each in trees])
    children = np.concatenate([each for each, _ in trees]) + np.repeat(np.arange(TREES), inner)[:, None] * np.where(is_leaf, leaves, inner)
    weights = NUMBERS.standard_normal(TREES * leaves).astype(dtype)
    attributes = {
        "n_targets": targets, "nodes_splits": numpy_helper.from_array(splits), "nodes_featureids": features.tolist(),
        "nodes_modes": numpy_helper.from_array(codes), "nodes_truenodeids": children[:, 0].tolist(),
        "nodes_falsenodeids": children[:, 1].tolist(), "nodes_trueleafs": is_leaf[:, 0].tolist(), "nodes_falseleafs": is_leaf[:, 1].tolist(),
        "leaf_targetids": [k % targets for k in range(weights.size)], "leaf_weights": numpy_helper.from_array(weights),
        "tree_roots": (np.arange(TREES) * inner).tolist()}
    if "MEMBER" in modes:
        sets = [[*map(float, NUMBERS.choice(7, 3, replace=False) - 3), np.nan] for code in codes if code == MODES.index("MEMBER")]
        attributes["membership_values"] = numpy_helper.from_array(np.array(sets, dtype).ravel())
    return "TreeEnsemble", 5, attributes


def support_vectors(op, kernel, classes=0, probabilities=False, vectors=VECTORS, **more):
    pairs = classes * (classes - 1) // 2
    attributes = {"kernel_type": kernel, "kernel_params": [0.05, 0.5, 3.0],
                  "support_vectors": NUMBERS.standard_normal(vectors * FEATURES).tolist(),
                  "coefficients": NUMBERS.standard_normal(max(1, classes - 1) * vectors).tolist(),
                  "rho": NUMBERS.standard_normal(max(1, pairs)).tolist()}
    if classes:
        attributes |= {"classlabels_ints": list(range(classes)), "vectors_per_class": [vectors // classes] * classes}
        if probabilities:
            attributes |= {"prob_a": [-1.0] * pairs, "prob_b": [0.1] * pairs}
    else:
        attributes["n_supports"] = vectors
    return op, 1, attributes | more


def cases():
    """Name, element type of X, operator, its version, attributes."""
    regressor, classifier = "TreeEnsembleRegressor", "TreeEnsembleClassifier"
    mixed = MODES[:6]
    for mode in MODES[:6]:
        yield f"{regressor} {mode}", np.float32, *classic_trees(regressor, [mode])
    yield f"{regressor} LEQ, NaN tracks", np.float32, *classic_trees(regressor, ["LEQ"], nan=0.5)
    yield f"{regressor} of all modes", np.float32, *classic_trees(regressor, mixed, nan=0.5)
    yield f"{regressor} float64", np.float64, *classic_trees(regressor, ["LEQ"], double=True)
    for aggregate in ("MIN", "MAX", "AVERAGE"):
        yield f"{regressor} {aggregate}", np.float32, *classic_trees(regressor, ["LEQ"], aggregate_function=aggregate)
    yield f"{regressor} of 3 targets", np.float32, *classic_trees(regressor, ["LEQ"], targets=3)
    for dtype in (np.float32, np.float64, np.int64, np.int32):
        yield f"{classifier} {np.dtype(dtype)}", dtype, *classic_trees(classifier, ["LEQ"], targets=3, post_transform="SOFTMAX")
    yield f"{classifier} LOGISTIC", np.float32, *classic_trees(classifier, ["LEQ"], labels=2, post_transform="LOGISTIC")
    for dtype in (np.float32, np.float64):
        for modes in (["LEQ"], ["MEMBER"], MODES):
            yield f"TreeEnsemble {np.dtype(dtype)}, {modes[0] if len(modes) == 1 else 'all modes'}", dtype, *tree_ensemble(dtype, modes)
    for leaves in (31, 127, 255, 600):
        yield f"TreeEnsemble, uneven trees of {leaves} leaves", np.float32, *tree_ensemble(np.float32, ["LEQ"], uneven=leaves)
    yield "TreeEnsemble float64, uneven trees of 255 leaves", np.float64, *tree_ensemble(np.float64, ["LEQ"], uneven=255)
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        yield f"SVMRegressor {kernel}", np.float32, *support_vectors("SVMRegressor", kernel)
        yield f"SVMClassifier {kernel}, 5 classes, probabilities", np.float32, *support_vectors("SVMClassifier", kernel, 5, True)
        yield f"SVMClassifier {kernel}, 5 classes", np.float32, *support_vectors("SVMClassifier", kernel, 5)
    yield "SVMClassifier RBF, 2 classes", np.float32, *support_vectors("SVMClassifier", "RBF", 2)
    yield "SVMClassifier RBF float64", np.float64, *support_vectors("SVMClassifier", "RBF", 2)


def model_of(dtype, op, version, attributes):
    classifies = op.endswith("Classifier")
    output = TensorProto.DOUBLE if op == "TreeEnsemble" and dtype == np.float64 else TensorProto.FLOAT
    values = [helper.make_tensor_value_info("Z" if classifies else "Y", output, None)]
    if classifies:
        values.insert(0, helper.make_tensor_value_info("Y", TensorProto.INT64, None))
    node = helper.make_node(op, ["X"], [value.name for value in values], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "case", [helper.make_tensor_value_info("X", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), ["N", FEATURES])],
                              values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("", 17)], ir_version=9)


def rows_agree(outputs, others):
    """As agree(), but one row of 1,000 may differ: what ONNX Runtime sums over vectors in float32 is off where terms cancel, and a class
    or the end of the iteration for probabilities may depend on it."""
    return all(np.mean([not agree([row], [other]) for row, other in zip(a, b, strict=True)]) <= 1e-3
               for a, b in zip(outputs, others, strict=True))


def compare(path, x, flags, agree):
    """Whether the outputs agree, and microseconds of both."""
    inputs, outputs = path.with_name("inputs.npz"), path.with_name("outputs.npz")
    np.savez(inputs, X=x)
    given = ["--inputs", str(inputs)]
    subprocess.run([flags.grurun, path, *given, "-q", "--save-outputs", outputs], check=True, stdout=subprocess.DEVNULL)
    peer, ours = OnnxRuntime(path, {"X": x}, flags.threads), Grurun(flags.grurun, path, given, flags.threads)
    with np.load(outputs) as made:
        same = agree([made[key] for key in peer.outputs], peer.outputs.values())
    begin = time.perf_counter()
    peer.measure(3)
    runs = max(5, min(5000, int(3 * flags.slice_seconds / (time.perf_counter() - begin))))
    peer.wall.clear()
    take_turns(flags.turns, flags.threads, [lambda: peer.measure(runs), lambda: ours.measure(runs)])
    return same, float(np.median(ours.wall)), float(np.median(peer.wall))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-k", default="", help="cases whose name holds this text; several by commas")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--rows", default="1,10,100,1000,10000")
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--slice-seconds", type=float, default=0.05, help="length of a turn")
    arguments.add_argument("--json")
    arguments.add_argument("--grurun", default=ROOT / "build/release/bin/grurun", type=pathlib.Path)
    flags = arguments.parse_args()
    if not flags.grurun.is_file():
        arguments.error(f"{flags.grurun} is not there: build it first")
    counts = [int(text) for text in flags.rows.split(",")]
    rows, agrees = [], True
    print(f"| ratios by rows | {' | '.join(map(str, counts))} |\n|---|" + "--:|" * len(counts))
    for name, dtype, *node in cases():
        if not any(text in name for text in flags.k.split(",")):
            continue
        ratios, differ = [], ""
        with tempfile.TemporaryDirectory(prefix="grurun-bench-") as folder:
            path = pathlib.Path(folder) / "model.onnx"
            save(model_of(dtype, *node), path)
            for count in counts:
                x = NUMBERS.standard_normal((count, FEATURES)) * 2
                # Some places of a half, so that modes of equality hold now and then.
                x = np.where(NUMBERS.random(x.shape) < 0.5, np.rint(x), x).astype(dtype)
                same, ours, theirs = compare(path, x, flags, rows_agree if name.startswith("SVM") else agree)
                rows.append({"case": name, "rows": count, "threads": flags.threads, "agrees": same, "grurun_us": ours,
                             "onnxruntime_us": theirs, "ratio": theirs / ours})
                ratios.append(f"{theirs / ours:.2f}")
                differ += "" if same else f" outputs of {count} differ"
        print(f"| {name} | {' | '.join(ratios)} |{differ}", flush=True)
        agrees = agrees and not differ
    if not rows:
        arguments.error(f"no case is named like '{flags.k}'")
    ratios = np.array([row["ratio"] for row in rows])
    print(f"\n{len(rows)} ratios: least {ratios.min():.2f}, geometric mean {np.exp(np.log(ratios).mean()):.2f}, below 1: {(ratios < 1).sum()}")
    if flags.json:
        pathlib.Path(flags.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if agrees else 1)


if __name__ == "__main__":
    main()
