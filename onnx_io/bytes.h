// Bytes of files, held in counted memory or mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace grurun::onnx_io {

/// size bytes at data, alive as long as owner is.
struct Bytes {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<const void> owner;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

/// An open file descriptor, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Whether what was written has been taken; some file systems tell of a failure only here.
  bool close();

 private:
  int fd_;
};

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t size;
};

/// Opens a regular file that the user named; symbolic links are followed. Throws Error(usage) when it is
/// missing, unreadable or no regular file (a fifo would hang, a device never ends).
OpenFile open_file(const std::string& path);

/// The whole file in counted memory, aligned to 64 bytes. Throws as open_file does, and Error(limit) when
/// memory is refused.
Bytes read_file(const std::string& path);

/// The same of a file that is open, from its beginning. Throws Error(usage) when it cannot be read.
Bytes read_whole(const OpenFile& file);

/// Writes a file of these pieces, replacing what was there at once when all is written: who looks, or is left
/// with it when the process is killed, finds the one before or the new one. Throws Error(usage) when that
/// cannot be done, and leaves no part of a file behind.
void write_file(const std::string& path, std::initializer_list<std::string_view> pieces);

/// At most 512 bytes of an open file from its beginning. Throws Error(usage) when they cannot be read.
std::string read_head(const Descriptor& file);

/// size bytes of an open file from its beginning, mapped where the file system can (mapped_files.h), else
/// read. name: as a message names it.
Bytes map_file(const Descriptor& file, std::size_t size, const std::string& name);

/// The folder part of a path; "." when it has none.
std::string folder_of(const std::string& path);

}  // namespace grurun::onnx_io
