// SequenceMap (ai.onnx 17).
//
//   for i in 0..length of the first sequence: s_1, s_2... = body(item i of each sequence, or a tensor as it
//   is...) outputs: each s_k collected into a sequence
#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "opset/pages/body_rules.h"

namespace grurun::engine {

namespace {

// Of the body's inputs, as far as empty sequences tell it.
std::vector<ValueType> item_types(RunContext& run) {
  std::vector<ValueType> types;
  for (std::size_t k = 0; k < run.input_count(); ++k) {
    const Value& input = run.input(k);
    types.push_back(input.is_sequence() ? input.sequence().element : input.type());
  }
  return types;
}

RunFunction prepare_sequence_map(PrepareContext& node) {
  const Body body = prepare_body(node, "body");
  require_body(*body, "SequenceMap", node.input_count(), node.output_count());
  return [body](RunContext& run) {
    const std::size_t length = run.input(0).sequence().items.size();
    for (std::size_t k = 0; k < run.input_count(); ++k) {
      const Value& input = run.input(k);
      if (input.is_sequence() && input.sequence().items.size() != length) refuse();
    }
    std::vector<Sequence> out;
    const std::vector<ValueType> types =
        length == 0 ? body.output_types(item_types(run), run) : body->output_types;
    for (const ValueType& type : types) out.push_back({type, {}});
    for (std::size_t i = 0; i < length; ++i) {
      Values inputs;
      for (std::size_t k = 0; k < run.input_count(); ++k) {
        const Value& input = run.input(k);
        inputs.push_back(input.is_sequence() ? input.sequence().items[i] : input);
      }
      require_declared_inputs(*body, inputs, true);
      Values made = run.run_subgraph(*body, std::move(inputs));
      for (std::size_t k = 0; k < out.size(); ++k) {
        opset::require_same_element(body->output_names[k], out[k].items.empty() ? nullptr : &out[k].element,
                                    made[k].type());
        out[k].element = ValueType::tensor(made[k].tensor().dtype());
        out[k].items.push_back(std::move(made[k]));
      }
    }
    for (std::size_t k = 0; k < out.size(); ++k) run.set_output(k, std::move(out[k]));
  };
}

}  // namespace

std::vector<OpRow> op_rows_sequence_map() {
  return {{"", "SequenceMap", {17}, prepare_sequence_map}};
}

}  // namespace grurun::engine
