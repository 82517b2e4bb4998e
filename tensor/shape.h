// Dimensions of a tensor, 64 bits each, with arithmetic that notices overflow.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace grurun {

/// Product of the sizes; throws Error(limit) when it does not fit in 63 bits. Sizes must not be negative.
std::int64_t checked_product(std::span<const std::int64_t> sizes);

namespace detail {
[[noreturn]] void fail_overflow(std::int64_t a, char op, std::int64_t b);
}  // namespace detail

/// a * b and a + b for sizes >= 0; throw Error(limit) on overflow.
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) detail::fail_overflow(a, 'x', b);
  return out;
}
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) detail::fail_overflow(a, '+', b);
  return out;
}

/// Whether two lists of dimensions are the same, one by one: memcmp would wait until dimensions that were
/// just written can be read as vectors.
inline bool same_dims(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = a[i] == b[i];
  return same;
}

/// A list of dimensions; an empty one is a scalar's. Dimensions are >= 0 in every Shape a Tensor carries.
class Shape {
 public:
  Shape() = default;
  // A run copies shapes all the time, hardly ever one with a list on the heap.
  Shape(const Shape& other) : rank_(other.rank_), inline_(other.inline_) {
    if (rank_ > inline_rank) heap_ = other.heap_;
  }
  Shape& operator=(const Shape& other) {
    if (other.rank_ > inline_rank) heap_ = other.heap_;
    rank_ = other.rank_;
    inline_ = other.inline_;
    return *this;
  }
  Shape(Shape&&) = default;
  Shape& operator=(Shape&&) = default;
  Shape(std::initializer_list<std::int64_t> dims) { assign({dims.begin(), dims.size()}); }
  explicit Shape(std::span<const std::int64_t> dims) { assign(dims); }
  explicit Shape(const std::vector<std::int64_t>& dims) { assign(dims); }

  std::size_t rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t* data() { return rank_ <= inline_rank ? inline_.data() : heap_.data(); }
  const std::int64_t* data() const { return rank_ <= inline_rank ? inline_.data() : heap_.data(); }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + rank_; }
  std::span<const std::int64_t> dims() const { return {data(), rank_}; }
  std::vector<std::int64_t> to_vector() const { return {begin(), end()}; }

  void push_back(std::int64_t dim);
  void insert(std::size_t at, std::int64_t dim);
  void erase(std::size_t at);

  /// Number of elements: the product of all dimensions, 1 for a scalar. Throws Error(limit) on overflow.
  std::int64_t element_count() const { return checked_product(dims()); }

  /// Product of dimensions [from, to).
  std::int64_t count(std::size_t from, std::size_t to) const {
    return checked_product(dims().subspan(from, to - from));
  }

  /// "[2,3]", "[]" for a scalar.
  std::string to_string() const;

  bool operator==(const Shape& other) const { return same_dims(dims(), other.dims()); }

 private:
  static constexpr std::size_t inline_rank = 6;
  void assign(std::span<const std::int64_t> dims);

  std::size_t rank_ = 0;
  std::array<std::int64_t, inline_rank> inline_{};
  std::vector<std::int64_t> heap_;
};

}  // namespace grurun
