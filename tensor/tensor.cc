#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "tensor/error.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/scratch.h"

namespace grurun {

namespace {

std::shared_ptr<const void> own_strings(std::shared_ptr<memory::Block> block, std::size_t count) {
  auto* strings = static_cast<std::string*>(block->data());
  std::uninitialized_default_construct_n(strings, count);
  return {block->data(),
          [block, count](const void* data) {
            std::destroy_n(static_cast<std::string*>(const_cast<void*>(data)), count);
          },
          memory::ScratchAllocator<memory::Block>()};
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), writable_(true), shape_(std::move(shape)) {
  size_ = shape_.element_count();
  const std::int64_t bytes = checked_mul(size_, static_cast<std::int64_t>(dtype_size(dtype)));
  auto block = std::allocate_shared<memory::Block>(memory::ScratchAllocator<memory::Block>(),
                                                   static_cast<std::size_t>(bytes));
  data_ = block->data();
  if (dtype == DType::string) {
    owner_ = own_strings(std::move(block), static_cast<std::size_t>(size_));
  } else {
    owner_ = std::shared_ptr<const void>(std::move(block), data_);
  }
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor out(dtype, std::move(shape));
  if (dtype != DType::string) std::memset(out.mutable_raw(), 0, out.byte_size());
  return out;
}

Tensor Tensor::borrow(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner) {
  if (dtype == DType::string) fail_internal("a string tensor cannot borrow its elements");
  Tensor out;
  out.dtype_ = dtype;
  out.shape_ = std::move(shape);
  out.size_ = out.shape_.element_count();
  out.data_ = data;
  out.owner_ = std::move(owner);
  return out;
}

void Tensor::take_own_copy() {
  Tensor copy(dtype_, shape_);
  if (dtype_ == DType::string) {
    std::copy_n(static_cast<const std::string*>(data_), size_, static_cast<std::string*>(copy.mutable_raw()));
  } else if (size_ > 0) {
    std::memcpy(copy.mutable_raw(), data_, byte_size());
  }
  *this = std::move(copy);
}

Tensor Tensor::reshaped(Shape shape) const {
  const std::int64_t count = shape.element_count();
  if (count != size_) {
    fail_internal("{} elements of shape {} cannot be seen as shape {}", size_, shape_.to_string(),
                  shape.to_string());
  }
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Tensor Tensor::viewed_as(DType dtype) const {
  if (dtype_size(dtype) != dtype_size(dtype_) || dtype == DType::string || dtype_ == DType::string) {
    fail_internal("{} elements cannot be seen as {}", dtype_name(dtype_), dtype_name(dtype));
  }
  Tensor out = *this;
  out.dtype_ = dtype;
  return out;
}

void Tensor::fail_required(DType wanted) const {
  if (wanted == DType::undefined)
    fail_internal("the number of values is not that of shape {}", shape_.to_string());
  fail_internal("a tensor of {} was read as {}", dtype_name(dtype_), dtype_name(wanted));
}

}  // namespace grurun
