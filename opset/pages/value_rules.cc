#include <algorithm>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

// Where the result has an element, each of B divides one.
void check_divisor(const NodeFacts& facts) {
  const SymbolicShape* A = facts.shape(0);
  const Tensor* B = facts.value(1);
  if (B == nullptr || is_floating(B->dtype()) || A == nullptr) return;
  const auto numbers = numbers_in(facts, 1);
  const auto count = count_of(sizes_of(*A));
  if (numbers && count && *count > 0 && std::ranges::find(*numbers, 0.0) != numbers->end())
    fail_invalid("input B holds 0, by which no integer can be divided");
}

void check_fmod(const NodeFacts& facts) {
  const DType dtype = facts.dtype(0);
  if (dtype != DType::undefined && is_floating(dtype) && facts.int_attribute("fmod", 0) == 0)
    fail_invalid("attribute fmod must be 1 for element type {} before Mod-28", dtype_name(dtype));
}

// Classes from 0 to C - 1, or what is ignored.
void check_target(const NodeFacts& facts) {
  const Size classes = size_of(facts.shape(0), 1);
  const auto target = integers_in(facts, 1);
  if (!target || !classes) return;
  const onnx_io::Attribute* ignored = facts.attribute("ignore_index");
  const auto is_class = [&](std::int64_t c) {
    return (c >= 0 && c < *classes) || (ignored != nullptr && c == ignored->i);
  };
  const auto wrong = std::ranges::find_if_not(*target, is_class);
  if (wrong != target->end())
    fail_invalid("target {} is {}, but must be in [0, {}){}", wrong - target->begin(), *wrong, *classes,
                 ignored == nullptr ? "" : fmt::format(" or ignore_index {}", ignored->i));
}

}  // namespace grurun::opset
