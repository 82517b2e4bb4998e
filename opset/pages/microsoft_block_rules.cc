// Weights of com.microsoft that are quantized in blocks: bytes, scales and zero points for each of them.
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

Size bytes_of(const Size& count, std::int64_t bits) {
  const Size all = count_of({count, bits});
  return all ? Size(*all / 8 + (*all % 8 == 0 ? 0 : 1)) : std::nullopt;
}

Size blocks_of(const Size& count, std::int64_t size) {
  return count && size > 0 ? Size(*count / size + (*count % size == 0 ? 0 : 1)) : std::nullopt;
}

// Older texts have it in one dimension.
void require_rows(const NodeFacts& facts, std::size_t input, const Sizes& wanted, const char* why) {
  const SymbolicShape* shape = facts.shape(input);
  if (shape == nullptr || (rank_of(*shape) == 1 && may_be(sizes_of(*shape), {count_of(wanted)}))) return;
  require_sizes(input_name(facts, input), shape, wanted, why);
}

std::int64_t axis_of(const NodeFacts& facts, const char* attribute, std::int64_t otherwise,
                     std::int64_t rank) {
  const std::int64_t axis = facts.int_attribute(attribute, otherwise);
  if (axis < -rank || axis >= rank)
    fail_invalid("{} is {}, but must be in [{}, {}), where {} is the rank of data", attribute, axis, -rank,
                 rank, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

std::optional<std::string> blocks_of_power_of_two(const onnx_io::Node& node, int) {
  const onnx_io::Attribute* size = node.find_attribute("block_size");
  if (size == nullptr || size->i < 1 || std::has_single_bit(static_cast<std::uint64_t>(size->i)))
    return std::nullopt;
  return fmt::format("block_size is {}, but must be a power of two: 16, 32, 64 ...", size->i);
}

void check_block_product(const NodeFacts& facts) {
  const std::int64_t K = facts.int_attribute("K", 0), N = facts.int_attribute("N", 0);
  const std::int64_t bits = facts.int_attribute("bits", 4), size = facts.int_attribute("block_size", 0);
  if (K < 1 || N < 1 || size < 1 || bits < 1 || bits > 8) return;
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(1), *groups = facts.shape(4);
  if (A != nullptr && (A->empty() || size_of(A, rank_of(*A) - 1).value_or(K) != K))
    fail_invalid("A is {}, but its last size must be K, {}", to_string(*A), K);
  const Size blocks = blocks_of(K, size);
  Sizes stored{N, blocks, bytes_of(size, bits)};
  require_sizes("bias", facts.shape(5), {N}, "[N]");
  bool is_omitted = false;  // a projection that is left out has a 0 in place of a size
  for (std::size_t axis = 0; axis < stored.size(); ++axis) {
    if (size_of(B, static_cast<int>(axis)) != 0) continue;
    stored[axis] = 0;
    is_omitted = true;
  }
  require_sizes("B", B, stored, "[N, k_blocks, blob_size]");
  if (is_omitted) return;
  require_rows(facts, 2, {N, blocks}, "[N, k_blocks]");
  if (facts.dtype(3) == DType::uint8) {
    require_rows(facts, 3, {N, bytes_of(blocks, bits)}, "[N, ceil(k_blocks * bits / 8)]");
  } else if (facts.dtype(3) != DType::undefined) {
    require_rows(facts, 3, {N, blocks}, "[N, k_blocks]");
  }
  if (groups != nullptr && !may_be(sizes_of(*groups), {K}))
    require_sizes("g_idx", groups, {count_of({blocks, size})}, "K, or K padded to whole blocks");
  const auto numbers = integers_in(facts, 4);
  for (std::size_t i = 0; numbers && i < numbers->size(); ++i)
    if ((*numbers)[i] < 0 || (*numbers)[i] >= *blocks)
      fail_invalid("g_idx holds {}, but must lie in [0, {}), the blocks of a row", (*numbers)[i], *blocks);
}

// What lies behind them has no meaning.
void check_bnb4_bytes(const NodeFacts& facts) {
  const std::int64_t K = facts.int_attribute("K", 0), N = facts.int_attribute("N", 0);
  const std::int64_t size = facts.int_attribute("block_size", 0);
  const Size count = K < 1 || N < 1 ? std::nullopt : count_of({K, N});
  if (!count || size < 1) return;
  const auto require = [&](std::size_t input, const Size& least) {
    const Size given = size_of(facts.shape(input), 0);
    if (given && least && *given < *least)
      fail_invalid("{} has {} elements, but {} rows of {} numbers take {}", input_name(facts, input), *given,
                   N, K, *least);
  };
  require(1, bytes_of(count, 4)), require(2, blocks_of(count, size));
}

void check_block_gather(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const std::int64_t size = facts.int_attribute("block_size", 128);
  if (data == nullptr || size < 1) return;
  const std::int64_t rank = rank_of(*data);
  if (rank < 1) fail_invalid("input data is a scalar, which has no axis that blocks could lie on");
  const std::int64_t gathered = axis_of(facts, "gather_axis", 0, rank),
                     quantized = axis_of(facts, "quantize_axis", 1, rank);
  const SymbolicShape* indices = facts.shape(1);
  if (size_of(data, static_cast<int>(gathered)) == 0 && indices != nullptr &&
      count_of(sizes_of(*indices)).value_or(0) > 0)
    fail_invalid("data is {}: axis {} has nothing to gather", to_string(*data), gathered);
  const bool packed = facts.dtype(0) == DType::uint8;
  const std::int64_t bits = packed ? facts.int_attribute("bits", 4) : 8;
  if (bits < 1 || bits > 8) return;
  if (packed && gathered != 0) fail_invalid("gather_axis is {}, but must be 0 for uint8", gathered);
  if (packed && quantized == gathered)
    fail_invalid("quantize_axis and gather_axis are both {}, but must differ for uint8", gathered);
  Sizes numbers = sizes_of(*data);
  if (numbers.back()) numbers.back() = count_of({numbers.back(), 8 / bits});
  Size& along = numbers[static_cast<std::size_t>(quantized)];
  along = blocks_of(along, size);
  require_sizes("scales", facts.shape(2), numbers, "as data, with a scale for each block of quantize_axis");
  if (packed) numbers.back() = bytes_of(numbers.back(), bits);
  require_sizes("zero_points", facts.shape(3), numbers, "as scales, packed as data is");
}

}  // namespace grurun::opset
