// Bytes as the text of an OpenVINO IR, beside weights that lie within every offset up to 64 KiB: reading and
// planning either succeed or throw an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/graph/plan.h"
#include "fuzz/fuzzed.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/memory/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const grurun::fuzz::FolderOfData folder("model.bin");
  grurun::memory::set_limit(std::size_t{256} << 20);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  grurun::fuzz::must_not_fail_inside([&] {
    const auto model = grurun::onnx_io::parse_openvino_ir(text, folder.path(), "model.bin");
    grurun::engine::PlanOptions options;
    options.max_nodes = 10'000;
    grurun::engine::make_plan(model, options);
  });
  return 0;
}
