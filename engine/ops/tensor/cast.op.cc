// Cast: the input's elements as the type `to` names; CastLike: as target_type's elements are. Cast-1 names
// the type as a string ("FLOAT"), later versions by TensorProto.DataType's number. saturate (19 on) and
// round_mode (24 on) steer the conversion to 8-bit floats; the versions before behave as their defaults.
// BitCast: the same bits under another type of the same width.
#include "engine/ops/shared/cast.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

CastRule read_rule(PrepareContext& node) {
  CastRule rule;
  rule.saturate = node.int_attribute("saturate", 1) != 0;
  rule.clamp_four_bits = node.since_version() < 24;
  rule.round_mode = parse_power_rounding(node.string_attribute("round_mode", "up"));
  return rule;
}

DType target_of(PrepareContext& node) {
  if (node.since_version() == 1) return parse_dtype(node.string_attribute("to"));
  return static_cast<DType>(node.int_attribute("to"));
}

// Of one type to itself, too: what is beyond the largest value saturates, and float8e5m2 has infinities.
Tensor converted(const Tensor& x, DType to, const CastRule& rule) {
  const bool saturates = to == DType::float8e5m2 && x.dtype() == to && rule.saturate;
  return cast_tensor(saturates ? cast_tensor(x, DType::float32) : x, to, rule);
}

RunFunction prepare_cast(PrepareContext& node) {
  const DType to = target_of(node);
  const CastRule rule = read_rule(node);
  return [to, rule](RunContext& run) { run.set_output(0, converted(run.tensor(0), to, rule)); };
}

RunFunction prepare_cast_like(PrepareContext& node) {
  const CastRule rule = read_rule(node);
  return [rule](RunContext& run) {
    const DType to = run.tensor(1).dtype();
    run.set_output(0, converted(run.tensor(0), to, rule));
  };
}

// Other bits than those of false and true are no bool, in files neither.
void require_bools(const Tensor& bytes) {
  const auto* const first = static_cast<const std::uint8_t*>(bytes.raw());
  const auto* const end = first + bytes.size();
  if (std::any_of(first, end, [](std::uint8_t byte) { return byte > 1; })) refuse();
}

// Elements of less than a byte lie in one each: signed ones with their sign throughout, others with zeros
// above.
Tensor of_narrow_bits(const Tensor& x, DType to) {
  const int bits = dtype_file_bits(to);
  const bool is_signed = to == DType::int4 || to == DType::int2;
  Tensor y(to, x.shape());
  const auto* const from = static_cast<const std::uint8_t*>(x.raw());
  std::transform(from, from + x.size(), static_cast<std::uint8_t*>(y.mutable_raw()), [=](std::uint8_t byte) {
    const int above = 8 - bits;
    const auto high = static_cast<std::uint8_t>(byte << above);
    return static_cast<std::uint8_t>(is_signed ? static_cast<std::int8_t>(high) >> above : high >> above);
  });
  return y;
}

RunFunction prepare_bit_cast(PrepareContext& node) {
  const DType to = target_of(node);
  return [to](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.dtype() == DType::string || dtype_file_bits(x.dtype()) != dtype_file_bits(to)) refuse();
    if (to == DType::boolean) require_bools(x);
    run.set_output(0, dtype_file_bits(to) < 8 ? of_narrow_bits(x, to) : run.take_tensor(0).viewed_as(to));
  };
}

}  // namespace

std::vector<OpRow> op_rows_cast() {
  return {{"", "Cast", {1, 6, 9, 13, 19, 21, 23, 24, 25, 28}, prepare_cast},
          {"", "CastLike", {15, 19, 21, 23, 24, 25}, prepare_cast_like},
          {"", "BitCast", {26}, prepare_bit_cast}};
}

}  // namespace grurun::engine
