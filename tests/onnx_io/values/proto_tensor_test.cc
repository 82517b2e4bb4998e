#include "onnx_io/values/proto_tensor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "onnx_io/values/packed_bits.h"
#include "tensor/error.h"
#include "tests/onnx_io/sample_values.h"

namespace grurun::onnx_io {
namespace {

using ::onnx::SparseTensorProto;
using ::onnx::TensorProto;

TensorProto proto_of(DType dtype, std::initializer_list<std::int64_t> dims) {
  TensorProto proto;
  proto.set_data_type(static_cast<int>(dtype));
  for (const std::int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

std::string error_of(const TensorProto& proto) {
  try {
    tensor_from_proto(proto);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <typename T>
void append_all(const std::string& raw, google::protobuf::RepeatedField<T>& field) {
  for (std::size_t i = 0; i < raw.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + i, sizeof(T));
    field.Add(value);
  }
}

// The typed field as onnx-ml.proto describes it, from the codes in memory.
TensorProto with_typed_field(const Tensor& tensor) {
  TensorProto proto = tensor_to_proto(tensor);
  const std::string raw = proto.raw_data();
  proto.clear_raw_data();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(raw.data());
  const int bits = dtype_file_bits(tensor.dtype());
  switch (tensor.dtype()) {
    case DType::string:
      break;
    case DType::float32:
    case DType::complex64:
      append_all<float>(raw, *proto.mutable_float_data());
      break;
    case DType::float64:
    case DType::complex128:
      append_all<double>(raw, *proto.mutable_double_data());
      break;
    case DType::int64:
      for (const std::int64_t value : tensor.span<std::int64_t>()) proto.add_int64_data(value);
      break;
    case DType::uint64:
      for (const std::uint64_t value : tensor.span<std::uint64_t>()) proto.add_uint64_data(value);
      break;
    case DType::uint32:
      for (const std::uint32_t value : tensor.span<std::uint32_t>()) proto.add_uint64_data(value);
      break;
    case DType::int32:
      for (const std::int32_t value : tensor.span<std::int32_t>()) proto.add_int32_data(value);
      break;
    case DType::int16:
      for (const std::int16_t value : tensor.span<std::int16_t>()) proto.add_int32_data(value);
      break;
    case DType::int8:
      for (const std::int8_t value : tensor.span<std::int8_t>()) proto.add_int32_data(value);
      break;
    default:
      if (bits == 16) {
        for (std::size_t i = 0; i < raw.size(); i += 2) proto.add_int32_data(bytes[i] | bytes[i + 1] << 8);
      } else if (bits == 6) {
        const auto* const codes = static_cast<const std::uint8_t*>(tensor.raw());
        for (std::int64_t i = 0; i < tensor.size(); ++i) proto.add_int32_data(codes[i]);
      } else {
        for (const char byte : raw) proto.add_int32_data(static_cast<std::uint8_t>(byte));
      }
  }
  return proto;
}

TEST(ProtoTensor, TypedFieldsAndRawDataGiveTheSame) {
  for (const DType dtype : every_dtype()) {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{5, 3}, Shape{4, 2, 2}, Shape{3, 0}}) {
      const Tensor tensor = sample_tensor(dtype, shape);
      try {
        EXPECT_EQ(difference(tensor_from_proto(tensor_to_proto(tensor)), tensor), "")
            << Value(tensor).describe();
        EXPECT_EQ(difference(tensor_from_proto(with_typed_field(tensor)), tensor), "")
            << Value(tensor).describe();
      } catch (const Error& error) {
        ADD_FAILURE() << Value(tensor).describe() << ": " << error.what();
      }
    }
  }
}

struct Packed {
  DType dtype;
  std::vector<int> codes;
  std::vector<int> bytes;
};

TEST(ProtoTensor, SmallTypesArePackedFromTheLowestBits) {
  const Packed rows[] = {
      {DType::uint4, {1, 2, 3}, {0x21, 0x03}},
      {DType::int4, {-1, -8, 7}, {0x8f, 0x07}},
      {DType::float4e2m1, {15, 0, 9, 6}, {0x0f, 0x69}},
      {DType::uint2, {0, 1, 2, 3, 1}, {0xe4, 0x01}},
      {DType::int2, {-2, -1, 0, 1}, {0x4e}},
      {DType::float6e2m3, {0x3f, 0x01, 0x20, 0x15}, {0x7f, 0x00, 0x56}},
      {DType::float6e3m2, {0x2a, 0x15}, {0x6a, 0x05}},
  };
  for (const Packed& row : rows) {
    const auto count = static_cast<std::int64_t>(row.codes.size());
    ASSERT_EQ(file_bytes(row.dtype, count), static_cast<std::int64_t>(row.bytes.size()))
        << dtype_name(row.dtype);
    std::vector<std::byte> memory;
    std::vector<std::byte> file;
    for (const int code : row.codes) memory.push_back(static_cast<std::byte>(code));
    for (const int byte : row.bytes) file.push_back(static_cast<std::byte>(byte));
    std::vector<std::byte> packed(file.size());
    std::vector<std::byte> unpacked(memory.size());
    pack(row.dtype, memory.data(), packed.data(), count);
    unpack(row.dtype, file.data(), unpacked.data(), count);
    EXPECT_EQ(packed, file) << dtype_name(row.dtype);
    EXPECT_EQ(unpacked, memory) << dtype_name(row.dtype);
  }
}

struct BadTensor {
  const char* name;
  DType dtype;
  std::initializer_list<std::int64_t> dims;
  void (*fill)(TensorProto&);
  const char* message;
};

const BadTensor bad_tensors[] = {
    {"nothing",
     DType::float32,
     {2},
     [](auto&) {},
     "invalid: float_data holds 0 entries, but float [2] takes 2"},
    {"too many",
     DType::float32,
     {},
     [](auto& p) { p.add_float_data(1), p.add_float_data(2); },
     "invalid: float_data holds 2 entries, but float [] takes 1"},
    {"other field",
     DType::float32,
     {1},
     [](auto& p) { p.add_double_data(1); },
     "invalid: float elements must lie in float_data, but double_data is used"},
    {"other field, no elements",
     DType::float32,
     {0},
     [](auto& p) { p.add_int32_data(1); },
     "invalid: float elements must lie in float_data, but int32_data is used"},
    {"two fields",
     DType::float32,
     {1},
     [](auto& p) { p.add_float_data(1), p.add_int32_data(1); },
     "invalid: the data is in more than one place (float_data and int32_data)"},
    {"raw and typed",
     DType::float32,
     {1},
     [](auto& p) { p.add_float_data(1), p.set_raw_data("1234"); },
     "invalid: the data is in more than one place (raw_data and float_data)"},
    {"raw too short",
     DType::int16,
     {3},
     [](auto& p) { p.set_raw_data("12345"); },
     "invalid: raw_data holds 5 bytes, but int16 [3] takes 6"},
    {"odd nibbles too long",
     DType::int4,
     {3},
     [](auto& p) { p.set_raw_data("123"); },
     "invalid: raw_data holds 3 bytes, but int4 [3] takes 2"},
    {"odd nibbles too short",
     DType::uint4,
     {5},
     [](auto& p) { p.add_int32_data(1), p.add_int32_data(1); },
     "invalid: int32_data holds 2 entries, but uint4 [5] takes 3"},
    {"strings in raw",
     DType::string,
     {1},
     [](auto& p) { p.set_raw_data("a"); },
     "invalid: strings cannot lie in raw_data"},
    {"bool of 2",
     DType::boolean,
     {1},
     [](auto& p) { p.set_raw_data("\x02"); },
     "invalid: a bool of value 2; only 0 and 1 are bools"},
    {"typed bool of 2",
     DType::boolean,
     {1},
     [](auto& p) { p.add_int32_data(2); },
     "invalid: 2 in the data is beyond what bool holds (0 to 1)"},
    {"int8 of 200",
     DType::int8,
     {1},
     [](auto& p) { p.add_int32_data(200); },
     "invalid: 200 in the data is beyond what int8 holds (-128 to 127)"},
    {"float16 of 17 bits",
     DType::float16,
     {1},
     [](auto& p) { p.add_int32_data(0x10000); },
     "invalid: 65536 in the data is beyond what float16 holds (0 to 65535)"},
    {"float6 of 7 bits",
     DType::float6e2m3,
     {1},
     [](auto& p) { p.add_int32_data(64); },
     "invalid: 64 in the data is beyond what float6e2m3 holds (0 to 63)"},
    {"uint32 of 33 bits",
     DType::uint32,
     {1},
     [](auto& p) { p.add_uint64_data(1ULL << 32); },
     "invalid: 4294967296 in the data is beyond what uint32 holds (0 to 4294967295)"},
    {"no type", DType::undefined, {1}, [](auto&) {}, "invalid: 0 is the number of no element type"},
    {"wrong type", static_cast<DType>(99), {1}, [](auto&) {}, "invalid: 99 is the number of no element type"},
    {"negative", DType::float32, {-1}, [](auto&) {}, "invalid: dimension -1 is negative"},
    {"negative beside zero", DType::float32, {0, -1}, [](auto&) {}, "invalid: dimension -1 is negative"},
    {"wraps to zero",
     DType::uint8,
     {1LL << 32, 1LL << 32},
     [](auto&) {},
     "invalid: shape [4294967296,4294967296] has more elements than any memory holds"},
    {"huge and empty",
     DType::float32,
     {1LL << 40},
     [](auto& p) { p.set_raw_data(""); },
     "invalid: raw_data holds 0 bytes, but float [1099511627776] takes 4398046511104"},
    {"segment",
     DType::float32,
     {1},
     [](auto& p) { p.mutable_segment()->set_begin(0); },
     "unsupported: a tensor in segments; store it whole"},
    {"external",
     DType::float32,
     {1},
     [](auto& p) {
       p.set_data_location(TensorProto::EXTERNAL);
       auto* const entry = p.add_external_data();
       entry->set_key("location");
       entry->set_value("w");
     },
     "invalid: the data lies in the file 'w', but external data is not allowed here"},
};

TEST(ProtoTensor, EachBrokenTensorGivesItsOneLine) {
  for (const BadTensor& row : bad_tensors) {
    TensorProto proto = proto_of(row.dtype, row.dims);
    row.fill(proto);
    EXPECT_EQ(error_of(proto), row.message) << row.name;
  }
  TensorProto deep = proto_of(DType::uint8, {});
  for (int i = 0; i < 65; ++i) deep.add_dims(1);
  EXPECT_EQ(error_of(deep), "unsupported: a tensor of rank 65; grurun holds tensors up to rank 64");
}

SparseTensorProto sparse(std::vector<std::int64_t> indices, Shape index_shape,
                         std::initializer_list<std::int64_t> dims) {
  SparseTensorProto proto;
  const auto nnz = index_shape.rank() > 0 ? index_shape[0] : 0;
  *proto.mutable_values() = tensor_to_proto(sample_tensor(DType::int32, {nnz}));
  *proto.mutable_indices() = tensor_to_proto(Tensor::from<std::int64_t>(std::move(index_shape), indices));
  for (const std::int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

TEST(ProtoTensor, SparseTensorsBecomeDense) {
  const Tensor linear = dense_from_proto(sparse({1, 5}, {2}, {2, 3}));
  const Tensor by_axis = dense_from_proto(sparse({0, 1, 1, 2}, {2, 2}, {2, 3}));
  const Tensor expected = Tensor::from<std::int32_t>({2, 3}, std::vector<std::int32_t>{0, 0, 0, 0, 0, 1});
  EXPECT_EQ(difference(linear, expected), "");
  EXPECT_EQ(difference(by_axis, expected), "");
}

TEST(ProtoTensor, SparseRoundTripsForEveryElementType) {
  for (const DType dtype : every_dtype()) {
    const Tensor tensor = sample_tensor(dtype, {5, 3});
    EXPECT_EQ(difference(dense_from_proto(sparse_to_proto(tensor)), tensor), "") << dtype_name(dtype);
  }
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t virtual_pages = 0, pages = 0;
  statm >> virtual_pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(ProtoTensor, SparseTensorsOfManyZerosTakeLittleMemory) {
  if (resident_bytes() == 0) GTEST_SKIP() << "no /proc";
  constexpr std::int64_t elements = std::int64_t{1} << 28;
  const std::size_t before = resident_bytes();
  const Tensor tensor = dense_from_proto(sparse({1, elements - 1}, {2}, {elements}));
  EXPECT_EQ(tensor.byte_size(), std::size_t{4} * elements);
  EXPECT_EQ(tensor.data<std::int32_t>()[0], 0);
  EXPECT_EQ(tensor.data<std::int32_t>()[elements - 1], 1);
  // AddressSanitizer keeps a byte for every eight.
  EXPECT_LT(resident_bytes() - before, tensor.byte_size() / 4);
}

struct BadSparse {
  SparseTensorProto proto;
  const char* message;
};

TEST(ProtoTensor, EachBrokenSparseTensorGivesItsOneLine) {
  SparseTensorProto matrix_values = sparse({0}, {1}, {4});
  matrix_values.mutable_values()->add_dims(1);
  SparseTensorProto float_indices = sparse({0}, {1}, {4});
  float_indices.mutable_indices()->set_data_type(TensorProto::DOUBLE);
  const BadSparse rows[] = {
      {sparse({6}, {1}, {2, 3}), "invalid: sparse tensor: index 6 is not within 0 to 5"},
      {sparse({-1}, {1}, {2, 3}), "invalid: sparse tensor: index -1 is not within 0 to 5"},
      {sparse({0, 3}, {1, 2}, {2, 3}), "invalid: sparse tensor: index 3 is not within 0 to 2"},
      {sparse({2, 0}, {1, 2}, {2, 3}), "invalid: sparse tensor: index 2 is not within 0 to 1"},
      {sparse({0}, {1}, {0}), "invalid: sparse tensor: index 0 is not within 0 to -1"},
      {sparse({2, 1}, {2}, {4}), "invalid: sparse tensor: indices must ascend, without repeats"},
      {sparse({1, 1}, {2}, {4}), "invalid: sparse tensor: indices must ascend, without repeats"},
      {sparse({0, 0, 0}, {1, 3}, {2, 3}),
       "invalid: sparse tensor: indices have shape [1,3], but must be [1] or [1,2]"},
      {sparse({0}, {1}, {}), "invalid: a sparse tensor without dims"},
      {sparse({0}, {1}, {-4}), "invalid: sparse tensor: dimension -4 is negative"},
      {sparse({0}, {1}, {1LL << 32, 1LL << 32}),
       "invalid: shape [4294967296,4294967296] has more elements than any memory holds"},
      {matrix_values, "invalid: sparse tensor: values have shape [1,1], must be [nnz]"},
      {float_indices, "invalid: sparse tensor: indices are double, must be int64"},
  };
  for (const BadSparse& row : rows) {
    try {
      dense_from_proto(row.proto);
      ADD_FAILURE() << row.message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace grurun::onnx_io
