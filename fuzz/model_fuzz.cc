// Bytes as a model file in any of its forms, beside a file "data" of 64 KiB that it may name: reading and
// planning either succeed or throw an Error.
#include <cstddef>
#include <cstdint>

#include "engine/graph/plan.h"
#include "fuzz/fuzzed.h"
#include "onnx_io/models/model.h"
#include "tensor/memory/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const grurun::fuzz::FolderOfData folder("data");
  grurun::memory::set_limit(std::size_t{256} << 20);
  grurun::fuzz::must_not_fail_inside([&] {
    const auto model = grurun::onnx_io::parse_model(data, size, folder.path());
    grurun::engine::PlanOptions options;
    options.max_nodes = 10'000;
    grurun::engine::make_plan(model, options);
  });
  return 0;
}
