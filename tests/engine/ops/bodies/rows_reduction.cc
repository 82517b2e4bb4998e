// Operators that combine the elements along axes.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

// Small whole numbers for integers, so that sums of squares also wrap only in the case made for that.
std::vector<BodyCase> reduce_over(BodyInputs& in, double low, double high) {
  const DType type = in.dtype("T");
  const auto x = [&] { return in.uniform(type, Shape{2, 3, 5}, low, high); };
  return {{.note = "all axes", .inputs = {x()}},
          {.note = "axes, kept", .inputs = {x(), ints({0, -1})}},
          {.note = "axis, dropped", .attributes = {attr("keepdims", 0)}, .inputs = {x(), ints({1})}},
          {.note = "empty axes mean all", .inputs = {x(), ints({})}},
          {.note = "empty axes mean none",
           .attributes = {attr("noop_with_empty_axes", 1)},
           .inputs = {x(), ints({})}},
          {.note = "no axes input, none", .attributes = {attr("noop_with_empty_axes", 1)}, .inputs = {x()}},
          {.note = "empty set", .inputs = {in.uniform(type, Shape{2, 0, 3}, low, high), ints({1})}},
          {.note = "scalar", .inputs = {in.uniform(type, Shape{}, low, high)}}};
}

std::vector<BodyCase> signed_values(BodyInputs& in) {
  return reduce_over(in, is_floating(in.dtype("T")) ? -3 : 0, 3);
}

std::vector<BodyCase> sums(BodyInputs& in) {
  std::vector<BodyCase> out = signed_values(in);
  if (is_integer(in.dtype("T"))) {
    out.push_back({.note = "wraps", .inputs = {in.any(in.dtype("T"), Shape{7, 9}), ints({1})}});
  }
  return out;
}

std::vector<BodyCase> root(BodyInputs& in) {
  // The body takes the root in float.
  std::vector<BodyCase> out = computed_in(sums(in), DType::float32);
  if (out.back().note == "wraps")
    out.back().differs = "the body adds the squares up in the integer type, the kernel in double";
  return out;
}

std::vector<BodyCase> positive(BodyInputs& in) {
  return differing(reduce_over(in, 1, 9), is_integer(in.dtype("T")), "the body's Log takes no integers");
}

std::vector<BodyCase> softmax(BodyInputs& in) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out;
  for (const int axis : {-1, 0, 1, 2}) {
    out.push_back({.note = "axis " + std::to_string(axis),
                   .attributes = {attr("axis", axis)},
                   .inputs = {in.uniform(type, Shape{3, 4, 5})}});
  }
  out.push_back({.note = "default axis", .inputs = {in.uniform(type, Shape{3, 50}, -9, 9)}});
  out.push_back({.note = "empty", .inputs = {in.uniform(type, Shape{3, 0})}});
  return out;
}

std::vector<BodyCase> mean_variance(BodyInputs& in) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out = {{.note = "default axes", .inputs = {in.uniform(type, Shape{2, 3, 4, 5})}},
                               {.note = "last axis",
                                .attributes = {attr("axes", std::vector<std::int64_t>{-1})},
                                .inputs = {in.uniform(type, Shape{4, 33})}}};
  return differing(std::move(out), type != DType::float32,
                   "the body's constants are floats, whatever the input is");
}

}  // namespace

std::vector<BodyRow> reduction_body_rows() {
  return {{"LogSoftmax", 6, softmax},    {"MeanVarianceNormalization", 6, mean_variance},
          {"ReduceL1", 1, sums},         {"ReduceL2", 2, root},
          {"ReduceLogSum", 2, positive}, {"ReduceLogSumExp", 2, signed_values},
          {"ReduceSumSquare", 2, sums},  {"Softmax", 2, softmax}};
}

}  // namespace grurun::engine::testing
