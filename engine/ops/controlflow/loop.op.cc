// Loop (ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25).
//
//   for (i = 0; i < M && cond; ++i) cond, v..., s_i... = body(i, cond, v...)
//   outputs: final v..., then each s stacked along a new first axis
//
// M: int64, shape [] or [1]; omitted: no bound. cond: bool; omitted: the first iteration gets true, and what
// the body returns goes to the next one but ends nothing: "cond = ...; // ignored". Without either the loop
// ends by a limit only.
#include <memory>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"

namespace grurun::engine {

namespace {

struct Loop {
  std::shared_ptr<const Plan> body;
  std::size_t carried;
  std::size_t scanned;
};

// A body may take as optional what it returns without: an official case carries a sequence so.
Value carried_as_declared(Value value, const ValueType& declared) {
  if (declared.kind != ValueType::Kind::optional || value.is_optional() || value.empty()) return value;
  return Optional{declared.element ? *declared.element : value.type(),
                  std::make_shared<const Value>(std::move(value))};
}

void run_loop(const Loop& loop, RunContext& run) {
  const Tensor* trip_count = run.optional_tensor(0);
  const Tensor* condition = run.optional_tensor(1);
  const std::int64_t trips = trip_count ? single_element<std::int64_t>(*trip_count) : INT64_MAX;
  bool cond = condition ? single_element<bool>(*condition) : true;

  Values carried;
  for (std::size_t i = 0; i < loop.carried; ++i) carried.push_back(run.input(2 + i));
  ScratchVector<Values> scanned(loop.scanned);

  for (std::int64_t i = 0; i < trips && (cond || !condition); ++i) {
    Values inputs;
    inputs.reserve(2 + loop.carried);
    inputs.emplace_back(as_declared(i, loop.body->input_types[0]));
    inputs.emplace_back(as_declared(cond, loop.body->input_types[1]));
    for (std::size_t k = 0; k < loop.carried; ++k)
      inputs.push_back(carried_as_declared(std::move(carried[k]), loop.body->input_types[2 + k]));
    Values outputs = run.run_subgraph(*loop.body, std::move(inputs));
    const Tensor& goes_on = outputs[0].tensor();
    if (goes_on.dtype() != DType::boolean || goes_on.size() != 1)
      fail_invalid("the body's cond must hold one bool, but is {} {}", dtype_name(goes_on.dtype()),
                   goes_on.shape().to_string());
    cond = *goes_on.data<bool>();
    for (std::size_t k = 0; k < loop.carried; ++k) carried[k] = std::move(outputs[1 + k]);
    for (std::size_t k = 0; k < loop.scanned; ++k)
      scanned[k].push_back(std::move(outputs[1 + loop.carried + k]));
  }

  for (std::size_t k = 0; k < loop.carried; ++k) run.set_output(k, std::move(carried[k]));
  for (std::size_t k = 0; k < loop.scanned; ++k) {
    if (!run.has_output(loop.carried + k)) continue;
    run.set_output(loop.carried + k, scanned[k].empty()
                                         ? empty_scan_output(*loop.body, 1 + loop.carried + k, 0)
                                         : stack_scan_output(scanned[k], 0, false));
  }
}

RunFunction prepare_loop(PrepareContext& node) {
  Loop loop;
  loop.body = node.subgraph("body");
  loop.carried = node.input_count() > 2 ? node.input_count() - 2 : 0;
  if (loop.body->outputs.size() < 1 + loop.carried) {
    fail_invalid("the body '{}' of Loop must return cond and {} carried values, but has {} outputs",
                 loop.body->name, loop.carried, loop.body->outputs.size());
  }
  loop.scanned = loop.body->outputs.size() - 1 - loop.carried;
  require_body(*loop.body, "Loop", 2 + loop.carried, loop.body->outputs.size());
  if (node.output_count() > loop.carried + loop.scanned) {
    fail_invalid("Loop has {} outputs, but its body makes {}", node.output_count(),
                 loop.carried + loop.scanned);
  }
  return [loop](RunContext& run) { run_loop(loop, run); };
}

}  // namespace

std::vector<OpRow> op_rows_loop() {
  return {{"", "Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, prepare_loop}};
}

}  // namespace grurun::engine
