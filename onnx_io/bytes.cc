#include "onnx_io/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "onnx_io/mapped_files.h"
#include "onnx_io/near_files.h"
#include "onnx_io/output_file.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"

namespace grurun::onnx_io {

namespace {

void read_exactly(const Descriptor& file, void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file.get(), at + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_usage("reading failed: {}", std::strerror(errno));
    if (got == 0) fail_usage("the file became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

Bytes read_into_memory(const Descriptor& file, std::size_t size) {
  auto block = std::make_shared<memory::Block>(size);
  read_exactly(file, block->data(), size);
  return {static_cast<const std::byte*>(block->data()), size, block};
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool Descriptor::close() {
  // It is closed even where a signal came between.
  return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR;
}

OpenFile open_file(const std::string& path) {
  // Without O_NONBLOCK, opening a fifo waits for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    if (errno == ENOENT) fail_usage("{}: no such file{}", path, near_files(path));
    fail_usage("{}: the file cannot be opened: {}", path, std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_usage("{}: {}", path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) fail_usage("{} is a folder, a file is needed", path);
  if (!S_ISREG(info.st_mode)) fail_usage("{} is not a regular file", path);
  return {std::move(file), static_cast<std::uint64_t>(info.st_size)};
}

Bytes read_file(const std::string& path) {
  const OpenFile file = open_file(path);
  return with_context([&] { return path; }, [&] { return read_whole(file); });
}

Bytes read_whole(const OpenFile& file) {
  return read_into_memory(file.descriptor, static_cast<std::size_t>(file.size));
}

void write_file(const std::string& path, std::initializer_list<std::string_view> pieces) {
  OutputFile file(path);
  for (const std::string_view content : pieces) file.write(content);
  file.finish();
}

std::string read_head(const Descriptor& file) {
  std::string head(512, '\0');
  ssize_t got = 0;
  do {
    got = ::pread(file.get(), head.data(), head.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail_usage("reading failed: {}", std::strerror(errno));
  head.resize(static_cast<std::size_t>(got));
  return head;
}

Bytes map_file(const Descriptor& file, std::size_t size, const std::string& name) {
  if (size == 0) return {};
  std::shared_ptr<const void> owner = map_watched(file.get(), size, name);
  if (owner == nullptr) return read_into_memory(file, size);
  const void* const at = owner.get();
  return {static_cast<const std::byte*>(at), size, std::move(owner)};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace grurun::onnx_io
