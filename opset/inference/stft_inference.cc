#include "opset/inference/stft_inference.h"

#include <optional>
#include <vector>

#include "onnx/defs/tensor_proto_util.h"
#include "opset/inference/inferred_input.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

// Of an input that is a constant with one element.
std::optional<std::int64_t> constant_integer(const InferenceContext& context, std::size_t i) {
  const onnx::TensorProto* value = i < context.getNumInputs() ? context.getInputData(i) : nullptr;
  if (value == nullptr) return std::nullopt;
  if (value->data_type() == onnx::TensorProto::INT32) {
    const std::vector<std::int32_t> numbers = onnx::ParseData<std::int32_t>(value);
    return numbers.size() == 1 ? std::optional<std::int64_t>(numbers.front()) : std::nullopt;
  }
  if (value->data_type() != onnx::TensorProto::INT64) return std::nullopt;
  const std::vector<std::int64_t> numbers = onnx::ParseData<std::int64_t>(value);
  return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
}

}  // namespace

void infer_stft(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto *signal = input_shape(context, 0), *window = input_shape(context, 2);
  const bool onesided = int_attribute(context, "onesided", 1) != 0;
  if (onesided && size_of(signal, 2) == 2)
    fail_invalid("signal is {}: a complex signal has no onesided output, set onesided to 0",
                 shape_text(*signal));
  const bool gives_window = context.getNumInputs() > 2 && context.hasInput(2);
  const bool gives_length = context.getNumInputs() > 3 && context.hasInput(3);
  const std::optional<std::int64_t> room = size_of(signal, 1), step = constant_integer(context, 1);
  const std::optional<std::int64_t> width = size_of(window, 0);
  const std::optional<std::int64_t> length = gives_length   ? constant_integer(context, 3)
                                             : gives_window ? width
                                                            : room;
  if (step && *step < 1) fail_invalid("frame_step is {}, but must be positive", *step);
  if (length && *length < 1) fail_invalid("frame_length is {}, but must be positive", *length);
  if (length && width && *length != *width)
    fail_invalid("frame_length is {}, but window has {} elements", *length, *width);
  TensorShapeProto output;
  auto *batch = output.add_dim(), *frames = output.add_dim(), *bins = output.add_dim();
  output.add_dim()->set_dim_value(2);
  if (signal != nullptr && signal->dim_size() > 0) *batch = signal->dim(0);
  if (length) bins->set_dim_value(onesided ? *length / 2 + 1 : *length);
  // floor((room - length) / step) + 1
  if (room && length && step) {
    const std::int64_t left = *room - *length;
    if (left < 0 && -*step > left)
      fail_invalid("a frame of {} does not fit in a signal of {}", *length, *room);
    frames->set_dim_value(left < 0 ? 0 : left / *step + 1);
  }
  onnx::updateOutputShape(context, 0, output);
}

}  // namespace grurun::opset
