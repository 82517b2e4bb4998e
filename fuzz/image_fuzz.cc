// Bytes as an image file: they give pixels or none, or are too large.
#include <cstddef>
#include <cstdint>

#include "engine/ops/image/decode.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  grurun::memory::set_limit(std::size_t{64} << 20);
  try {
    grurun::engine::image::decode({data, size});
  } catch (const grurun::Error& error) {
    if (error.kind() != grurun::ErrorKind::limit) __builtin_trap();
  }
  return 0;
}
