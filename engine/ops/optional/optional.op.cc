// Optional (ai.onnx 15, 28), OptionalHasElement and OptionalGetElement (ai.onnx 15, 18, 28).
//
// Optional wraps its input, or makes an empty optional of the type that the attribute states. Since 18 the
// other two also take a tensor or a sequence, which counts as an optional that holds it; OptionalHasElement
// of an omitted input is false.
#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

using onnx_io::AttributeType;

RunFunction prepare_optional(PrepareContext& node) {
  const onnx_io::Attribute* type = node.attribute("type", AttributeType::type_proto);
  if (node.has_input(0)) {
    return [](RunContext& run) {
      const Value& input = run.input(0);
      run.set_output(0, Optional{input.type(), std::make_shared<const Value>(input)});
    };
  }
  if (type == nullptr) refuse();
  const ValueType element = type->types.at(0);
  return [element](RunContext& run) { run.set_output(0, Optional{element, nullptr}); };
}

RunFunction prepare_has_element(PrepareContext&) {
  return [](RunContext& run) {
    bool has = run.has_input(0);
    if (has) {
      const Value& input = run.input(0);
      has = !input.is_optional() || input.optional().item != nullptr;
    }
    run.set_output(0, Tensor::scalar(has));
  };
}

RunFunction prepare_get_element(PrepareContext&) {
  return [](RunContext& run) {
    const Value& input = run.input(0);
    if (!input.is_optional()) return run.set_output(0, input);
    if (input.optional().item == nullptr) refuse();
    run.set_output(0, *input.optional().item);
  };
}

}  // namespace

std::vector<OpRow> op_rows_optional() {
  return {{"", "Optional", {15, 28}, prepare_optional},
          {"", "OptionalHasElement", {15, 18, 28}, prepare_has_element},
          {"", "OptionalGetElement", {15, 18, 28}, prepare_get_element}};
}

}  // namespace grurun::engine
