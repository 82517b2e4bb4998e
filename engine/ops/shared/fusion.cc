#include "engine/graph/fusion.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "engine/ops/shared/chain_step.h"
#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

using Kind = ChainOperand::Kind;
using Constants = std::unordered_map<int, const Tensor*>;

template <typename Part>
const Part* part_of(const Step& step) {
  const ChainPart* part = step.run.chain_part();
  return part == nullptr ? nullptr : std::get_if<Part>(&part->as);
}

// Steps from a place on, as long as each adds an operation to the chain.
class ChainFinder {
 public:
  ChainFinder(const Plan& plan, const Constants& constants, const std::unordered_set<int>& other_types,
              std::size_t first, const ChainHead* head)
      : plan_(plan), constants_(constants), other_types_(other_types), first_(first), head_(head) {}

  // Finds the longest chain of which only the last value is read by others: a head and one operation, or two
  // operations. False where there is none.
  bool find() {
    const std::size_t ahead = head_ != nullptr ? 1 : 0;
    if (head_ != nullptr) values_[plan_.steps[first_].outputs[0]] = {Kind::outside, 0, 0};
    std::size_t released = 0, count = 0;
    for (std::size_t i = first_; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (i >= first_ + ahead && !add(step)) break;
      for (const int slot : step.last_used)
        released += values_.contains(slot) && slot != step.outputs[0] ? 1 : 0;
      if (released + 1 == values_.size()) count = i - first_ + 1 - ahead;
    }
    if (count + ahead < 2) return false;
    operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(count), operations_.end());
    keep_what_is_read();
    return true;
  }

  const std::vector<ChainOperation>& operations() const { return operations_; }
  const std::vector<int>& outside() const { return outside_; }  // slots, without a head
  /// After what the head makes: what is read by channel.
  const std::vector<Tensor>& by_channel() const { return by_channel_; }
  std::size_t constant_rank() const { return constant_rank_; }

 private:
  bool add(const Step& step) {
    // What is judged before it runs must begin a chain.
    const bool follows = head_ != nullptr || !operations_.empty();
    if (operations_.size() == ElementwiseChain::most_operations || step.outputs.size() != 1 ||
        step.outputs[0] == no_slot || (follows && step.judge != nullptr)) {
      return false;
    }
    if (const auto* unary = part_of<UnaryStep>(step)) {
      if (step.inputs.empty() || !keeps_float(*unary->table)) return false;
      const auto a = operand(step.inputs[0]);
      if (!a || a->kind == Kind::constant || (head_ != nullptr && !is_of_head(*a))) return false;
      operations_.push_back(
          {unary->table->at(DType::float32), nullptr, unary->op, *a, {}, unary->table->gated});
    } else if (const auto* binary = part_of<BinaryStep>(step)) {
      if (step.inputs.size() != 2 || !keeps_float(*binary->table)) return false;
      const auto a = operand(step.inputs[0]);
      const auto b = operand(step.inputs[1]);
      if (!a || !b || (a->kind == Kind::constant && b->kind == Kind::constant)) return false;
      if (head_ != nullptr && !is_of_head(*a) && !is_of_head(*b)) return false;
      operations_.push_back({nullptr, binary->table->at(DType::float32), binary->op, *a, *b, nullptr,
                             binary->table->is_product});
    } else if (const auto* by = part_of<ChannelStep>(step)) {
      // Of a head whose channels are its last axis it is not known that this is axis 1.
      if (head_ == nullptr || head_->behind == 0 || by->mean.size() != head_->channels) return false;
      const auto a = operand(step.inputs[0]);
      if (!a || !is_of_head(*a)) return false;
      const auto mean = channels(by->mean), factor = channels(by->factor), shift = channels(by->shift);
      if (!mean || !factor || !shift) return false;
      operations_.push_back(
          {nullptr, nullptr, OperationState(std::byte{}), *a, *mean, nullptr, false, *factor, *shift});
    } else {
      return false;
    }
    values_[step.outputs[0]] = {Kind::made, operations_.size() - 1, 0};
    return true;
  }

  template <typename Table>
  static bool keeps_float(const Table& table) {
    return table.runs[static_cast<std::size_t>(DType::float32)] != nullptr &&
           table.result_type(DType::float32) == DType::float32;
  }

  // The result of the head or of an operation on it.
  static bool is_of_head(const ChainOperand& operand) {
    return operand.kind == Kind::made || (operand.kind == Kind::outside && operand.index == 0);
  }

  std::optional<ChainOperand> operand(int slot) {
    if (slot == no_slot) return std::nullopt;
    if (const auto value = values_.find(slot); value != values_.end()) return value->second;
    const auto found = constants_.find(slot);
    if (found == constants_.end())
      return head_ != nullptr || other_types_.contains(slot) ? std::nullopt : outside(slot);
    const Tensor& constant = *found->second;
    if (constant.dtype() != DType::float32) return std::nullopt;
    // One of more dimensions would give its own to what a head gives.
    if (constant.size() == 1 && (head_ == nullptr || constant.rank() <= head_->least_rank))
      return ChainOperand{Kind::constant, 0, *constant.data<float>()};
    if (head_ == nullptr) return outside(slot);
    return is_by_channel(constant.shape()) ? channels(constant) : std::nullopt;
  }

  // Whether it is broadcast to the result of the head as one element for each channel.
  bool is_by_channel(const Shape& shape) const {
    return shape.rank() <= head_->least_rank && shape.rank() > head_->behind &&
           shape.element_count() == head_->channels &&
           shape[shape.rank() - 1 - head_->behind] == head_->channels;
  }

  std::optional<ChainOperand> channels(const Tensor& tensor) {
    const auto known = std::ranges::find(by_channel_, tensor.raw(), &Tensor::raw);
    const auto index = static_cast<std::size_t>(known - by_channel_.begin()) + 1;
    if (index == ElementwiseChain::most_outside) return std::nullopt;
    if (known == by_channel_.end()) by_channel_.push_back(tensor);
    return ChainOperand{Kind::outside, index, 0};
  }

  std::optional<ChainOperand> outside(int slot) {
    const auto known = std::ranges::find(outside_, slot);
    const auto index = static_cast<std::size_t>(known - outside_.begin());
    if (index == ElementwiseChain::most_outside) return std::nullopt;
    if (known == outside_.end()) outside_.push_back(slot);
    return ChainOperand{Kind::outside, index, 0};
  }

  // Values from outside, and dimensions of constants, as the operations need them that are left.
  void keep_what_is_read() {
    std::size_t count = head_ != nullptr ? 1 : 0;
    for (const ChainOperation& each : operations_) {
      for (const ChainOperand* operand : {&each.a, &each.b, &each.c, &each.d}) {
        if (operand->kind == Kind::outside) count = std::max(count, operand->index + 1);
      }
    }
    if (head_ != nullptr) {
      by_channel_.resize(count - 1);
    } else {
      outside_.resize(count);
    }
    const std::size_t begin = first_ + (head_ != nullptr ? 1 : 0);
    for (std::size_t i = begin; i < begin + operations_.size(); ++i) {
      for (const int slot : plan_.steps[i].inputs) {
        const auto constant = constants_.find(slot);
        if (constant != constants_.end() && constant->second->size() == 1)
          constant_rank_ = std::max(constant_rank_, constant->second->rank());
      }
    }
  }

  const Plan& plan_;
  const Constants& constants_;
  const std::unordered_set<int>& other_types_;
  std::size_t first_;
  const ChainHead* head_;                         // what the chain follows on; nullptr: it stands by itself
  std::unordered_map<int, ChainOperand> values_;  // of the chain, by slot
  std::vector<int> outside_;
  std::vector<Tensor> by_channel_;
  std::vector<ChainOperation> operations_;
  std::size_t constant_rank_ = 0;
};

