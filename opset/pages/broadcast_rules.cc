#include <algorithm>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

bool may_be_one_shape(const SymbolicShape& a, const SymbolicShape& b) {
  bool fits = rank_of(a) == rank_of(b);
  for (int axis = 0; fits && axis < rank_of(a); ++axis) {
    const Size one = size_of(&a, axis), other = size_of(&b, axis);
    fits = !one || !other || *one == *other;
  }
  return fits;
}

bool sets_broadcast(const NodeFacts& facts) {
  return facts.int_attribute("broadcast", 0) != 0;
}

// A B of one element goes with any A of no lower rank, whatever axis is. ONNX's cases of these versions have
// sizes of 1 elsewhere, too.
void require_part(const NodeFacts& facts, const SymbolicShape& A, const SymbolicShape& B) {
  const std::int64_t more = rank_of(A) - rank_of(B);
  const auto may_be_one = [](const Dim& dim) { return dim.value.value_or(1) == 1; };
  if (more >= 0 && std::ranges::all_of(B, may_be_one)) return;
  const std::int64_t axis = facts.int_attribute("axis", more);
  bool fits = axis >= 0 && axis <= more;
  for (int i = 0; fits && i < rank_of(B); ++i) {
    const Size size = size_of(&B, i), against = size_of(&A, static_cast<int>(axis) + i);
    fits = !size || *size == 1 || !against || *size == *against;
  }
  if (!fits) {
    fail_invalid("the second input is {}, which is no contiguous part of the first, {}, from axis {} on",
                 to_string(B), to_string(A), axis);
  }
}

}  // namespace

void check_broadcast(const NodeFacts& facts) {
  Sizes all;
  for (std::size_t i = 0; i < facts.input_count(); ++i) {
    const SymbolicShape* shape = facts.shape(i);
    if (shape == nullptr) continue;
    const auto both = broadcast(all, sizes_of(*shape));
    if (!both)
      fail_invalid("{} is {}, which does not broadcast to {}", input_label(input_name(facts, i)),
                   to_string(*shape), text_of(all));
    all = *both;
  }
}

void check_pair(const NodeFacts& facts) {
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(1);
  if (A == nullptr || B == nullptr) return;
  if (sets_broadcast(facts)) return require_part(facts, *A, *B);
  if (may_be_one_shape(*A, *B)) return;
  fail_invalid("the inputs are {} and {}, but must be of one shape, since the attribute broadcast is not set",
               to_string(*A), to_string(*B));
}

void check_all_alike(const NodeFacts& facts) {
  for (std::size_t i = 1; i < facts.input_count(); ++i) {
    const SymbolicShape *first = facts.shape(0), *other = facts.shape(i);
    if (first == nullptr || other == nullptr || may_be_one_shape(*first, *other)) continue;
    fail_invalid("input {} is {}, but the first is {}: before version 8 all are of one shape", i,
                 to_string(*other), to_string(*first));
  }
}

// A slope for all, for each channel or for each element.
void check_slope(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *slope = facts.shape(1);
  if (X == nullptr || slope == nullptr || may_be_one_shape(*X, *slope)) return;
  const Size count = count_of(sizes_of(*slope)), channels = size_of(X, 1);
  if (!count || *count == 1 || (rank_of(*X) > 1 && (!channels || *channels == *count))) return;
  fail_invalid("slope is {}, but must hold one element, or one for each channel of X {}", to_string(*slope),
               to_string(*X));
}

}  // namespace grurun::opset
