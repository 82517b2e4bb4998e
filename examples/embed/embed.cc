// A program that embeds grurun's engine: runs a model on inputs read from files, in the order of the model's
// inputs.
//
// usage: embed MODEL INPUT...
#include <cstdio>
#include <vector>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"

namespace {

void run(int count, char** arguments) {
  const grurun::onnx_io::Model model = grurun::onnx_io::load_model(arguments[0]);
  const auto plan = grurun::engine::make_plan(model);
  std::vector<grurun::Value> inputs(plan->inputs.size());
  if (static_cast<std::size_t>(count - 1) > inputs.size()) grurun::fail_usage("more files than inputs");
  for (int i = 1; i < count; ++i) inputs[i - 1] = grurun::onnx_io::read_values(arguments[i]).at(0).value;

  const std::vector<grurun::Value> outputs = grurun::engine::run_plan(*plan, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::printf("%s: %s\n", plan->output_names[i].c_str(), outputs[i].describe().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: embed MODEL INPUT...\n", stderr);
    return 2;
  }
  try {
    run(argc - 1, argv + 1);
  } catch (const grurun::Error& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return grurun::exit_code(error.kind());
  }
  return 0;
}
