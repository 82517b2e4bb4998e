// Values as another floating type has them.
#pragma once

#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/compare.h"
#include "trial/tolerance.h"

namespace grurun::trial {

/// A floating tensor (float, double, float16, bfloat16) as another of these; anything else is handed back.
Value as_dtype(const Value& value, DType dtype);

/// The same for a value of that declared type.
Value as_type(const Value& value, const ValueType& type);

/// The inputs of another model, made of those of the graph: by name, or else by place where both have as
/// many that no initializer stands for. Floats take the type that is declared there; an empty Value is one
/// that the graph has no input for.
std::vector<Value> inputs_for(const onnx_io::Graph& other, const onnx_io::Graph& graph,
                              const std::vector<Value>& inputs);

/// Which of these inputs are fed by place, in words: "input 'src' is fed 'x' of lstm.onnx"; empty: none.
std::string fed_by_place(const onnx_io::Graph& other, const onnx_io::Graph& graph, const std::string& model);

/// The input of the graph that inputs_for gives to an input of another model; nullptr: none.
const onnx_io::ValueInfo* partner_of_input(const onnx_io::Graph& graph, const onnx_io::Graph& other,
                                           const onnx_io::ValueInfo& input);

/// Expected values, by graph output, as the outputs that the graph declares.
void cast_expected(const onnx_io::Graph& graph, std::vector<Value>& expected);

/// compare_values, but floating tensors of unlike types are compared in double, within the tolerance of the
/// actual one's type; ULP are that type's, too.
Comparison compare_cast(const Value& actual, const Value& expected, const Tolerances& tolerances);

}  // namespace grurun::trial
