// Rules of single operators that arrange elements.
#include <algorithm>
#include <cmath>

#include "opset/pages/joined_inputs.h"
#include "opset/pages/page_rules.h"
#include "tensor/dtype.h"
#include "tensor/error.h"

namespace grurun::opset {

void require_joined(const NodeFacts& facts, std::int64_t stated, std::size_t begin, std::size_t step) {
  const SymbolicShape* first = facts.shape(begin);
  for (std::size_t i = begin + step; first != nullptr && i < facts.input_count(); i += step) {
    const SymbolicShape* other = facts.shape(i);
    if (other == nullptr) continue;
    const int rank = rank_of(*first), axis = static_cast<int>(stated < 0 ? stated + rank : stated);
    bool fits = rank_of(*other) == rank;
    for (int d = 0; fits && d < rank; ++d) {
      const Size a = size_of(first, d), b = size_of(other, d);
      fits = d == axis || !a || !b || *a == *b;
    }
    if (!fits)
      fail_invalid("input {} is {}, which cannot be joined with {} along axis {}", i, to_string(*other),
                   to_string(*first), axis);
  }
}

void check_joined(const NodeFacts& facts) {
  require_joined(facts, facts.int_attribute("axis", 1), 0, 1);
}

void check_perm(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const onnx_io::Attribute* perm = facts.attribute("perm");
  if (perm == nullptr) return;
  std::vector<std::int64_t> sorted = perm->ints;
  std::ranges::sort(sorted);
  bool fits = data == nullptr || sorted.size() == data->size();
  for (std::size_t i = 0; fits && i < sorted.size(); ++i) fits = sorted[i] == static_cast<std::int64_t>(i);
  if (fits) return;
  fail_invalid("attribute perm is [{}], which is no permutation of the {} axes of data{}",
               fmt::join(perm->ints, ","), data == nullptr ? sorted.size() : data->size(),
               data == nullptr ? "" : " " + to_string(*data));
}

void check_reversed(const NodeFacts& facts) {
  const std::int64_t batch_axis = facts.int_attribute("batch_axis", 1);
  const std::int64_t time_axis = facts.int_attribute("time_axis", 0);
  if (!(batch_axis == 0 && time_axis == 1) && !(batch_axis == 1 && time_axis == 0))
    fail_invalid("time_axis and batch_axis are {} and {}; they must be 0 and 1, or 1 and 0", time_axis,
                 batch_axis);
  require_sizes("sequence_lens", facts.shape(1), {size_of(facts.shape(0), static_cast<int>(batch_axis))},
                "a length for each row of the batch");
  const Size time = size_of(facts.shape(0), static_cast<int>(time_axis));
  for (const std::int64_t length : integers_in(facts, 1).value_or(std::vector<std::int64_t>()))
    if (time && (length < 0 || length > *time))
      fail_invalid("sequence_lens holds {}, but must lie in [0, {}]", length, *time);
}

// Before version 11 "the values must be non-negative integers", which -0.5 is not. Depth "will be casted to
// int64 before use": its fraction is cut off.
void check_one_hot(const NodeFacts& facts) {
  for (const double index : numbers_in(facts, 0).value_or(std::vector<double>()))
    if (facts.since_version() < 11 && index < 0)
      fail_invalid("indices holds {}, but must hold numbers from 0 on before opset 11", index);
  const auto depth = numbers_in(facts, 1);
  if (depth && depth->size() == 1 && !(std::trunc(depth->front()) >= 0 && depth->front() < 9e18))
    fail_invalid("depth is {}, but must be a number of elements, from 0 on", depth->front());
}

std::optional<std::string> border_and_scale(const onnx_io::Node& node, int) {
  const auto counts = {std::pair("border", std::size_t{4}), std::pair("scale", std::size_t{2})};
  for (const auto& [name, count] : counts) {
    const onnx_io::Attribute* list = node.find_attribute(name);
    const bool stated = list != nullptr && !(list->ints.empty() && count == 2);
    if (stated && list->ints.size() != count)
      return fmt::format("{} has {} numbers, but must have {}", name, list->ints.size(), count);
  }
  return std::nullopt;
}

// border: left, top, right, bottom; scale: the height and the width that are left, in place of the last two.
void check_border(const NodeFacts& facts) {
  const onnx_io::Attribute *border = facts.attribute("border"), *scale = facts.attribute("scale");
  if (border == nullptr || border->ints.size() != 4) return;
  for (const std::size_t axis : {0, 1}) {
    const Size length = size_of(facts.shape(0), static_cast<int>(2 + axis));
    const bool stated = scale != nullptr && scale->ints.size() == 2;
    const std::int64_t begin = border->ints[1 - axis];
    const std::int64_t rest = stated ? scale->ints[axis] : border->ints[3 - axis];
    if (length && (begin > *length || rest > *length - begin))
      fail_invalid("input is {}: {} {} is shorter than {} + {}, of border{}", to_string(*facts.shape(0)),
                   axis == 0 ? "its height" : "its width", *length, begin, rest, stated ? " and scale" : "");
  }
}

void check_channel_bias(const NodeFacts& facts) {
  const onnx_io::Attribute* bias = facts.attribute("bias");
  const Size channels = size_of(facts.shape(0), 1);
  if (bias != nullptr && channels && std::ssize(bias->floats) != *channels)
    fail_invalid("bias has {} numbers, but input {} has {} channels", bias->floats.size(),
                 to_string(*facts.shape(0)), *channels);
}

// size lists N, C and the lengths of the axes.
void check_affine_grid(const NodeFacts& facts) {
  const auto size = integers_in(facts, 1);
  if (!size || size->empty()) return;
  const Size N = size_of(facts.shape(0), 0);
  if (N && *N != size->front())
    fail_invalid("theta is {}, but size asks for a batch of {}", to_string(*facts.shape(0)), size->front());
}

// A number for each axis of X in the last of grid; and what is beyond a border needs an element at it.
void check_grid(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *grid = facts.shape(1);
  if (X == nullptr) return;
  const int axes = rank_of(*X) - 2;
  const Size last = grid == nullptr ? std::nullopt : size_of(grid, rank_of(*grid) - 1);
  if (last && *last != axes)
    fail_invalid("grid is {}: its last size must be {}, the axes of X {} behind N and C", to_string(*grid),
                 axes, to_string(*X));
  Sizes sampled{size_of(X, 0), size_of(X, 1)};
  for (int d = 1; d <= axes; ++d) sampled.push_back(size_of(grid, d));
  const onnx_io::Attribute* padding = facts.attribute("padding_mode");
  if (padding == nullptr || padding->s == "zeros") return;
  if (count_of(sizes_of(*X)) == 0 && count_of(sampled).value_or(0) != 0)
    fail_invalid("X {} has no element that could be at or near a border", to_string(*X));
}

namespace {

// As files have them: of narrow ones, less than a byte.
int bits_of(DType dtype) {
  return dtype == DType::undefined || dtype == DType::string ? 0 : dtype_file_bits(dtype);
}

}  // namespace

void check_bit_cast(const NodeFacts& facts) {
  const std::int64_t to = facts.int_attribute("to", 0);
  const DType from = facts.dtype(0);
  if (!is_valid_dtype(to) || from == DType::undefined) return;
  if (bits_of(from) != bits_of(static_cast<DType>(to)) || bits_of(from) == 0)
    fail_invalid("BitCast from {} to {}: the widths differ", dtype_name(from),
                 dtype_name(static_cast<DType>(to)));
  const Tensor* input = facts.value(0);
  if (static_cast<DType>(to) != DType::boolean || input == nullptr) return;
  const std::span bytes(static_cast<const unsigned char*>(input->raw()),
                        static_cast<std::size_t>(input->size()));
  const auto other = std::ranges::find_if(bytes, [](unsigned char byte) { return byte > 1; });
  if (other != bytes.end())
    fail_invalid("BitCast to bool: element {} has the bits of {}; only 0 and 1 are bools",
                 other - bytes.begin(), *other);
}

}  // namespace grurun::opset
