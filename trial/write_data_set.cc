#include "trial/write_data_set.h"

namespace grurun::trial {

void write_data_set(const std::string& folder, const onnx_io::Graph& graph, const DataSet& set) {
  const std::string path = folder.ends_with('/') ? folder : folder + "/";
  write_values(path, graph, input_slots(graph), set.inputs, Side::input);
  write_values(path, graph, output_slots(graph), set.expected, Side::output);
}

}  // namespace grurun::trial
