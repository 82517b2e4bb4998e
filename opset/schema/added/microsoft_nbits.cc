// Weights of 2, 4 or 8 bits, several in a byte, the lowest bits first.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// out: the numbers in the bytes of a tensor, along a new last axis.
std::string unpacked(std::string_view bytes, std::string_view out, std::int64_t bits) {
  const std::int64_t each = 8 / bits;
  std::string nodes = fmt::format(
      "{}_mask = Constant <value = uint8[1] {{{}}}> () "
      "{}_axis = Constant <value_ints = [-1]> () ",
      out, (1 << bits) - 1, out);
  std::string list;
  for (std::int64_t i = 0; i < each; ++i) {
    nodes += fmt::format(
        "{0}_by{1} = Constant <value = uint8[1] {{{2}}}> () "
        "{0}_at{1} = BitShift <direction = \"RIGHT\"> ({3}, {0}_by{1}) "
        "{0}_low{1} = BitwiseAnd({0}_at{1}, {0}_mask) {0}_part{1} = Unsqueeze({0}_low{1}, {0}_axis) ",
        out, i, i * bits, bytes);
    list += fmt::format("{}{}_part{}", i == 0 ? "" : ", ", out, i);
  }
  return nodes + fmt::format("{} = Concat <axis = -1> ({}) ", out, list);
}

std::string reshaped(std::string_view in, std::string_view out, const std::vector<std::int64_t>& shape) {
  return fmt::format("{0}_shape = Constant <value_ints = {1}> () {0} = Reshape({2}, {0}_shape) ", out,
                     list_text(shape), in);
}

std::string columns(std::string_view in, std::string_view out, std::int64_t count) {
  return fmt::format(
      "{0}_begin = Constant <value_ints = [0]> () {0}_end = Constant <value_ints = [{1}]> () "
      "{0}_axes = Constant <value_ints = [1]> () {0} = Slice({2}, {0}_begin, {0}_end, {0}_axes) ",
      out, count, in);
}

std::int64_t known_bits(const BodyNode& node) {
  const std::int64_t bits = node.integer("bits");
  if (bits != 2 && bits != 4 && bits != 8)
    fail_unsupported("weights of {} bits: only 2, 4 and 8 are known", bits);
  return bits;
}

// Where B has no element: a projection that is left out, whose product is 0 whatever the other inputs hold.
std::string omitted_product(const BodyNode& node, std::int64_t N) {
  for (const char* input : {"B", "scales", "zero_points", "g_idx"}) node.accept_input(input);
  return fmt::format(
             "outer = Shape <start = 0, end = -1> (A) width = Constant <value_ints = [{}]> () "
             "sizes = Concat <axis = 0> (outer, width) nought = Constant <value_float = 0.0> () "
             "zero = CastLike(nought, A) ",
             N) +
         (node.has("bias") ? "product = Expand(zero, sizes) Y = Add(product, bias) "
                           : "Y = Expand(zero, sizes) ");
}

