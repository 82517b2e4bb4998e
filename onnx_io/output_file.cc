#include "onnx_io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "onnx_io/kept_outputs.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

constexpr mode_t mode_of_new = 0666;

[[noreturn]] void fail_writing(const std::string& path) {
  fail_usage("cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace

Descriptor open_beside(const std::string& path, std::string& beside) {
  struct stat info {};
  const bool is_there = ::lstat(path.c_str(), &info) == 0;
  if (!is_there && errno != ENOENT) return Descriptor(-1);
  const bool is_plain = is_there && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
                        info.st_uid == ::geteuid() && ::access(path.c_str(), W_OK) == 0;
  if (is_there && !is_plain) {
    errno = EEXIST;
    return Descriptor(-1);
  }
  beside = fmt::format("{}.{}.new", path, ::getpid());
  const mode_t mode = is_there ? info.st_mode & 0777 : mode_of_new;
  return Descriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
}

OutputFile::OutputFile(const std::string& path) : path_(path), kept_(kept_output(path)), file_(-1) {
  if (kept_) {
    file_ = take_kept(*kept_);
  } else if (file_ = open_beside(path_, beside_); !file_.valid()) {
    beside_ = path_;
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_of_new));
  }
  if (!file_.valid()) fail_writing(path_);
  is_left_ = true;
}

OutputFile::~OutputFile() {
  if (!is_left_) return;
  struct stat info {};
  if (kept_)
    drop_kept(*kept_);
  else if (::lstat(beside_.c_str(), &info) == 0 && S_ISREG(info.st_mode))
    ::unlink(beside_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(path_);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void OutputFile::appear() {
  if (kept_ ? !replace_by_kept(*kept_) : beside_ != path_ && ::rename(beside_.c_str(), path_.c_str()) != 0)
    fail_writing(path_);
  is_left_ = false;
}

void OutputFile::finish() {
  // Some file systems tell only when a file is closed that they have no room.
  if (!file_.close()) fail_writing(path_);
  appear();
}

}  // namespace grurun::onnx_io
