#include "engine/graph/plan_builder.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "engine/graph/constant_facts.h"
#include "engine/graph/constant_folding.h"
#include "engine/graph/deferred_body.h"
#include "engine/graph/node_preparation.h"
#include "engine/graph/node_rules.h"
#include "onnx_io/models/walk.h"
#include "opset/check/check_names.h"
#include "opset/check/find_cycles.h"
#include "opset/findings/rule_error.h"
#include "opset/findings/rules.h"
#include "tensor/error.h"
#include "tensor/interruption.h"
#include "tensor/limits.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

namespace {

AttributeBindings bind_attributes(const Function& function, const std::vector<Attribute>& given) {
  AttributeBindings bindings;
  for (const Attribute& attribute : function.attribute_defaults) bindings[attribute.name] = attribute;
  for (const Attribute& attribute : given) bindings[attribute.name] = attribute;
  return bindings;
}

void require_attributes(const Function& function, const Node& call) {
  const opset::CallAttributeFaults faults = opset::judge_call_attributes(call, function);
  for (const auto* list : {&faults.repeated, &faults.unknown}) {
    if (!list->empty()) fail_invalid("{}", list->front());
  }
}

}  // namespace

PlanBuilder::PlanBuilder(const std::vector<Function>& functions, const PlanOptions& options)
    : options_(options), model_functions_(functions), functions_(functions) {}

void PlanBuilder::count_node() {
  look_for_interruption();
  if (++node_count_ > options_.max_nodes) {
    fail(ErrorKind::limit, "the model expands to more than {} nodes", options_.max_nodes);
  }
}

Scope PlanBuilder::nested(const Scope& scope, Frame& frame, const std::string& label) const {
  if (scope.depth >= options_.max_depth) {
    fail(ErrorKind::limit, "functions and subgraphs are nested more than {} deep (--max-depth)",
         limits().depth);
  }
  Scope inner;
  inner.frame = &frame;
  inner.imports = scope.imports;
  inner.depth = scope.depth + 1;
  inner.path = scope.path + label + "/";
  return inner;
}

Scope PlanBuilder::function_scope(const Function& function, const Node& node, const Scope& caller) const {
  Scope inner = nested(caller, *caller.frame, node.name.empty() ? function.name : node.name);
  inner.imports = &function.opset_imports;
  inner.attributes = std::make_shared<const AttributeBindings>(bind_attributes(function, node.attributes));
  inner.nodes = &function.nodes;
  return inner;
}

std::shared_ptr<const Plan> PlanBuilder::plan_model(const onnx_io::Model& model) {
  ir_version_ = model.ir_version;
  Frame frame;
  Scope scope;
  scope.frame = &frame;
  scope.imports = &model.opset_imports;
  return plan_graph(model.graph, frame, scope);
}

std::shared_ptr<const Plan> PlanBuilder::plan_function(const Function& function, AttributeBindings attributes,
                                                       const std::vector<bool>& present) {
  Frame frame;
  Scope scope;
  scope.frame = &frame;
  scope.imports = &function.opset_imports;
  scope.attributes = std::make_shared<const AttributeBindings>(std::move(attributes));
  scope.path = function.name + "/";
  scope.called_by = function.name;
  scope.nodes = &function.nodes;
  Plan& plan = frame.plan();
  plan.name = function.name;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    plan.inputs.push_back(frame.new_slot());
    plan.input_names.push_back(function.inputs[i]);
    plan.input_types.emplace_back();
    scope.define(function.inputs[i], i < present.size() && present[i] ? plan.inputs.back() : no_slot);
  }
  for (const Node& node : function.nodes) add_node(node, scope);
  for (const std::string& name : function.outputs) {
    // A body may leave out an output that the caller does not name.
    plan.outputs.push_back(scope.find(name).value_or(no_slot));
    plan.output_names.push_back(name);
  }
  plan.output_types.resize(function.outputs.size());
  return frame.finish(options_.fuse);
}

