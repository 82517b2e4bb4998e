// Single elements of tensors in JSON: numbers, "NaN", "Infinity", "-Infinity", true and false, strings,
// {"hex": "ff"} for strings that are no UTF-8, [re, im] for complex numbers.
#pragma once

#include <string>

#include "onnx_io/values/json_tree.h"
#include "tensor/tensor.h"

namespace grurun::onnx_io {

/// True for a node that stands for one element, not for a list of them.
bool is_json_element(const JsonTree::Node& node, DType dtype);

/// Stores the element that node stands for; to points to the element's place. Throws Error(invalid_model)
/// when dtype cannot hold it: an integer out of range, a fraction in an integer, a number beyond a float's
/// largest.
void read_json_element(const JsonTree& tree, const JsonTree::Node& node, DType dtype, void* to);

/// Appends element number index so that reading it gives the same bits (a NaN's payload excepted).
void append_json_element(const Tensor& tensor, std::int64_t index, std::string* out);

/// A JSON string in quotes; the text must be UTF-8.
std::string json_string(std::string_view text);

}  // namespace grurun::onnx_io
