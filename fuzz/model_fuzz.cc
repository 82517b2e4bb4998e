// Bytes as a model file: reading and planning either succeed or throw an Error.
#include <cstddef>
#include <cstdint>

#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "tensor/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto model = grurun::onnx_io::parse_model(data, size, "");
    grurun::engine::make_plan(model, {.max_nodes = 10'000});
  } catch (const grurun::Error& error) {
    // An internal error is a fault of ours, whatever the bytes.
    if (error.kind() == grurun::ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
