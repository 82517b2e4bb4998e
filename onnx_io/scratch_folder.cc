#include "onnx_io/scratch_folder.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& parent) {
  std::string path =
      ((parent.empty() ? fs::temp_directory_path() : fs::path(parent)) / "grurun-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    fail_usage("{}: no folder can be made there: {}", path, std::strerror(errno));
  path_ = path;
}

bool ScratchFolder::remove_by(std::chrono::steady_clock::time_point deadline) {
  const std::string path = std::exchange(path_, "");
  const pid_t remover = ::fork();
  if (remover == 0) {
    std::error_code error;
    fs::remove_all(path, error);
    _exit(error ? 1 : 0);
  }
  int status = 0;
  constexpr useconds_t pause = 1000;
  while (remover > 0 && ::waitpid(remover, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) ::kill(remover, SIGKILL);
    ::usleep(pause);
  }
  return remover > 0 && status == 0;
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace grurun::onnx_io
