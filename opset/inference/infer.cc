#include "opset/inference/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>

#include "onnx/shape_inference/implementation.h"
#include "onnx_io/models/proto_convert.h"
#include "opset/inference/guarded_registry.h"
#include "opset/inference/inference_message.h"
#include "tensor/interruption.h"

namespace grurun::opset {

namespace {

bool is_about_declared(std::string_view message) {
  return message.find("existing shape") != message.npos ||
         message.find("existing elem type") != message.npos || message.find("existing=") != message.npos;
}

// "[ShapeInferenceError] text" -> "text".
std::string_view without_tags(std::string_view text) {
  while (true) {
    while (text.starts_with(' ') || text.starts_with(')') || text.starts_with(':')) text.remove_prefix(1);
    const std::size_t end = text.find(']');
    if (!text.starts_with('[') || end == text.npos || text.substr(0, end).find("Error") == text.npos) break;
    text.remove_prefix(end + 1);
  }
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Names of nodes in the copy, in the middle of a message, become those of the model.
std::string with_names(std::string_view text, const InferenceModel& model) {
  std::string out(text);
  while (const std::optional<NodeMention> mention = last_node_mention(out, model)) {
    const std::size_t begin = out.rfind('\x02', mention->end - 1);
    out.replace(begin, mention->end - begin, model.nodes[mention->node].original->name());
  }
  return out;
}

// Of a call with fewer outputs than its function has ONNX's inference says "Output 1 is out of bounds."
// alone.
std::string with_call(std::string message, const onnx::NodeProto& call, const onnx::ModelProto& model) {
  if (!message.ends_with("is out of bounds.")) return message;
  const std::string domain = onnx_io::canonical_domain(call.domain());
  const auto& functions = model.functions();
  const auto function = std::ranges::find_if(functions, [&](const onnx::FunctionProto& f) {
    return f.name() == call.op_type() && f.domain() == domain && f.overload() == call.overload();
  });
  if (function == functions.end() || call.output_size() >= function->output_size()) return message;
  return fmt::format("{} output{}, but function {}.{} has {}: '{}' must be named too, if only as \"\"",
                     call.output_size(), call.output_size() == 1 ? "" : "s", domain, function->name(),
                     function->output_size(), function->output(call.output_size()));
}

class Faults {
 public:
  explicit Faults(Inference& out) : out_(out) {}

  void add(std::optional<std::size_t> node, const RuleInfo& rule, std::string message,
           std::string section = "") {
    // An If whose branches give an unknown and a known type, say, is not to blame.
    const bool inference = &rule == &rule_info(Rule::inference);
    if (node && inference && out_.model.nodes[*node].holds_opaque) return;
    if (inference) message = with_type_names(std::move(message));
    if (node && inference)
      message = with_call(std::move(message), *out_.model.nodes[*node].original, out_.model.proto);
    if (message.empty() || !seen_.emplace(node.value_or(out_.model.nodes.size()), message).second) return;
    const bool declared = inference && is_about_declared(message);
    if (inference) message = as_fault(std::move(message));
    out_.faults.push_back({node, &rule, std::move(section), std::move(message), declared});
  }

  // One line for each node that failed; a line of a subgraph names its own node last. A line without a name
  // goes on with the one before.
  void add_error(std::string_view text) {
    std::optional<std::size_t> node;
    std::string message;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (const std::optional<NodeMention> mention = last_node_header(line)) {
        add(node, rule_info(Rule::inference), std::move(message));
        node = mention->node;
        message = with_names(without_tags(line.substr(mention->end)), out_.model);
      } else if (const std::string_view more = without_tags(line); !more.empty()) {
        message += (message.empty() ? "" : " ") + with_names(more, out_.model);
      }
    }
    add(node, rule_info(Rule::inference), std::move(message));
  }

 private:
  // The last "node name: <node>): " of a line: names of nodes may occur in the message behind it too.
  std::optional<NodeMention> last_node_header(std::string_view line) const {
    const std::size_t last = line.rfind("\x03): ");
    if (last == line.npos) return std::nullopt;
    return last_node_mention(line.substr(0, last + 1), out_.model);
  }

  Inference& out_;
  std::set<std::pair<std::size_t, std::string>> seen_;
};

void set_sizes(onnx::GraphProto& graph, const std::map<std::string, std::int64_t>& sizes) {
  for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (onnx::ValueInfoProto& value : *values) {
      if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) continue;
      for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        const auto size = dim.has_dim_param() ? sizes.find(dim.dim_param()) : sizes.end();
        if (size != sizes.end()) dim.set_dim_value(size->second);
      }
    }
  }
}

// A body with a fault may give something of another type or of none, for which the nodes around it are not to
// blame.
void leave_holders_open(const TypeFault& fault, InferenceModel& model) {
  const auto mention = last_node_mention(fault.display, model);
  if (!mention || fault.rule->severity != Severity::error) return;
  for (auto holder = model.nodes[mention->node].holder; holder; holder = model.nodes[*holder].holder)
    model.nodes[*holder].holds_opaque = true;
}

ValueType without_invented_names(ValueType type) {
  if (type.shape) {
    for (Dim& dim : *type.shape) {
      if (dim.name.starts_with("unk__")) dim.name.clear();
    }
  }
  if (type.element) {
    type.element = std::make_shared<const ValueType>(without_invented_names(*type.element));
  }
  return type;
}

}  // namespace

Inference infer_model(const onnx::ModelProto& original, const CheckReport& report, bool keep_declared,
                      const ComputedProtos& computed, const std::map<std::string, std::int64_t>& sizes,
                      const WrongDeclarations& wrong) {
  Inference out;
  out.model = make_inference_model(original, report, keep_declared, computed, wrong);
  if (!sizes.empty()) set_sizes(*out.model.proto.mutable_graph(), sizes);
  const GuardedRegistry registry(out.model);
  Faults faults(out);
  std::string errors;
  try {
    onnx::shape_inference::InferShapes(out.model.proto, &registry,
                                       onnx::ShapeInferenceOptions(false, 1, true));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    errors = error.what();
  }
  look_for_interruption();
  for (const TypeFault& fault : registry.faults()) leave_holders_open(fault, out.model);
  faults.add_error(errors);
  for (const TypeFault& fault : registry.faults()) {
    // Without a node of the model it is one inside a standard function's body; its caller's fault is told.
    if (const auto mention = last_node_mention(fault.display, out.model)) {
      faults.add(mention->node, *fault.rule, fault.message, fault.section);
    }
  }
  return out;
}

std::map<std::string, ValueType> graph_types(const onnx::GraphProto& annotated) {
  std::map<std::string, ValueType> types;
  const auto add = [&types](const auto& values) {
    for (const onnx::ValueInfoProto& value : values) {
      if (value.has_type())
        types[value.name()] = without_invented_names(onnx_io::type_from_proto(value.type()));
    }
  };
  add(annotated.value_info());
  add(annotated.output());
  add(annotated.input());
  for (const onnx::TensorProto& tensor : annotated.initializer()) {
    SymbolicShape shape;
    for (const std::int64_t dim : tensor.dims()) shape.push_back({dim, ""});
    types.try_emplace(tensor.name(),
                      ValueType::tensor(onnx_io::dtype_from_proto(tensor.data_type()), std::move(shape)));
  }
  return types;
}

}  // namespace grurun::opset