std::shared_ptr<const Plan> PlanBuilder::plan_subgraph(const Graph& graph, Scope& scope,
                                                       const std::string& label) {
  if (const auto fault = opset::initialized_input_fault(graph, ir_version_))
    throw opset::RuleError(*fault, opset::rule_info(opset::Rule::name_unique).code);
  Frame frame;
  Scope inner = nested(scope, frame, label);
  inner.enclosing = &scope;
  inner.attributes = scope.attributes;
  return plan_graph(graph, frame, inner);
}

std::shared_ptr<const std::vector<Function>> PlanBuilder::kept_functions() {
  if (kept_functions_ == nullptr && !model_functions_.empty())
    kept_functions_ = std::make_shared<const std::vector<Function>>(model_functions_);
  return kept_functions_;
}

std::shared_ptr<const Plan> PlanBuilder::plan_graph(const Graph& graph, Frame& frame, Scope& scope) {
  Plan& plan = frame.plan();
  plan.name = graph.name;
  scope.nodes = &graph.nodes;
  // About as many as there will be: growing moves all that is there.
  scope.slots.reserve(graph.inputs.size() + graph.initializers.size() + graph.nodes.size());
  plan.steps.reserve(graph.nodes.size());
  add_initializers(graph, scope);
  std::unordered_set<std::string_view> listed;
  for (const onnx_io::ValueInfo& input : graph.inputs) {
    if (!listed.insert(input.name).second) fail_invalid("two graph inputs are named '{}'", input.name);
    // Below IR version 4 an initializer is listed as an input too; its slot is a constant unless it is fed.
    const auto initialized = scope.slots.find(input.name);
    if (initialized != scope.slots.end() && scope.enclosing != nullptr)
      continue;  // its node gives it nothing
    int slot = initialized != scope.slots.end() ? initialized->second : frame.new_slot();
    if (initialized == scope.slots.end()) scope.define(input.name, slot);
    plan.inputs.push_back(slot);
    plan.input_names.push_back(input.name);
    plan.input_types.push_back(input.type);
  }
  for (const Node& node : graph.nodes) add_node(node, scope);
  std::vector<std::string> names;
  for (const onnx_io::ValueInfo& output : graph.outputs) {
    names.push_back(output.name);
    plan.output_types.push_back(output.type);
  }
  bind_outputs(names, scope);
  return frame.finish(options_.fuse);
}

void PlanBuilder::add_initializers(const Graph& graph, Scope& scope) {
  const bool main_graph = scope.depth == 0;
  for (const onnx_io::Initializer& initializer : graph.initializers) {
    if (main_graph && options_.fed.contains(initializer.name)) continue;
    constant_bytes_ += initializer.tensor.byte_size();
    scope.define(initializer.name, scope.frame->new_constant(initializer.tensor));
  }
}

namespace {

// Outputs that a body does not make, and that nobody may ask for.
void require_made(const std::string& name, const Scope& scope) {
  for (const Scope* at = &scope; at != nullptr; at = at->enclosing) {
    const auto unmade = at->unmade.find(name);
    if (unmade != at->unmade.end()) fail_unsupported("'{}': {}", name, unmade->second);
    if (at->slots.contains(name)) return;
  }
}

}  // namespace

void PlanBuilder::bind_outputs(const std::vector<std::string>& names, Scope& scope) {
  for (const std::string& name : names) {
    const std::optional<int> slot = scope.find(name);
    if (!slot) {
      require_made(name, scope);
      fail_invalid("output '{}' is made by no node", name);
    }
    scope.frame->plan().outputs.push_back(*slot);
    scope.frame->plan().output_names.push_back(name);
  }
}

void PlanBuilder::add_node(const Node& node, Scope& scope) {
  count_node();
  const std::optional<Node> resolved = resolve_references(node, scope);
  add_resolved_node(resolved ? *resolved : node, scope);
}

