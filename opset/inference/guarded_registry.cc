#include "opset/inference/guarded_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "onnx/checker.h"
#include "onnx_io/models/model.h"
#include "opset/inference/body_types.h"
#include "opset/inference/infer_added.h"
#include "opset/inference/inference_guard.h"
#include "opset/inference/inference_values.h"
#include "opset/inference/inferred_facts.h"
#include "opset/inference/inferred_output.h"
#include "opset/inference/judge_types.h"
#include "opset/inference/recurrent_inference.h"
#include "opset/inference/without_empty_lists.h"
#include "opset/pages/forms.h"
#include "opset/pages/judge_page.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/schema_store.h"
#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::OpSchema;

// Knowing fewer values is no fault of the model, whatever made the propagation fail.
void propagate(const OpSchema& schema, onnx::DataPropagationContext& context) {
  try {
    if (may_propagate(schema, context)) schema.GetDataPropagationFunction()(context);
  } catch (const std::runtime_error&) {
  }
}

const OpSchema::FormalParameter* parameter_at(const std::vector<OpSchema::FormalParameter>& parameters,
                                              std::size_t index) {
  if (index < parameters.size()) return &parameters[index];
  const bool repeats = !parameters.empty() && parameters.back().GetOption() == OpSchema::Variadic;
  return repeats ? &parameters.back() : nullptr;
}

// The interned spelling, or null for a type that is not complete.
onnx::DataType spelling(const onnx::TypeProto* type) {
  if (type == nullptr || type->value_case() == onnx::TypeProto::VALUE_NOT_SET) return nullptr;
  try {
    return onnx::Utils::DataTypeUtils::ToType(*type);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// An inference function may fault an input only because its type is not known.
bool has_untyped_input(const InferenceContext& context) {
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    if (!context.hasInput(i)) continue;
    const onnx::TypeProto* type = context.getInputType(i);
    if (type == nullptr || type->value_case() == onnx::TypeProto::VALUE_NOT_SET) return true;
  }
  return false;
}

// Beside a size of 0 others may have any product, and a Reshape to -1 takes 0 for it.
bool is_of_empty_tensor(const InferenceContext& context, const std::exception& error) {
  const std::string_view message(error.what());
  if (message.find("overflow") == message.npos && message.find("Product cannot be 0") == message.npos)
    return false;
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const onnx::TypeProto* type = context.hasInput(i) ? context.getInputType(i) : nullptr;
    if (type == nullptr || !type->has_tensor_type()) continue;
    if (std::ranges::any_of(type->tensor_type().shape().dim(),
                            [](const auto& size) { return size.has_dim_value() && size.dim_value() == 0; }))
      return true;
  }
  return false;
}

// ONNX's functions divide by attributes and by the number of outputs. A check reports such a node before it
// infers; a summary, and the body of a function with a caller's attributes, get here.
bool breaks_schema(const OpSchema& schema, const NodeFacts& facts, const InferenceContext& context) {
  const auto inputs = static_cast<int>(context.getNumInputs());
  const auto outputs = static_cast<int>(context.getNumOutputs());
  return inputs < schema.min_input() || inputs > schema.max_input() || outputs < schema.min_output() ||
         outputs > schema.max_output() ||
         !attribute_value_faults(facts.node(), facts.since_version()).empty();
}

// What the rules of bodies say of the types that it saw comes before what the function itself says.
void infer_with_bodies(const OpSchema& schema, InferenceContext& context) {
  BodyTypes bodies(schema, context);
  try {
    schema.GetTypeAndShapeInferenceFunction()(bodies);
  } catch (const onnx::InferenceError&) {
    bodies.judge();
    throw;
  }
  bodies.judge();
}

bool has_function(const onnx::ModelProto& model, const std::string& name, const std::string& domain) {
  return std::ranges::any_of(model.functions(), [&](const onnx::FunctionProto& function) {
    return function.name() == name && onnx_io::canonical_domain(function.domain()) == domain;
  });
}

}  // namespace

GuardedRegistry::GuardedRegistry(const InferenceModel& model) : model_(model) {
  opaque_.TypeAndShapeInferenceFunction([](InferenceContext&) {});
}

const OpSchema* GuardedRegistry::GetSchema(const std::string& op_type, int max_version,
                                           const std::string& domain) const {
  if (domain == opaque_domain) return &opaque_;
  // ONNX asks for a schema before it looks for a function of the model.
  if (!newest_opset(domain) && has_function(model_.proto, op_type, domain)) return nullptr;
  const OpSchema* schema = find_onnx_schema(op_type, domain, max_version);
  if (schema == nullptr) return nullptr;
  std::unique_ptr<const OpSchema>& guarded = schemas_[{schema, max_version}];
  if (guarded == nullptr) guarded = guard(*schema, max_version);
  return guarded.get();
}

std::unique_ptr<const OpSchema> GuardedRegistry::guard(const OpSchema& schema, int opset_version) const {
  auto copy = std::make_unique<OpSchema>(schema);
  const SchemaInfo& info = *find_schema(schema.Name(), schema.domain(), schema.since_version());
  copy->TypeAndShapeInferenceFunction([this, &schema, &info, opset_version](InferenceContext& context) {
    look_for_interruption();
    const bool typed = judge(info, context, false);  // ONNX's functions would say it in many words
    if (const InferenceNode* node = find_layer(schema, context)) {
      infer_layer(*node, schema, context);
    } else if (typed) {
      infer(schema, opset_version, context);
    }
    judge(info, context, true);
    bound_outputs(schema, context);
  });
  if (schema.has_data_propagation_function()) {
    copy->PartialDataPropagationFunction(
        [&schema](onnx::DataPropagationContext& context) { propagate(schema, context); });
  }
  return copy;
}

