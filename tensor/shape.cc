#include "tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/error.h"

namespace grurun {

void detail::fail_overflow(std::int64_t a, char op, std::int64_t b) {
  fail(ErrorKind::limit, "{} {} {} does not fit in 63 bits", a, op, b);
}

std::int64_t checked_product(std::span<const std::int64_t> sizes) {
  // A zero anywhere makes the product zero, however large the other factors are.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail_invalid("dimension {} is negative", size);
    product = checked_mul(product, size);
  }
  return product;
}

void Shape::assign(std::span<const std::int64_t> dims) {
  rank_ = dims.size();
  if (rank_ <= inline_rank) {
    // One by one: copied in vectors, dimensions that were just written would have to be waited for.
    for (std::size_t i = 0; i < inline_rank; ++i) inline_[i] = i < rank_ ? dims[i] : 0;
  } else {
    heap_.assign(dims.begin(), dims.end());
  }
}

void Shape::push_back(std::int64_t dim) {
  insert(rank_, dim);
}

void Shape::insert(std::size_t at, std::int64_t dim) {
  if (rank_ < inline_rank) {  // shapes grow in every run of a model: without asking for memory
    std::copy_backward(begin() + at, end(), data() + rank_ + 1);
    inline_[at] = dim;
    ++rank_;
    return;
  }
  if (rank_ == inline_rank) heap_.assign(inline_.begin(), inline_.end());
  heap_.insert(heap_.begin() + static_cast<std::ptrdiff_t>(at), dim);
  ++rank_;
}

void Shape::erase(std::size_t at) {
  if (rank_ <= inline_rank) {
    std::copy(begin() + at + 1, end(), data() + at);
    --rank_;
    return;
  }
  std::vector<std::int64_t> dims = to_vector();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at));
  assign(dims);
}

std::string Shape::to_string() const {
  return fmt::format("[{}]", fmt::join(dims(), ","));
}

}  // namespace grurun
