#include "onnx_io/models/lookalikes.h"

#include <array>
#include <cstddef>

namespace grurun::onnx_io {

namespace {

struct Lookalike {
  std::size_t at;  // where the mark stands
  std::string_view mark;
  const char* what;
};

constexpr std::array<Lookalike, 17> lookalikes = {{
    {0, "version https://git-lfs", "a Git LFS pointer, not the model itself; fetch it with `git lfs pull`"},
    {4, "ORTM", "a model in ONNX Runtime's own format (.ort); give the .onnx that it was made from"},
    {4, "TFL3", "a TensorFlow Lite model; convert it with tf2onnx (`python -m tf2onnx.convert --tflite`)"},
    {0, "BZh", "compressed with bzip2; unpack it first with bunzip2"},
    {0,
     "\xFD"
     "7zXZ",
     "compressed with xz; unpack it first with unxz"},
    {0, "7z\xBC\xAF", "a 7z archive; unpack it first"},
    {257, "ustar", "a tar archive; unpack it first"},
    {0, "\x1f\x8b", "compressed twice; unpack it once first"},
    {0, "\x28\xb5\x2f\xfd", "compressed twice; unpack it once first"},
    {0, "\x93NUMPY", "a .npy tensor, not a model"},
    {0, "\x89HDF", "an HDF5 file, as Keras writes them; convert the model with tf2onnx"},
    {0, "GGUF", "a GGUF file, which holds weights and no ONNX graph; export the model to ONNX"},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20",
     "a PyTorch archive; load it in Python and export it with torch.onnx.export"},
    {0, "<", "XML or HTML text, neither an ONNX model nor an OpenVINO IR"},
    {0, "\x80\x02", "a Python pickle; load it in Python and export the model to ONNX"},
    {0, "\x80\x03", "a Python pickle; load it in Python and export the model to ONNX"},
    {0, "\x80\x04", "a Python pickle; load it in Python and export the model to ONNX"},
}};

std::size_t length_at(std::string_view bytes, std::size_t& at) {
  std::size_t length = 0;
  for (int shift = 0; at < bytes.size() && shift < 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= static_cast<std::size_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return length;
}

bool has_byte(std::string_view bytes, std::size_t at, char byte) {
  return at < bytes.size() && bytes[at] == byte;
}

// GraphDef: repeated NodeDef node = 1 { string name = 1; string op = 2; ... }
bool is_tensorflow_graph(std::string_view begin) {
  if (!begin.starts_with('\x0a')) return false;
  std::size_t at = 1;
  length_at(begin, at);
  if (!has_byte(begin, at++, '\x0a')) return false;
  const std::size_t name = length_at(begin, at);
  return name != 0 && has_byte(begin, at + name, '\x12');
}

// SavedModel: int64 saved_model_schema_version = 1, which is 1; MetaGraphDef meta_graphs = 2 { meta_info_def
// = 1 }
bool is_saved_model(std::string_view begin) {
  if (!begin.starts_with("\x08\x01\x12")) return false;
  std::size_t at = 3;
  length_at(begin, at);
  return has_byte(begin, at, '\x0a');
}

// The length of a JSON header in eight bytes, then the header.
bool is_safetensors(std::string_view begin) {
  return begin.size() > 9 && begin.substr(4, 4) == std::string_view("\0\0\0\0", 4) && begin[8] == '{' &&
         begin.substr(9).find_first_not_of(" \t\r\n") != begin.npos;
}

}  // namespace

const char* lookalike(std::string_view begin) {
  for (const Lookalike& row : lookalikes) {
    if (begin.size() >= row.at && begin.substr(row.at).starts_with(row.mark)) return row.what;
  }
  if (begin.starts_with("PK\x03\x04")) {
    const bool is_of_torch = begin.find("data.pkl") != begin.npos || begin.find("/code/") != begin.npos;
    return is_of_torch ? "a PyTorch archive; load it in Python and export it with torch.onnx.export"
                       : "a zip archive; unpack it first";
  }
  if (is_safetensors(begin))
    return "a safetensors file, which holds weights and no graph; export the model to ONNX";
  if (is_tensorflow_graph(begin))
    return "a TensorFlow graph; convert it with tf2onnx (`python -m tf2onnx.convert --graphdef`)";
  if (is_saved_model(begin))
    return "a TensorFlow SavedModel; convert its folder with tf2onnx (`python -m tf2onnx.convert "
           "--saved-model`)";
  return nullptr;
}

}  // namespace grurun::onnx_io
