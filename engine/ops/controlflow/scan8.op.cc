// Scan-8 (ai.onnx 8): Scan with a batch axis.
//
//   for each batch row: state = its row of the initial states
//     for t in 0..sequence_lens[row]: state..., s_t... = body(state..., element t of the row of each scan
//     input...)
//   outputs: final states [batch, ...], then each s as [batch, max_sequence_length, ...], zero beyond a row's
//   length
//
// Inputs: sequence_lens (int64 [batch], optional), N states [batch, ...], M = num_scan_inputs scan inputs
// [batch, max_sequence_length, ...]; directions[m] = 1 reads scan input m from the end of its row's sequence.
#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

struct BatchScan {
  Body body;
  std::size_t states;
  std::size_t scan_inputs;
  std::size_t scan_outputs;
  std::vector<std::string> labels;  // of the scan outputs
  std::vector<std::int64_t> directions;
};

struct Extent {
  std::int64_t batch = 0;
  std::int64_t length = 0;  // the longest sequence
};

Extent measure(const BatchScan& scan, RunContext& run) {
  Extent extent;
  for (std::size_t i = 0; i < scan.states + scan.scan_inputs; ++i) {
    const Tensor& tensor = run.tensor(1 + i);
    const bool is_scan_input = i >= scan.states;
    if (tensor.rank() < (is_scan_input ? 2u : 1u)) refuse();
    if (i == 0) extent.batch = tensor.dim(0);
    if (i == scan.states) extent.length = tensor.dim(1);
    if (tensor.dim(0) != extent.batch || (is_scan_input && tensor.dim(1) != extent.length)) refuse();
  }
  return extent;
}

std::vector<std::int64_t> row_lengths(RunContext& run, const Extent& extent) {
  const Tensor* given = run.optional_tensor(0);
  if (given == nullptr)
    return std::vector<std::int64_t>(static_cast<std::size_t>(extent.batch), extent.length);
  if (given->rank() != 1 || given->dim(0) != extent.batch) refuse();
  const auto lengths = given->span<std::int64_t>();
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > extent.length) refuse();
  }
  return {lengths.begin(), lengths.end()};
}

// The values of one row, padded with zeros (strings: empty) to the longest sequence.
Tensor padded(std::span<const Value> values, std::int64_t length) {
  Tensor made = stack_scan_output(values, 0, false);
  if (made.dim(0) == length) return made;
  Shape shape = made.shape();
  shape[0] = length;
  Tensor out = Tensor::zeros(made.dtype(), shape);
  copy_elements(out, 0, made, 0, made.size());
  return out;
}

// Zeros for a row without steps: of the type and shape that others have made, or else that the body has.
Tensor unmade(const BatchScan& scan, std::size_t k, std::int64_t length, const Value& made_elsewhere,
              RunContext& run) {
  if (!made_elsewhere.empty()) {
    Shape shape = made_elsewhere.tensor().shape();
    shape.insert(0, length);
    return Tensor::zeros(made_elsewhere.tensor().dtype(), shape);
  }
  std::vector<ValueType> inputs;
  for (std::size_t i = 0; i < scan.states + scan.scan_inputs; ++i) {
    const Tensor& tensor = run.tensor(1 + i);
    SymbolicShape shape = symbolic_shape(tensor.shape());
    shape.erase(shape.begin(), shape.begin() + (i < scan.states ? 1 : 2));
    inputs.push_back(ValueType::tensor(tensor.dtype(), std::move(shape)));
  }
  const ValueType type = scan.body.output_types(inputs, run)[scan.states + k];
  const Tensor empty = empty_scan_output(scan.labels[k], type, 0);
  Shape shape = empty.shape();
  shape[0] = length;
  return Tensor::zeros(empty.dtype(), shape);
}

