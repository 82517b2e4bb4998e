// The one allocator of tensor memory: it counts before it takes, and can refuse.
#pragma once

#include <cstddef>
#include <memory>

namespace grurun::memory {

/// Bytes of tensor memory held now, and the most that were ever held at once.
std::size_t in_use();
std::size_t peak();

/// From now on an allocation that would bring in_use() above this many bytes throws Error(limit). 0: no
/// limit.
void set_limit(std::size_t bytes);

/// A block of memory, aligned to 64 bytes and counted. Not initialised.
class Block {
 public:
  explicit Block(std::size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace grurun::memory
