// Loop (ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25).
//
//   for (i = 0; i < M && cond; ++i) cond, v..., s_i... = body(i, cond, v...)
//   outputs: final v..., then each s stacked along a new first axis
//
// M: int64, shape [] or [1]; omitted: no bound. cond: bool; omitted: the first iteration gets true, and what
// the body returns goes to the next one but ends nothing beside M: "cond = ...; // ignored". Without either,
// what the body returns ends the loop, since no model means one without an end (docs/ambiguities.md).
#include <memory>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "opset/pages/body_rules.h"

namespace grurun::engine {

namespace {

struct Loop {
  Body body;
  std::size_t carried;
  std::size_t scanned;
  std::vector<std::string> labels;  // of the scan outputs
};

// A body may take as optional what it returns without: an official case carries a sequence so.
Value carried_as_declared(Value value, const ValueType& declared) {
  if (declared.kind != ValueType::Kind::optional || value.is_optional() || value.empty()) return value;
  return Optional{declared.element ? *declared.element : value.type(),
                  std::make_shared<const Value>(std::move(value))};
}

// What the scan outputs would be in an iteration from these inputs on.
void set_empty_scan_outputs(const Loop& loop, const Values& carried, const KeptStates& states,
                            RunContext& run) {
  std::vector<ValueType> inputs{ValueType::tensor(DType::int64, SymbolicShape{}),
                                ValueType::tensor(DType::boolean, SymbolicShape{})};
  for (const Value& value : carried) inputs.push_back(value.type());
  require_declared_inputs(*loop.body, inputs, false);
  const std::vector<ValueType> types = loop.body.output_types(inputs, run);
  states.require_kept(std::span(types).subspan(1, loop.carried));
  for (std::size_t k = 0; k < loop.scanned; ++k) {
    const std::size_t output = loop.carried + k;
    if (run.has_output(output))
      run.set_output(output, empty_scan_output(loop.labels[k], types[1 + output], 0));
  }
}

void run_loop(const Loop& loop, RunContext& run) {
  const Tensor* trip_count = run.optional_tensor(0);
  const Tensor* condition = run.optional_tensor(1);
  const std::int64_t trips = trip_count ? single_element<std::int64_t>(*trip_count) : INT64_MAX;
  bool cond = condition ? single_element<bool>(*condition) : true;

  Values carried;
  for (std::size_t i = 0; i < loop.carried; ++i) carried.push_back(run.input(2 + i));
  const KeptStates states(*loop.body, 2, 1, carried, false);
  ScratchVector<Values> scanned(loop.scanned);

  const bool ends_by_cond = condition != nullptr || trip_count == nullptr;
  std::int64_t i = 0;
  for (; i < trips && (cond || !ends_by_cond); ++i) {
    Values inputs;
    inputs.reserve(2 + loop.carried);
    inputs.emplace_back(as_declared(i, loop.body->input_types[0]));
    inputs.emplace_back(as_declared(cond, loop.body->input_types[1]));
    for (std::size_t k = 0; k < loop.carried; ++k)
      inputs.push_back(carried_as_declared(std::move(carried[k]), loop.body->input_types[2 + k]));
    require_declared_inputs(*loop.body, inputs, false);
    Values outputs = run.run_subgraph(*loop.body, std::move(inputs));
    const Value& goes_on = outputs[0];
    if (!goes_on.is_tensor() || goes_on.tensor().dtype() != DType::boolean || goes_on.tensor().size() != 1)
      opset::require_condition(goes_on.type());
    cond = *goes_on.tensor().data<bool>();
    states.require_kept(std::span(outputs).subspan(1, loop.carried));
    for (std::size_t k = 0; k < loop.carried; ++k) carried[k] = std::move(outputs[1 + k]);
    for (std::size_t k = 0; k < loop.scanned; ++k) {
      Value& made = outputs[1 + loop.carried + k];
      require_stackable(loop.labels[k], i == 0 ? made : scanned[k].front(), made, i);
      scanned[k].push_back(std::move(made));
    }
  }

  if (i == 0) set_empty_scan_outputs(loop, carried, states, run);
  for (std::size_t k = 0; k < loop.carried; ++k) run.set_output(k, std::move(carried[k]));
  for (std::size_t k = 0; k < loop.scanned && i > 0; ++k) {
    if (run.has_output(loop.carried + k))
      run.set_output(loop.carried + k, stack_scan_output(scanned[k], 0, false));
  }
}

RunFunction prepare_loop(PrepareContext& node) {
  Loop loop;
  loop.body = prepare_body(node, "body");
  loop.carried = node.input_count() > 2 ? node.input_count() - 2 : 0;
  if (loop.body->outputs.size() < 1 + loop.carried) {
    fail_invalid("the body '{}' of Loop must return cond and {} carried values, but has {} outputs",
                 loop.body->name, loop.carried, loop.body->outputs.size());
  }
  loop.scanned = loop.body->outputs.size() - 1 - loop.carried;
  require_body(*loop.body, "Loop", 2 + loop.carried, 1 + node.output_count());
  judge_declared([&] {
    require_declared_inputs(*loop.body, {ValueType::tensor(DType::int64), ValueType::tensor(DType::boolean)},
                            false);
    opset::require_condition(loop.body->output_types[0]);
  });
  require_declared_states(*loop.body, 2, 1, loop.carried, false);
  loop.labels = scan_output_labels(node, *loop.body, loop.carried, 1 + loop.carried);
  return [loop](RunContext& run) { run_loop(loop, run); };
}

}  // namespace

std::vector<OpRow> op_rows_loop() {
  return {{"", "Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, prepare_loop}};
}

}  // namespace grurun::engine