void PlanBuilder::add_resolved_node(const Node& node, Scope& scope) {
  int since = 0;
  with_context([&] { return node_label(node, scope.path, since); },
               [&] {
                 if (const Function* local = local_function(node)) {
                   require_attributes(*local, node);
                   return inline_function(*local, node, scope);
                 }
                 if (const auto fault = functions_.overload_fault(node)) fail_invalid("{}", *fault);
                 const opset::Signature* signature = find_signature(node, scope);
                 if (signature != nullptr) since = signature->since_version;
                 require_rules(node, scope, signature);
                 const std::int64_t version = imported_version(node, scope);
                 if (signature == nullptr) since = custom_version(node, version);
                 const OpRow* row = find_op(node.domain, node.op_type, since);
                 const bool has_body = signature != nullptr && signature->has_function_body;
                 if (row != nullptr && !(options_.prefer_function_bodies && has_body && scope.depth == 0)) {
                   return add_kernel_step(node, scope, *row, since, version);
                 }
                 if (has_body) return add_function_body(node, scope, since, version);
                 fail_unsupported("there is no kernel for {}", op_label(node, since));
               });
}

namespace {

[[noreturn]] void fail_undefined(const std::string& name, const Scope& scope) {
  require_made(name, scope);
  if (scope.nodes != nullptr) {
    const auto cycles = opset::find_cycles(*scope.nodes);
    if (!cycles.empty())
      throw opset::RuleError(opset::cycle_sentence(*scope.nodes, cycles.front()),
                             opset::rule_info(opset::Rule::acyclic).code);
    const onnx_io::Node* maker = onnx_io::Producers(*scope.nodes).node(name);
    if (maker != nullptr) {
      fail_invalid("input '{}' is not defined before the node that uses it: it is computed only later, by {}",
                   name, node_label(*maker, scope.path, 0));
    }
  }
  fail_invalid("input '{}' is not defined before the node that uses it", name);
}

}  // namespace

std::vector<int> PlanBuilder::input_slots(const Node& node, Scope& scope) {
  std::vector<int> slots;
  slots.reserve(node.inputs.size());
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      slots.push_back(no_slot);
      continue;
    }
    const std::optional<int> slot = scope.find(name);
    if (!slot) fail_undefined(name, scope);
    slots.push_back(*slot);
  }
  while (!slots.empty() && slots.back() == no_slot) slots.pop_back();
  return slots;
}

std::vector<int> PlanBuilder::define_outputs(const Node& node, Scope& scope) {
  std::vector<int> slots;
  for (const std::string& name : node.outputs) {
    slots.push_back(name.empty() ? no_slot : scope.frame->new_slot());
    if (!name.empty()) scope.define(name, slots.back());
  }
  return slots;
}

void PlanBuilder::push_step(Step step, Scope& scope, const std::vector<std::shared_ptr<const Plan>>& bodies) {
  Plan& plan = scope.frame->plan();
  for (const auto& body : bodies) {
    for (const Capture& capture : body->captures)
      scope.frame->captured[plan.steps.size()].push_back(capture.outer);
  }
  plan.steps.push_back(std::move(step));
}

