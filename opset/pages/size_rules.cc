#include <map>
#include <vector>

#include "opset/pages/einsum_equation.h"
#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// blocksize divides height and width, or its square the channels.
void check_blocks(const NodeFacts& facts, bool to_depth) {
  const SymbolicShape* input = facts.shape(0);
  const std::int64_t blocksize = facts.int_attribute("blocksize", 1);
  constexpr std::int64_t largest = 65536;  // its square is within int64
  if (input == nullptr || rank_of(*input) != 4 || blocksize < 1 || blocksize > largest) return;
  const auto divides = [&](int axis, std::int64_t by) { return size_of(input, axis).value_or(0) % by == 0; };
  if (to_depth && !(divides(2, blocksize) && divides(3, blocksize)))
    fail_invalid("input is {}: height and width do not divide by blocksize {}", to_string(*input), blocksize);
  if (!to_depth && !divides(1, blocksize * blocksize))
    fail_invalid("input is {}: channels do not divide by blocksize {} squared", to_string(*input), blocksize);
}

}  // namespace

void check_output_type(const NodeFacts& facts) {
  const std::int64_t stated = facts.int_attribute("output_dtype", 0);
  const DType zero_point = facts.dtype(2);
  if (is_valid_dtype(stated) && zero_point != DType::undefined && static_cast<DType>(stated) != zero_point)
    fail_invalid("output_dtype is {}, but the zero point is {}", dtype_name(static_cast<DType>(stated)),
                 dtype_name(zero_point));
}

// A scale for all, for each place of axis, or for each block of places.
void check_scale(const NodeFacts& facts) {
  const char* name = input_name(facts, 1);
  const SymbolicShape *x = facts.shape(0), *scale = facts.shape(1);
  if (x == nullptr || scale == nullptr) return;
  const std::int64_t block = facts.int_attribute("block_size", 0);
  if (block < 0) fail_invalid("attribute block_size is {}, but must not be negative", block);
  const int rank = rank_of(*scale);
  if (block == 0 && (rank == 0 || (rank == 1 && size_of(scale, 0).value_or(1) == 1))) return;
  std::int64_t axis = facts.int_attribute("axis", 1);
  if (axis < -rank_of(*x) || axis >= rank_of(*x))
    fail_invalid("attribute axis is {}, but x {} has {} axes", axis, to_string(*x), rank_of(*x));
  if (axis < 0) axis += rank_of(*x);
  const Size along = size_of(x, static_cast<int>(axis));
  if (block == 0) return require_sizes(name, scale, {along}, "a scalar, or a number for each place of axis");
  Sizes wanted = sizes_of(*x);
  if (along) wanted[static_cast<std::size_t>(axis)] = *along / block + (*along % block != 0 ? 1 : 0);
  require_sizes(name, scale, wanted, "a number for each block of block_size places of axis");
}

// Without axis, of all elements in a row.
void check_condition(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const Size count = size_of(facts.shape(1), 0);
  if (input == nullptr || !count) return;
  const int rank = rank_of(*input);
  Size most = count_of(sizes_of(*input));
  if (const onnx_io::Attribute* axis = facts.attribute("axis")) {
    most = size_of(input, static_cast<int>(axis->i < 0 ? axis->i + rank : axis->i));
  }
  if (most && *count > *most)
    fail_invalid("condition has {} elements for {} of input {}", *count, *most, to_string(*input));
}

void check_equation(const NodeFacts& facts) {
  const onnx_io::Attribute* equation = facts.attribute("equation");
  if (equation == nullptr) return;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < facts.input_count(); ++i) {
    if (facts.shape(i) == nullptr) return;
    ranks.push_back(facts.shape(i)->size());
  }
  const EinsumEquation parsed = parse_einsum(equation->s, ranks);
  std::map<Label, std::int64_t> sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const Size size = size_of(facts.shape(i), static_cast<int>(axis));
      if (!size) continue;
      std::int64_t& common = sizes.try_emplace(parsed.inputs[i][axis], *size).first->second;
      if (common == 1) common = *size;
      if (*size != common && *size != 1)
        fail_invalid("an index of equation '{}' has the sizes {} and {}", equation->s, common, *size);
    }
  }
}

// R, T, and for each tensor itself, its gradient and its states, which are outputs with it.
void check_optimizer(const NodeFacts& facts) {
  const std::size_t each = facts.op_type() == "Adam" ? 4 : 3;
  const std::size_t inputs = facts.input_count(), outputs = facts.output_count();
  if (inputs < 2 + each || (inputs - 2) % each != 0)
    fail_invalid("{} inputs: behind R and T, {} of them belong to each tensor that is optimized", inputs,
                 each);
  const std::size_t tensors = (inputs - 2) / each;
  if (outputs != tensors * (each - 1))
    fail_invalid("{} outputs, but each of the {} tensors that are optimized has {}", outputs, tensors,
                 each - 1);
  for (std::size_t i = 2; i < inputs; ++i) {
    const std::size_t first = 2 + (i - 2) % tensors;
    const DType dtype = facts.dtype(i), wanted = facts.dtype(first);
    if (dtype != wanted && dtype != DType::undefined && wanted != DType::undefined)
      fail_invalid("input {} is {}, but belongs to a tensor of {}", i, dtype_name(dtype), dtype_name(wanted));
    if (facts.shape(first) != nullptr)
      require_sizes(("input " + std::to_string(i)).c_str(), facts.shape(i), sizes_of(*facts.shape(first)),
                    "the shape of the tensor that it belongs to");
  }
}

void check_depth_to_space(const NodeFacts& facts) {
  check_blocks(facts, false);
}

void check_space_to_depth(const NodeFacts& facts) {
  check_blocks(facts, true);
}

}  // namespace grurun::opset
