#include "opset/quantized_lstm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "opset/beyond.h"
#include "opset/recurrent_attributes.h"
#include "opset/recurrent_hints.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using OptionalSize = std::optional<std::int64_t>;
using TypesByName = std::map<std::string, ValueType>;

/// Behind LSTM's own inputs.
enum QuantizedInput { W_scale = 8, W_zero_point, R_scale, R_zero_point };

constexpr std::array value_rules = {
    RecurrentRule::direction,       RecurrentRule::hidden_size,           RecurrentRule::activation_count,
    RecurrentRule::activation_name, RecurrentRule::activation_parameters, RecurrentRule::clip,
    RecurrentRule::input_forget};

RecurrentAttributes read_attributes(const Node& node, const SchemaInfo& schema, RecurrentFindings& findings) {
  return read_recurrent_attributes(*find_recurrent_form("LSTM", ""), schema, node.attributes, findings);
}

OptionalSize quantized_times(std::int64_t factor, const OptionalSize& size) {
  std::int64_t product = 0;
  if (!size || __builtin_mul_overflow(*size, factor, &product)) return std::nullopt;
  return product;
}

class QuantizedJudge {
 public:
  QuantizedJudge(const NodeAt& at, const SchemaInfo& schema, const TypesByName& types, CheckReport& report)
      : at_(at), schema_(schema), types_(types), report_(report) {
    RecurrentFindings told_elsewhere;
    const RecurrentAttributes attributes = read_attributes(at.node, schema, told_elsewhere);
    directions_ = {"num_directions", attributes.num_directions()};
    stated_hidden_ = attributes.hidden_size;
  }

  void judge() {
    const WantedDim steps{"seq_length", dim(input_X, 3, 0)}, batch{"batch_size", dim(input_X, 3, 1)};
    OptionalSize input_size = dim(input_X, 3, 2);
    if (!input_size) input_size = dim(input_W, 3, 1);
    const WantedDim input{"input_size", input_size}, hidden{"hidden_size", find_hidden_size()};
    const auto multiple = [&](int factor) {
      return WantedDim{times_hidden_size(factor), quantized_times(factor, hidden.size), factor};
    };
    check(input_X, {steps, batch, input});
    check(input_W, {directions_, input, multiple(4)});
    check(input_R, {directions_, hidden, multiple(4)});
    check(input_B, {directions_, multiple(8)});
    check(input_sequence_lens, {batch});
    check(input_initial_h, {directions_, batch, hidden});
    check(input_initial_c, {directions_, batch, hidden});
    check(input_P, {directions_, multiple(3)});
    for (const std::size_t scale : {W_scale, R_scale}) check_parameters(scale, {directions_, multiple(4)});
  }

 private:
  const SymbolicShape* shape(std::size_t input) const {
    if (input >= at_.node.inputs.size()) return nullptr;
    const auto found = types_.find(at_.node.inputs[input]);
    const bool known = found != types_.end() && found->second.kind == ValueType::Kind::tensor;
    return known && found->second.shape ? &*found->second.shape : nullptr;
  }
  OptionalSize dim(std::size_t input, std::size_t rank, std::size_t axis) const {
    const SymbolicShape* found = shape(input);
    return found != nullptr && found->size() == rank ? (*found)[axis].value : std::nullopt;
  }

  /// What R says, whichever way it lies; the attribute must agree.
  OptionalSize find_hidden_size() {
    const OptionalSize rows = dim(input_R, 3, 1), columns = dim(input_R, 3, 2);
    const bool transposed = columns && rows == quantized_times(4, columns);
    const OptionalSize of_R = transposed ? columns : rows;
    if (!stated_hidden_) return of_R;
    if (transposed || !of_R || columns != quantized_times(4, of_R) || of_R == stated_hidden_)
      return stated_hidden_;
    add(fmt::format("hidden_size is {}, but R is {}: its second dimension is hidden_size", *stated_hidden_,
                    to_string(*shape(input_R))));
    return of_R;
  }

  void check(std::size_t input, const std::vector<WantedDim>& want) {
    const SymbolicShape* found = shape(input);
    if (found == nullptr || fits(*found, want)) return;
    std::string hint;
    if (want.size() == 3 && found->size() == 3 && input != input_X &&
        fits(*found, {want[0], want[2], want[1]})) {
      hint = input == input_W || input == input_R
                 ? "; its last two axes are swapped, as LSTM has them: Transpose it"
                 : "; its last two axes are swapped";
    }
    tell(input, *found, spelled(want), sized(want) + hint);
  }

  /// A scale and the zero point behind it: one for each direction, or for each column.
  void check_parameters(std::size_t scale, const std::vector<WantedDim>& by_column) {
    const SymbolicShape* of_scale = shape(scale);
    for (const std::size_t input : {scale, scale + 1}) {
      const SymbolicShape* found = shape(input);
      if (found == nullptr) continue;
      const bool same_rank = of_scale == nullptr || of_scale->size() == found->size();
      if (same_rank && (fits(*found, by_column) || fits(*found, {by_column[0]}))) continue;
      const std::string rule = "[num_directions] or " + spelled(by_column);
      tell(input, *found, input == scale ? rule : rule + " as its scale is",
           sized({by_column[0]}) + " or " + sized(by_column));
    }
  }

  void tell(std::size_t input, const SymbolicShape& found, const std::string& rule, const std::string& here) {
    add(fmt::format("{} is {}; it must be {}, here {}", schema_.inputs[input].name, to_string(found), rule,
                    here));
  }
  void add(std::string message) { report_.add(Rule::inference, at_, std::move(message)); }

  const NodeAt& at_;
  const SchemaInfo& schema_;
  const TypesByName& types_;
  CheckReport& report_;
  WantedDim directions_;
  OptionalSize stated_hidden_;
};

}  // namespace

void check_quantized_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  RecurrentFindings findings;
  read_attributes(at.node, schema, findings);
  for (RecurrentFinding& found : findings) {
    if (std::ranges::find(value_rules, found.rule) == value_rules.end()) continue;
    report.add(Rule::inference, at, std::move(found.message));
  }
}

void check_quantized_shapes(const onnx_io::Model& model, const FunctionIndex& functions,
                            const TypesByName& types, CheckReport& report) {
  const CheckScope scope = CheckScope::of_main_graph(model);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    const auto import = model.opset_imports.find(node.domain);
    if (!is_dynamic_quantize_lstm(node.op_type, node.domain) || import == model.opset_imports.end()) continue;
    const SchemaInfo* schema = find_schema_beyond(node.op_type, node.domain, import->second);
    if (schema == nullptr || functions.find(node) != nullptr) continue;
    const NodeAt at{scope, node, i, schema->since_version};
    if (!report.is_faulty(at.path())) QuantizedJudge(at, *schema, types, report).judge();
  }
}

}  // namespace grurun::opset
