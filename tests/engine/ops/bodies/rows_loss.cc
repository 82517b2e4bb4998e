// Losses.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

std::vector<BodyCase> losses(BodyInputs& in, double low, double high, const std::vector<bool>& outputs) {
  const DType type = in.dtype("T"), index = in.dtype("Tind");
  std::vector<BodyCase> out;
  for (const char* reduction : {"none", "sum", "mean"}) {
    const auto add = [&](const char* note, Attributes attributes, std::vector<Value> inputs) {
      attributes.push_back(attr("reduction", reduction));
      out.push_back({.note = std::string(note) + ", " + reduction,
                     .attributes = std::move(attributes),
                     .inputs = std::move(inputs),
                     .outputs = outputs});
    };
    const auto x = [&](Shape shape) { return Value(in.uniform(type, shape, low, high)); };
    const auto target = [&](Shape shape, double from = 0) {
      return Value(in.uniform(index, shape, from, 4));
    };
    const auto weight = [&] { return Value(in.uniform(type, Shape{5}, 0.5, 2)); };
    add("matrix", {}, {x({7, 5}), target({7})});
    add("matrix, weights", {}, {x({7, 5}), target({7}), weight()});
    add("planes", {}, {x({2, 5, 3, 2}), target({2, 3, 2})});
    add("planes, weights", {}, {x({2, 5, 3, 2}), target({2, 3, 2}), weight()});
    add("ignored class", {attr("ignore_index", 2)}, {x({2, 5, 6}), target({2, 6})});
    add("ignored number that is no class", {attr("ignore_index", -1)}, {x({2, 5, 6}), target({2, 6}, -1)});
    add("ignored, weights", {attr("ignore_index", -1)}, {x({2, 5, 6}), target({2, 6}, -1), weight()});
    add("all ignored", {attr("ignore_index", 4)}, {x({3, 5}), Value(in.uniform(index, Shape{3}, 4, 4))});
  }
  return out;
}

std::vector<BodyCase> likelihood(BodyInputs& in) {
  return losses(in, -3, 0, {true});
}
std::vector<BodyCase> cross_entropy(BodyInputs& in) {
  return differing(losses(in, -2, 2, {true, true}), in.dtype("T") == DType::bfloat16,
                   "the body ends in NegativeLogLikelihoodLoss-13, which takes no bfloat16");
}

}  // namespace

std::vector<BodyRow> loss_body_rows() {
  return {{"NegativeLogLikelihoodLoss", 3, likelihood}, {"SoftmaxCrossEntropyLoss", 4, cross_entropy}};
}

}  // namespace grurun::engine::testing
