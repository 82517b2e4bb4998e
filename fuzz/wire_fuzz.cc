// Bytes as what a worker answers: the parent trusts none of it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conformance/wire.h"
#include "tensor/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto result = grurun::conformance::decode({reinterpret_cast<const char*>(data), size});
    // What is accepted can be sent again.
    grurun::conformance::decode(grurun::conformance::encode(result));
  } catch (const grurun::Error&) {
  }
  return 0;
}
