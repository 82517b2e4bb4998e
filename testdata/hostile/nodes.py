"""Operators with attributes, shapes and values that they must not have: integer traps, indices, sizes."""

import itertools

import numpy
from onnx import TensorProto, helper

from models import FLOAT, model, node, tensor, value

INTEGERS = {"INT8": 8, "INT16": 16, "INT32": 32, "INT64": 64, "UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64}


def of(op_type, *inputs, opset=20, domain="", outputs=("y",), dtype=FLOAT, **attributes):
    """A node of constants: (dtype, dims, values), or a list of int64; None leaves an input out."""
    names, constants = [], []
    for i, given in enumerate(inputs):
        names.append("" if given is None else f"c{i}")
        if given is None:
            continue
        if isinstance(given, list):
            given = (TensorProto.INT64, [len(given)], given)
        constants.append(tensor(f"c{i}", *given))
    imports = [helper.make_opsetid(domain, 5)] if domain else []
    return (
        model([helper.make_node(op_type, names, list(outputs), domain=domain or None, **attributes)], opset, inputs=[], outputs=[value("y", dtype, None)], initializers=constants, imports=imports),
        [],
    )


def floats(*dims):
    return FLOAT, list(dims), [1.0] * int(numpy.prod(dims))


def integer_traps():
    for name, bits in INTEGERS.items():
        dtype = getattr(TensorProto, name)
        least = -(1 << bits - 1) if name[0] == "I" else 0
        yield f"div_by_0_{name.lower()}", of("Div", (dtype, [1], [5]), (dtype, [1], [0]), dtype=dtype)
        yield f"mod_by_0_{name.lower()}", of("Mod", (dtype, [1], [5]), (dtype, [1], [0]), dtype=dtype)
        if least < 0:
            yield f"div_least_by_minus_1_{name.lower()}", of("Div", (dtype, [1], [least]), (dtype, [1], [-1]), dtype=dtype)
            yield f"mod_least_by_minus_1_{name.lower()}", of("Mod", (dtype, [1], [least]), (dtype, [1], [-1]), dtype=dtype)
            yield f"abs_of_least_{name.lower()}", of("Abs", (dtype, [1], [least]), dtype=dtype)
            yield f"neg_of_least_{name.lower()}", of("Neg", (dtype, [1], [least]), dtype=dtype)
        else:
            for direction in ("LEFT", "RIGHT"):
                yield f"shift_{direction.lower()}_too_far_{name.lower()}", of("BitShift", (dtype, [1], [1]), (dtype, [1], [bits]), dtype=dtype, direction=direction)
        for text, number in (("nan", float("nan")), ("inf", float("inf")), ("huge", 1e30)):
            yield f"cast_{text}_to_{name.lower()}", of("Cast", (FLOAT, [1], [number]), dtype=dtype, to=dtype)
        yield f"pow_negative_{name.lower()}", of("Pow", (dtype, [1], [0]), (FLOAT, [1], [-1.0]), dtype=dtype)


def indices():
    data = floats(3, 2)
    for index in (3, -4, 1 << 40, -(1 << 63), (1 << 63) - 1):
        text = str(index).replace("-", "minus")
        for op in ("Gather", "GatherElements", "ScatterElements", "GatherND", "ScatterND"):
            more = {} if op.endswith("ND") else {"axis": 0}
            at = (TensorProto.INT64, [1, 1], [index])
            updates = [floats(1, 1)] if op == "ScatterElements" else [floats(1, 2)] if op == "ScatterND" else []
            yield f"{op.lower()}_at_{text}", of(op, data, at, *updates, **more)
    for axis in (2, -3, 1 << 40, -(1 << 63)):
        text = str(axis).replace("-", "minus")
        for op in ("Softmax", "Flatten", "LpNormalization", "ArgMax", "Hardmax", "Split"):
            yield f"{op.lower()}_axis_{text}".replace("split", "split_in_two"), of(op, floats(4, 4), axis=axis, **({"num_outputs": 2} if op == "Split" else {}), outputs=("y", "z") if op == "Split" else ("y",))
        yield f"concat_axis_{text}", of("Concat", data, data, axis=axis)
        yield f"squeeze_axis_{text}", of("Squeeze", floats(1, 3), [axis])
        yield f"unsqueeze_axis_{text}", of("Unsqueeze", floats(2), [axis * 2 if abs(axis) < 9 else axis])
        yield f"reduce_axis_{text}", of("ReduceSum", data, [axis])
        yield f"cumsum_axis_{text}", of("CumSum", data, (TensorProto.INT64, [], [axis]))


def sizes():
    image = floats(1, 1, 4, 4)
    kernel = floats(1, 1, 2, 2)
    for attribute, values in {
        "strides": [[0, 0], [-1, 1], [1 << 40, 1], [1]], "dilations": [[0, 1], [-1, -1], [1 << 62, 1]],
        "pads": [[-9, -9, -9, -9], [1 << 40, 0, 0, 0], [0, 0]], "kernel_shape": [[0, 0], [-1, 2], [3, 3], [1 << 40, 1]],
    }.items():  # fmt: skip
        for i, numbers in enumerate(values):
            for op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool"):
                given = {"kernel_shape": [2, 2]} if "Pool" in op else {}
                yield f"{op.lower()}_{attribute}_{i}", of(op, image, *([kernel] if "Conv" in op else []), **(given | {attribute: numbers}))
    for group in (0, -1, 3, 1 << 40):
        yield f"conv_group_{group}".replace("-", "minus"), of("Conv", image, kernel, group=group)
    yield "split_into_0", of("Split", floats(4), num_outputs=0)
    yield "split_sizes_beyond", of("Split", floats(4), [3, 3], outputs=("y", "z"))
    yield "split_sizes_negative", of("Split", floats(4), [-1, 5], outputs=("y", "z"))
    yield "slice_step_0", of("Slice", floats(4), [0], [4], [0], [0])
    yield "slice_step_least", of("Slice", floats(4), [3], [-9], [0], [-(1 << 63)])
    yield "slice_axes_twice", of("Slice", floats(4, 4), [0, 0], [1, 1], [0, 0])
    yield "transpose_twice", of("Transpose", floats(2, 2), perm=[0, 0])
    yield "transpose_beyond", of("Transpose", floats(2, 2), perm=[0, 7])
    yield "topk_negative", of("TopK", floats(4), [-1], outputs=("y", "z"))
    yield "topk_beyond", of("TopK", floats(4), [9], outputs=("y", "z"))
    yield "depth_to_space_0", of("DepthToSpace", floats(1, 4, 2, 2), blocksize=0)
    yield "depth_to_space_huge", of("DepthToSpace", floats(1, 4, 2, 2), blocksize=1 << 40)
    yield "space_to_depth_0", of("SpaceToDepth", floats(1, 4, 2, 2), blocksize=0)
    yield "group_normalization_0", of("GroupNormalization", floats(1, 4, 2), floats(4), floats(4), opset=21, num_groups=0)
    yield "lp_pool_p_0", of("LpPool", image, kernel_shape=[2, 2], p=0)
    yield "lrn_size_0", of("LRN", image, size=0)
    yield "max_unpool_beyond", of("MaxUnpool", floats(1, 1, 1, 1), (TensorProto.INT64, [1, 1, 1, 1], [99]), kernel_shape=[2, 2])
    yield "roi_align_batch", of("RoiAlign", image, floats(1, 4), [7])
    yield "roi_align_size_0", of("RoiAlign", image, floats(1, 4), [0], output_height=0)
    yield "col2im_short", of("Col2Im", floats(1, 4, 1), [1, 1], [2, 2])
    yield "dequantize_block_0", of("DequantizeLinear", (TensorProto.INT8, [2, 0], []), floats(2, 0), opset=21, axis=1, block_size=0)
    yield "dequantize_block_negative", of("DequantizeLinear", (TensorProto.INT8, [2, 2], [1] * 4), floats(2, 1), opset=21, axis=1, block_size=-2)
    yield "quantize_scale_0", of("QuantizeLinear", floats(2), (FLOAT, [], [0.0]), dtype=TensorProto.UINT8)
    yield "dft_length_0", of("DFT", floats(1, 4, 1), (TensorProto.INT64, [], [0]))
    yield "dft_length_negative", of("DFT", floats(1, 4, 1), (TensorProto.INT64, [], [-4]))
    yield "stft_step_0", of("STFT", floats(1, 8, 1), (TensorProto.INT64, [], [0]), floats(4))
    yield "matmul_sizes", of("MatMul", floats(2, 3), floats(2, 3))
    yield "gemm_rank", of("Gemm", floats(2, 3, 1), floats(3, 2))
    yield "add_sizes", of("Add", floats(2), floats(3))
    yield "where_sizes", of("Where", (TensorProto.BOOL, [5], [True] * 5), floats(2), floats(3))
    yield "einsum_text", of("Einsum", floats(2, 2), equation="ij->" + "k" * 100)
    yield "einsum_long", of("Einsum", floats(2, 2), equation="i" * 100_000)
    yield "einsum_letters", of("Einsum", floats(2, 2), equation="ij->" + "ij" * 500_000)
    yield "einsum_terms", of("Einsum", *[floats(2)] * 30_000, equation=",".join("a" * 30_000) + "->a")
    yield "shape_of_many_sizes", of("ConstantOfShape", [1] * 200_000)
    yield "non_max_suppression_boxes", of("NonMaxSuppression", floats(1, 3, 5), floats(1, 1, 3), dtype=TensorProto.INT64)
    yield "reverse_sequence_beyond", of("ReverseSequence", floats(4, 2), [9, 9])
    yield "compress_axis", of("Compress", floats(2, 2), (TensorProto.BOOL, [2], [True] * 2), axis=5)
    yield "grid_sample_empty", of("GridSample", (FLOAT, [1, 1, 0, 0], []), floats(1, 1, 1, 2))
    yield "attention_heads_0", of("Attention", floats(1, 2, 4), floats(1, 2, 4), floats(1, 2, 4), opset=23, q_num_heads=0, kv_num_heads=0)
    yield "image_decoder_bytes", of("ImageDecoder", (TensorProto.UINT8, [4], [137, 80, 78, 71]), dtype=TensorProto.UINT8)
    text = lambda *words: (TensorProto.STRING, [len(words)], [w.encode() for w in words])  # noqa: E731
    yield "regex_backtracks", of("RegexFullMatch", text("a" * 5000), dtype=TensorProto.BOOL, pattern="(a|a)*b")
    yield "regex_nested", of("RegexFullMatch", text("a" * 5000), dtype=TensorProto.BOOL, pattern="((a*)*)*b")
    yield "regex_large", of("RegexFullMatch", text("a"), dtype=TensorProto.BOOL, pattern="(((a{100}){100}){100}){100}")
    yield "regex_long", of("RegexFullMatch", text("a"), dtype=TensorProto.BOOL, pattern="a*" * 500_000)
    yield "regex_deep", of("RegexFullMatch", text("a"), dtype=TensorProto.BOOL, pattern="(" * 60_000)
    yield "regex_steps", of("RegexFullMatch", text("abc" * 1_500_000), dtype=TensorProto.BOOL, pattern=".*a.{900}|.*b.{999}")
    yield "regex_bad", of("RegexFullMatch", text("a"), dtype=TensorProto.BOOL, pattern="(((")
    yield "tfidf_pools", of("TfIdfVectorizer", [1, 2], mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=1 << 40, ngram_counts=[5, 1], ngram_indexes=[-7], pool_int64s=[1])
    yield "random_shape", model([node("RandomNormal", [], shape=[1 << 40])], inputs=[])
    yield "bernoulli_beyond", of("Bernoulli", (FLOAT, [2], [5.0, float("nan")]))
    yield "multinomial_negative", of("Multinomial", floats(1, 3), dtype=TensorProto.INT32, sample_size=-1)


def learned():
    ml = "ai.onnx.ml"
    one = floats(1, 2)

    def tree(**changes):
        attributes = {
            "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_values": [0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0],
            "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0], "n_targets": 1,
        }  # fmt: skip
        return of("TreeEnsembleRegressor", one, domain=ml, **(attributes | changes))

    yield "tree_good", tree()
    yield "tree_cycle", tree(nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0])
    yield "tree_of_itself", tree(nodes_truenodeids=[0, 0, 0])
    yield "tree_beyond", tree(nodes_truenodeids=[99, 0, 0])
    yield "tree_negative", tree(nodes_falsenodeids=[-1, 0, 0])
    yield "tree_feature_beyond", tree(nodes_featureids=[99, 0, 0])
    yield "tree_feature_negative", tree(nodes_featureids=[-1, 0, 0])
    yield "tree_short_list", tree(nodes_values=[0.5])
    yield "tree_target_beyond", tree(target_ids=[0, 9])
    yield "tree_target_of_nothing", tree(target_nodeids=[1, 77])
    yield "tree_targets_huge", tree(n_targets=1 << 40)
    yield "tree_targets_0", tree(n_targets=0)
    yield "svm_counts", of("SVMRegressor", one, domain=ml, coefficients=[1.0], support_vectors=[1.0], n_supports=99, rho=[0.0])
    yield "svm_negative", of("SVMRegressor", one, domain=ml, coefficients=[1.0], support_vectors=[1.0], n_supports=-1, rho=[0.0])
    yield "linear_counts", of("LinearRegressor", one, domain=ml, coefficients=[1.0], targets=7)
    yield "linear_targets_huge", of("LinearRegressor", one, domain=ml, coefficients=[1.0], targets=1 << 40)
    yield "normalizer_norm", of("Normalizer", one, domain=ml, norm="::error::x")
    yield "array_feature_beyond", of("ArrayFeatureExtractor", one, [9], domain=ml)
    yield "label_encoder_lists", of("LabelEncoder", [1], domain=ml, dtype=TensorProto.INT64, keys_int64s=[1, 2, 3], values_int64s=[1])


def cases():
    return itertools.chain(integer_traps(), indices(), sizes(), learned())
