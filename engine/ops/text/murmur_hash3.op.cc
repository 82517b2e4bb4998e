// MurmurHash3 (com.microsoft 1): Y[i] is the MurmurHash3_x86_32 of the bytes of X[i], uint32 where positive
// is 1, the default, and else int32. Elements have the shape and the order of X; those of numbers are
// little-endian.
#include <bit>
#include <cstring>

#include "engine/graph/op_context.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using HashedNumbers = TypeList<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

std::uint32_t mixed_block(std::uint32_t block) {
  return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t hash = seed;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t block = 0;
    std::memcpy(&block, bytes.data() + at, 4);
    hash = std::rotl(hash ^ mixed_block(block), 13) * 5 + 0xe6546b64U;
  }
  std::uint32_t rest = 0;
  for (std::size_t i = bytes.size(); i > at; --i)
    rest = (rest << 8) | static_cast<unsigned char>(bytes[i - 1]);
  if (at < bytes.size()) hash ^= mixed_block(rest);
  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

void hash_all(RunContext& run, std::uint32_t seed, bool positive) {
  const Tensor& x = run.tensor(0);
  Tensor hashes(DType::uint32, x.shape());
  auto* y = hashes.mutable_data<std::uint32_t>();
  if (x.dtype() == DType::string) {
    for (const std::string& text : x.span<std::string>()) *y++ = murmur3(text, seed);
  } else {
    dispatch(HashedNumbers{}, x.dtype(), [&]<typename T>() {
      for (const T& number : x.span<T>()) {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &number, sizeof(T));
        *y++ = murmur3({bytes, sizeof(T)}, seed);
      }
    });
  }
  run.set_output(0, positive ? hashes : hashes.viewed_as(DType::int32));
}

RunFunction prepare_murmur_hash3(PrepareContext& node) {
  const auto seed = static_cast<std::uint32_t>(node.int_attribute("seed", 0));
  const bool positive = node.int_attribute("positive", 1) == 1;
  return [seed, positive](RunContext& run) { hash_all(run, seed, positive); };
}

}  // namespace

std::vector<OpRow> op_rows_murmur_hash3() {
  return {{"com.microsoft", "MurmurHash3", {1}, prepare_murmur_hash3}};
}

}  // namespace grurun::engine
