// Operators that make tensors.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

std::vector<BodyCase> bernoulli(BodyInputs& in) {
  const DType from = in.dtype("T1"), to = in.dtype("T2");
  const Attributes dtype = {attr("dtype", static_cast<std::int64_t>(to))};
  return differing({{.note = "never", .attributes = dtype, .inputs = {in.uniform(from, Shape{4, 9}, 0, 0)}},
                    {.note = "always", .attributes = dtype, .inputs = {in.uniform(from, Shape{4, 9}, 1, 1)}}},
                   true,
                   "the body draws 1 where a uniform number is above the input: with probability 1 - p");
}

std::vector<BodyCase> range(BodyInputs& in) {
  const DType type = in.dtype("T");
  const auto one = [&](double value) { return in.uniform(type, Shape{}, value, value); };
  std::vector<BodyCase> out = {{.note = "up", .inputs = {one(2), one(11), one(3)}},
                               {.note = "not hit", .inputs = {one(2), one(12), one(3)}},
                               {.note = "down", .inputs = {one(10), one(4), one(-2)}},
                               {.note = "none", .inputs = {one(10), one(4), one(1)}}};
  return differing(std::move(out), type == DType::int16 && in.since_version() == 11,
                   "the body's Sub-7 takes no int16");
}

std::vector<BodyCase> window(BodyInputs& in) {
  const DType size = in.dtype("T1"), type = in.dtype("T2");
  std::vector<BodyCase> out;
  for (const int length : {1, 2, 7, 16}) {
    for (const int periodic : {0, 1}) {
      out.push_back({.note = std::to_string(length) + (periodic != 0 ? " periodic" : " symmetric"),
                     .attributes = {attr("periodic", periodic),
                                    attr("output_datatype", static_cast<std::int64_t>(type))},
                     .inputs = {in.uniform(size, Shape{}, length, length)}});
    }
  }
  return computed_in(std::move(out), DType::float32);  // the body, whatever it makes
}

}  // namespace

std::vector<BodyRow> generator_body_rows() {
  return {{"Bernoulli", 0, bernoulli},
          {"BlackmanWindow", 3, window},
          {"HammingWindow", 3, window},
          {"HannWindow", 3, window},
          {"Range", 0, range}};
}

}  // namespace grurun::engine::testing
