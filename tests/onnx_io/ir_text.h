// Small OpenVINO IRs for tests, and files of them.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

namespace grurun::onnx_io::testing {

/// "<dim>2</dim>..." for every size.
inline std::string dims_text(const std::vector<int>& dims) {
  std::string text;
  for (const int dim : dims) text += fmt::format("<dim>{}</dim>", dim);
  return text;
}

/// An IR under construction: layers get ids 0, 1, ...; ports of a layer count its inputs, then its outputs.
class IrText {
 public:
  int version = 11;
  std::string inside;  // further children of <net>

  int parameter(const std::string& name, const std::vector<int>& dims, const std::string& type = "f32") {
    return layer(name, "Parameter", "opset1",
                 fmt::format(R"(element_type="{}" shape="{}")", type, fmt::join(dims, ",")), {}, {dims});
  }

  /// The values go to the end of the weights.
  template <typename T>
  int constant(const std::string& name, const std::vector<int>& dims, const std::vector<T>& values,
               const std::string& type = "f32") {
    const std::size_t offset = weights.size();
    weights.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return layer(name, "Const", "opset1",
                 fmt::format(R"(element_type="{}" shape="{}" offset="{}" size="{}")", type,
                             fmt::join(dims, ", "), offset, values.size() * sizeof(T)),
                 {}, {dims});
  }

  /// sources are ids of layers, whose first output is meant.
  int layer(const std::string& name, const std::string& type, const std::string& opset,
            const std::string& data, const std::vector<int>& sources,
            const std::vector<std::vector<int>>& outputs) {
    const int id = static_cast<int>(first_output_.size());
    layers += fmt::format(R"(<layer id="{}" name="{}" type="{}" version="{}"><data {}/>)", id, name, type,
                          opset, data);
    layers += "<input>";
    for (std::size_t i = 0; i < sources.size(); ++i) {
      layers += fmt::format(R"(<port id="{}"/>)", i);
      const int from = sources[i];
      const int port = from < id ? first_output_[static_cast<std::size_t>(from)] : 0;
      edges += fmt::format(R"(<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>)", from, port,
                           id, i);
    }
    layers += "</input><output>";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      layers += fmt::format(R"(<port id="{}" precision="FP32">{}</port>)", sources.size() + i,
                            dims_text(outputs[i]));
    }
    layers += "</output></layer>\n";
    first_output_.push_back(static_cast<int>(sources.size()));
    return id;
  }

  int result(const std::string& name, int source) {
    return layer(name, "Result", "opset1", "", {source}, {});
  }

  /// A Result of another output of a layer than the first.
  int result(const std::string& name, int source, int output) {
    const int id = result(name, source);
    const std::string wrong =
        fmt::format(R"(from-port="{}" to-layer="{}")", first_output_[static_cast<std::size_t>(source)], id);
    const std::string right = fmt::format(R"(from-port="{}" to-layer="{}")",
                                          first_output_[static_cast<std::size_t>(source)] + output, id);
    edges.replace(edges.find(wrong), wrong.size(), right);
    return id;
  }

  std::string xml() const {
    return fmt::format(
        "<?xml version=\"1.0\"?>\n<net name=\"test\" "
        "version=\"{}\"><layers>{}</layers><edges>{}</edges>{}</net>\n",
        version, layers, edges, inside);
  }

  std::string layers;
  std::string edges;
  std::string weights;

 private:
  std::vector<int> first_output_;
};

}  // namespace grurun::onnx_io::testing
