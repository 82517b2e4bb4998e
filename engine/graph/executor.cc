#include "engine/graph/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/graph/run_state.h"
#include "opset/findings/form_watch.h"
#include "opset/pages/forms.h"
#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::engine {

namespace {

void check_declared_shape(const std::string& name, const ValueType& declared, const Tensor& tensor) {
  if (!declared.shape) return;
  bool fits = declared.shape->size() == tensor.rank();
  for (std::size_t i = 0; fits && i < tensor.rank(); ++i) {
    const Dim& dim = (*declared.shape)[i];
    fits = !dim.value || *dim.value == tensor.dim(i);
  }
  if (!fits && declared.shape->empty()) {
    return opset::tell_of_form({opset::rule_info(opset::Rule::form_scalar_input).code,
                                opset::Severity::warning, "", "",
                                opset::declared_scalar_message(name, tensor.shape().to_string())});
  }
  if (!fits) {
    fail_invalid("input '{}' must have shape {}, but has {}", name, to_string(*declared.shape),
                 tensor.shape().to_string());
  }
}

// A graph states the types of its inputs; a caller's value, and every value in it, must fit all the numbers
// in them. Names of dimensions bind nothing here.
void check_declared(const std::string& name, const ValueType& declared, const Value& value) {
  using Kind = ValueType::Kind;
  // A sparse tensor is stored, and handed over, as a dense one.
  if (declared.kind == Kind::unknown || declared.kind == Kind::sparse_tensor) return;
  const bool fits = declared.kind == Kind::tensor && value.is_tensor()
                        ? declared.elem == DType::undefined || value.tensor().dtype() == declared.elem
                        : may_be_one(declared, value.type());
  if (!fits) fail_invalid("input '{}' must be {}, but is {}", name, declared.to_string(), value.describe());
  if (value.is_tensor()) return check_declared_shape(name, declared, value.tensor());
  if (!declared.element) return;
  const auto check_item = [&](std::size_t i, const Value& item) {
    check_declared(fmt::format("{}[{}]", name, i), *declared.element, item);
  };
  if (value.is_sequence()) {
    for (std::size_t i = 0; i < value.sequence().items.size(); ++i) check_item(i, value.sequence().items[i]);
  } else if (value.is_map()) {
    for (std::size_t i = 0; i < value.map().values.size(); ++i) check_item(i, value.map().values[i]);
  } else if (value.is_optional() && value.optional().item && !value.optional().item->empty()) {
    check_declared(name, *declared.element, *value.optional().item);
  }
}

}  // namespace

void RunState::check_deadline() const {
  if (options.poll) options.poll();
  require_time(options.deadline);
  look_for_interruption();  // steps that planning runs have no options of their own
}

Values new_frame(const Plan& plan) {
  Values frame(static_cast<std::size_t>(plan.slot_count));
  for (const auto& [slot, value] : plan.constants) frame[static_cast<std::size_t>(slot)] = value;
  return frame;
}

namespace {

// The operator that the model names, where the step is of its body.
std::string outer_label(const Step& step) {
  return step.called_by.empty() ? "" : step.called_by + ": ";
}

}  // namespace

void run_steps(const Plan& plan, Values& frame, RunState& state,
               const std::function<void(const Step&, std::size_t, const Value&)>* observe,
               memory::RunMemory* memory) {
  for (std::size_t number = 0; number < plan.steps.size(); ++number) {
    const Step& step = plan.steps[number];
    state.check_deadline();
    if (memory != nullptr) memory->begin_step(number);
    const bool timed = static_cast<bool>(state.options.on_step);
    const auto begin = timed ? std::chrono::steady_clock::now() : RunOptions::Moment();
    StepContext context(step, frame, state);
    with_context([&] { return outer_label(step) + step.label + " with " + context.describe_inputs(); },
                 [&] {
                   context.check_input_types();
                   if (opset::forms_are_watched() && step.called_by.empty()) context.note_forms();
                   try {
                     step.run(context);
                   } catch (const Error& error) {
                     context.refuse(error);
                     throw;
                   }
                   context.finish();
                 });
    if (timed) state.options.on_step(step, begin, std::chrono::steady_clock::now());
    if (observe != nullptr) {
      for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        if (step.outputs[i] != no_slot) (*observe)(step, i, frame[static_cast<std::size_t>(step.outputs[i])]);
      }
    }
    for (const int slot : step.last_used) frame[static_cast<std::size_t>(slot)].clear();
  }
}

namespace {

// Where the value of input i belongs, after checks that it may go there; nullptr: an initializer's stays.
Value* place_of_input(const Plan& plan, std::size_t i, const Value& value, Values& frame) {
  Value& place = frame[static_cast<std::size_t>(plan.inputs[i])];
  if (value.empty()) {
    const bool optional = plan.input_types[i].kind == ValueType::Kind::optional;
    if (place.empty() && !optional) fail_invalid("input '{}' is missing", plan.input_names[i]);
    return nullptr;
  }
  if (!place.empty()) fail_internal("input '{}' is fed, but was planned as a constant", plan.input_names[i]);
  check_declared(plan.input_names[i], plan.input_types[i], value);
  return &place;
}

void check_count(const Plan& plan, std::size_t inputs) {
  if (inputs <= plan.inputs.size()) return;
  fail_invalid("the graph has {} inputs, but {} are given", plan.inputs.size(), inputs);
}

void run_frame(const Plan& plan, Values& frame, const RunOptions& options,
               memory::RunMemory* memory = nullptr) {
  RunState state{options};
  run_steps(plan, frame, state, options.observe ? &options.observe : nullptr, memory);
}

std::pair<DType, Shape> type_of(const Value& value) {
  if (!value.is_tensor()) return {};
  return {value.tensor().dtype(), value.tensor().shape()};
}

bool is_of(const std::pair<DType, Shape>& type, const Value& value) {
  if (!value.is_tensor()) return false;
  const Tensor& tensor = value.tensor();
  return type.first == tensor.dtype() && type.second == tensor.shape();
}

}  // namespace

