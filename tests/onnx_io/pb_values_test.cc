// .pb files that hold something else than what is wanted of them.
#include <gtest/gtest.h>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

TEST(PbValues, AMapWithAKeyTwiceIsRefused) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("map.pb");
  const Tensor value = Tensor::scalar(1.0F);
  const ValueType of_value = ValueType::tensor(DType::float32);
  struct Row {
    Tensor keys;
    const char* message;  // nullptr: every key is there once
  };
  const std::vector<Row> table = {
      {Tensor::from(Shape{2}, std::vector<std::string>{"a", "b"}), nullptr},
      {Tensor::from(Shape{2}, std::vector<std::int64_t>{1, -1}), nullptr},
      {Tensor::from(Shape{2}, std::vector<std::string>{"a", "a"}), "the map has the key 'a' twice"},
      {Tensor::from(Shape{2}, std::vector<std::uint8_t>{9, 9}), "the map has the key '9' twice"},
  };
  for (const Row& row : table) {
    write_pb(path, "X", Map{of_value, row.keys, {value, value}});
    const ValueType type = ValueType::map(row.keys.dtype(), of_value);
    if (row.message == nullptr) {
      EXPECT_NO_THROW(read_pb(path, &type));
      continue;
    }
    try {
      read_pb(path, &type);
      ADD_FAILURE() << row.message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

TEST(PbValues, ASequenceIsNoTensor) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("sequence.pb");
  const ValueType tensor = ValueType::tensor(DType::float32);
  const Value item = Tensor::from(Shape{2}, std::vector<float>{1, 2});
  for (const Value& value : {Value(Sequence{tensor, {item}}), Value(Sequence{tensor, {item, item}}),
                             Value(Optional{tensor, std::make_shared<const Value>(item)})}) {
    write_pb(path, "X", value);
    try {
      read_pb(path, &tensor);
      ADD_FAILURE() << value.describe();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
      EXPECT_NE(std::string(error.what()).find("no TensorProto"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace grurun::onnx_io
