// An OpenVINO IR (versions 10 and 11) as its .xml states it: form is checked here, meaning is not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::onnx_io::openvino {

/// Sizes along the axes; unknown_size where only a run can tell.
using Dims = std::vector<std::int64_t>;
inline constexpr std::int64_t unknown_size = -1;

struct Port {
  std::int64_t id = 0;
  std::string precision;           // "FP32"; empty where not stated
  std::vector<std::string> names;  // of the tensor
  std::optional<Dims> dims;        // nullopt: none stated, for a scalar or a rank that is not known
};

/// An output port: positions in Network::layers and Layer::outputs.
struct Source {
  std::size_t layer;
  std::size_t port;
};

struct Layer {
  std::int64_t id = 0;
  std::string name;
  std::string type;
  std::string version;                            // "opset3"
  std::map<std::string, std::string> attributes;  // of <data>
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<std::string> output_names;  // of a Result
  std::vector<Source> sources;            // of each input

  /// "layer 'gru' (GRUCell of opset3)".
  std::string label() const;
};

struct Network {
  std::string name;
  int version = 0;
  std::string runtime_version;     // of the program that wrote it; may be empty
  std::vector<Layer> layers;       // as listed
  std::vector<std::size_t> order;  // positions in layers, sources before those that use them
};

/// True when a file that begins so may be an IR: XML without a document type.
bool looks_like_ir(std::string_view head);

/// Throws Error(invalid_model) for what is no well-formed IR, has a document type, nests too deep, or whose
/// edges do not give every input one source without a cycle; Error(unsupported) for another IR version or
/// parts that are not read; Error(limit) for a text of more than 64 MiB.
Network read_network(std::string_view text);

/// "-1,3", "?,3", "1..8,3", "" for a scalar; nullopt for "...", a rank that is not known. Throws
/// Error(invalid_model) for any other text, naming `what`.
std::optional<Dims> parse_shape(std::string_view text, std::string_view what);

/// A whole number in decimal. Throws Error(invalid_model) for any other text, naming `what`.
std::int64_t parse_integer(std::string_view text, std::string_view what);

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// "a, b" as {"a", "b"}; "" as none.
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace grurun::onnx_io::openvino
