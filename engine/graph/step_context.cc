#include <algorithm>
#include <bit>

#include "engine/graph/node_rules.h"
#include "engine/graph/run_state.h"
#include "onnx_io/models/walk.h"
#include "opset/findings/rule_error.h"
#include "opset/inference/judge_types.h"
#include "opset/pages/forms.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "tensor/limits.h"
#include "tensor/splitmix.h"

namespace grurun::engine {

StepContext::StepContext(const Step& step, Values& frame, RunState& state)
    : step_(step), frame_(frame), state_(state) {
  if (step.inputs.size() > 64) seen_beyond_64_.resize(step.inputs.size() - 64, false);
}

const Value* StepContext::optional_input(std::size_t index) {
  if (index >= step_.inputs.size() || step_.inputs[index] == no_slot) return nullptr;
  const Value& value = frame_[static_cast<std::size_t>(step_.inputs[index])];
  if (value.empty()) return nullptr;
  mark(index);
  return &value;
}

Tensor StepContext::take_tensor(std::size_t index) {
  const Tensor& shared = input(index).tensor();
  if (!is_last_use(index)) return shared;
  taken_.push_back({index, shared.dtype(), shared.shape(), {}});
  return frame_[static_cast<std::size_t>(step_.inputs[index])].take_tensor();
}

Sequence StepContext::take_sequence(std::size_t index) {
  const Value& shared = input(index);
  if (!is_last_use(index)) return shared.sequence();
  taken_.push_back({index, DType::undefined, {}, shared.describe()});
  return frame_[static_cast<std::size_t>(step_.inputs[index])].take_sequence();
}

bool StepContext::is_last_use(std::size_t input) const {
  const int slot = step_.inputs[input];
  const bool last = std::ranges::find(step_.last_used, slot) != step_.last_used.end();
  return last && std::ranges::count(step_.inputs, slot) == 1;
}

std::string StepContext::describe_inputs() const {
  std::string text;
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    if (text.size() > 300) return text + "...";
    const auto taken = std::ranges::find(taken_, i, &Taken::index);
    if (taken != taken_.end() && !taken->text.empty()) {
      text += taken->text;
    } else if (taken != taken_.end()) {
      text += fmt::format("tensor({}) {}", dtype_name(taken->dtype), taken->shape.to_string());
    } else {
      text += has_input(i) ? frame_[static_cast<std::size_t>(step_.inputs[i])].describe() : "-";
    }
  }
  return text;
}

Tensor& StepContext::output(std::size_t index, DType dtype, const Shape& shape) {
  Value& place = output_place(index);
  if (place.is_tensor() && dtype != DType::string) {
    Tensor& last = place.mutable_tensor();
    if (last.dtype() == dtype && last.shape() == shape && last.unique()) return last;
  }
  place = Tensor(dtype, shape);
  return place.mutable_tensor();
}

void StepContext::set_output(std::size_t index, Value value) {
  output_place(index) = std::move(value);
}

namespace {

std::unique_ptr<KeptFrame::Frame> frame_of_body(const Plan& body) {
  std::unique_ptr<KeptFrame::Frame> frame = body.kept_frame.take();
  if (frame != nullptr) return frame;
  frame = std::make_unique<KeptFrame::Frame>(KeptFrame::Frame{new_frame(body), {}});
  std::vector<bool> constant(frame->values.size());
  for (const auto& [slot, value] : body.constants) constant[static_cast<std::size_t>(slot)] = true;
  for (int slot = 0; slot < body.slot_count; ++slot) {
    if (!constant[static_cast<std::size_t>(slot)]) frame->changing.push_back(slot);
  }
  return frame;
}

}  // namespace

Values StepContext::run_subgraph(const Plan& body, Values inputs) {
  check_limits();
  if (inputs.size() != body.inputs.size()) {
    fail_invalid("the body graph '{}' has {} inputs, but {} are given", body.name, body.inputs.size(),
                 inputs.size());
  }
  std::unique_ptr<KeptFrame::Frame> kept = frame_of_body(body);
  Values& frame = kept->values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    frame[static_cast<std::size_t>(body.inputs[i])] = std::move(inputs[i]);
  }
  for (const Capture& capture : body.captures) {
    frame[static_cast<std::size_t>(capture.inner)] = frame_[static_cast<std::size_t>(capture.outer)];
  }
  if (state_.options.observe_body) {
    run_observed(body, frame);
  } else {
    run_steps(body, frame, state_, nullptr);
  }
  Values outputs;
  outputs.reserve(body.outputs.size());
  for (const int slot : body.outputs) {
    outputs.push_back(slot == no_slot ? Value() : frame[static_cast<std::size_t>(slot)]);
  }
  for (const int slot : kept->changing) frame[static_cast<std::size_t>(slot)].clear();
  body.kept_frame.keep(std::move(kept));
  return outputs;
}

