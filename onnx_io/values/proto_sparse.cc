// SparseTensorProto (onnx-ml.proto): values, their indices, and the dims of the dense tensor they stand for.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "onnx_io/values/proto_tensor.h"
#include "onnx_io/values/stored_elements.h"
#include "onnx_io/values/typed_fields.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"

namespace grurun::onnx_io {

namespace {

Shape dense_shape(const ::onnx::SparseTensorProto& proto) {
  if (proto.dims_size() == 0) fail_invalid("a sparse tensor without dims");
  if (proto.dims_size() > max_rank) {
    fail_unsupported("a sparse tensor of rank {}; grurun holds tensors up to rank {}", proto.dims_size(),
                     max_rank);
  }
  for (const std::int64_t dim : proto.dims()) {
    if (dim < 0) fail_invalid("sparse tensor: dimension {} is negative", dim);
  }
  return Shape(
      std::span<const std::int64_t>(proto.dims().data(), static_cast<std::size_t>(proto.dims_size())));
}

// Linear positions of the values; indices [nnz] are such, [nnz, rank] are coordinates.
std::vector<std::int64_t> linear_positions(const Tensor& indices, const Shape& shape, std::int64_t nnz) {
  const bool by_axis = indices.rank() == 2;
  const auto rank = static_cast<std::int64_t>(by_axis ? shape.rank() : 1);
  const bool fits =
      (indices.rank() == 1 || by_axis) && indices.dim(0) == nnz && (!by_axis || indices.dim(1) == rank);
  if (!fits) {
    fail_invalid("sparse tensor: indices have shape {}, but must be [{}] or [{},{}]",
                 indices.shape().to_string(), nnz, nnz, shape.rank());
  }
  const std::int64_t whole = stored_elements(shape.dims());
  const std::int64_t* index = indices.data<std::int64_t>();
  std::vector<std::int64_t> positions(static_cast<std::size_t>(nnz));
  for (std::int64_t& position : positions) {
    for (std::int64_t axis = 0; axis < rank; ++axis, ++index) {
      const std::int64_t bound = by_axis ? shape[static_cast<std::size_t>(axis)] : whole;
      if (*index < 0 || *index >= bound) {
        fail_invalid("sparse tensor: index {} is not within 0 to {}", *index, bound - 1);
      }
      position = position * bound + *index;
    }
  }
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (positions[i] <= positions[i - 1]) fail_invalid("sparse tensor: indices must ascend, without repeats");
  }
  return positions;
}

}  // namespace

Tensor dense_from_proto(const ::onnx::SparseTensorProto& proto, const TensorSource& source) {
  const Shape shape = dense_shape(proto);
  const Tensor values = tensor_from_proto(proto.values(), source);
  if (values.rank() != 1)
    fail_invalid("sparse tensor: values have shape {}, must be [nnz]", values.shape().to_string());
  std::vector<std::int64_t> positions;
  if (values.size() > 0 || proto.has_indices()) {
    const Tensor indices = tensor_from_proto(proto.indices(), source);
    if (indices.dtype() != DType::int64) {
      fail_invalid("sparse tensor: indices are {}, must be int64", dtype_name(indices.dtype()));
    }
    positions = linear_positions(indices, shape, values.size());
  }
  if (values.dtype() == DType::string) {
    Tensor out(DType::string, shape);
    std::string* const to = out.mutable_data<std::string>();
    for (std::size_t i = 0; i < positions.size(); ++i) to[positions[i]] = values.data<std::string>()[i];
    return out;
  }
  // A few bytes may state dims of any size: what is not a value takes no memory before it is copied.
  const std::size_t width = dtype_size(values.dtype());
  const auto bytes = static_cast<std::size_t>(stored_elements(shape.dims())) * width;
  const auto zeros = std::make_shared<const memory::Zeros>(bytes);
  const auto* const from = static_cast<const std::byte*>(values.raw());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(zeros->data() + static_cast<std::size_t>(positions[i]) * width, from + i * width, width);
  }
  return Tensor::borrow(values.dtype(), shape, zeros->data(), zeros);
}

::onnx::SparseTensorProto sparse_to_proto(const Tensor& tensor) {
  std::vector<std::int64_t> positions;
  const std::size_t width = dtype_size(tensor.dtype());
  const auto* const from = static_cast<const std::byte*>(tensor.raw());
  const bool strings = tensor.dtype() == DType::string;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::byte* const element = from + static_cast<std::size_t>(i) * width;
    const bool used =
        strings ? !tensor.data<std::string>()[i].empty()
                : std::any_of(element, element + width, [](std::byte b) { return b != std::byte{0}; });
    if (used) positions.push_back(i);
  }
  Tensor values(tensor.dtype(), Shape{static_cast<std::int64_t>(positions.size())});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (strings) {
      values.mutable_data<std::string>()[i] = tensor.data<std::string>()[positions[i]];
    } else {
      std::memcpy(static_cast<std::byte*>(values.mutable_raw()) + i * width,
                  from + static_cast<std::size_t>(positions[i]) * width, width);
    }
  }
  ::onnx::SparseTensorProto proto;
  *proto.mutable_values() = tensor_to_proto(values);
  *proto.mutable_indices() = tensor_to_proto(Tensor::from<std::int64_t>(values.shape(), positions));
  for (const std::int64_t dim : tensor.shape()) proto.add_dims(dim);
  return proto;
}

}  // namespace grurun::onnx_io
