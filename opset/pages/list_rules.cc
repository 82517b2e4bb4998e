// Lists that say what becomes of each axis: starts and ends, repeats, pads, parts, sizes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "opset/pages/page_rules.h"
#include "opset/pages/stated_numbers.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using List = std::vector<std::int64_t>;

Size element_count(const SymbolicShape* shape) {
  return shape == nullptr ? std::nullopt : count_of(sizes_of(*shape));
}

// Throws where one is negative; nullopt where their sum is beyond int64.
Size sum_of_parts(const List& parts) {
  std::int64_t sum = 0;
  for (const std::int64_t part : parts) {
    if (part < 0) fail_invalid("split holds {}: a length is not negative", part);
    if (__builtin_add_overflow(sum, part, &sum)) return std::nullopt;
  }
  return sum;
}

// The size of input 0 on its attribute axis.
Size length_along(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const std::int64_t axis = facts.int_attribute("axis", 0);
  return input == nullptr ? std::nullopt
                          : size_of(input, static_cast<int>(axis < 0 ? axis + rank_of(*input) : axis));
}

void require_sum(const NodeFacts& facts, const List& parts) {
  const Size length = length_along(facts), sum = sum_of_parts(parts);
  if (length && sum != length)
    fail_invalid("the parts in split sum to {}, but the axis has length {}",
                 sum ? std::to_string(*sum) : "more than 2^63", *length);
}

// The attribute's, or those of the input, which are floats in version 1.
std::optional<List> stated_parts(const NodeFacts& facts) {
  if (auto stated = integers_of(facts, "split", 1)) return stated;
  const auto numbers = numbers_in(facts, 1);
  if (!numbers) return std::nullopt;
  List parts;
  for (const double number : *numbers) {
    if (!(number >= 0 && number <= 0x1p53 && number == std::floor(number)))
      fail_invalid("split holds {}, which is no length", number);
    parts.push_back(static_cast<std::int64_t>(number));
  }
  return parts;
}

std::int64_t require_whole(const NodeFacts& facts, std::size_t input, std::int64_t otherwise) {
  const auto numbers = numbers_in(facts, input);
  if (!numbers || numbers->size() != 1) return otherwise;
  const double number = numbers->front();
  if (!(std::abs(number) < 0x1p62) || number != std::trunc(number))
    fail_invalid("{} is {}, but must be a whole number below 2^62", input_name(facts, input), number);
  return static_cast<std::int64_t>(number);
}

}  // namespace

void check_split(const NodeFacts& facts) {
  const auto outputs = static_cast<std::int64_t>(facts.output_count());
  const bool has_attribute = facts.attribute("split") != nullptr, has_input = facts.has_input(1);
  const onnx_io::Attribute* number = facts.attribute("num_outputs");
  if (has_attribute && has_input) fail_invalid("split is both an attribute and an input: state one of them");
  if (facts.since_version() >= 18 && (number != nullptr) == has_input)
    fail_invalid("{} of the input split and the attribute num_outputs {}: state one of them",
                 has_input ? "both" : "neither", has_input ? "are given" : "is given");
  if (number != nullptr && number->i != outputs)
    fail_invalid("attribute num_outputs is {}, but the node has {} outputs", number->i, outputs);
  if (const auto parts = stated_parts(facts)) {
    if (std::ssize(*parts) != outputs)
      fail_invalid("split states {} parts, but there are {} outputs", parts->size(), outputs);
    return require_sum(facts, *parts);
  }
  if (const Size parts = element_count(facts.shape(1)); parts && *parts != outputs)
    fail_invalid("split states {} parts, but there are {} outputs", *parts, outputs);
  const Size length = length_along(facts);
  if (!has_input && number == nullptr && length && *length % outputs != 0)
    fail_invalid("length {} does not divide into {} equal parts: state their lengths in split", *length,
                 outputs);
}

// One number is the length of all parts but the last.
void check_split_to_sequence(const NodeFacts& facts) {
  const auto parts = integers_in(facts, 1);
  const SymbolicShape* split = facts.shape(1);
  if (!parts || split == nullptr) return;
  if (parts->empty()) fail_invalid("split is empty, but must have a length for each part");
  if (!split->empty()) return require_sum(facts, *parts);
  if (parts->front() < 1) fail_invalid("split is {}, but must be positive", parts->front());
}

void check_squeezed(const NodeFacts& facts) {
  const auto axes = integers_of(facts, "axes", 1);
  const SymbolicShape* data = facts.shape(0);
  if (!axes || data == nullptr) return;
  for (const std::int64_t axis : *axes) {
    const int at = static_cast<int>(axis < 0 ? axis + rank_of(*data) : axis);
    if (size_of(data, at).value_or(1) != 1)
      fail_invalid("axes names axis {} of data {}, which is not of size 1", axis, to_string(*data));
  }
}

// They are places in the output.
void check_unsqueezed(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const auto axes = integers_of(facts, "axes", 1);
  constexpr int from_end_since = 11;
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>()))
    if (axis < 0 && facts.since_version() < from_end_since)
      fail_from_end(facts, fmt::format("attribute axes names axis {}", axis), "axes", from_end_since);
  if (data == nullptr || !axes) return;
  const std::int64_t rank = rank_of(*data) + std::ssize(*axes);
  std::set<std::int64_t> named;
  for (const std::int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      fail_invalid("axes names axis {}, but must lie in [-r, r) of the output, whose rank r is {}", axis,
                   rank);
    if (!named.insert(axis < 0 ? axis + rank : axis).second) fail_invalid("axes names axis {} twice", axis);
  }
}

