#include "opset/inference/stft_inference.h"

#include "opset/inference/inferred_input.h"

namespace grurun::opset {

void infer_stft(const NodeFacts& facts, onnx::InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const onnx::TensorShapeProto* signal = input_shape(context, 0);
  const Size room = size_of(signal, 1), step = number_in(facts, 1);
  const Size length = facts.has_input(3)   ? number_in(facts, 3)
                      : facts.has_input(2) ? size_of(input_shape(context, 2), 0)
                                           : room;
  onnx::TensorShapeProto output;
  auto *batch = output.add_dim(), *frames = output.add_dim(), *bins = output.add_dim();
  output.add_dim()->set_dim_value(2);
  if (signal != nullptr && signal->dim_size() > 0) *batch = signal->dim(0);
  if (length) bins->set_dim_value(facts.int_attribute("onesided", 1) != 0 ? *length / 2 + 1 : *length);
  // floor((room - length) / step) + 1
  if (room && length && step) frames->set_dim_value(*room < *length ? 0 : (*room - *length) / *step + 1);
  onnx::updateOutputShape(context, 0, output);
}

}  // namespace grurun::opset
