// The files of one data set, bound to the inputs and outputs of a graph.
#pragma once

#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::trial {

struct DataSet {
  std::string name;             // "test_data_set_0"; empty in the flat layout
  std::vector<Value> inputs;    // one for each graph input; an empty Value where no file belongs to it
  std::vector<Value> expected;  // one for each graph output
};

/// Reads input_K.pb and output_K.pb, or .npy, of a test_data_set_* folder. input_K.pb belongs to
/// graph.input[K], initializers counted; when there are fewer files than that and all numbers fit, the K-th
/// input without an initializer is meant. Throws Error(invalid_model) when numbers have gaps or go beyond the
/// graph, two files have the same, an output has no file, or a file may have been meant as one of these.
DataSet read_data_set(const std::string& folder, const onnx_io::Graph& graph);

/// The flat layout's data set: X_output_K.pb beside the model X.onnx, and for each input without an
/// initializer arange(n) / n as float in its declared shape, dimensions without a number taken as 1. Throws
/// Error(invalid_model) when an input is no float tensor or an output has no file.
DataSet make_flat_data_set(const std::string& model_file, const onnx_io::Graph& graph);

}  // namespace grurun::trial