void check_sliced(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const auto starts = integers_of(facts, "starts", 1), ends = integers_of(facts, "ends", 2);
  const auto axes = integers_of(facts, "axes", 3), steps = integers_in(facts, 4);
  for (const auto* list : {&ends, &axes, &steps})
    if (starts && *list && starts->size() != (*list)->size())
      fail_invalid("starts, ends, axes and steps must have one length");
  const Size count = starts ? Size(std::ssize(*starts)) : element_count(facts.shape(1));
  if (count && data != nullptr && *count > rank_of(*data))
    fail_invalid("{} axes are sliced, but data {} has {}", *count, to_string(*data), data->size());
  if (steps && std::ranges::count(*steps, 0) != 0) fail_invalid("steps holds 0");
}

void check_repeats(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const Size count = size_of(facts.shape(1), 0);
  if (input != nullptr && count && *count != rank_of(*input))
    fail_invalid("repeats has {} entries, but input {} has {} axes", *count, to_string(*input),
                 input->size());
}

// Of one axis, in Tile-1: both are of the input's type, which is a float.
void check_tiles(const NodeFacts& facts) {
  const std::int64_t axis = require_whole(facts, 2, 0), tiles = require_whole(facts, 1, 0);
  const SymbolicShape* input = facts.shape(0);
  if (input != nullptr && (axis < -rank_of(*input) || axis >= rank_of(*input)))
    fail_invalid("axis is {}, but input {} has {} axes", axis, to_string(*input), input->size());
  if (tiles < 0) fail_invalid("tiles is {}: a number of copies is not negative", tiles);
}

void check_pads(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const auto pads = integers_of(facts, facts.since_version() == 1 ? "paddings" : "pads", 1);
  auto axes = integers_in(facts, 3);
  if (data == nullptr || (facts.has_input(3) && !axes)) return;
  const int rank = rank_of(*data);
  if (!axes) {
    axes.emplace(static_cast<std::size_t>(rank));
    std::iota(axes->begin(), axes->end(), 0);
  }
  const SymbolicShape* shape = facts.shape(1);
  const Size entries = pads ? Size(std::ssize(*pads)) : element_count(shape);
  const std::size_t count = axes->size();
  if (entries && *entries != 2 * std::ssize(*axes))
    fail_invalid("pads has {} entries, but {} axes need {}", *entries, count, 2 * count);
  if (!pads) return;
  Sizes padded = sizes_of(*data);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    Size& size = padded[static_cast<std::size_t>(axis)];
    if (!size) return;
    const auto sum = static_cast<__int128>(*size) + (*pads)[i] + (*pads)[i + count];
    if (sum < 0) fail_invalid("pads removes more than axis {} of data {} holds", axis, to_string(*data));
    if (sum > std::numeric_limits<std::int64_t>::max()) return;
    size = static_cast<std::int64_t>(sum);
  }
  const onnx_io::Attribute* mode = facts.attribute("mode");
  if (mode != nullptr && mode->s != "constant" && count_of(sizes_of(*data)) == 0 &&
      count_of(padded).value_or(0) != 0)
    fail_invalid("data is {}: it has no element to pad with", to_string(*data));
}

void check_expanded(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const auto stated = integers_in(facts, 1);
  if (input == nullptr || !stated) return;
  const Sizes to(stated->begin(), stated->end());
  for (std::size_t back = 1; back <= to.size(); ++back) {
    const std::int64_t want = *to[to.size() - back];
    const Size have = back > input->size() ? 1 : (*input)[input->size() - back].value;
    if (want < 0 || (have && *have != want && *have != 1 && want != 1))
      fail_invalid("input {} cannot be expanded to {}", to_string(*input), text_of(to));
  }
}

// 0 is the size that data has there, unless allowzero is set; -1 what is left.
void check_reshaped(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  auto stated = integers_in(facts, 1);
  if (facts.since_version() < 5) {
    stated = integers_of(facts, "shape", 1);
    if (facts.node().find_attribute("shape") == nullptr) stated.emplace();  // of a scalar
  }
  if (!stated) return;
  const bool allowzero = facts.int_attribute("allowzero", 0) != 0;
  if (std::ranges::count(*stated, -1) > 1) fail_invalid("shape has more than one -1");
  const bool is_open = std::ranges::count(*stated, -1) == 1;
  if (is_open && allowzero && std::ranges::count(*stated, 0) != 0)
    fail_invalid("with allowzero, shape must not hold both 0 and -1");
  Sizes wanted;
  for (const std::int64_t size : *stated) {
    const int axis = static_cast<int>(wanted.size());
    if (size < -1) fail_invalid("shape holds {}: dimensions are -1, 0 or positive", size);
    const bool copied = size == 0 && !allowzero;
    if (copied && data != nullptr && axis >= rank_of(*data))
      fail_invalid("shape has a 0 at place {}, but data {} has no dimension there to copy", axis,
                   to_string(*data));
    wanted.push_back(size == -1 ? 1 : copied ? size_of(data, axis) : size);
  }
  if (data == nullptr) return;
  const Size elements = count_of(sizes_of(*data)), room = count_of(wanted);
  if (!elements || !room) return;
  const bool fits = !is_open ? *elements == *room : *room == 0 ? *elements == 0 : *elements % *room == 0;
  if (fits) return;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if ((*stated)[i] == -1) wanted[i] = -1;
  fail_invalid("data is {}: its {} elements do not fill the shape {}", to_string(*data), *elements,
               text_of(wanted));
}

}  // namespace grurun::opset
