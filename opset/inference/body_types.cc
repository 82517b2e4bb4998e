#include "opset/inference/body_types.h"

#include <algorithm>

#include "onnx_io/models/proto_convert.h"
#include "opset/inference/inferred_input.h"
#include "opset/pages/body_rules.h"

namespace grurun::opset {

namespace {

ValueType known_type(const onnx::TypeProto* proto) {
  return proto == nullptr ? ValueType{} : onnx_io::type_from_proto(*proto);
}

// Below IR version 4 initializers are listed as inputs, after those that the node gives.
std::size_t given_inputs(const onnx::GraphProto& graph) {
  const auto is_initialized = [&](const onnx::ValueInfoProto& input) {
    return std::ranges::any_of(graph.initializer(),
                               [&](const auto& tensor) { return tensor.name() == input.name(); });
  };
  return static_cast<std::size_t>(graph.input_size() - std::ranges::count_if(graph.input(), is_initialized));
}

}  // namespace

bool BodyTypes::applies(const onnx::OpSchema& schema) {
  const std::string& name = schema.Name();
  return schema.domain().empty() &&
         (name == "If" || name == "Loop" || name == "Scan" || name == "SequenceMap");
}

onnx::GraphInferencer* BodyTypes::getGraphAttributeInferencer(const std::string& name) {
  const onnx::AttributeProto* attribute = getAttribute(name);
  onnx::GraphInferencer* inferencer = context_.getGraphAttributeInferencer(name);
  if (inferencer == nullptr || attribute == nullptr || !attribute->has_g()) return inferencer;
  Body& body = bodies_[name];
  body.inferencer = inferencer;
  body.graph = &attribute->g();
  body.op_type = schema_.Name().c_str();
  body.outputs = context_.getNumOutputs() + (schema_.Name() == "Loop" ? 1 : 0);  // cond, which is no output
  return &body;
}

// Inference writes what it is given into the types of the inputs: what the body declares is read before.
std::vector<const onnx::TypeProto*> BodyTypes::Body::doInferencing(
    const std::vector<const onnx::TypeProto*>& input_types,
    const std::vector<const onnx::TensorProto*>& input_data) {
  require_counts(graph->name(), op_type, {input_types.size(), outputs},
                 {given_inputs(*graph), static_cast<std::size_t>(graph->output_size())});
  for (const onnx::TypeProto* type : input_types) given.push_back(known_type(type));
  const bool with_shapes = std::string_view(op_type) != "Loop";
  for (int i = 0; i < graph->input_size() && static_cast<std::size_t>(i) < given.size(); ++i) {
    const onnx::ValueInfoProto& input = graph->input(i);
    if (input.has_type())
      require_declared(input.name(), known_type(&input.type()), given[static_cast<std::size_t>(i)],
                       with_shapes);
  }
  const std::vector<const onnx::TypeProto*> types = inferencer->doInferencing(input_types, input_data);
  for (const onnx::TypeProto* type : types) made.push_back(known_type(type));
  return types;
}

const BodyTypes::Body* BodyTypes::body(const std::string& name) const {
  const auto found = bodies_.find(name);
  return found == bodies_.end() ? nullptr : &found->second;
}

void BodyTypes::judge() const {
  if (schema_.Name() == "If") return judge_branches();
  const Body* only = body("body");
  if (only == nullptr || only->made.empty()) return;
  if (schema_.Name() == "Loop") judge_loop(*only);
  if (schema_.Name() == "Scan") judge_scan(*only);
}

void BodyTypes::judge_branches() const {
  const Body *then_branch = body("then_branch"), *else_branch = body("else_branch");
  if (then_branch == nullptr || else_branch == nullptr) return;
  const std::size_t outputs = std::min(then_branch->made.size(), else_branch->made.size());
  for (std::size_t i = 0; i < outputs; ++i) {
    const int at = static_cast<int>(i);
    require_alike_branches(i, schema_.since_version(),
                           {then_branch->graph->output(at).name(), then_branch->made[i]},
                           {else_branch->graph->output(at).name(), else_branch->made[i]});
  }
}

void BodyTypes::judge_loop(const Body& body) const {
  require_condition(body.made[0]);
  for (std::size_t i = 2; i < body.given.size() && i - 1 < body.made.size(); ++i) {
    const int at = static_cast<int>(i);
    require_state_kept(
        {body.graph->input(at).name(), body.given[i], body.graph->output(at - 1).name(), body.made[i - 1]},
        false);
  }
  for (std::size_t i = std::max<std::size_t>(body.given.size(), 2) - 1; i < body.made.size(); ++i)
    require_tensor_output("'" + body.graph->output(static_cast<int>(i)).name() + "'", body.made[i]);
}

void BodyTypes::judge_scan(const Body& body) const {
  const std::int64_t scanned = int_attribute(context_, "num_scan_inputs", 1);
  const auto states = static_cast<std::int64_t>(body.given.size()) - scanned;
  for (std::int64_t i = 0; i < states && i < std::ssize(body.made); ++i) {
    const int at = static_cast<int>(i);
    const auto k = static_cast<std::size_t>(i);
    require_state_kept(
        {body.graph->input(at).name(), body.given[k], body.graph->output(at).name(), body.made[k]}, true);
  }
}

}  // namespace grurun::opset
