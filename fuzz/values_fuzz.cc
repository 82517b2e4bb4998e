// Bytes as each format of a tensor file. The first byte chooses the ending; the reader takes paths, so the
// rest goes through a file in memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "fuzz/fuzzed.h"
#include "onnx_io/values/tensor_files.h"

namespace {

// A symbolic link with the wanted ending to an anonymous file that holds the bytes.
class NamedBytes {
 public:
  NamedBytes(const std::uint8_t* data, std::size_t size, const char* ending)
      : file_(memfd_create("values", 0)),
        path_(std::filesystem::temp_directory_path() / ("grurun-fuzz-" + std::to_string(getpid()) + ending)) {
    if (file_ < 0 || write(file_, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
    std::filesystem::remove(path_);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file_), path_);
  }
  ~NamedBytes() {
    std::filesystem::remove(path_);
    close(file_);
  }
  NamedBytes(const NamedBytes&) = delete;
  NamedBytes& operator=(const NamedBytes&) = delete;

  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char* const endings[] = {".pb", ".npy", ".npz", ".json"};
  const NamedBytes file(data + 1, size - 1, endings[data[0] % 4]);
  grurun::fuzz::must_not_fail_inside([&] { grurun::onnx_io::read_values(file.path()); });
  return 0;
}