// The steps as a plan of their own, whose inputs are `slots` of the whole and whose output is the last one's.
std::shared_ptr<const Plan> plan_apart(std::vector<Step> steps, const std::vector<int>& slots,
                                       const Constants& constants) {
  Plan plan;
  std::unordered_map<int, int> numbers{{no_slot, no_slot}};
  const auto number = [&](int slot) {
    const auto [found, is_new] = numbers.emplace(slot, plan.slot_count);
    if (is_new) {
      ++plan.slot_count;
      if (const auto constant = constants.find(slot); constant != constants.end())
        plan.constants.emplace_back(found->second, *constant->second);
    }
    return found->second;
  };
  for (const int slot : slots) {
    numbers.emplace(slot, plan.slot_count);
    plan.inputs.push_back(plan.slot_count++);
  }
  for (Step& step : steps) {
    step.judge = nullptr;  // of slots of the whole
    for (int& slot : step.inputs) slot = number(slot);
    for (int& slot : step.outputs) slot = number(slot);
    for (int& slot : step.last_used) slot = number(slot);
  }
  plan.outputs = steps.back().outputs;
  std::erase(steps.back().last_used,
             plan.outputs[0]);  // where nobody reads it, it is in use until it is returned
  plan.steps = std::move(steps);
  return std::make_shared<const Plan>(std::move(plan));
}

