// Derivatives of operators that move elements. Most go one way: the operator is run on the numbers of the
// elements instead of the elements, which tells where each output came from, and the gradients are added up
// at those places.
#include <algorithm>
#include <numeric>

#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/training/gradient_tape.h"

namespace grurun::engine {

namespace {

using Id = Tape::Id;

/// 0, 1, 2, ... in the shape of id.
Id element_numbers(Backward& b, Id id) {
  Tensor numbers(DType::int64, b.shape(id));
  auto* to = numbers.mutable_data<std::int64_t>();
  std::iota(to, to + numbers.size(), 0);
  return b.tape().add(std::move(numbers));
}

Id flat(Backward& b, Id id) {
  return b.reshape(id, Shape{b.tensor(id).size()});
}

/// Adds each element of dy up at the place of input 0 that sources names, -1 for none.
void give_at_sources(Backward& b, Id sources, Id dy) {
  const std::int64_t size = b.tensor(b.x()).size();
  // Place `size` takes what has no source.
  const Id places = b.op("Where", {b.op("Less", {sources, b.ints({0})}), b.ints({size}), sources});
  const Id target = b.tape().add(Tensor::zeros(b.tensor(b.x()).dtype(), Shape{size + 1}));
  onnx_io::Attribute reduction;
  reduction.name = "reduction";
  reduction.type = onnx_io::AttributeType::string;
  reduction.s = "add";
  const Id sums = b.op("ScatterElements", {target, flat(b, places), flat(b, dy)}, {reduction});
  b.give(0, b.reshape(b.op("Slice", {sums, b.ints({0}), b.ints({size})}), b.shape(b.x())));
}

/// Operators whose output 0 holds elements of input 0 and nothing else, in every version.
void moves(Backward& b) {
  std::vector<Id> inputs = b.entry().inputs;
  inputs[0] = element_numbers(b, b.x());
  give_at_sources(b, b.tape().apply(b.entry().node, b.entry().opset_version, inputs).front(), b.dy());
}

void reshapes(Backward& b) {
  b.give(0, b.reshape(b.dy(), b.shape(b.x())));
}

void transpose(Backward& b) {
  const std::size_t rank = b.shape(b.x()).rank();
  std::vector<std::int64_t> perm = b.ints_attribute("perm");
  if (perm.empty()) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<std::int64_t> inverse(rank);
  for (std::size_t i = 0; i < rank; ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  b.give(0, b.transpose(b.dy(), inverse));
}

void concat(Backward& b) {
  const auto rank = static_cast<std::int64_t>(b.shape(b.y()).rank());
  const std::int64_t axis = normalized_axis(b.int_attribute("axis", 1), rank);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    const std::int64_t end = start + b.shape(b.x(i))[static_cast<std::size_t>(axis)];
    if (b.wants(i)) b.give(i, b.op("Slice", {b.dy(), b.ints({start}), b.ints({end}), b.ints({axis})}));
    start = end;
  }
}

void split(Backward& b) {
  std::vector<Id> parts;
  for (std::size_t i = 0; i < b.entry().outputs.size(); ++i) {
    parts.push_back(b.dy(i) != Tape::none ? b.dy(i) : b.zeros(b.y(i)));
  }
  b.give(0, b.op("Concat", parts, {int_attr("axis", b.int_attribute("axis", 0))}));
}

void pad(Backward& b) {
  if (b.wants(2)) b.refuse("with a value that depends on xs");
  std::vector<Id> inputs = {element_numbers(b, b.x()), Tape::none,
                            b.tape().add(Tensor::scalar(std::int64_t{-1}))};
  if (b.entry().since_version >= 11) {
    inputs[1] = b.x(1);
    if (b.has_input(3)) inputs.push_back(b.x(3));
  } else {
    inputs[1] = b.ints(b.ints_attribute(b.entry().since_version == 1 ? "paddings" : "pads"));
  }
  onnx_io::Attribute mode;
  mode.name = "mode";
  mode.type = onnx_io::AttributeType::string;
  mode.s = b.string_attribute("mode", "constant");
  if (mode.s == "wrap") b.refuse("in mode wrap");
  give_at_sources(b, b.op("Pad", inputs, {mode}), b.dy());
}

void trilu(Backward& b) {
  std::vector<Id> inputs = {b.dy()};
  if (b.has_input(1)) inputs.push_back(b.x(1));
  b.give(0, b.op("Trilu", inputs, {int_attr("upper", b.int_attribute("upper", 1))}));
}

void cumsum(Backward& b) {
  b.give(0, b.op("CumSum", {b.dy(), b.x(1)},
                 {int_attr("exclusive", b.int_attribute("exclusive", 0)),
                  int_attr("reverse", b.int_attribute("reverse", 0) == 0 ? 1 : 0)}));
}

/// ScatterElements, ScatterND: what is replaced has no share; gather is the operator that reads the places.
GradientRule scatters(const char* scatter, const char* gather) {
  return [=](Backward& b) {
    const std::string reduction = b.string_attribute("reduction", "none");
    if (reduction != "none" && reduction != "add") b.refuse("with reduction " + reduction);
    std::vector<onnx_io::Attribute> axis;
    if (std::string(gather) == "GatherElements") axis.push_back(int_attr("axis", b.int_attribute("axis", 0)));
    if (b.wants(0)) {
      b.give(0, reduction == "add" ? b.dy() : b.op(scatter, {b.dy(), b.x(1), b.zeros(b.x(2))}, axis));
    }
    if (b.wants(2)) b.give(2, b.op(gather, {b.dy(), b.x(1)}, axis));
  };
}

void top_k(Backward& b) {
  if (b.dy(0) == Tape::none) return;
  if (b.entry().outputs.size() < 2 || b.y(1) == Tape::none) b.refuse("without its output Indices");
  std::vector<onnx_io::Attribute> attributes = {int_attr("axis", b.int_attribute("axis", -1))};
  b.give(0, b.op("ScatterElements", {b.zeros(b.x()), b.y(1), b.dy(0)}, attributes));
}

/// The output Indices says which element of the whole input each output is.
void max_pool(Backward& b) {
  b.require_version(8);
  if (b.int_attribute("storage_order", 0) != 0) b.refuse("with storage_order 1");
  onnx_io::Node node = b.entry().node;
  node.outputs = {"Y", "Indices"};
  give_at_sources(b, b.tape().apply(node, b.entry().opset_version, b.entry().inputs).at(1), b.dy());
}

}  // namespace

void add_movement_rules(GradientRules& rules) {
  for (const char* type : {"Slice", "Gather", "GatherElements", "GatherND", "Tile", "Expand", "DepthToSpace",
                           "SpaceToDepth", "Compress", "ReverseSequence"}) {
    rules[type] = moves;
  }
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) rules[type] = reshapes;
  rules["Transpose"] = transpose;
  rules["Concat"] = concat;
  rules["Split"] = split;
  rules["Pad"] = pad;
  rules["Trilu"] = trilu;
  rules["CumSum"] = cumsum;
  rules["ScatterElements"] = rules["Scatter"] = scatters("ScatterElements", "GatherElements");
  rules["ScatterND"] = scatters("ScatterND", "GatherND");
  rules["TopK"] = top_k;
  rules["MaxPool"] = max_pool;
}

}  // namespace grurun::engine