void set_empty_batch(const BatchScan& scan, std::int64_t length, RunContext& run) {
  for (std::size_t i = 0; i < scan.states; ++i) run.set_output(i, run.tensor(1 + i));
  for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
    const Tensor row = unmade(scan, k, length, Value(), run);
    Shape shape = row.shape();
    shape.insert(0, 0);
    run.set_output(scan.states + k, Tensor(row.dtype(), shape));
  }
}

void run_batch_scan(const BatchScan& scan, RunContext& run) {
  const Extent extent = measure(scan, run);
  const std::vector<std::int64_t> lengths = row_lengths(run, extent);
  std::vector<std::vector<Tensor>> results(scan.states + scan.scan_outputs);
  std::vector<Value> first(scan.scan_outputs);
  std::int64_t iteration = 0;
  for (std::int64_t row = 0; row < extent.batch; ++row) {
    const std::int64_t steps = lengths[static_cast<std::size_t>(row)];
    Values state;
    for (std::size_t i = 0; i < scan.states; ++i) state.emplace_back(slice_at(run.tensor(1 + i), 0, row));
    const KeptStates states(*scan.body, 0, 0, state, true);
    ScratchVector<Values> scanned(scan.scan_outputs);
    for (std::int64_t t = 0; t < steps; ++t) {
      Values inputs = std::move(state);
      for (std::size_t i = 0; i < scan.scan_inputs; ++i) {
        const std::int64_t at = scan.directions[i] == 0 ? t : steps - 1 - t;
        inputs.emplace_back(slice_at(slice_at(run.tensor(1 + scan.states + i), 0, row), 0, at));
      }
      require_declared_inputs(*scan.body, inputs, true);
      Values outputs = run.run_subgraph(*scan.body, std::move(inputs));
      states.require_kept(std::span(outputs).first(scan.states));
      state.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(scan.states));
      for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
        Value& made = outputs[scan.states + k];
        if (iteration == 0) first[k] = made;
        require_stackable(scan.labels[k], first[k], made, iteration);
        scanned[k].push_back(std::move(made));
      }
      ++iteration;
    }
    for (std::size_t i = 0; i < scan.states; ++i) results[i].push_back(state[i].tensor());
    for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
      results[scan.states + k].push_back(steps == 0 ? Tensor() : padded(scanned[k], extent.length));
    }
  }
  for (std::size_t k = 0; k < scan.scan_outputs; ++k) {
    std::vector<Tensor>& rows = results[scan.states + k];
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (lengths[row] == 0) rows[row] = unmade(scan, k, extent.length, first[k], run);
  }
  if (extent.batch == 0) return set_empty_batch(scan, extent.length, run);
  for (std::size_t i = 0; i < results.size(); ++i) run.set_output(i, stack(results[i], 0));
}

RunFunction prepare_scan8(PrepareContext& node) {
  BatchScan scan;
  scan.body = prepare_body(node, "body");
  const std::int64_t scan_inputs = node.int_attribute("num_scan_inputs");
  const std::size_t variadic = node.input_count() > 0 ? node.input_count() - 1 : 0;
  if (scan_inputs < 1 || static_cast<std::uint64_t>(scan_inputs) > variadic) refuse();
  scan.scan_inputs = static_cast<std::size_t>(scan_inputs);
  scan.states = variadic - scan.scan_inputs;
  if (node.output_count() < scan.states) refuse();
  scan.scan_outputs = node.output_count() - scan.states;
  require_body(*scan.body, "Scan", variadic, node.output_count());
  require_declared_states(*scan.body, 0, 0, scan.states, true);
  scan.labels = scan_output_labels(node, *scan.body, scan.states, scan.states);
  scan.directions = node.ints_attribute("directions", std::vector<std::int64_t>(scan.scan_inputs, 0));
  if (scan.directions.size() != scan.scan_inputs) refuse();
  return [scan](RunContext& run) { run_batch_scan(scan, run); };
}

}  // namespace

std::vector<OpRow> op_rows_scan8() {
  return {{"", "Scan", {8}, prepare_scan8}};
}

}  // namespace grurun::engine