void StepContext::run_observed(const Plan& body, Values& frame) {
  std::size_t bodies = 0;
  if (step_.node != nullptr)
    onnx_io::for_each_body(*step_.node, [&](const onnx_io::Graph&, const onnx_io::Attribute&) { ++bodies; });
  const std::string around = state_.body_path;
  const bool in_function = state_.in_function;
  state_.in_function = in_function || bodies == 0;
  if (!state_.in_function) {
    state_.body_path += (step_.node->name.empty() ? step_.output_names.at(0) : step_.node->name) + "/";
    if (bodies == 1) state_.body_path += std::to_string(bodies_run_++) + "/";
  }
  const std::string path = state_.body_path;
  const auto& observe = state_.options.observe_body;
  const std::function<void(const Step&, std::size_t, const Value&)> see =
      [&](const Step& step, std::size_t output, const Value& value) {
        observe({path, step.output_names.at(output), value, &step});
      };
  for (std::size_t i = 0; i < body.inputs.size() && !state_.in_function; ++i) {
    const Value& value = frame[static_cast<std::size_t>(body.inputs[i])];
    if (!value.empty()) observe({path, body.input_names[i], value, nullptr});
  }
  run_steps(body, frame, state_, state_.in_function ? nullptr : &see);
  state_.body_path = around;
  state_.in_function = in_function;
}

void StepContext::check_limits() {
  state_.iterations.fetch_add(1, std::memory_order_relaxed);
  check_limits_uncounted();
}

void StepContext::check_limits_uncounted() {
  const std::int64_t most = std::min(state_.options.max_iterations, limits().iterations);
  if (state_.iterations.load(std::memory_order_relaxed) > most)
    fail(ErrorKind::limit, "more than {} iterations in one run (--max-iterations)", most);
  state_.check_deadline();
}

std::uint64_t StepContext::random_seed() {
  std::uint64_t state = state_.options.seed + state_.seeds_given++ * splitmix_step;
  return splitmix(state);
}

namespace {

// "" where not all of it is known, as of the type in an empty optional.
std::string spelling_of(const Value& value) {
  std::string text = value.type().to_string();
  const bool is_known = text.find('?') == text.npos && text.find(dtype_name(DType::undefined)) == text.npos;
  return is_known ? text : "";
}

}  // namespace

void StepContext::require_types(const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) const {
  const auto listed = [](const std::vector<std::string>& types) {
    opset::Spellings list;
    for (const std::string& type : types) list.push_back(type.empty() ? nullptr : &type);
    return list;
  };
  const onnx_io::Node& node = *step_.node;
  opset::require_types(*opset::find_schema(node.op_type, node.domain, step_.since_version), listed(inputs),
                       listed(outputs));
}

void StepContext::check_input_types() const {
  for (const TypeCheck& check : step_.type_checks) {
    const Value& value = frame_[static_cast<std::size_t>(step_.inputs[check.input])];
    if (!value.is_tensor() || !check.types.contains(value.tensor().dtype()) ||
        (check.same_as != check.input && !is_tensor_of(check.same_as, value.tensor().dtype())))
      return check_rules();
  }
}

bool StepContext::obeys_rule(std::size_t input) const {
  const InputRule& rule = step_.input_rules[input];
  const Value& value = frame_[static_cast<std::size_t>(step_.inputs[input])];
  if (rule.schema == nullptr) return true;
  if (!rule.schema->admits(value)) return false;
  if (!value.is_tensor()) return true;
  const DType dtype = value.tensor().dtype();
  if (!rule.kernel.contains(dtype)) return false;
  for (std::size_t other = rule.first; other < input; ++other) {
    if (step_.input_rules[other].first != rule.first || !has_input(other)) continue;
    const Value& first = frame_[static_cast<std::size_t>(step_.inputs[other])];
    return !first.is_tensor() || first.tensor().dtype() == dtype;  // those between have been compared
  }
  return true;
}

