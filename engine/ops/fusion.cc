#include "engine/graph/fusion.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/ops/elementwise.h"
#include "engine/ops/nn/conv_step.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_operations = 8;
constexpr std::int64_t block = 512;  // elements that pass through all operations while they are near

// What an operation reads: the value with that number, 0 being the one that is given, or a constant.
struct Operand {
  std::size_t value = 0;
  std::optional<float> constant;
};

// One operation makes one value: number i makes value i + 1.
struct Operation {
  UnaryRun unary = nullptr;
  BinaryRun binary = nullptr;
  OperationState op;
  Operand a, b;
};

// Element-wise operations one after the other, with the very loops that their own steps run.
struct Chain {
  std::vector<Operation> operations;

  void operator()(float* values, std::int64_t n) const {
    std::array<std::array<float, block>, most_operations>
        made;  // the last one is written over what was given
    for (std::int64_t at = 0; at < n; at += block) {
      const std::int64_t count = std::min(block, n - at);
      const auto data = [&](const Operand& operand) -> const float* {
        if (operand.constant) return &*operand.constant;
        return operand.value == 0 ? values + at : made[operand.value - 1].data();
      };
      for (std::size_t i = 0; i < operations.size(); ++i) {
        const Operation& each = operations[i];
        float* to = i + 1 == operations.size() ? values + at : made[i].data();
        if (each.unary != nullptr) {
          each.unary(each.op.bytes.data(), data(each.a), to, count);
        } else {
          each.binary(each.op.bytes.data(), data(each.a), !each.a.constant, data(each.b), !each.b.constant,
                      to, count);
        }
      }
    }
  }
};

// Steps from a convolution on, as long as each adds an operation to the chain.
class ChainFinder {
 public:
  ChainFinder(const Plan& plan, const std::unordered_map<int, const Tensor*>& constants, std::size_t first)
      : plan_(plan), constants_(constants), first_(first) {}

  // Finds the longest chain of which only the last value is read by others; count() is then the number of
  // steps that it takes after the first. False where there is none.
  bool find() {
    values_[plan_.steps[first_].outputs[0]] = 0;
    for (std::size_t i = first_; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (i > first_ && !add(step)) break;
      for (const int slot : step.last_used)
        released_ += values_.contains(slot) && slot != step.outputs[0] ? 1 : 0;
      if (i > first_ && released_ + 1 == values_.size()) count_ = i - first_;
    }
    chain_.operations.erase(chain_.operations.begin() + static_cast<std::ptrdiff_t>(count_),
                            chain_.operations.end());
    return count_ > 0;
  }

  std::size_t count() const { return count_; }
  const Chain& chain() const { return chain_; }

 private:
  bool add(const Step& step) {
    if (chain_.operations.size() == most_operations || step.outputs.size() != 1 ||
        step.outputs[0] == no_slot) {
      return false;
    }
    if (const auto* unary = step.run.target<UnaryStep>()) {
      const auto a = step.inputs.size() == 1 ? operand(step.inputs[0]) : std::nullopt;
      if (!a || !keeps_float(*unary->table)) return false;
      chain_.operations.push_back({unary->table->at(DType::float32), nullptr, unary->op, *a, {}});
    } else if (const auto* binary = step.run.target<BinaryStep>()) {
      if (step.inputs.size() != 2 || !keeps_float(*binary->table)) return false;
      const auto a = operand(step.inputs[0]), b = operand(step.inputs[1]);
      if (!a || !b || (a->constant && b->constant)) return false;
      chain_.operations.push_back({nullptr, binary->table->at(DType::float32), binary->op, *a, *b});
    } else {
      return false;
    }
    values_.emplace(step.outputs[0], chain_.operations.size());
    return true;
  }

  template <typename Table>
  static bool keeps_float(const Table& table) {
    return table.runs[static_cast<std::size_t>(DType::float32)] != nullptr &&
           table.result_type(DType::float32) == DType::float32;
  }

  // A constant counts if it has one element, and no more dimensions than any convolution's result.
  std::optional<Operand> operand(int slot) const {
    if (const auto value = values_.find(slot); value != values_.end()) return Operand{value->second, {}};
    const auto constant = constants_.find(slot);
    if (constant == constants_.end()) return std::nullopt;
    const Tensor& tensor = *constant->second;
    if (tensor.dtype() != DType::float32 || tensor.size() != 1 || tensor.rank() > 3) return std::nullopt;
    return Operand{0, *tensor.data<float>()};
  }

  const Plan& plan_;
  const std::unordered_map<int, const Tensor*>& constants_;
  std::size_t first_, count_ = 0, released_ = 0;
  std::unordered_map<int, std::size_t> values_;  // slot -> number
  Chain chain_;
};

bool has_float_weights(const Step& step, const std::unordered_map<int, const Tensor*>& constants) {
  if (step.inputs.size() < 2 || step.outputs.size() != 1 || step.outputs[0] == no_slot) return false;
  const auto weights = constants.find(step.inputs[1]);
  return weights != constants.end() && weights->second->dtype() == DType::float32;
}

// The first step, with what the others do as its tail.
Step fused(Plan& plan, std::size_t first, const ChainFinder& found) {
  Step step = std::move(plan.steps[first]);
  ConvStep convolution = *step.run.target<ConvStep>();
  convolution.tail = found.chain();
  step.run = std::move(convolution);
  for (std::size_t i = first + 1; i <= first + found.count(); ++i) {
    Step& next = plan.steps[i];
    step.op += " " + next.op;
    step.outputs = next.outputs;
    step.output_names = std::move(next.output_names);
    step.last_used.insert(step.last_used.end(), next.last_used.begin(), next.last_used.end());
  }
  return step;
}

}  // namespace

void fuse_steps(Plan& plan) {
  const auto is_convolution = [](const Step& step) { return step.run.target<ConvStep>() != nullptr; };
  if (std::ranges::none_of(plan.steps, is_convolution)) return;
  std::unordered_map<int, const Tensor*> constants;
  for (const auto& [slot, value] : plan.constants) {
    if (value.is_tensor()) constants.emplace(slot, &value.tensor());
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (is_convolution(plan.steps[i]) && has_float_weights(plan.steps[i], constants)) {
      ChainFinder finder(plan, constants, i);
      if (finder.find()) {
        steps.push_back(fused(plan, i, finder));
        i += finder.count();
        continue;
      }
    }
    steps.push_back(std::move(plan.steps[i]));
  }
  plan.steps = std::move(steps);
}

}  // namespace grurun::engine
