#include "trial/rerun.h"

#include <utility>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"

namespace grurun::trial {

std::vector<Value> run_again(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun) {
  engine::PlanOptions plan_options;
  plan_options.fed = engine::fed_names(model.graph, inputs);
  engine::RunOptions options;
  options.seed = rerun.seed;
  options.deadline = rerun.deadline;
  return engine::run_plan(*engine::make_plan(model, plan_options), std::move(inputs), options);
}

}  // namespace grurun::trial