void PlanBuilder::add_kernel_step(const Node& node, Scope& scope, const OpRow& row, int since_version,
                                  std::int64_t opset_version) {
  Step step;
  step.label = node_label(node, scope.path, since_version);
  step.called_by = scope.called_by;
  step.op = op_label(node, since_version);
  step.inputs = input_slots(node, scope);
  std::vector<const Value*> constants;
  for (const int slot : step.inputs)
    constants.push_back(slot == no_slot ? nullptr : scope.frame->constant(slot));
  const opset::Signature* signature = opset::find_signature(node.op_type, node.domain, opset_version);
  if (signature != nullptr) {
    step.node = std::make_shared<const Node>(node);
    step.since_version = since_version;
    step.input_rules = input_rules(*signature, row, step.inputs.size());
    step.type_checks = type_checks(step.input_rules, step.inputs, constants);
  }
  NodePreparation preparation(*this, scope, node, step.inputs, since_version, opset_version);
  try {
    step.run = row.prepare(preparation);
  } catch (const Error& error) {
    if (signature == nullptr) throw;
    refuse_by_rule(error, ConstantFacts(step.inputs, scope).of(node, since_version),
                   opset::Rule::attributes_usable);
    throw;
  }
  preparation.require_all_read();
  if (!preparation.constant_output().empty()) {
    if (preparation.constant_output().is_tensor())
      constant_bytes_ += preparation.constant_output().tensor().byte_size();
    const int slot = scope.frame->new_constant(preparation.constant_output());
    if (!node.outputs.empty() && !node.outputs[0].empty()) scope.define(node.outputs[0], slot);
    return;
  }
  const opset::Page* page = opset::find_page(node.domain, node.op_type);
  const bool foldable = page != nullptr && page->folded != opset::Folded::never;
  if (options_.fuse && foldable && fold(node, page->folded, step, scope)) {
    if (scope.called_by.empty())
      note_forms(ConstantFacts(step.inputs, scope).of(node, since_version), step.label);
    return;
  }
  // Kernels of other domains are no judges of what their pages say; a body is judged as a whole.
  if (signature != nullptr && page != nullptr && !opset::newest_opset(node.domain) && scope.called_by.empty())
    step.judge = std::make_shared<const BodyJudge>(node, since_version, step.label, step.inputs);
  step.outputs = define_outputs(node, scope);
  step.output_names = node.outputs;
  if (signature != nullptr && !preparation.bodies().empty()) step.output_rules = signature->outputs;
  push_step(std::move(step), scope, preparation.bodies());
}

bool PlanBuilder::fold(const Node& node, opset::Folded bounded_by, const Step& step, Scope& scope) {
  if (node.outputs.size() != 1 || node.outputs[0].empty()) return false;
  std::vector<const Value*> inputs;
  std::size_t given = 0;
  for (const int slot : step.inputs) {
    const Value* input = slot == no_slot ? nullptr : scope.frame->constant(slot);
    const bool is_new = std::ranges::find(inputs, input) == inputs.end();
    inputs.push_back(input);
    if (slot == no_slot) continue;
    if (input == nullptr) return false;
    if (is_new && input->is_tensor()) given += input->tensor().byte_size();
  }
  std::optional<Value> value = folded(bounded_by, step, inputs);
  if (!value) return false;
  const auto is_in_its_memory = [&](const Value* input) {
    return input != nullptr && input->is_tensor() && input->tensor().raw() == value->tensor().raw();
  };
  if (value->is_tensor() && !std::ranges::any_of(inputs, is_in_its_memory)) {
    const std::size_t made = value->tensor().byte_size();
    const std::size_t growth = made > given ? made - given : 0;
    // What it is made of stays until planning ends: without growth a long chain could still take any memory.
    const std::size_t most_bytes = options_.most_folded_growth + 2 * constant_bytes_;
    if (growth > options_.most_folded_growth - folded_growth_ || made > most_bytes - folded_bytes_)
      return false;
    folded_growth_ += growth;
    folded_bytes_ += made;
  }
  scope.define(node.outputs[0], scope.frame->new_constant(*std::move(value)));
  return true;
}

void PlanBuilder::add_function_body(const Node& node, Scope& scope, int since_version,
                                    std::int64_t opset_version) {
  if (opset::function_body_needs_types(node.op_type, node.domain, opset_version)) {
    return add_deferred_body(node, scope, since_version, opset_version);
  }
  // Of the inputs, what is known now: constants.
  std::vector<ValueType> types;
  for (const int slot : input_slots(node, scope)) {
    const Value* constant = slot == no_slot ? nullptr : scope.frame->constant(slot);
    types.push_back(constant == nullptr ? ValueType{} : constant->type());
  }
  // The bodies of operators that are not ONNX's are built for facts that their page allows.
  const bool is_added = !opset::newest_opset(node.domain);
  const auto judge = [&] {
    require_facts(ConstantFacts(input_slots(node, scope), scope).of(node, since_version));
  };
  if (is_added) judge();
  const std::optional<Function> body = opset::function_body(node, opset_version, types);
  // An operator that is not ONNX's may need the types for some nodes only.
  if (!body && is_added) return add_deferred_body(node, scope, since_version, opset_version);
  if (!body) fail_unsupported("there is no kernel for {}", op_label(node, since_version));
  if (!is_added) judge();
  inline_function(*body, node, scope, since_version);
}