std::vector<Value> run_plan(const Plan& plan, std::vector<Value> inputs, const RunOptions& options) {
  check_count(plan, inputs.size());
  inputs.resize(plan.inputs.size());
  Values frame = new_frame(plan);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value* place = place_of_input(plan, i, inputs[i], frame);
    if (place != nullptr) *place = std::move(inputs[i]);
  }
  inputs.clear();  // the frame alone holds them now, so that they can be overwritten after their last use
  run_frame(plan, frame, options);
  std::vector<Value> outputs;
  outputs.reserve(plan.outputs.size());
  for (const int slot : plan.outputs) outputs.push_back(frame[static_cast<std::size_t>(slot)]);
  return outputs;
}

Runner::Runner(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), frame_(new_frame(*plan_)) {
  for (const int slot : plan_->inputs) {
    const auto at = static_cast<std::size_t>(slot);
    if (frame_[at].empty()) fed_.push_back(at);
  }
}

void Runner::run(std::span<const Value> inputs, const RunOptions& options) {
  check_count(*plan_, inputs.size());
  static const Value none;
  try {
    for (const std::size_t slot : fed_) frame_[slot].clear();
    bool same = stage_ != Stage::first;
    for (std::size_t i = 0; i < plan_->inputs.size(); ++i) {
      const Value& value = i < inputs.size() ? inputs[i] : none;
      const bool same_tensor = same && is_of(fed_types_[i], value);
      same = same_tensor || (same && !value.is_tensor() && fed_types_[i].first == DType::undefined);
      Value* place = same_tensor ? &frame_[static_cast<std::size_t>(plan_->inputs[i])]
                                 : place_of_input(*plan_, i, value, frame_);
      if (place != nullptr) *place = value;
    }
    prepare_memory(inputs, same);
    // Of the run before, the frame holds the outputs alone; the steps that make them write over them.
    const memory::RunMemory::Run within(&memory_);
    if (stage_ == Stage::recorded) {
      run_recorded(options);
    } else {
      run_frame(*plan_, frame_, options, stage_ == Stage::laid_out ? &memory_ : nullptr);
    }
  } catch (...) {
    frame_ = new_frame(*plan_);
    give_memory_up();
    throw;
  }
}

std::vector<Value> Runner::take_outputs() {
  std::vector<Value> outputs;
  outputs.reserve(plan_->outputs.size());
  for (const int slot : plan_->outputs) outputs.push_back(frame_[static_cast<std::size_t>(slot)]);
  for (const int slot : plan_->outputs) {
    const auto is_constant = [slot](const auto& constant) { return constant.first == slot; };
    if (std::ranges::none_of(plan_->constants, is_constant)) frame_[static_cast<std::size_t>(slot)].clear();
  }
  return outputs;
}

void Runner::give_memory_up() {
  memory_.forget();
  made_anew_.clear();
  fed_types_.clear();
  stage_ = Stage::first;
}

void Runner::prepare_memory(std::span<const Value> inputs, bool same_types) {
  for (const std::size_t slot : made_anew_) frame_[slot].clear();
  if (!same_types) {
    give_memory_up();
    fed_types_.resize(plan_->inputs.size());
    std::ranges::transform(inputs, fed_types_.begin(), type_of);
    stage_ = Stage::seen;
  } else if (stage_ == Stage::seen) {
    memory_.record();
    stage_ = Stage::recorded;
  } else if (stage_ == Stage::recorded) {
    try {
      memory::release_kept(true);  // it served the runs before
      memory_.assign_places();
      stage_ = Stage::laid_out;
    } catch (const Error&) {  // too little memory for the area besides what there is
      memory_.forget();
      stage_ = Stage::not_laid_out;
    }
  }
}

// Outputs that are not written over, but made anew, are let go before the next run, so that one place serves
// them each time.
void Runner::run_recorded(const RunOptions& options) {
  std::vector<const void*> before;
  const auto data = [&](int slot) -> const void* {
    if (slot == no_slot) return nullptr;
    const Value& value = frame_[static_cast<std::size_t>(slot)];
    return value.is_tensor() ? value.tensor().raw() : nullptr;
  };
  for (const int slot : plan_->outputs) before.push_back(data(slot));
  run_frame(*plan_, frame_, options, &memory_);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const int slot = plan_->outputs[i];
    if (data(slot) != before[i]) made_anew_.push_back(static_cast<std::size_t>(slot));
  }
}

std::unordered_set<std::string> fed_names(const onnx_io::Graph& graph, std::span<const Value> inputs) {
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i)
    if (!inputs[i].empty()) names.insert(graph.inputs[i].name);
  return names;
}

}  // namespace grurun::engine
