#include <algorithm>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

Sizes without_last(const SymbolicShape& shape, int count) {
  Sizes sizes = sizes_of(shape);
  sizes.resize(static_cast<std::size_t>(std::max(rank_of(shape) - count, 0)));
  return sizes;
}

// Of a matrix or a stack of them: a number for all, one for each row of A (side 1 from the back has size 1)
// or one for each column of B (side 2 has). In rank 1 it is one for each row of the one A or column of any B.
void check_for_each(const NodeFacts& facts, std::size_t input, std::size_t matrix, int side) {
  const SymbolicShape *shape = facts.shape(input), *of = facts.shape(matrix);
  if (shape == nullptr || of == nullptr || count_of(sizes_of(*shape)).value_or(1) == 1) return;
  Sizes sizes = sizes_of(*shape);
  const bool in_a_row = sizes.size() == 1 && of->size() >= 2;
  if (in_a_row && side == 1) sizes.emplace_back(1);
  const auto from_back = static_cast<std::size_t>(side);
  const bool by_columns = in_a_row && side == 2;
  const bool one_each = by_columns || (sizes.size() >= 2 && sizes[sizes.size() - from_back].value_or(1) == 1);
  const auto combined = broadcast(sizes, sizes_of(*of));
  if (one_each && sizes.size() <= of->size() && combined && may_be(*combined, sizes_of(*of))) return;
  fail_invalid("{} is {}, but must be a scalar or hold a number for each {} of {}, which is {}",
               input_name(facts, input), to_string(*shape), side == 1 ? "row" : "column",
               input_name(facts, matrix), to_string(*of));
}

}  // namespace

void check_gemm(const NodeFacts& facts) {
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(1), *C = facts.shape(2);
  const int transA = facts.int_attribute("transA", 0) != 0 ? 1 : 0;
  const int transB = facts.int_attribute("transB", 0) != 0 ? 1 : 0;
  const Size K = size_of(A, 1 - transA), of_B = size_of(B, transB);
  if (K && of_B && *K != *of_B)
    fail_invalid("A {} and B {} do not multiply with transA {} and transB {}", to_string(*A), to_string(*B),
                 transA, transB);
  const Sizes Y = {size_of(A, transA), size_of(B, 1 - transB)};
  if (facts.since_version() < 7 && facts.int_attribute("broadcast", 0) == 0)
    return require_sizes("C", C, Y, "the attribute broadcast is not set");
  require_broadcast("C", C, Y);
}

void check_matmul(const NodeFacts& facts) {
  const bool scaled = facts.op_type() == "QLinearMatMul", integer = facts.op_type() == "MatMulInteger";
  const std::size_t b = scaled ? 3 : 1;
  for (const std::size_t i : {std::size_t{0}, b}) {
    if (facts.shape(i) != nullptr && facts.shape(i)->empty())
      fail_invalid("{} is a scalar, but a matrix product takes vectors and matrices", input_name(facts, i));
  }
  for (const std::size_t i : {integer ? 2 : 1, 2})
    if (scaled || integer) check_for_each(facts, i, 0, 1);
  for (const std::size_t i : {integer ? 3 : 4, integer ? 3 : 5})
    if (scaled || integer) check_for_each(facts, i, b, 2);
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(b);
  if (A == nullptr || B == nullptr) return;
  const Size K = size_of(A, rank_of(*A) - 1), of_B = size_of(B, std::max(rank_of(*B) - 2, 0));
  if (K && of_B && *K != *of_B)
    fail_invalid("{} {} and {} {} do not multiply: {} columns against {} rows", input_name(facts, 0),
                 to_string(*A), input_name(facts, b), to_string(*B), *K, *of_B);
  if (!broadcast(without_last(*A, 2), without_last(*B, 2)))
    fail_invalid("{} {} and {} {} do not multiply: the axes before the last two do not broadcast",
                 input_name(facts, 0), to_string(*A), input_name(facts, b), to_string(*B));
}

}  // namespace grurun::opset
