#include "onnx_io/models/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tensor/error.h"
#include "tensor/limits.h"

namespace grurun::onnx_io {

namespace {

// O_NONBLOCK: opening a fifo must not wait for a writer.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::vector<std::string> split_location(const std::string& location) {
  if (location.empty()) fail_invalid("external data names no file");
  if (location.find('\0') != std::string::npos)
    fail_invalid("external data location '{}' holds a NUL", location);
  if (location.front() == '/') {
    fail_invalid("external data location '{}' is an absolute path; it must be relative to the model's folder",
                 location);
  }
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= location.size()) {
    const std::size_t slash = std::min(location.find('/', from), location.size());
    const std::string part = location.substr(from, slash - from);
    if (part == "..") {
      fail_invalid("external data location '{}' leads out of the model's folder ('..' is refused)", location);
    }
    if (!part.empty() && part != ".") parts.push_back(part);
    from = slash + 1;
  }
  if (parts.empty()) fail_invalid("external data location '{}' names no file", location);
  return parts;
}

[[noreturn]] void refuse(const std::string& location, int error) {
  if (error == ELOOP || error == EXDEV || error == ENOTDIR) {
    fail_invalid(
        "external data location '{}' passes through a symbolic link or leads out of the model's folder",
        location);
  }
  if (error == ENOENT) fail_invalid("external data file '{}' is not in the model's folder", location);
  fail_invalid("external data file '{}' cannot be opened: {}", location, std::strerror(error));
}

Descriptor walk(int folder, const std::vector<std::string>& parts, const std::string& location) {
  Descriptor at(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (std::size_t i = 0; at.valid() && i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const int flags = last ? read_flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    Descriptor next(::openat(at.get(), parts[i].c_str(), flags | O_NOFOLLOW));
    if (!next.valid()) refuse(location, errno);
    if (last) return next;
    at = std::move(next);
  }
  refuse(location, errno);
}

void require_plain_file(const struct stat& info, const std::string& location) {
  if (!S_ISREG(info.st_mode)) fail_invalid("external data file '{}' is not a regular file", location);
  // A second name may lie anywhere, and give away a file that the model's author could not read.
  if (info.st_nlink != 1) {
    fail_invalid("external data file '{}' has {} hard links; only a file with a single name is read",
                 location, info.st_nlink);
  }
}

}  // namespace

OpenFile open_beneath(const std::string& folder, const std::string& location, OpenMethod method) {
  const std::vector<std::string> parts = split_location(location);
  const Descriptor base(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base.valid()) fail_invalid("the model's folder {} cannot be opened: {}", folder, std::strerror(errno));

  long opened = -1;
  bool refused_by_kernel = method == OpenMethod::walk;
  if (!refused_by_kernel) {
    struct open_how how {};
    how.flags = read_flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    opened = ::syscall(SYS_openat2, base.get(), location.c_str(), &how, sizeof how);
    // Old kernels do not know the call; old sandboxes forbid what they do not know.
    refused_by_kernel = opened < 0 && (errno == ENOSYS || errno == EPERM);
    if (opened < 0 && !refused_by_kernel) refuse(location, errno);
  }
  Descriptor file =
      refused_by_kernel ? walk(base.get(), parts, location) : Descriptor(static_cast<int>(opened));

  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse(location, errno);
  require_plain_file(info, location);
  return {std::move(file), static_cast<std::uint64_t>(info.st_size)};
}

std::vector<std::string> ExternalData::paths() const {
  std::vector<std::string> out;
  for (const auto& [location, bytes] : files_)
    out.push_back((std::filesystem::path(folder_) / location).string());
  return out;
}

Bytes ExternalData::find(const ExternalLocation& where) {
  if (folder_.empty()) {
    fail_invalid("the data lies in the file '{}', but external data has no folder here", where.location);
  }
  auto known = files_.find(where.location);
  if (known == files_.end()) {
    const OpenFile file = open_beneath(folder_, where.location);
    bytes_ += file.size;
    require_model_size(bytes_, where.location);
    known = files_
                .emplace(where.location,
                         map_file(file.descriptor, static_cast<std::size_t>(file.size), where.location))
                .first;
  }
  const Bytes& whole = known->second;
  if (where.offset > whole.size) {
    fail_invalid("external data at offset {} of '{}', which holds {} bytes", where.offset, where.location,
                 whole.size);
  }
  const std::uint64_t rest = whole.size - where.offset;
  const std::uint64_t length = where.length.value_or(rest);
  if (length > rest) {
    fail_invalid("external data of {} bytes at offset {} of '{}', which holds {} bytes", length, where.offset,
                 where.location, whole.size);
  }
  return {whole.data + where.offset, static_cast<std::size_t>(length), whole.owner};
}

}  // namespace grurun::onnx_io
