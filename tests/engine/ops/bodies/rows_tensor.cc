// Operators that move or convert elements.
#include "engine/ops/shared/cast.h"
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

std::vector<BodyCase> center_crop_pad(BodyInputs& in) {
  const DType type = in.dtype("T"), index = in.dtype("Tind");
  const auto made = [&](const char* note, std::vector<std::int64_t> sizes, Attributes attributes) {
    return BodyCase{.note = note,
                    .attributes = std::move(attributes),
                    .inputs = {in.any(type, Shape{4, 5, 6}), cast_tensor(ints(sizes), index)}};
  };
  const auto axes = [](std::vector<std::int64_t> list) { return Attributes{attr("axes", std::move(list))}; };
  std::vector<BodyCase> out = {made("crop", {2, 2, 3}, {}),
                               made("pad", {5, 8, 9}, {}),
                               made("both", {7, 5, 1}, {}),
                               made("axes", {9, 3}, axes({2, 0})),
                               made("negative axes", {2, 8}, axes({-1, -3})),
                               made("to nothing", {0}, axes({1}))};
  return differing(std::move(out), index == DType::int32, "the body compares shape with an int64 by Max");
}

std::vector<BodyCase> affine_grid(BodyInputs& in) {
  const DType type = in.dtype("T1");
  std::vector<BodyCase> out;
  for (const int align_corners : {0, 1}) {
    const auto add = [&](const char* note, Shape theta, std::vector<std::int64_t> size) {
      out.push_back({.note = std::string(note) + (align_corners != 0 ? ", align_corners" : ""),
                     .attributes = {attr("align_corners", align_corners)},
                     .inputs = {in.uniform(type, theta), ints(size)}});
    };
    add("2D", {3, 2, 3}, {3, 1, 5, 6});
    add("3D", {2, 3, 4}, {2, 4, 3, 5, 6});
    add("one slice", {2, 3, 4}, {2, 4, 1, 5, 6});
    add("one column", {2, 2, 3}, {2, 1, 5, 1});
    if (align_corners != 0) out.back().differs = "the body divides by a width of 1 less 1";
  }
  return out;
}

std::vector<BodyCase> dynamic_quantize(BodyInputs& in) {
  const auto x = [&](Shape shape, double low, double high) {
    return Value(in.uniform(DType::float32, shape, low, high));
  };
  const std::vector<bool> all = {true, true, true};
  return {{.note = "both signs", .inputs = {x({5, 40}, -3, 2)}, .outputs = all},
          {.note = "positive", .inputs = {x({77}, 2, 9)}, .outputs = all},
          {.note = "negative", .inputs = {x({3, 4, 5}, -9, -2)}, .outputs = all},
          {.note = "with infinities and NaN",
           .inputs = {in.with_specials(DType::float32, Shape{20})},
           .outputs = all},
          {.note = "zeros",
           .inputs = {x({4}, 0, 0)},
           .outputs = all,
           .differs = "the body's scale is 0, and it divides by it"}};
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
  return {{"AffineGrid", 6, affine_grid},
          {"CastLike", 0, cast_like},
          {"CenterCropPad", 0, center_crop_pad},
          {"DepthToSpace", 0, depth_to_space},
          {"DynamicQuantizeLinear", 0, dynamic_quantize},
          {"SequenceMap", 0, sequence_map, /*planned_apart=*/true},
          {"SpaceToDepth", 0, space_to_depth}};
}

}  // namespace grurun::engine::testing
