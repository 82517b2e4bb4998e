// The one allocator of tensor memory: it counts before it takes, and can refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace grurun::memory {

/// Bytes of tensor memory held now, and the most that were ever held at once.
std::size_t in_use();
std::size_t peak();

/// From now on an allocation that would bring in_use() above this many bytes throws Error(limit). 0: no
/// limit.
void set_limit(std::size_t bytes);

/// Memory aligned to 64 bytes, nullptr where there is none, and its return with the same number of bytes, on
/// any thread. A thread keeps what it is given back, up to a bound, for the next that asks there. Not
/// counted.
void* take(std::size_t bytes);
void give_back(void* data, std::size_t bytes);

/// Frees what the calling thread keeps; to_system: gives all that is free back to the system, too.
void release_kept(bool to_system = false);

class Area;

/// A block of memory, aligned to 64 bytes and counted. Not initialised. Within a run whose memory is planned
/// (run_memory.h) it may lie in an area that was counted before.
class Block {
 public:
  explicit Block(std::size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  Area* area_ = nullptr;  // that it lies in, and there:
  std::uint32_t first_ = 0;
  std::uint32_t segments_ = 0;
};

/// A large block for others to lie in: counted, but neither kept nor planned.
class Reserve {
 public:
  explicit Reserve(std::size_t bytes);
  ~Reserve();
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// Zeros, counted, of which the system gives only those that are written to.
class Zeros {
 public:
  explicit Zeros(std::size_t bytes);
  ~Zeros();
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// Read-only memory whose bytes are those of `unit` again and again, which takes 1 MiB whatever `bytes` is:
/// the same pages are mapped next to each other. unit.size() is a power of 2 up to 4096. nullptr where the
/// system cannot do so, or where it would take too many mappings of the process.
std::shared_ptr<const void> repeated(std::span<const std::byte> unit, std::size_t bytes);

}  // namespace grurun::memory
