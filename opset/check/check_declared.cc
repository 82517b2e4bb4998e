#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "onnx_io/models/proto_convert.h"
#include "opset/check/check_parts.h"
#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/declared_types.h"

namespace grurun::opset {

namespace {

using onnx::GraphProto;
using onnx::NodeProto;

// The output of a GRU, RNN or LSTM has rules of its own.
const RuleInfo& rule_for(const InferenceNode& node, const std::string& value, bool types_agree) {
  constexpr std::array rules = {RecurrentRule::output_Y, RecurrentRule::output_Y_h,
                                RecurrentRule::output_Y_c};
  const auto& outputs = node.original->output();
  const auto output = static_cast<std::size_t>(std::ranges::find(outputs, value) - outputs.begin());
  if (node.recurrent && output < rules.size())
    return recurrent_rule(node.original->op_type(), rules.at(output));
  return rule_info(types_agree ? Rule::declared_shape : Rule::declared_type);
}

class Comparison {
 public:
  Comparison(const Inference& inferred, CheckReport& report) : inferred_(inferred), report_(report) {}

  WrongDeclarations wrong;

  void compare(const GraphProto& declared, const GraphProto& annotated) {
    const std::map<std::string, ValueType> types = graph_types(annotated);
    std::map<std::string_view, std::size_t> made_by;
    for (const NodeProto& node : annotated.node()) {
      const auto mention = last_node_mention(node.name(), inferred_.model);
      if (!mention) continue;
      for (const std::string& output : node.output()) made_by.emplace(output, mention->node);
      descend(*inferred_.model.nodes[mention->node].original, node);
    }
    std::set<std::string_view> compared;
    const auto compare_all = [&](const auto& values) {
      for (const onnx::ValueInfoProto& value : values) {
        if (!compared.insert(value.name()).second) continue;
        const auto found = types.find(value.name());
        const auto maker = made_by.find(value.name());
        if (!value.has_type() || found == types.end() || maker == made_by.end()) continue;
        if (!agrees(value, found->second, maker->second)) wrong.emplace(&declared, value.name());
      }
    };
    compare_all(declared.output());
    compare_all(declared.value_info());
  }

 private:
  // The copy has the same attributes in the same order.
  void descend(const NodeProto& original, const NodeProto& copy) {
    for (int i = 0; i < original.attribute_size() && i < copy.attribute_size(); ++i) {
      const auto& from = original.attribute(i);
      const auto& to = copy.attribute(i);
      if (from.has_g() && to.has_g()) compare(from.g(), to.g());
      for (int g = 0; g < from.graphs_size() && g < to.graphs_size(); ++g) {
        compare(from.graphs(g), to.graphs(g));
      }
    }
  }

  bool agrees(const onnx::ValueInfoProto& value, const ValueType& found, std::size_t maker) {
    const ValueType declared = onnx_io::type_from_proto(value.type());
    const bool types_agree = may_be_one(declared, found);
    if (types_agree && same_shape(declared, found)) return true;
    const InferenceNode& node = inferred_.model.nodes[maker];
    report_.add(
        rule_for(node, value.name(), types_agree), node.label(),
        fmt::format("'{}' is declared {}, but this node gives {}; correct the declaration or the node",
                    value.name(), declared.describe(), found.describe()),
        "");
    return false;
  }

  const Inference& inferred_;
  CheckReport& report_;
};

}  // namespace

WrongDeclarations check_declared(const onnx::ModelProto& original, const Inference& inferred,
                                 CheckReport& report) {
  Comparison comparison(inferred, report);
  comparison.compare(original.graph(), inferred.model.proto.graph());
  return std::move(comparison.wrong);
}

}  // namespace grurun::opset
