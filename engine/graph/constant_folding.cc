#include "engine/graph/constant_folding.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/graph/run_state.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

constexpr std::array<std::string_view, 10> foldable = {
    "Cast",    "Concat", "DequantizeLinear", "Flatten",   "Identity",
    "Reshape", "Slice",  "Squeeze",          "Transpose", "Unsqueeze"};

}  // namespace

bool is_foldable(const std::string& domain, const std::string& op_type) {
  return domain.empty() && std::ranges::find(foldable, op_type) != foldable.end();
}

std::optional<Value> folded(const Step& step, const std::vector<const Value*>& inputs) {
  Plan plan;
  Step alone = step;
  Values frame;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (!inputs[i]->is_tensor()) return std::nullopt;
    bytes += inputs[i]->tensor().byte_size();
    alone.inputs[i] = static_cast<int>(frame.size());
    frame.push_back(*inputs[i]);
  }
  if (bytes > most_bytes) return std::nullopt;
  const std::size_t output = frame.size();
  frame.emplace_back();
  alone.outputs = {static_cast<int>(output)};
  alone.last_used.clear();
  plan.steps.push_back(std::move(alone));
  const RunOptions options;
  RunState state{options};
  try {
    run_steps(plan, frame, state, nullptr);
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::move(frame[output]);
}

}  // namespace grurun::engine
