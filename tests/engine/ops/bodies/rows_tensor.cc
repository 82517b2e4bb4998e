// Operators that move or convert elements.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

std::vector<BodyCase> cast_like(BodyInputs& in) {
  const DType from = in.dtype("T1"), to = in.dtype("T2");
  const auto x = [&] {
    return from == DType::string ? in.any(from, Shape{3, 7}) : in.with_specials(from, Shape{3, 7}, 0, 3);
  };
  const Tensor like = in.any(to, Shape{2});
  std::vector<BodyCase> out = {{.note = "defaults", .inputs = {x(), like}}};
  if (in.since_version() >= 19) {
    out.push_back({.note = "no saturation", .attributes = {attr("saturate", 0)}, .inputs = {x(), like}});
  }
  if (in.since_version() >= 24) {
    // 5 lies between two powers of two; "up", the default, gives 8, the others 4. Some types do not have it.
    const bool has_five =
        !DTypeSet(DType::boolean, DType::int2, DType::uint2, DType::float4e2m1, DType::float8e8m0)
             .contains(from);
    for (const char* mode : {"down", "nearest"}) {
      out.push_back({.note = mode,
                     .attributes = {attr("round_mode", mode)},
                     .inputs = {in.uniform(from, Shape{3}, 5, 5), like}});
      if (to == DType::float8e8m0 && has_five) out.back().differs = "the body does not hand round_mode on";
    }
  }
  return out;
}

std::vector<BodyCase> blocks(BodyInputs& in, const Shape& shape) {
  std::vector<BodyCase> out = {
      {.note = "default", .attributes = {attr("blocksize", 2)}, .inputs = {in.any(in.dtype("T"), shape)}}};
  for (const char* mode : {"DCR", "CRD"}) {
    out.push_back({.note = mode,
                   .attributes = {attr("blocksize", 2), attr("mode", mode)},
                   .inputs = {in.any(in.dtype("T"), shape)}});
  }
  return out;
}
std::vector<BodyCase> depth_to_space(BodyInputs& in) {
  return blocks(in, {2, 12, 3, 5});
}
std::vector<BodyCase> space_to_depth(BodyInputs& in) {
  return blocks(in, {2, 3, 4, 6});
}

// The body hands the item of the sequence and of the second input on, in the other order.
onnx_io::Graph swapping(const ValueType& first, const ValueType& second) {
  onnx_io::Graph body;
  body.name = "swap";
  body.inputs = {{"a", first}, {"b", second}};
  const auto identity = [&](const char* from, const char* to) {
    onnx_io::Node node;
    node.op_type = "Identity";
    node.inputs = {from};
    node.outputs = {to};
    body.nodes.push_back(node);
  };
  identity("a", "out_a");
  identity("b", "out_b");
  body.outputs = {{"out_b", second}, {"out_a", first}};
  return body;
}

std::vector<BodyCase> sequence_map(BodyInputs& in) {
  const ValueType item = ValueType::tensor(in.dtype("S")), other = ValueType::tensor(in.dtype("V"));
  const auto sequence = [&](const ValueType& element, std::size_t count) {
    Sequence made{element, {}};
    for (std::size_t i = 0; i < count; ++i) {
      made.items.emplace_back(in.any(element.elem, Shape{static_cast<std::int64_t>(i), 2}));
    }
    return Value(made);
  };
  const bool second_is_sequence = in.type("V").starts_with("seq");
  const auto second = [&](std::size_t count) {
    return second_is_sequence ? sequence(other, count) : Value(in.any(other.elem, Shape{3}));
  };
  const Attributes body = {attr("body", swapping(item, other))};
  return {{.note = "three items",
           .attributes = body,
           .inputs = {sequence(item, 3), second(3)},
           .outputs = {true, true}},
          {.note = "no items",
           .attributes = body,
           .inputs = {sequence(item, 0), second(0)},
           .outputs = {true, true}}};
}

}  // namespace

std::vector<BodyRow> tensor_body_rows() {
  return {{"CastLike", 0, cast_like},
          {"DepthToSpace", 0, depth_to_space},
          {"SequenceMap", 0, sequence_map, /*planned_apart=*/true},
          {"SpaceToDepth", 0, space_to_depth}};
}

}  // namespace grurun::engine::testing
