#include "trial/rerun.h"

#include <utility>

#include "trial/trial.h"

namespace grurun::trial {

std::vector<Value> run_again(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun) {
  TrialOptions options;
  options.depth = CheckDepth::none;
  options.seed = rerun.seed;
  options.deadline = rerun.deadline;
  return Trial(model, std::move(options)).run({{}, std::move(inputs), {}}).outputs;
}

}  // namespace grurun::trial
