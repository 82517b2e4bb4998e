#include "opset/inference/inferred_output.h"

#include <map>
#include <vector>

#include "opset/inference/inferred_input.h"
#include "opset/pages/einsum_equation.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::OpSchema;
using onnx::TensorShapeProto;

// Of Attention's output 3: the sizes of keys given and past are added up where all of them are known.
bool knows_key_count(InferenceContext& context, int axis) {
  if (!knows_size(input_shape(context, 2), axis)) return false;
  const bool past = context.getNumInputs() > 4 && context.hasInput(4);
  if (!past) return true;
  return input_shape(context, 2)->dim(axis).dim_value() > 0 && knows_size(input_shape(context, 4), 2) &&
         input_shape(context, 5) != nullptr && context.hasOutput(1) && context.hasOutput(2);
}

// Attention takes sizes that it does not know for 0, and a shape for what it has of one.
void forget_unknown_sizes(InferenceContext& context) {
  const TensorShapeProto* q = input_shape(context, 0);
  const TensorShapeProto* v = input_shape(context, 2);
  const bool alike = q != nullptr && v != nullptr && q->dim_size() == v->dim_size();
  const bool packed = alike && v->dim_size() == 3;
  const auto forget = [&](std::size_t output, int axis) {
    auto& type = *context.getOutputType(output)->mutable_tensor_type();
    if (axis < type.shape().dim_size()) type.mutable_shape()->mutable_dim(axis)->Clear();
  };
  if (packed && !knows_size(v, 2)) forget(0, 2);
  if (!context.hasOutput(3)) return;
  if (!alike) {
    context.getOutputType(3)->mutable_tensor_type()->clear_shape();
  } else if (!knows_key_count(context, packed ? 1 : 2)) {
    forget(3, 3);
  }
}

// Y is of scale's type, V; ONNX takes X's.
void type_by_scale(InferenceContext& context) {
  const onnx::TypeProto* scale = context.getNumInputs() > 1 ? context.getInputType(1) : nullptr;
  if (scale == nullptr || !scale->has_tensor_type()) return;
  context.getOutputType(0)->mutable_tensor_type()->set_elem_type(scale->tensor_type().elem_type());
}

// ONNX divides with truncation: a window that is longer than its axis would have a place.
void drop_windows_that_do_not_fit(InferenceContext& context) {
  const TensorShapeProto* x = input_shape(context, 0);
  const onnx::AttributeProto *pads = context.getAttribute("pads"), *same = context.getAttribute("auto_pad");
  if (x == nullptr || int_attribute(context, "ceil_mode", 0) != 0 ||
      (same != nullptr && same->s() != "NOTSET"))
    return;
  const int axes = x->dim_size() - 2;
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) {
    auto& shape = *context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
    for (int axis = 0; axis < axes && axis + 2 < shape.dim_size(); ++axis) {
      const auto kernel = list_entry(context, "kernel_shape", axis), size = size_of(x, axis + 2);
      if (!kernel || !size || shape.dim(axis + 2).dim_value() != 1) continue;
      const std::int64_t extent = (*kernel - 1) * list_entry(context, "dilations", axis).value_or(1) + 1;
      const std::int64_t padding = pads == nullptr ? 0
                                                   : list_entry(context, "pads", axis).value_or(0) +
                                                         list_entry(context, "pads", axis + axes).value_or(0);
      if (*size + padding < extent) shape.mutable_dim(axis + 2)->set_dim_value(0);
    }
  }
}

// With ceil_mode a window that would begin in the padding behind the input is left out: the text says so from
// version 22 on, and runtimes have it so in all.
void leave_windows_out(InferenceContext& context) {
  const TensorShapeProto* x = input_shape(context, 0);
  if (x == nullptr || int_attribute(context, "ceil_mode", 0) == 0) return;
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) {
    auto& shape = *context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
    for (int axis = 2; axis < x->dim_size() && axis < shape.dim_size(); ++axis) {
      if (!x->dim(axis).has_dim_value() || !shape.dim(axis).has_dim_value()) continue;
      const std::int64_t stride = list_entry(context, "strides", axis - 2).value_or(1),
                         count = shape.dim(axis).dim_value();
      const std::int64_t end = x->dim(axis).dim_value() + list_entry(context, "pads", axis - 2).value_or(0);
      if (count > 1 && stride > 0 && (end - 1) / stride < count - 1)
        shape.mutable_dim(axis)->set_dim_value(count - 1);
    }
  }
}

using Dimension = TensorShapeProto::Dimension;

// What a dimension is where these two are broadcast.
Dimension broadcast(const Dimension& a, const Dimension& b) {
  if (a.has_dim_value()) return a.dim_value() == 1 ? b : a;
  if (b.has_dim_value()) return b.dim_value() == 1 ? a : b;
  return a.has_dim_param() && a.dim_param() == b.dim_param() ? a : Dimension();
}

