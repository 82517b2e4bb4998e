#include "onnx_io/values/packed_bits.h"

namespace grurun::onnx_io {

namespace {

bool is_signed(DType dtype) {
  return dtype == DType::int4 || dtype == DType::int2;
}

}  // namespace

bool is_packed(DType dtype) {
  const int bits = dtype_file_bits(dtype);
  return bits > 0 && bits < 8;
}

std::int64_t file_bytes(DType dtype, std::int64_t count) {
  const int bits = dtype_file_bits(dtype);
  if (bits >= 8) return count * (bits / 8);
  // Whole groups of eight elements first, so that count * bits cannot overflow.
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

void unpack(DType dtype, const std::byte* from, std::byte* to, std::int64_t count) {
  const int bits = dtype_file_bits(dtype);
  const unsigned mask = (1u << bits) - 1;
  const unsigned sign = is_signed(dtype) ? 1u << (bits - 1) : 0;
  unsigned window = 0;
  int held = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (held < bits) {
      window |= std::to_integer<unsigned>(*from++) << held;
      held += 8;
    }
    const unsigned code = window & mask;
    // (code ^ sign) - sign extends the sign bit; it does nothing to an unsigned type.
    to[i] = static_cast<std::byte>((code ^ sign) - sign);
    window >>= bits;
    held -= bits;
  }
}

void pack(DType dtype, const std::byte* from, std::byte* to, std::int64_t count) {
  const int bits = dtype_file_bits(dtype);
  const unsigned mask = (1u << bits) - 1;
  unsigned window = 0;
  int held = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    window |= (std::to_integer<unsigned>(from[i]) & mask) << held;
    held += bits;
    if (held >= 8) {
      *to++ = static_cast<std::byte>(window);
      window >>= 8;
      held -= 8;
    }
  }
  if (held > 0) *to = static_cast<std::byte>(window);
}

}  // namespace grurun::onnx_io