void PlanBuilder::inline_function(const Function& function, const Node& node, Scope& scope,
                                  int since_version) {
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    fail_invalid("{} is called with {} inputs and {} outputs, but the function has {} and {}", function.name,
                 node.inputs.size(), node.outputs.size(), function.inputs.size(), function.outputs.size());
  }
  const bool of_operator = since_version > 0;
  const bool is_outermost = of_operator && scope.called_by.empty();
  Scope inner = function_scope(function, node, scope);
  inner.called_by = is_outermost ? node_label(node, scope.path, since_version) : scope.called_by;
  std::vector<int> given = input_slots(node, scope);
  std::shared_ptr<const BodyJudge> judge;
  if (is_outermost) judge = std::make_shared<const BodyJudge>(node, since_version, inner.called_by, given);
  given.resize(function.inputs.size(), no_slot);
  for (std::size_t i = 0; i < function.inputs.size(); ++i) inner.define(function.inputs[i], given[i]);
  const auto add_body = [&] {
    for (const Node& body_node : function.nodes) add_node(body_node, inner);
  };
  const std::vector<Step>& steps = scope.frame->plan().steps;
  const std::size_t first = steps.size();
  if (is_outermost) {
    of_body(add_body);
  } else {
    add_body();
  }
  if (judge != nullptr && first < steps.size()) scope.frame->plan().steps[first].judge = std::move(judge);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (const std::optional<int> slot = inner.find(function.outputs[i])) {
      scope.define(node.outputs[i], *slot);
    } else if (of_operator) {
      scope.unmade.emplace(node.outputs[i],
                           fmt::format("output {} of {} is not computed", function.outputs[i],
                                       node_label(node, scope.path, since_version)));
    } else {
      fail_invalid("function {} does not make its output '{}'", function.name, function.outputs[i]);
    }
  }
}

void PlanBuilder::add_deferred_body(const Node& node, Scope& scope, int since_version,
                                    std::int64_t opset_version) {
  Step step;
  step.label = node_label(node, scope.path, since_version);
  step.called_by = scope.called_by;
  step.op = op_label(node, since_version);
  step.inputs = input_slots(node, scope);
  PlanOptions options = options_;
  options.fed.clear();
  options.max_depth = options_.max_depth - scope.depth;
  options.max_nodes = options_.max_nodes - node_count_;
  options.most_folded_growth = options_.most_folded_growth - folded_growth_;
  options.prefer_function_bodies = false;
  step.run = deferred_body(node, opset_version, options, scope.called_by.empty());
  step.outputs = define_outputs(node, scope);
  step.output_names = node.outputs;
  push_step(std::move(step), scope, {});
}

std::shared_ptr<const Plan> make_plan(const onnx_io::Model& model, const PlanOptions& options) {
  require_unique(model.functions);
  PlanOptions held = options;
  held.max_depth = std::min(held.max_depth, static_cast<int>(limits().depth));
  return PlanBuilder(model.functions, held).plan_model(model);
}

std::shared_ptr<const Plan> make_function_plan(const Function& function,
                                               const std::vector<Attribute>& attributes,
                                               const std::vector<bool>& present, const PlanOptions& options) {
  const std::vector<Function> none;
  return PlanBuilder(none, options).plan_function(function, bind_attributes(function, attributes), present);
}

}  // namespace grurun::engine
