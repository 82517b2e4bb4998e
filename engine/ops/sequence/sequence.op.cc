// SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase, SequenceAt, SequenceLength (ai.onnx 11).
//
// A position is an int32 or int64 scalar in [-n, n) (SequenceInsert: [-n, n]) for a sequence of n; it counts
// from the end when negative. Without one, SequenceInsert appends and SequenceErase erases the last.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"

namespace grurun::engine {

namespace {

// The position in [0, last], where last is the largest that the operator admits.
std::size_t position(const Tensor& tensor, std::size_t length, std::int64_t last) {
  const ScratchVector<std::int64_t> list = integer_list(tensor);
  if (list.size() != 1) refuse();
  const auto n = static_cast<std::int64_t>(length);
  if (list[0] < -n || list[0] > last) refuse();
  return static_cast<std::size_t>(list[0] < 0 ? list[0] + n : list[0]);
}

RunFunction prepare_empty(PrepareContext& node) {
  const std::int64_t number = node.int_attribute("dtype", static_cast<std::int64_t>(DType::float32));
  const ValueType element = ValueType::tensor(static_cast<DType>(number));
  return [element](RunContext& run) { run.set_output(0, Sequence{element, {}}); };
}

RunFunction prepare_construct(PrepareContext&) {
  return [](RunContext& run) {
    Sequence out{ValueType::tensor(run.tensor(0).dtype()), {}};
    for (std::size_t i = 0; i < run.input_count(); ++i) out.items.push_back(run.input(i));
    run.set_output(0, std::move(out));
  };
}

RunFunction prepare_insert(PrepareContext&) {
  return [](RunContext& run) {
    const Sequence& given = run.input(0).sequence();
    const DType want = given.element.elem;
    if (want != DType::undefined && run.tensor(1).dtype() != want) refuse();
    const std::size_t n = given.items.size();
    const std::size_t at = run.has_input(2) ? position(run.tensor(2), n, static_cast<std::int64_t>(n)) : n;
    Sequence out = run.take_sequence(0);
    out.items.insert(out.items.begin() + static_cast<std::ptrdiff_t>(at), run.input(1));
    run.set_output(0, std::move(out));
  };
}

RunFunction prepare_erase(PrepareContext&) {
  return [](RunContext& run) {
    const std::size_t n = run.input(0).sequence().items.size();
    if (n == 0) refuse();
    const std::size_t at =
        run.has_input(1) ? position(run.tensor(1), n, static_cast<std::int64_t>(n) - 1) : n - 1;
    Sequence out = run.take_sequence(0);
    out.items.erase(out.items.begin() + static_cast<std::ptrdiff_t>(at));
    run.set_output(0, std::move(out));
  };
}

RunFunction prepare_at(PrepareContext&) {
  return [](RunContext& run) {
    const Sequence& sequence = run.input(0).sequence();
    const std::size_t n = sequence.items.size();
    run.set_output(0, sequence.items[position(run.tensor(1), n, static_cast<std::int64_t>(n) - 1)]);
  };
}

RunFunction prepare_length(PrepareContext&) {
  return [](RunContext& run) {
    run.set_output(0, Tensor::scalar(static_cast<std::int64_t>(run.input(0).sequence().items.size())));
  };
}

}  // namespace

std::vector<OpRow> op_rows_sequence() {
  return {{"", "SequenceEmpty", {11}, prepare_empty},   {"", "SequenceConstruct", {11}, prepare_construct},
          {"", "SequenceInsert", {11}, prepare_insert}, {"", "SequenceErase", {11}, prepare_erase},
          {"", "SequenceAt", {11}, prepare_at},         {"", "SequenceLength", {11}, prepare_length}};
}

}  // namespace grurun::engine