// ONNX ends the whole inference on any exception but InferenceError; as that, it stays one node's.
void GuardedRegistry::infer(const OpSchema& schema, int opset_version, InferenceContext& context) const {
  const InferredFacts known(schema, context);
  if (breaks_schema(schema, known.facts(), context)) return;
  if (const auto fault = input_fault(known.facts())) throw onnx::InferenceError(fault->message);
  // ONNX's functions know no axis of a scalar.
  const auto forms = forms_in_inputs(known.facts());
  const bool reduces_scalar = std::ranges::any_of(
      forms, [](const FormFound& form) { return form.rule == Rule::form_reduced_scalar; });
  try {
    if (reduces_scalar) {
      onnx::propagateShapeAndTypeFromFirstInput(context);
    } else if (!may_infer(schema, context)) {
      infer_by_text(schema, context);
    } else if (schema.domain().empty() && schema.Name() == "STFT") {
      infer_stft(known.facts(), context);
    } else if (BodyTypes::applies(schema)) {
      infer_with_bodies(schema, context);
    } else if (schema.has_type_and_shape_inference_function()) {
      WithoutEmptyLists given(context);
      const bool hides = WithoutEmptyLists::applies(schema, context);
      schema.GetTypeAndShapeInferenceFunction()(hides ? given : context);
      correct_inferred(schema, context);
    } else if (const onnx::FunctionProto* body = schema.GetFunction(opset_version)) {
      infer_body(*body, *this, context);
    } else if (!newest_opset(schema.domain()) || is_experimental_addition(schema)) {
      infer_added(schema, *this, context);
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& error) {
    throw onnx::InferenceError(error.message());
  } catch (const std::exception& error) {
    if (!has_untyped_input(context) && !is_of_empty_tensor(context, error))
      throw onnx::InferenceError(error.what());
  }
  try {
    schema.CheckInputOutputType(context);  // completes output types that follow from the inputs'
  } catch (const onnx::checker::ValidationError&) {
    // judge_types says it with the type that was found and the versions that would admit it
  }
}

bool GuardedRegistry::judge(const SchemaInfo& schema, InferenceContext& context, bool outputs_too) const {
  Spellings inputs, outputs;
  for (std::size_t i = 0; i < context.getNumInputs(); ++i)
    inputs.push_back(spelling(context.getInputType(i)));
  for (std::size_t i = 0; outputs_too && i < context.getNumOutputs(); ++i)
    outputs.push_back(spelling(context.getOutputType(i)));
  std::vector<TypeViolation> violations = judge_types(schema, inputs, outputs);
  for (TypeViolation& found : violations) record(context, *found.rule, "", std::move(found.message));
  return violations.empty();
}

// Sizes below zero would reach the arithmetic of the nodes behind. They are faults but for Split's: where the
// parts before take all, ONNX computes one for the last, which is empty.
void GuardedRegistry::bound_outputs(const OpSchema& schema, InferenceContext& context) const {
  for (std::size_t i = 0; i < context.getNumOutputs(); ++i) {
    onnx::TypeProto& type = *context.getOutputType(i);
    const auto* parameter = parameter_at(schema.outputs(), i);
    for (int axis = 0; parameter != nullptr && axis < type.tensor_type().shape().dim_size(); ++axis) {
      const std::int64_t size = type.tensor_type().shape().dim(axis).dim_value();
      if (size >= 0 || schema.Name() == "Split") continue;
      record(context, rule_info(Rule::inference), "",
             fmt::format("output {} would have the size {} on axis {}", parameter->GetName(), size, axis));
    }
    clean(type);
  }
}

const InferenceNode* GuardedRegistry::find_layer(const OpSchema& schema,
                                                 const InferenceContext& context) const {
  if (find_layer_form(schema.Name(), schema.domain()) == nullptr) return nullptr;
  const auto mention = last_node_mention(context.getDisplayName(), model_);
  if (!mention) return nullptr;
  const InferenceNode& node = model_.nodes[mention->node];
  const bool added = find_recurrent_form(schema.Name(), schema.domain()) == nullptr;
  return node.recurrent || added ? &node : nullptr;
}

// Values of attributes of an added layer were told with the node; of the rules for its shapes only the errors
// are.
void GuardedRegistry::infer_layer(const InferenceNode& node, const OpSchema& schema,
                                  InferenceContext& context) const {
  const RecurrentForm& form = *find_layer_form(schema.Name(), schema.domain());
  const SchemaInfo& info = *find_schema(schema.Name(), schema.domain(), schema.since_version());
  for (RecurrentFinding& found : infer_recurrent_node(node, form, info, context)) {
    if (node.recurrent) {
      record(context, recurrent_rule(schema.Name(), found.rule), std::move(found.section),
             std::move(found.message));
    } else if (found.rule > RecurrentRule::attribute_once && is_error(form, found)) {
      record(context, rule_info(Rule::inference), "", std::move(found.message));
    }
  }
}

void GuardedRegistry::record(const InferenceContext& context, const RuleInfo& rule, std::string section,
                             std::string message) const {
  std::string display = context.getDisplayName();
  if (!recorded_.emplace(display, message).second) return;
  faults_.push_back({std::move(display), &rule, std::move(section), std::move(message)});
}

}  // namespace grurun::opset
