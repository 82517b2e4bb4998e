#include "engine/graph/constant_folding.h"

#include <algorithm>
#include <string_view>

#include "engine/graph/run_state.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

// In alphabetical order.
constexpr std::string_view foldable[] = {"Abs",
                                         "Acos",
                                         "Acosh",
                                         "Add",
                                         "And",
                                         "Asin",
                                         "Asinh",
                                         "Atan",
                                         "Atanh",
                                         "Cast",
                                         "CastLike",
                                         "Ceil",
                                         "Clip",
                                         "Concat",
                                         "ConstantOfShape",
                                         "Cos",
                                         "Cosh",
                                         "CumSum",
                                         "DequantizeLinear",
                                         "Div",
                                         "Equal",
                                         "Erf",
                                         "Exp",
                                         "Expand",
                                         "EyeLike",
                                         "Flatten",
                                         "Floor",
                                         "Gather",
                                         "GatherElements",
                                         "GatherND",
                                         "Gemm",
                                         "Greater",
                                         "GreaterOrEqual",
                                         "Identity",
                                         "Less",
                                         "LessOrEqual",
                                         "Log",
                                         "MatMul",
                                         "Max",
                                         "Mean",
                                         "Min",
                                         "Mod",
                                         "Mul",
                                         "Neg",
                                         "Not",
                                         "OneHot",
                                         "Or",
                                         "Pad",
                                         "Pow",
                                         "QuantizeLinear",
                                         "Range",
                                         "Reciprocal",
                                         "ReduceMax",
                                         "ReduceMean",
                                         "ReduceMin",
                                         "ReduceProd",
                                         "ReduceSum",
                                         "Relu",
                                         "Reshape",
                                         "Round",
                                         "ScatterElements",
                                         "ScatterND",
                                         "Shape",
                                         "Sigmoid",
                                         "Sign",
                                         "Sin",
                                         "Sinh",
                                         "Size",
                                         "Slice",
                                         "Sqrt",
                                         "Squeeze",
                                         "Sub",
                                         "Sum",
                                         "Tan",
                                         "Tanh",
                                         "Tile",
                                         "Transpose",
                                         "Trilu",
                                         "Unsqueeze",
                                         "Where",
                                         "Xor"};

}  // namespace

bool is_foldable(const std::string& domain, const std::string& op_type) {
  return domain.empty() && std::ranges::binary_search(foldable, op_type);
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
