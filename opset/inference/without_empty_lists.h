// An inference context without the empty lists and the empty auto_pad of a window operator: an exporter that
// writes one means the default, as its page has it; ONNX's functions want a number for each axis.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx/defs/schema.h"
#include "opset/inference/passing_context.h"

namespace grurun::opset {

class WithoutEmptyLists : public PassingContext {
 public:
  using PassingContext::PassingContext;

  /// Whether the node has any that is to be hidden.
  static bool applies(const onnx::OpSchema& schema, const onnx::InferenceContext& context) {
    return schema.attributes().contains("strides") && (is_empty_text(context.getAttribute("auto_pad")) ||
                                                       std::ranges::any_of(lists, [&](const char* name) {
                                                         const onnx::AttributeProto* given =
                                                             context.getAttribute(name);
                                                         return given != nullptr && given->ints_size() == 0;
                                                       }));
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const onnx::AttributeProto* given = context_.getAttribute(name);
    if (name == "auto_pad" && is_empty_text(given)) return nullptr;
    const bool is_list = std::ranges::any_of(lists, [&](const char* list) { return name == list; });
    return given != nullptr && is_list && given->ints_size() == 0 ? nullptr : given;
  }

 private:
  static bool is_empty_text(const onnx::AttributeProto* given) {
    return given != nullptr && given->s().empty();
  }

  static constexpr std::array lists = {"dilations",    "kernel_shape", "output_padding",
                                       "output_shape", "pads",         "strides"};
};

}  // namespace grurun::opset