class Fusion {
 public:
  explicit Fusion(Plan& plan) : plan_(plan) {
    for (const auto& [slot, value] : plan.constants) {
      if (value.is_tensor()) constants_.emplace(slot, &value.tensor());
    }
    for (std::size_t i = 0; i < plan.inputs.size() && i < plan.input_types.size(); ++i) {
      const ValueType& type = plan.input_types[i];
      const bool may_fit = type.elem == DType::float32 || type.elem == DType::undefined;
      if (!may_fit) other_types_.insert(plan.inputs[i]);
    }
  }

  void run() {
    std::vector<Step> steps;
    steps.reserve(plan_.steps.size());
    for (std::size_t i = 0; i < plan_.steps.size();) {
      const ChainHead* head = head_of(plan_.steps[i]);
      ChainFinder finder(plan_, constants_, other_types_, i, head);
      if ((head != nullptr || is_elementwise(plan_.steps[i])) && finder.find()) {
        const std::size_t count = finder.operations().size() + (head != nullptr ? 1 : 0);
        steps.push_back(head != nullptr ? with_tail(i, *head, finder) : chain_alone(i, finder));
        i += count;
      } else {
        steps.push_back(std::move(plan_.steps[i++]));
      }
    }
    plan_.steps = std::move(steps);
  }

  static bool may_begin(const Step& step) { return step.run.chain_part() != nullptr; }

 private:
  static bool is_elementwise(const Step& step) {
    return may_begin(step) && part_of<ChainHead>(step) == nullptr;
  }

  static const ChainHead* head_of(const Step& step) {
    return step.outputs.size() == 1 && step.outputs[0] != no_slot ? part_of<ChainHead>(step) : nullptr;
  }

  // The first step, with what the others do as its tail.
  Step with_tail(std::size_t first, const ChainHead& head, const ChainFinder& found) {
    ChainTail tail = [chain = ElementwiseChain(found.operations()), by_channel = found.by_channel()](
                         float* values, std::int64_t n, ChannelPlaces at) {
      std::array<ChainSource, ElementwiseChain::most_outside> sources;
      sources[0] = {values, 1, n};
      for (std::size_t i = 0; i < by_channel.size(); ++i)
        sources[i + 1] = {by_channel[i].data<float>() + at.first, at.places, by_channel[i].size() - at.first};
      chain.run(std::span(sources).first(by_channel.size() + 1), values, 0, n);
    };
    RunFunction run = head.with_tail(std::move(tail));
    Step step = std::move(plan_.steps[first]);
    step.run = std::move(run);
    for (std::size_t i = first + 1; i <= first + found.operations().size(); ++i)
      take_over(step, plan_.steps[i]);
    return step;
  }

  Step chain_alone(std::size_t first, const ChainFinder& found) {
    const std::size_t end = first + found.operations().size();
    Step step;
    step.label = plan_.steps[first].label + " to " + plan_.steps[end - 1].label;
    step.op = plan_.steps[first].op;
    step.called_by = caller_of(plan_.steps[first], plan_.steps[end - 1]);
    step.judge = plan_.steps[first].judge;
    step.inputs = found.outside();
    step.last_used = plan_.steps[first].last_used;
    for (std::size_t i = first + 1; i < end; ++i) take_over(step, plan_.steps[i]);
    const auto at = [&](std::size_t i) {
      return std::make_move_iterator(plan_.steps.begin() + static_cast<std::ptrdiff_t>(i));
    };
    step.run = ChainStep{ElementwiseChain(found.operations()), found.constant_rank(),
                         plan_apart({at(first), at(end)}, found.outside(), constants_)};
    return step;
  }

  // What the model names of a chain from one step to the other; empty where both are its own nodes.
  static std::string caller_of(const Step& first, const Step& last) {
    if (first.called_by == last.called_by) return first.called_by;
    const auto named = [](const Step& step) { return step.called_by.empty() ? step.label : step.called_by; };
    return named(first) + " to " + named(last);
  }

  // Makes the result of `next` that of `step`.
  static void take_over(Step& step, const Step& next) {
    step.op += " " + next.op;
    step.outputs = next.outputs;
    step.output_names = next.output_names;
    step.last_used.insert(step.last_used.end(), next.last_used.begin(), next.last_used.end());
  }

  Plan& plan_;
  Constants constants_;
  std::unordered_set<int> other_types_;  // inputs that are declared to be no float32
};

}  // namespace

void fuse_steps(Plan& plan) {
  if (plan.steps.size() < 2 || std::ranges::none_of(plan.steps, Fusion::may_begin)) return;
  Fusion(plan).run();
}

}  // namespace grurun::engine
