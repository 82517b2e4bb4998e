#include "onnx_io/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "onnx_io/bytes.h"
#include "onnx_io/near_files.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

namespace {

Descriptor open_text(const std::string& path, const char* what) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) {
    if (errno == ENOENT) fail_usage("{}: no such file{}", path, near_files(path));
    fail_usage("{}: {} cannot be opened: {}", path, what, std::strerror(errno));
  }
  return file;
}

struct stat facts_of(const Descriptor& file, const std::string& path, const char* what) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_usage("{}: {}", path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) fail_usage("{}: this is a folder, and {} is a file", path, what);
  return info;
}

}  // namespace

std::string read_text_file(const std::string& path, std::uint64_t most, const char* what) {
  const Descriptor file = open_text(path, what);
  const struct stat info = facts_of(file, path, what);
  std::string text;
  constexpr std::size_t at_once = 1 << 16;
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  text.reserve(std::min(size, most) + at_once);  // as much as the loop below asks for: no copy is made
  while (text.size() <= most && size <= most) {
    const std::size_t before = text.size();
    text.resize(before + at_once);
    const ssize_t got = ::read(file.get(), text.data() + before, at_once);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_usage("{}: {} cannot be read: {}", path, what, std::strerror(errno));
    if (got == 0) return text;
  }
  fail_usage("{}: {} has at most {}, and this file has more", path, what, mebibytes(most));
}

TextLines::TextLines(const std::string& path, std::uint64_t most, const char* what)
    : path_(path), most_(most), what_(what) {
  const Descriptor file = open_text(path, what);
  facts_of(file, path, what);
  file_.reset(::fdopen(::dup(file.get()), "r"));
  if (file_ == nullptr) fail_usage("{}: {} cannot be opened: {}", path, what, std::strerror(errno));
}

bool TextLines::next(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = ::getc_unlocked(file_.get())) != EOF && c != '\n') {
    if (line.size() == most_)
      fail_usage("{}: a line of {} has at most {}, and one has more", path_, what_, mebibytes(most_));
    line.push_back(static_cast<char>(c));
  }
  if (std::ferror(file_.get()) != 0) fail_usage("{}: {} cannot be read", path_, what_);
  return c == '\n' || !line.empty();
}

}  // namespace grurun::onnx_io
