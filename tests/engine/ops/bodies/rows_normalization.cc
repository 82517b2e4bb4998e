// LayerNormalization and its kin.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

constexpr DType stashes[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};

std::string with_stash(const std::string& note, DType stash) {
  return note + ", stash_type " + dtype_name(stash);
}

std::vector<BodyCase> layer(BodyInputs& in) {
  const DType type = in.dtype("T"), stash = in.dtype("U");
  const auto stash_type = [&] { return attr("stash_type", static_cast<std::int64_t>(stash)); };
  std::vector<BodyCase> out;
  for (const int axis : {-1, -2, 0, 1, 2}) {
    const Shape x{3, 4, 10};
    const Shape rows(x.dims().subspan(static_cast<std::size_t>(axis < 0 ? 3 + axis : axis)));
    out.push_back({.note = "axis " + std::to_string(axis),
                   .attributes = {attr("axis", axis), stash_type()},
                   .inputs = {in.uniform(type, x), in.uniform(type, rows), in.uniform(type, rows)},
                   .outputs = {true, true, true}});
  }
  out.push_back({.note = "no bias, epsilon, deviation only",
                 .attributes = {attr("epsilon", 0.1f), stash_type()},
                 .inputs = {in.uniform(type, Shape{5, 33}), in.uniform(type, Shape{33})},
                 .outputs = {true, false, true}});
  out.push_back(
      {.note = "one scale for all",
       .attributes = {stash_type()},
       .inputs = {in.uniform(type, Shape{5, 33}), in.uniform(type, Shape{1}), in.uniform(type, Shape{})}});
  return computed_in(std::move(out), stash);
}

std::vector<BodyCase> rms(BodyInputs& in) {
  const DType type = in.dtype("T"), scale = in.dtype("V");
  std::vector<BodyCase> out;
  for (const DType stash : stashes) {
    const auto stash_type = [&] { return attr("stash_type", static_cast<std::int64_t>(stash)); };
    for (const int axis : {-1, 0, 1}) {
      const Shape x{3, 4, 10};
      const Shape rows(x.dims().subspan(static_cast<std::size_t>(axis < 0 ? 3 + axis : axis)));
      out.push_back({.note = with_stash("axis " + std::to_string(axis), stash),
                     .attributes = {attr("axis", axis), stash_type()},
                     .inputs = {in.uniform(type, x), in.uniform(scale, rows)},
                     .precision = stash});
    }
    out.push_back({.note = with_stash("scale of each row, epsilon", stash),
                   .attributes = {attr("epsilon", 0.1f), stash_type()},
                   .inputs = {in.uniform(type, Shape{5, 33}), in.uniform(scale, Shape{5, 1})},
                   .precision = stash});
  }
  return differing(std::move(out), type != scale,
                   "the body multiplies X's type by scale's, and Mul takes one type");
}

std::vector<BodyCase> group(BodyInputs& in) {
  const DType type = in.dtype("T");
  std::vector<BodyCase> out;
  const auto add = [&](const Shape& x, int groups, Attributes attributes, DType precision, std::string note) {
    const Shape list{in.since_version() >= 21 ? x[1] : groups};
    attributes.push_back(attr("num_groups", groups));
    out.push_back({.note = std::move(note),
                   .attributes = std::move(attributes),
                   .inputs = {in.uniform(type, x), in.uniform(type, list), in.uniform(type, list)},
                   .precision = precision});
  };
  add({2, 6, 3, 5}, 2, {}, DType::float32, "image");
  add({2, 6, 7}, 6, {attr("epsilon", 0.1f)}, DType::float32, "a group for each channel");
  add({3, 16}, 2, {}, DType::float32, "no plane");
  if (in.since_version() < 21) return out;
  for (const DType stash : stashes) {
    add({2, 6, 3, 5}, 1, {attr("stash_type", static_cast<std::int64_t>(stash))}, stash,
        with_stash("one group", stash));
  }
  return out;
}

}  // namespace

std::vector<BodyRow> normalization_body_rows() {
  // The bodies take the variance as a difference of two means, which multiplies its roundings.
  return {{"GroupNormalization", 20, group}, {"LayerNormalization", 12, layer}, {"RMSNormalization", 3, rms}};
}

}  // namespace grurun::engine::testing
