// Choices made of bytes: each takes as many of them as it needs, and the least of its choices where none are
// left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace grurun::fuzz {

/// Numbers are taken from the end of the bytes, text from their beginning, as libFuzzer's own
/// FuzzedDataProvider does: files of its corpora mean the same. That one comes with clang only.
class Drawn {
 public:
  Drawn(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  /// In [least, most].
  template <typename T>
  T in_range(T least, T most) {
    const std::uint64_t range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    std::uint64_t taken = 0;
    for (std::size_t bits = 0; bits < 8 * sizeof(T) && (range >> bits) > 0 && !bytes_.empty(); bits += 8) {
      taken = taken << 8 | bytes_.back();
      bytes_ = bytes_.first(bytes_.size() - 1);
    }
    if (range != UINT64_MAX) taken %= range + 1;
    return static_cast<T>(static_cast<std::uint64_t>(least) + taken);
  }

  bool coin() { return (in_range<std::uint8_t>(0, 255) & 1) != 0; }

  /// True in one of n.
  bool one_in(int n) { return in_range(0, n - 1) == n - 1; }

  std::size_t below(std::size_t count) { return in_range<std::size_t>(0, count - 1); }

  template <typename List>
  const auto& one_of(const List& list) {
    return list[below(std::size(list))];
  }

  std::vector<std::uint8_t> bytes(std::size_t count) {
    const auto taken = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

  /// At most `most` characters; a backslash and another character end it.
  std::string text(std::size_t most) {
    std::string made;
    while (made.size() < most && !bytes_.empty()) {
      const auto next = bytes(1)[0];
      if (next == '\\' && !bytes_.empty()) {
        if (bytes(1)[0] != '\\') break;
      }
      made.push_back(static_cast<char>(next));
    }
    return made;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace grurun::fuzz
