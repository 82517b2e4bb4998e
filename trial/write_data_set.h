// Both sides of a data set into a folder.
#pragma once

#include <string>

#include "trial/data_set.h"

namespace grurun::trial {

/// input_K.pb and output_K.pb into the folder, made when missing; throws what write_values throws.
void write_data_set(const std::string& folder, const onnx_io::Graph& graph, const DataSet& set);

}  // namespace grurun::trial