// weights [N, K] of type T1; scales and zero points are for blocks of a row, or for the group of a column.
std::string matmul_body(const BodyNode& node) {
  if (node.integer("weight_prepacked") != 0) fail_unsupported("MatMulNBits with weight_prepacked");
  node.integer("accuracy_level");  // a promise to be no less accurate
  const std::int64_t bits = known_bits(node), K = node.integer("K"), N = node.integer("N");
  const std::int64_t size = std::max<std::int64_t>(1, node.integer("block_size")),
                     blocks = K / size + (K % size != 0);
  const bool grouped = node.has("g_idx"), has_zero = node.has("zero_points");
  for (std::size_t axis = 0; axis < node.rank("B"); ++axis)
    if (node.dim("B", axis) == 0) return omitted_product(node, N);
  std::string nodes = unpacked("B", "numbers", bits) + reshaped("scales", "steps", {N, blocks});
  if (!has_zero) {
    nodes += fmt::format(
        "middle = Constant <value_float = {}.0> () zeros_of_type = CastLike(middle, scales) "
        "zeros = Identity(zeros_of_type) ",
        1 << (bits - 1));
  } else if (node.dtype("zero_points") == onnx::TensorProto::UINT8) {
    nodes += reshaped("zero_points", "zero_bytes", {N, -1}) + unpacked("zero_bytes", "zero_parts", bits) +
             reshaped("zero_parts", "zero_rows", {N, -1}) + columns("zero_rows", "zero_numbers", blocks) +
             "zeros = CastLike(zero_numbers, scales) ";
  } else {
    nodes += reshaped("zero_points", "zeros", {N, blocks});
  }
  if (grouped) {
    nodes += reshaped("numbers", "flat", {N, -1}) + columns("flat", "needed", K) +
             fmt::format(
                 "group_begin = Constant <value_ints = [0]> () group_end = Constant <value_ints = [{}]> () "
                 "groups = Slice(g_idx, group_begin, group_end) ",
                 K) +
             "of_group = Gather <axis = 1> (steps, groups) real = CastLike(needed, scales) ";
    nodes += has_zero
                 ? "zero_of_group = Gather <axis = 1> (zeros, groups) from_zero = Sub(real, zero_of_group) "
                 : "from_zero = Sub(real, zeros) ";
    nodes += "weights = Mul(from_zero, of_group) ";
  } else {
    nodes += reshaped("numbers", "in_blocks", {N, blocks, -1}) +
             reshaped("steps", "step_of_block", {N, blocks, 1}) + "real = CastLike(in_blocks, scales) ";
    nodes += has_zero ? reshaped("zeros", "zero_of_block", {N, blocks, 1}) +
                            "from_zero = Sub(real, zero_of_block) "
                      : "from_zero = Sub(real, zeros) ";
    nodes += "blocks = Mul(from_zero, step_of_block) " + reshaped("blocks", "rows", {N, -1}) +
             columns("rows", "weights", K);
  }
  nodes += "matrix = Transpose <perm = [1, 0]> (weights) ";
  return nodes + (node.has("bias") ? "product = MatMul(A, matrix) Y = Add(product, bias) "
                                   : "Y = MatMul(A, matrix) ");
}

// output: the rows of real that indices name; what they name beyond it is 0.
std::string gathered(const BodyNode& node) {
  const auto rank = static_cast<std::int64_t>(node.rank("data"));
  std::int64_t axis = node.integer("gather_axis");
  if (axis < 0) axis += rank;
  std::vector<std::int64_t> behind;
  for (std::int64_t i = axis + 1; i < rank; ++i)
    behind.push_back(-static_cast<std::int64_t>(behind.size()) - 1);
  std::string nodes = fmt::format(
      "all_sizes = Shape(real) axis_place = Constant <value_int = {}> () "
      "count_there = Gather(all_sizes, axis_place) origin = Constant <value_int = 0> () "
      "least = Neg(count_there) wide = Cast <to = 7> (indices) from_least = GreaterOrEqual(wide, least) "
      "below = Less(wide, count_there) is_there = And(from_least, below) "
      "place = Where(is_there, wide, origin) found = Gather <axis = {}> (real, place) "
      "nought = Constant <value_float = 0.0> () zero = CastLike(nought, real) ",
      axis, axis);
  if (behind.empty()) return nodes + "output = Where(is_there, found, zero) ";
  return nodes + fmt::format(
                     "behind = Constant <value_ints = {}> () is_row = Unsqueeze(is_there, behind) "
                     "output = Where(is_row, found, zero) ",
                     list_text(behind));
}

// Dequantized whole, then gathered.
std::string gather_body(const BodyNode& node) {
  std::string nodes;
  if (node.rank("data") == 0)
    fail_invalid("input data is a scalar, which has no axis that blocks could lie on");
  const std::string axis = "quantize_axis";
  if (node.dtype("data") != onnx::TensorProto::UINT8) {
    node.integer("bits");  // follows from the type
    return fmt::format(
               "real = DequantizeLinear <axis: int = @quantize_axis, block_size: int = @block_size> (data, "
               "scales{}) ",
               node.has("zero_points") ? ", zero_points" : "") +
           gathered(node);
  }
  const std::int64_t bits = known_bits(node), rank = static_cast<std::int64_t>(node.rank("data"));
  const auto rows_of = [&](const char* input) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 0);
    shape.back() = node.dim(input, shape.size() - 1) * (8 / bits);
    return shape;
  };
  nodes += unpacked("data", "numbers", bits) + reshaped("numbers", "whole", rows_of("data"));
  if (node.has("zero_points")) {
    nodes += unpacked("zero_points", "zero_parts", bits) +
             reshaped("zero_parts", "zero_all", rows_of("zero_points")) +
             fmt::format(
                 "last = Constant <value_ints = [-1]> () first = Constant <value_ints = [0]> () "
                 "count = Shape <start = -1> (scales) zeros = Slice(zero_all, first, count, last) ");
  } else {
    nodes += fmt::format(
        "middle = Constant <value = uint8[1] {{{}}}> () shape = Shape(scales) "
        "zeros = Expand(middle, shape) ",
        1 << (bits - 1));
  }
  return nodes +
         "real = DequantizeLinear <axis: int = @quantize_axis, block_size: int = @block_size> (whole, "
         "scales, zeros) " +
         gathered(node);
}