void StepContext::check_rules() const {
  bool obeyed = true;
  for (std::size_t i = 0; i < step_.inputs.size() && i < step_.input_rules.size(); ++i)
    obeyed = obeyed && (!has_input(i) || obeys_rule(i));
  if (obeyed) return;
  std::vector<std::string> types;
  for (std::size_t i = 0; i < step_.inputs.size() && i < step_.input_rules.size(); ++i)
    types.push_back(has_input(i) ? spelling_of(frame_[static_cast<std::size_t>(step_.inputs[i])]) : "");
  require_types(types, {});
  for (std::size_t i = 0; i < step_.inputs.size() && i < step_.input_rules.size(); ++i) {
    if (!has_input(i)) continue;
    const Value& value = frame_[static_cast<std::size_t>(step_.inputs[i])];
    const InputRule& rule = step_.input_rules[i];
    if (value.is_tensor() && !rule.kernel.contains(value.tensor().dtype()))
      fail_unsupported("{} with {} in input {} ('{}')", step_.op, dtype_name(value.tensor().dtype()), i,
                       rule.name);
  }
}

template <typename Use>
void StepContext::with_facts(const Use& use) const {
  std::vector<opset::InputFacts> inputs(std::min(step_.inputs.size(), step_.input_rules.size()));
  const auto value_of = [&](std::size_t i) -> const Tensor* {
    if (!has_input(i)) return nullptr;
    const Value& value = frame_[static_cast<std::size_t>(step_.inputs[i])];
    return value.is_tensor() ? &value.tensor() : nullptr;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto taken = std::ranges::find(taken_, i, &Taken::index);
    if (const Tensor* tensor = value_of(i)) {
      inputs[i] = {true, tensor->dtype(), symbolic_shape(tensor->shape())};
    } else if (taken != taken_.end() && taken->dtype != DType::undefined) {
      inputs[i] = {true, taken->dtype, symbolic_shape(taken->shape)};
    } else {
      inputs[i].given = has_input(i);
      if (!inputs[i].given) continue;
      const Value& other = frame_[static_cast<std::size_t>(step_.inputs[i])];
      inputs[i].other = &other;
      if (other.is_sequence()) inputs[i].element = other.sequence().element.elem;
    }
  }
  use(opset::NodeFacts(*step_.node, step_.since_version, std::move(inputs), value_of));
}

void StepContext::refuse(const Error& error) const {
  if (step_.node == nullptr) return;
  with_facts([&](const opset::NodeFacts& facts) { refuse_by_rule(error, facts, opset::Rule::inference); });
}

void StepContext::note_forms() const {
  if (step_.node == nullptr || !opset::may_have_form(*step_.node)) return;
  with_facts([&](const opset::NodeFacts& facts) { engine::note_forms(facts, step_.label); });
}

void StepContext::finish() {
  const auto require_seen = [&](std::size_t i) {
    if (has_input(i)) fail_internal("{} did not look at its input {}", step_.op, i);
  };
  const std::size_t count = step_.inputs.size();
  std::uint64_t unseen = count < 64 ? ~seen_ & ((std::uint64_t{1} << count) - 1) : ~seen_;
  for (; unseen != 0; unseen &= unseen - 1) require_seen(static_cast<std::size_t>(std::countr_zero(unseen)));
  for (std::size_t i = 64; i < count; ++i) {
    if (!seen_beyond_64_[i - 64]) require_seen(i);
  }
  for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
    if (step_.outputs[i] == no_slot) continue;
    if (output_place(i).empty()) fail_internal("{} did not make its output {}", step_.op, i);
  }
  if (!step_.output_rules.empty()) check_output_types();
}

void StepContext::check_output_types() {
  for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
    if (step_.outputs[i] == no_slot) continue;
    const opset::SignatureOutput& rule = step_.output_rules[std::min(i, step_.output_rules.size() - 1)];
    if (rule.types.admits(output_place(i))) continue;
    std::vector<std::string> types(i + 1);
    types[i] = spelling_of(output_place(i));
    require_types({}, types);
  }
}

}  // namespace grurun::engine
