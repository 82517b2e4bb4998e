// Scan (ai.onnx 9, 11, 16, 19, 21, 23, 24, 25).
//
//   for t in 0..sequence_length: state..., s_t... = body(state..., slice t of each scan input...)
//   outputs: final state..., then each s stacked
//
// Inputs: N initial states, then M = num_scan_inputs scan inputs, each sliced along its axis
// (scan_input_axes, default 0), from the end where its direction is 1. Scan outputs are stacked along
// scan_output_axes (default 0), prepended where their direction is
// 1. Negative axes count from the end since 11. Scan-8 is another operator: see scan8.op.cc.
#include <algorithm>
#include <iterator>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

struct Scan {
  Body body;
  std::size_t states;
  std::size_t scan_inputs;
  std::size_t scan_outputs;
  std::vector<std::string> labels;  // of the scan outputs
  std::vector<std::int64_t> input_directions, output_directions, input_axes, output_axes;
};

// Each of them has as many entries as there are scan inputs or outputs.
std::vector<std::int64_t> list_attribute(PrepareContext& node, const char* name, std::size_t count) {
  std::vector<std::int64_t> list = node.ints_attribute(name, {});
  if (list.empty()) list.resize(count);  // an empty list says nothing
  return list;
}

// What the body would be given and return in a step, of inputs without any.
std::vector<ValueType> types_in_a_step(const Scan& scan, const Values& state,
                                       const std::vector<const Tensor*>& sequences,
                                       const std::vector<std::size_t>& axes, RunContext& run) {
  std::vector<ValueType> inputs;
  for (const Value& value : state) inputs.push_back(value.type());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    SymbolicShape shape = symbolic_shape(sequences[i]->shape());
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axes[i]));
    inputs.push_back(ValueType::tensor(sequences[i]->dtype(), std::move(shape)));
  }
  require_declared_inputs(*scan.body, inputs, true);
  return scan.body.output_types(inputs, run);
}

void run_scan(const Scan& scan, RunContext& run) {
  Values state;
  for (std::size_t i = 0; i < scan.states; ++i) state.push_back(run.input(i));
  std::vector<const Tensor*> sequences;
  std::vector<std::size_t> axes;
  std::int64_t length = -1;
  for (std::size_t i = 0; i < scan.scan_inputs; ++i) {
    const Tensor& sequence = run.tensor(scan.states + i);
    const auto rank = static_cast<std::int64_t>(sequence.rank());
    axes.push_back(static_cast<std::size_t>(normalized_axis(scan.input_axes[i], rank)));
    sequences.push_back(&sequence);
    const std::int64_t steps = sequence.dim(axes.back());
    if (length >= 0 && steps != length) refuse();
    length = steps;
  }

  const KeptStates states(*scan.body, 0, 0, state, true);
  std::vector<ValueType> types;
  if (length == 0) {
    types = types_in_a_step(scan, state, sequences, axes, run);
    states.require_kept(std::span<const ValueType>(types).first(scan.states));
  }
  ScratchVector<Values> scanned(scan.scan_outputs);
  for (std::int64_t t = 0; t < length; ++t) {
    Values inputs = std::move(state);
    for (std::size_t i = 0; i < scan.scan_inputs; ++i) {
      const std::int64_t at = scan.input_directions[i] == 0 ? t : length - 1 - t;
      inputs.emplace_back(slice_at(*sequences[i], axes[i], at));
    }
    require_declared_inputs(*scan.body, inputs, true);
    Values outputs = run.run_subgraph(*scan.body, std::move(inputs));
    states.require_kept(std::span(outputs).first(scan.states));
    state.assign(std::make_move_iterator(outputs.begin()),
                 std::make_move_iterator(outputs.begin() + static_cast<std::ptrdiff_t>(scan.states)));
    for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
      Value& made = outputs[scan.states + k];
      require_stackable(scan.labels[k], t == 0 ? made : scanned[k].front(), made, t);
      scanned[k].push_back(std::move(made));
    }
  }

  for (std::size_t i = 0; i < scan.states; ++i) run.set_output(i, std::move(state[i]));
  for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
    const std::int64_t axis = scan.output_axes[k];
    run.set_output(scan.states + k,
                   length == 0 ? empty_scan_output(scan.labels[k], types[scan.states + k], axis)
                               : stack_scan_output(scanned[k], axis, scan.output_directions[k] == 1));
  }
}

RunFunction prepare_scan(PrepareContext& node) {
  Scan scan;
  scan.body = prepare_body(node, "body");
  const std::int64_t scan_inputs = node.int_attribute("num_scan_inputs");
  if (scan_inputs < 1 || static_cast<std::uint64_t>(scan_inputs) > node.input_count()) refuse();
  scan.scan_inputs = static_cast<std::size_t>(scan_inputs);
  scan.states = node.input_count() - scan.scan_inputs;
  if (node.output_count() < scan.states) refuse();
  scan.scan_outputs = node.output_count() - scan.states;
  require_body(*scan.body, "Scan", node.input_count(), node.output_count());
  require_declared_states(*scan.body, 0, 0, scan.states, true);
  scan.labels = scan_output_labels(node, *scan.body, scan.states, scan.states);
  scan.input_directions = list_attribute(node, "scan_input_directions", scan.scan_inputs);
  scan.output_directions = list_attribute(node, "scan_output_directions", scan.scan_outputs);
  scan.input_axes = list_attribute(node, "scan_input_axes", scan.scan_inputs);
  scan.output_axes = list_attribute(node, "scan_output_axes", scan.scan_outputs);
  for (const auto* list : {&scan.input_directions, &scan.input_axes})
    if (list->size() != scan.scan_inputs) refuse();
  for (const auto* list : {&scan.output_directions, &scan.output_axes})
    if (list->size() != scan.scan_outputs) refuse();
  return [scan](RunContext& run) { run_scan(scan, run); };
}

}  // namespace

std::vector<OpRow> op_rows_scan() {
  return {{"", "Scan", {9, 11, 16, 19, 21, 23, 24, 25}, prepare_scan}};
}

}  // namespace grurun::engine
