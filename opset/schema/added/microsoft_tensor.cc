// Operators that com.microsoft had before ai.onnx had its own.
#include <fmt/format.h>

#include <numeric>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

std::string expand_dims_body(const BodyNode&) {
  return "whole = Cast <to = 7> (axis) one = Constant <value_ints = [1]> () axes = Reshape(whole, one) "
         "Y = Unsqueeze(X, axes)";
}

std::string gather_nd_body(const BodyNode&) {
  return "wide = Cast <to = 7> (indices) output = GatherND(data, wide)";
}

std::string grid_sample_body(const BodyNode& node) {
  const std::string mode = node.text("mode");
  if (mode != "bilinear" && mode != "bicubic" && mode != "nearest")
    fail_invalid("no mode of GridSample: {}", mode);
  const char* renamed = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : "nearest";
  return fmt::format(
      "Y = GridSample <mode = \"{}\", align_corners: int = @align_corners, padding_mode: string = "
      "@padding_mode> (X, Grid)",
      renamed);
}

std::string pad_body(const BodyNode& node) {
  return fmt::format(
      "flat = Constant <value_ints = [-1]> () list = Reshape(pads, flat) {}"
      "output = Pad <mode: string = @mode> (data, list{})",
      node.has("value") ? "one = Squeeze(value) " : "", node.has("value") ? ", one" : "");
}

// Ends and steps may hold one number in a list.
std::string range_body(const BodyNode& node) {
  std::string nodes = "first = Squeeze(start) end = Squeeze(limit) ";
  nodes += node.has("delta") ? "step = Squeeze(delta) "
                             : "one = Constant <value_int = 1> () step = CastLike(one, start) ";
  return nodes + "Y = Range(first, end, step)";
}

std::string trilu_body(const BodyNode& node) {
  if (!node.has("k")) return "Y = Trilu <upper: int = @upper> (X)";
  return "offset = Squeeze(k) Y = Trilu <upper: int = @upper> (X, offset)";
}

std::string unique_body(const BodyNode&) {
  return "y, first, idx, counts = Unique <sorted = 0> (x)";
}

// Windows become the last axis.
std::string unfold_body(const BodyNode& node) {
  const auto rank = static_cast<std::int64_t>(node.rank("input"));
  std::int64_t dim = node.integer("dim");
  if (dim < 0) dim += rank;
  const std::int64_t size = node.integer("size"), step = node.integer("step");
  if (dim < 0 || dim >= rank || size < 1 || step < 1)
    fail_invalid("dim, size or step of UnfoldTensor is out of range");
  const std::int64_t length = node.dim("input", static_cast<std::size_t>(dim));
  if (size > length) fail_invalid("size is {}, but axis {} has the length {}", size, dim, length);
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + dim + 1);
  perm.push_back(dim + 1);
  return fmt::format(
      "origin = Constant <value_int = 0> () end = Constant <value_int = {}> () "
      "step = Constant <value_int = {}> () size = Constant <value_int = {}> () "
      "one = Constant <value_int = 1> () begins = Range(origin, end, step) "
      "offsets = Range(origin, size, one) column = Constant <value_ints = [1]> () "
      "down = Unsqueeze(begins, column) places = Add(down, offsets) "
      "windows = Gather <axis = {}> (input, places) output = Transpose <perm = {}> (windows)",
      length - size + 1, step, size, dim, list_text(perm));
}

// Squared differences of each row of A and each of B.
std::string cdist_body(const BodyNode& node) {
  std::string nodes =
      "inner = Constant <value_ints = [1]> () outer = Constant <value_ints = [0]> () "
      "last = Constant <value_ints = [-1]> () a = Unsqueeze(A, inner) b = Unsqueeze(B, outer) "
      "difference = Sub(a, b) square = Mul(difference, difference) ";
  if (node.text("metric") == "sqeuclidean") return nodes + "C = ReduceSum <keepdims = 0> (square, last)";
  if (node.text("metric") != "euclidean") fail_invalid("metric must be sqeuclidean or euclidean");
  return nodes + "sum = ReduceSum <keepdims = 0> (square, last) C = Sqrt(sum)";
}

constexpr const char* all_types =
    "T: float16, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, string";

constexpr AddedOperator tensor_rows[] = {
    {"CDist", "C [M, N]: distances of the rows of A [M, K] to those of B [N, K].",
     "metric: string = sqeuclidean", "A: T; B: T", "C: T", "T: float, double", cdist_body},
    {"ExpandDims", "Y is X with an axis of length 1 at axis, counted in Y.", "", "X: T; axis: tensor(int32)",
     "Y: T", all_types, expand_dims_body},
    {"GatherND", "GatherND of ai.onnx.", "", "data: T; indices: Tind", "output: T",
     "T: float16, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, string; "
     "Tind: int32, int64",
     gather_nd_body},
    {"GridSample", "GridSample of ai.onnx 16.",
     "align_corners: int = 0; mode: string = bilinear; padding_mode: string = zeros", "X: T1; Grid: T1",
     "Y: T1", "T1: float", grid_sample_body},
    {"Pad", "Pad of ai.onnx 11.", "mode: string = constant", "data: T; pads: tensor(int64); value: T?",
     "output: T", "T: float16, float, double", pad_body},
    {"Range", "Range of ai.onnx; delta is 1 where it is left out.", "", "start: T; limit: T; delta: T?",
     "Y: T", "T: float, double, int16, int32, int64", range_body},
    {"Trilu", "Trilu of ai.onnx.", "upper: int = 1", "X: T; k: tensor(int64)?", "Y: T",
     "T: float16, float, double, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool",
     trilu_body},
    {"UnfoldTensor",
     "output: slices of size along dim, step apart, the places in a slice being the last axis.",
     "dim: int = -1; size: int!; step: int = 1", "input: T", "output: T", all_types, unfold_body},
    {"Unique",
     "The values of x in the order in which they come first, the place of each element's, and how often.", "",
     "x: T", "y: T; idx: tensor(int64); counts: tensor(int64)", "T: float", unique_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_tensor_schemas() {
  return schemas_of(tensor_rows, "com.microsoft");
}

}  // namespace grurun::opset
