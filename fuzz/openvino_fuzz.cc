// Bytes as the text of an OpenVINO IR, beside weights that lie within every offset up to 64 KiB: reading and
// planning either succeed or throw an Error.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "engine/graph/plan.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/error.h"

namespace {

constexpr const char* weights_name = "model.bin";

// A folder with a file of weights, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("grurun-fuzz-ir-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    std::ofstream(path_ / weights_name, std::ios::binary) << std::string(64 << 10, '\1');
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto model = grurun::onnx_io::parse_openvino_ir(text, folder.path(), weights_name);
    grurun::engine::make_plan(model, {.max_nodes = 10'000});
  } catch (const grurun::Error& error) {
    // An internal error is a fault of ours, whatever the bytes.
    if (error.kind() == grurun::ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
