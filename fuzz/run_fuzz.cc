// Bytes as a model that is checked by every rule, planned and run on random inputs, with tiny limits.
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzzed.h"
#include "fuzz/mutate_message.h"
#include "onnx_io/models/load_to_run.h"
#include "tensor/memory/memory.h"
#include "trial/random_values.h"
#include "trial/trial.h"

#ifndef GRURUN_REPLAY
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return grurun::fuzz::mutate_model(data, size, most, seed);
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace grurun;
  memory::set_limit(std::size_t{64} << 20);
  fuzz::must_not_fail_inside([&] {
    const onnx_io::RunnableModel file = onnx_io::parse_model_to_run(data, size, "");
    trial::check_fully(file.model, trial::CheckDepth::everything);
    trial::TrialOptions options;
    options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    trial::Trial trial(file.model, options);
    trial::DataSet set;
    set.inputs.resize(file.model.graph.inputs.size());
    trial::fill_random(file.model.graph, trial::input_slots(file.model.graph), {}, set.inputs);
    trial.run(std::move(set));
  });
  return 0;
}