// ONNX keeps a 1 of the first operand where a later one has a size that is a name.
void broadcast_labels(InferenceContext& context) {
  const onnx::AttributeProto* equation = context.getAttribute("equation");
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const TensorShapeProto* shape = input_shape(context, i);
    if (shape == nullptr) return;
    ranks.push_back(static_cast<std::size_t>(shape->dim_size()));
  }
  if (equation == nullptr) return;
  const EinsumEquation read = parse_einsum(equation->s(), ranks);
  std::map<Label, Dimension> sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const Dimension& own = input_shape(context, i)->dim(static_cast<int>(axis));
      const auto [known, is_new] = sizes.emplace(read.inputs[i][axis], own);
      if (!is_new) known->second = broadcast(known->second, own);
    }
  }
  auto& output = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  output.Clear();
  for (const Label label : read.output) *output.add_dim() = sizes[label];
}

// Y [N, M, O1...On] of X [N, C, D1...Dn] and W [C, M/group, k1...kn]: output_shape states O, which exporters
// write with N and M before it too, or auto_pad makes it D * stride.
void infer_transposed(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const TensorShapeProto *x = input_shape(context, 0), *w = input_shape(context, 1);
  if (x == nullptr || w == nullptr || x->dim_size() < 3 || w->dim_size() != x->dim_size()) return;
  const onnx::AttributeProto* stated = context.getAttribute("output_shape");
  const int before = stated != nullptr && stated->ints_size() == x->dim_size() ? 2 : 0;
  if (stated != nullptr && stated->ints_size() != x->dim_size() - 2 + before) return;
  TensorShapeProto output;
  *output.add_dim() = x->dim(0);
  Dimension& channels = *output.add_dim();
  constexpr std::int64_t most = std::int64_t{1} << 31;  // keeps products within 64 bits
  const std::int64_t groups = int_attribute(context, "group", 1);
  const auto fits = [](std::int64_t size) { return size >= 0 && size < most; };
  if (const auto each = size_of(w, 1); each && fits(*each) && fits(groups))
    channels.set_dim_value(*each * groups);
  for (int axis = 0; axis < x->dim_size() - 2; ++axis) {
    Dimension& size = *output.add_dim();
    const std::int64_t stride = list_entry(context, "strides", axis).value_or(1);
    const auto given = size_of(x, axis + 2);
    if (stated != nullptr)
      size.set_dim_value(stated->ints(axis + before));
    else if (given && fits(*given) && fits(stride))
      size.set_dim_value(*given * stride);
  }
  onnx::updateOutputShape(context, 0, output);
}

bool is_pooling(const std::string& op_type) {
  return op_type == "MaxPool" || op_type == "AveragePool" || op_type == "LpPool";
}

}  // namespace

void correct_inferred(const OpSchema& schema, InferenceContext& context) {
  if (!schema.domain().empty()) return;
  if (schema.Name() == "Attention") forget_unknown_sizes(context);
  if (schema.Name() == "RMSNormalization") type_by_scale(context);
  if (schema.Name() == "Einsum") broadcast_labels(context);
  if (is_pooling(schema.Name())) {
    leave_windows_out(context);
    drop_windows_that_do_not_fit(context);
  }
}

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

void infer_by_text(const OpSchema& schema, InferenceContext& context) {
  const auto set_type = [&](std::size_t output, int type) {
    if (output < context.getNumOutputs())
      context.getOutputType(output)->mutable_tensor_type()->set_elem_type(type);
  };
  if (schema.Name() == "OneHotEncoder") set_type(0, onnx::TensorProto::FLOAT);
  if (schema.Name() == "LinearClassifier") {
    const onnx::AttributeProto* names = context.getAttribute("classlabels_strings");
    const bool named = names != nullptr && names->strings_size() > 0;
    set_type(0, named ? onnx::TensorProto::STRING : onnx::TensorProto::INT64);
    set_type(1, onnx::TensorProto::FLOAT);
  }
  if (schema.Name() == "TreeEnsemble") onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!schema.domain().empty()) return;
  if (schema.Name() == "ConstantOfShape") set_type(0, context.getAttribute("value")->t().data_type());
  if (schema.Name() == "MeanVarianceNormalization") onnx::propagateShapeAndTypeFromFirstInput(context);
  if (schema.Name() == "ConvTranspose") infer_transposed(context);
  if (schema.Name() == "Range") {
    onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
    onnx::TensorShapeProto list;
    list.add_dim();
    onnx::updateOutputShape(context, 0, list);
  }
  for (std::size_t i = 0; schema.Name() == "Split" && i < context.getNumOutputs(); ++i)
    onnx::propagateElemTypeFromInputToOutput(context, 0, i);
}

}  // namespace grurun::opset
