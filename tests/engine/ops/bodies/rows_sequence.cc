// Operators of sequence models that are no attention.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

std::vector<BodyCase> rotary(BodyInputs& in) {
  const DType type = in.dtype("T");
  const auto x = [&](Shape shape) { return Value(in.uniform(type, shape)); };
  const auto cache = [&](Shape shape) { return Value(in.uniform(type, shape, -1, 1)); };
  const auto ids = [&](Shape shape, double low) { return Value(in.uniform(DType::int64, shape, low, 8)); };
  std::vector<BodyCase> out;
  for (const int interleaved : {0, 1}) {
    const auto add = [&](std::string note, Attributes attributes, std::vector<Value> inputs) {
      attributes.push_back(attr("interleaved", interleaved));
      out.push_back({.note = note + (interleaved != 0 ? ", interleaved" : ""),
                     .attributes = std::move(attributes),
                     .inputs = std::move(inputs)});
    };
    add("4D, positions", {}, {x({2, 3, 5, 8}), cache({9, 4}), cache({9, 4}), ids({2, 5}, 0)});
    add("4D, positions from the end", {}, {x({2, 3, 5, 8}), cache({9, 4}), cache({9, 4}), ids({2, 5}, -9)});
    add("4D, a cache row for each token", {}, {x({2, 3, 5, 8}), cache({2, 5, 4}), cache({2, 5, 4})});
    add("4D, caches of one batch entry", {}, {x({2, 3, 5, 8}), cache({1, 5, 4}), cache({1, 5, 4})});
    add("3D, positions", {attr("num_heads", 3)},
        {x({2, 5, 60}), cache({9, 10}), cache({9, 10}), ids({2, 5}, 0)});
    add("3D, a cache row for each token", {attr("num_heads", 1)},
        {x({2, 5, 38}), cache({2, 5, 19}), cache({2, 5, 19})});
    add("partly turned", {attr("rotary_embedding_dim", 4)},
        {x({2, 3, 5, 10}), cache({9, 2}), cache({9, 2}), ids({2, 5}, 0)});
    add("partly turned, caches of whole heads", {attr("rotary_embedding_dim", 4)},
        {x({2, 3, 5, 10}), cache({9, 5}), cache({9, 5}), ids({2, 5}, 0)});
    add("partly turned, 3D", {attr("rotary_embedding_dim", 6), attr("num_heads", 2)},
        {x({2, 5, 18}), cache({2, 5, 3}), cache({2, 5, 3})});
  }
  return out;
}

std::vector<BodyCase> causal_conv(BodyInputs& in) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out;
  const auto some = [&](Shape shape) { return Value(in.uniform(type, shape, -1, 1)); };
  for (const char* activation : {"none", "silu", "swish"}) {
    const auto add = [&](const char* note, std::vector<Value> inputs) {
      out.push_back({.note = std::string(note) + ", " + activation,
                     .attributes = {attr("activation", activation)},
                     .inputs = std::move(inputs),
                     .outputs = {true, true}});
    };
    add("input and weight", {some({2, 3, 19}), some({3, 1, 4})});
    add("bias", {some({2, 3, 9}), some({3, 1, 3}), some({3})});
    add("past state", {some({2, 3, 9}), some({3, 1, 4}), Value(), some({2, 3, 3})});
    add("a step", {some({2, 3, 1}), some({3, 1, 4}), some({3}), some({2, 3, 3})});
    add("one tap", {some({2, 3, 5}), some({3, 1, 1}), some({3}), some({2, 3, 0})});
    add("shorter than the state", {some({2, 3, 2}), some({3, 1, 5})});
  }
  return out;
}

}  // namespace

std::vector<BodyRow> sequence_body_rows() {
  return {{"CausalConvWithState", 3, causal_conv}, {"RotaryEmbedding", 2, rotary}};
}

}  // namespace grurun::engine::testing
