// A dense tensor: element type, shape and a shared, counted buffer in row-major order.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace grurun {

/// Copies share the buffer; writing through mutable_data() first takes a copy of its own when the buffer is
/// shared or not ours to write. Elements of string tensors are std::string; 6-, 4- and 2-bit elements take a
/// byte each.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised (strings: empty). Throws Error(limit) when the size overflows or memory is refused.
  Tensor(DType dtype, Shape shape);

  static Tensor zeros(DType dtype, Shape shape);

  /// values.size() must be the shape's element count; throws Error(internal) otherwise.
  template <typename T>
  static Tensor from(Shape shape, std::span<const T> values);
  template <typename T>
  static Tensor from(Shape shape, const std::vector<T>& values);  // T may be bool
  template <typename T>
  static Tensor scalar(T value);

  /// Borrows memory that owner keeps alive (a mapped file). It is never written to.
  static Tensor borrow(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);

  bool defined() const { return dtype_ != DType::undefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.rank(); }
  std::int64_t dim(std::size_t i) const { return shape_[i]; }

  /// Number of elements.
  std::int64_t size() const { return size_; }
  std::size_t byte_size() const { return static_cast<std::size_t>(size_) * dtype_size(dtype_); }

  /// Row-major elements; T must be the tensor's element type, else throws Error(internal).
  template <typename T>
  const T* data() const {
    require(dtype_of<T>);
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() {
    require(dtype_of<T>);
    return static_cast<T*>(mutable_raw());
  }
  template <typename T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<std::size_t>(size_)};
  }

  const void* raw() const { return data_; }
  void* mutable_raw() {
    if (!unique()) take_own_copy();
    // The block is ours alone and was allocated writable.
    return const_cast<void*>(data_);
  }

  /// The same elements under another shape of the same element count, sharing the buffer.
  Tensor reshaped(Shape shape) const;

  /// The same bits under another element type of the same width, sharing the buffer (BitCast, raw file data).
  Tensor viewed_as(DType dtype) const;

  /// True when nothing else shares the buffer and it may be written in place.
  bool unique() const { return writable_ && owner_.use_count() == 1; }

 private:
  void require(DType wanted) const {
    if (wanted != dtype_) fail_required(wanted);
  }
  [[noreturn]] void fail_required(DType wanted) const;
  void take_own_copy();

  DType dtype_ = DType::undefined;
  bool writable_ = false;
  Shape shape_;
  std::int64_t size_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

template <typename T>
Tensor Tensor::from(Shape shape, const std::vector<T>& values) {
  Tensor out(dtype_of<T>, std::move(shape));
  if (static_cast<std::size_t>(out.size()) != values.size()) out.require(DType::undefined);
  std::copy(values.begin(), values.end(), out.mutable_data<T>());
  return out;
}

template <typename T>
Tensor Tensor::from(Shape shape, std::span<const T> values) {
  Tensor out(dtype_of<T>, std::move(shape));
  if (static_cast<std::size_t>(out.size()) != values.size()) out.require(DType::undefined);
  std::copy(values.begin(), values.end(), out.mutable_data<T>());
  return out;
}

template <typename T>
Tensor Tensor::scalar(T value) {
  Tensor out(dtype_of<T>, Shape{});
  *out.mutable_data<T>() = std::move(value);
  return out;
}

}  // namespace grurun