// What the codes 0 to 15 mean, by quant_type.
constexpr const char* four_bit_floats[] = {
    "[0.0, 0.00520833333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25, "
    "-0.0, -0.00520833333, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25]",
    "[-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, "
    "-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, "
    "0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, "
    "0.7229568362236023, 1.0]"};

// W [N, K] in blocks of its elements in order; two codes in a byte, the first in the higher bits.
std::string bnb4_body(const BodyNode& node) {
  node.integer("training_mode");  // the same product
  const std::int64_t K = node.integer("K"), N = node.integer("N"), size = node.integer("block_size");
  const std::int64_t type = node.integer("quant_type");
  if (type != 0 && type != 1) fail_invalid("quant_type is {}, but must be 0 or 1", type);
  if (size < 1 || K < 1 || N < 1 || K > INT32_MAX / N)
    fail_invalid("K is {}, N {} and block_size {}: no sizes of a matrix in blocks", K, N, size);
  std::string nodes = fmt::format(
      "low_mask = Constant <value = uint8[1] {{15}}> () by = Constant <value = uint8[1] {{4}}> () "
      "last = Constant <value_ints = [-1]> () high = BitShift <direction = \"RIGHT\"> (B, by) "
      "low = BitwiseAnd(B, low_mask) high_part = Unsqueeze(high, last) low_part = Unsqueeze(low, last) "
      "pairs = Concat <axis = -1> (high_part, low_part) flat = Reshape(pairs, last) "
      "origin = Constant <value_ints = [0]> () count = Constant <value_ints = [{}]> () "
      "codes = Slice(flat, origin, count) places = Cast <to = 7> (codes) "
      "meaning = Constant <value_floats = {}> () numbers = Gather(meaning, places) ",
      N * K, four_bit_floats[type]);
  nodes += fmt::format(
      "first = Constant <value_int = 0> () end = Constant <value_int = {}> () "
      "one = Constant <value_int = 1> () each = Range(first, end, one) "
      "size = Constant <value_int = {}> () block = Div(each, size) step = Gather(absmax, block) "
      "real = CastLike(numbers, absmax) scaled = Mul(real, step) ",
      N * K, size);
  nodes += reshaped("scaled", "rows", {N, K});
  return nodes + (node.integer("transB") != 0
                      ? "matrix = Transpose <perm = [1, 0]> (rows) Y = MatMul(A, matrix) "
                      : "Y = MatMul(A, rows) ");
}

constexpr AddedOperator nbits_rows[] = {
    {"GatherBlockQuantized", "output = Gather(Dequantize(data), indices), data being quantized in blocks.",
     "bits: int = 4; block_size: int = 128; gather_axis: int = 0; quantize_axis: int = 1",
     "data: T1; indices: Tind; scales: T2; zero_points: T1?", "output: T2",
     "T1: int4, uint4, uint8; T2: float, float16, bfloat16; Tind: int32, int64", gather_body},
    {"MatMulBnb4",
     "Y = MatMul(A, W^T), or MatMul(A, W) with transB 0: W [N, K] being B of 4-bit floats, times absmax, in "
     "blocks.",
     "K: int!; N: int!; block_size: int!; quant_type: int!; training_mode: int = 0; transB: int = 1",
     "A: T1; B: T2; absmax: T1", "Y: T1", "T1: float, float16, bfloat16; T2: uint8", bnb4_body},
    {"MatMulNBits",
     "Y = MatMul(A, W^T) + bias, W [N, K] being B of 2, 4 or 8 bits less zero_points, times scales, in "
     "blocks of a "
     "row.",
     "K: int!; N: int!; accuracy_level: int = 0; bits: int = 4; block_size: int!; weight_prepacked: int = 0",
     "A: T1; B: T2; scales: T1; zero_points: T3?; g_idx: T4?; bias: T1?", "Y: T1",
     "T1: float, float16, bfloat16; T2: uint8; T3: uint8, float, float16, bfloat16; T4: int32", matmul_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_nbits_schemas() {
  return schemas_of(nbits_rows, "com.microsoft");
}

}  // namespace grurun::opset
