// Bytes as one node (node_maker.h). It runs, or is refused in words.
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/graph/executor.h"
#include "fuzz/fuzzed.h"
#include "fuzz/node_maker.h"
#include "tensor/memory/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace grurun;
  memory::set_limit(std::size_t{64} << 20);
  fuzz::must_not_fail_inside([&] {
    fuzz::Drawn drawn(data, size);
    const fuzz::Operator* const of = fuzz::draw_operator(drawn);
    if (of == nullptr) return;
    fuzz::NodeMaker maker(drawn, *of);
    const onnx_io::Model model = maker.model();
    engine::RunOptions options;
    options.max_iterations = 100'000;
    options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    engine::run_plan(*engine::make_plan(model), std::move(maker.fed), options);
  });
  return 0;
}
