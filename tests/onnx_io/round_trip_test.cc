#include <gtest/gtest.h>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/onnx_io/sample_values.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> rows = {{}, {1}, {7}, {5, 3}, {0}, {2, 0, 3}, {1, 1, 1, 1, 1, 1, 1, 2}};
  return rows;
}

template <typename Write, typename Read>
void expect_round_trips(Write&& write, Read&& read) {
  for (const DType dtype : every_dtype()) {
    for (const Shape& shape : shapes()) {
      const Tensor tensor = sample_tensor(dtype, shape);
      try {
        write(tensor);
        EXPECT_EQ(difference(read(tensor), tensor), "") << Value(tensor).describe();
      } catch (const Error& error) {
        ADD_FAILURE() << Value(tensor).describe() << ": " << error.what();
      }
    }
  }
}

TEST(RoundTrip, PbKeepsEveryElementType) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.pb");
  expect_round_trips([&](const Tensor& tensor) { write_pb(path, "X", tensor); },
                     [&](const Tensor&) { return read_pb(path).value; });
  EXPECT_EQ(read_pb(path).name, "X");
}

TEST(RoundTrip, NpyKeepsEveryElementType) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.npy");
  expect_round_trips([&](const Tensor& tensor) { write_npy(path, tensor); },
                     [&](const Tensor&) { return read_values(path).at(0).value; });
}

TEST(RoundTrip, NpzAndJsonKeepEveryElementTypeAndName) {
  const tests::Scratch scratch;
  for (const std::string ending : {"npz", "json"}) {
    const std::string path = scratch.path("x." + ending);
    std::vector<NamedValue> values;
    for (const DType dtype : every_dtype()) {
      for (const Shape& shape : shapes()) {
        values.push_back(
            {fmt::format("{}/{} ü", dtype_name(dtype), shape.to_string()), sample_tensor(dtype, shape)});
      }
    }
    write_values(path, values);
    const std::vector<NamedValue> back = read_values(path);
    ASSERT_EQ(back.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(back[i].name, values[i].name);
      EXPECT_EQ(difference(back[i].value, values[i].value), "") << ending << " " << values[i].name;
    }
  }
}

TEST(RoundTrip, PbAndJsonKeepSequencesOptionalsAndMaps) {
  const tests::Scratch scratch;
  for (const Value& value : sample_containers()) {
    const ValueType type = value.type();
    write_pb(scratch.path("x.pb"), "", value);
    EXPECT_EQ(difference(read_pb(scratch.path("x.pb"), &type).value, value), "") << "pb " << value.describe();
    write_values(scratch.path("x.json"), {{"X", value}});
    EXPECT_EQ(difference(read_values(scratch.path("x.json")).at(0).value, value), "")
        << "json " << value.describe();
  }
}

TEST(RoundTrip, PbWithoutExpectedTypeIsToldByItsContent) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.pb");
  for (const Value& value : sample_containers()) {
    write_pb(path, "name", value);
    const Value back = read_pb(path).value;
    // An optional and a sequence of the same content are the same bytes; a sequence it is then.
    EXPECT_EQ(back.is_sequence(), value.is_sequence() || value.is_optional()) << value.describe();
    EXPECT_EQ(back.is_map(), value.is_map()) << value.describe();
  }
}

TEST(RoundTrip, JsonKeepsStringsThatAreNoUtf8) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.json");
  const Tensor tensor =
      Tensor::from<std::string>({3}, std::vector<std::string>{"\xff\xfe", std::string("a\0b\0", 4), "ok"});
  write_values(path, {{"X", tensor}});
  EXPECT_EQ(difference(read_values(path).at(0).value, tensor), "");
}

TEST(RoundTrip, NpyKeepsStringsThatAreNoUtf8ButNotATrailingNul) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.npy");
  const Tensor bytes = Tensor::from<std::string>({2}, std::vector<std::string>{"\xff\xfe!", ""});
  write_npy(path, bytes);
  EXPECT_EQ(difference(read_values(path).at(0).value, bytes), "");
  const Tensor nul = Tensor::from<std::string>({1}, std::vector<std::string>{std::string("a\0", 2)});
  EXPECT_THROW(write_npy(path, nul), Error);
}

TEST(RoundTrip, NpzRefusesWhatIsNoTensor) {
  const tests::Scratch scratch;
  try {
    write_values(scratch.path("x.npz"), {{"S", sample_containers()[0]}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find("'S'"), std::string::npos);
  }
}

TEST(RoundTrip, NpzRefusesANameWithNul) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("x.npz");
  const Value value = Tensor::zeros(DType::float32, {1});
  try {
    write_values(path, {{std::string("a\0b", 3), value}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find("NUL"), std::string::npos);
  }
}

TEST(RoundTrip, AnNpzMayHoldNothing) {
  const tests::Scratch scratch;
  const std::string path = scratch.file("x.npz", "of before");
  write_values(path, {});
  EXPECT_TRUE(read_values(path).empty());
}

TEST(RoundTrip, NamesThatAnNpzCannotHoldAreRefused) {
  const tests::Scratch scratch;
  const auto write_named = [&](std::size_t length) {
    write_values(scratch.path("x.npz"), {{std::string(length, 'n'), Tensor::scalar(1.0F)}});
  };
  write_named(65531);
  EXPECT_EQ(read_values(scratch.path("x.npz")).at(0).name.size(), 65531u);
  EXPECT_THROW(write_named(65532), Error);
}

}  // namespace
}  // namespace grurun::onnx_io
