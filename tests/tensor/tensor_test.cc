#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <set>

#include "tensor/ascii_case.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"
#include "tensor/printable.h"
#include "tensor/value.h"

namespace grurun {
namespace {

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Sets a memory limit relative to what is in use, and takes it away again.
class Limited {
 public:
  explicit Limited(std::size_t more) { memory::set_limit(memory::in_use() + more); }
  ~Limited() { memory::set_limit(0); }
};

TEST(Shape, GrowsAndShrinksAnywhere) {
  for (std::size_t rank = 0; rank < 10; ++rank) {
    std::vector<std::int64_t> dims(rank);
    for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(10 + i);
    for (std::size_t at = 0; at <= rank; ++at) {
      const auto place = static_cast<std::ptrdiff_t>(at);
      std::vector<std::int64_t> longer = dims, shorter = dims;
      longer.insert(longer.begin() + place, 99);
      Shape shape(dims);
      shape.insert(at, 99);
      EXPECT_EQ(shape.to_vector(), longer);
      if (at == rank) continue;
      shorter.erase(shorter.begin() + place);
      shape = Shape(dims);
      shape.erase(at);
      EXPECT_EQ(shape.to_vector(), shorter);
    }
  }
}

TEST(DType, NamesAreUniqueAndParseBack) {
  std::set<std::string> names;
  for (int number = 1; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    ASSERT_TRUE(is_valid_dtype(number));
    EXPECT_TRUE(names.insert(dtype_name(dtype)).second) << dtype_name(dtype);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_GT(dtype_size(dtype), 0u);
    const bool packed = dtype_file_bits(dtype) % 8 != 0;
    if (!packed && dtype != DType::string) {
      EXPECT_EQ(dtype_file_bits(dtype), static_cast<int>(8 * dtype_size(dtype)));
    }
    EXPECT_LE(is_floating(dtype) + is_integer(dtype) + is_complex(dtype), 1);
  }
  EXPECT_EQ(parse_dtype("FLOAT"), DType::float32);
  EXPECT_EQ(parse_dtype("float32"), DType::float32);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), DType::float8e4m3fn);
  EXPECT_EQ(parse_dtype(""), DType::undefined);
  EXPECT_EQ(parse_dtype("undefined"), DType::undefined);
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{dtype_count}, INT64_MAX}) {
    EXPECT_FALSE(is_valid_dtype(number)) << number;
  }
}

TEST(Printable, NothingDrivesATerminalOrTurnsText) {
  EXPECT_EQ(printable("a\nb\t\x1b[31m"), "a\\nb\\t\\x1b[31m");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "dessap\xe2\x81\xa9"),
            "\\xe2\\x80\\xaedessap\\xe2\\x81\\xa9");
  EXPECT_EQ(printable("\xe2\x80\xa8\xd8\x9c"), "\\xe2\\x80\\xa8\\xd8\\x9c");
  EXPECT_EQ(printable("\xc3\xa9 \xe2\x82\xac \xd7\xa9"), "\xc3\xa9 \xe2\x82\xac \xd7\xa9");
}

TEST(AsciiCase, OtherBytesStay) {
  EXPECT_EQ(ascii_lower("FLOAT8e4m3FN_[@`{\xc4"), "float8e4m3fn_[@`{\xc4");
}

TEST(DType, SetsHoldEveryType) {
  EXPECT_TRUE(DTypeSet::all().contains(DType::float32));
  EXPECT_TRUE(DTypeSet::all().contains(static_cast<DType>(dtype_count - 1)));
  EXPECT_FALSE(DTypeSet::all().contains(DType::undefined));
  const DTypeSet floats{DType::float32, DType::float64};
  EXPECT_FALSE(floats.contains(DType::int32));
  EXPECT_EQ(floats & DTypeSet{DType::float64}, DTypeSet{DType::float64});
  EXPECT_EQ(floats | DTypeSet{}, floats);
}

TEST(ValueType, SpellingParsesBack) {
  const ValueType floats = ValueType::tensor(DType::float32);
  for (const ValueType& type :
       {ValueType{}, floats, ValueType::sequence(floats), ValueType::optional(ValueType::sequence(floats)),
        ValueType::map(DType::string, floats), ValueType::sequence(ValueType::map(DType::int64, floats)),
        ValueType::tensor(DType::undefined)}) {
    const auto parsed = parse_value_type(type.to_string());
    ASSERT_TRUE(parsed) << type.to_string();
    EXPECT_EQ(parsed->to_string(), type.to_string());
  }
  for (const char* text : {"", "tensor", "tensor(", "tensor()", "tensor(real)", "seq()", "map(int64)",
                           "list(?)", "()", "tensor(float))", "seq(tensor(float)"}) {
    EXPECT_FALSE(parse_value_type(text)) << text;
  }
}

TEST(Shape, ProductsThatOverflowAreRefused) {
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_EQ(error_of([&] {
              Shape({big, big}).element_count();
            }),
            "limit: 4294967296 x 4294967296 does not fit in 63 bits");
  EXPECT_EQ(error_of([&] { Shape({3, -1}).element_count(); }), "invalid: dimension -1 is negative");
  EXPECT_EQ(Shape({big, 0, big}).element_count(), 0);
  EXPECT_EQ(Shape({}).element_count(), 1);
  EXPECT_EQ(Shape({INT64_MAX, 1}).element_count(), INT64_MAX);
  EXPECT_EQ(error_of([] { checked_add(INT64_MAX, 1); }),
            "limit: 9223372036854775807 + 1 does not fit in 63 bits");
  EXPECT_EQ(checked_add(INT64_MAX, 0), INT64_MAX);
}

TEST(Shape, GrowsInTimeLinearInItsRank) {
  Shape shape;  // at a copy for each dimension it would be minutes
  for (std::int64_t i = 0; i < 1'000'000; ++i) shape.push_back(i);
  EXPECT_EQ(shape.rank(), 1'000'000u);
  EXPECT_EQ(shape[999'999], 999'999);
  const Shape copy = shape;
  EXPECT_EQ(copy, shape);
}

TEST(Shape, GrowsAndShrinksAcrossTheInlineSize) {
  Shape shape;
  for (std::int64_t i = 0; i < 9; ++i) shape.push_back(i + 1);
  EXPECT_EQ(shape.to_string(), "[1,2,3,4,5,6,7,8,9]");
  shape.erase(0);
  shape.insert(1, 7);
  EXPECT_EQ(shape.to_string(), "[2,7,3,4,5,6,7,8,9]");
  for (int i = 0; i < 6; ++i) shape.erase(0);
  EXPECT_EQ(shape, Shape({7, 8, 9}));
  EXPECT_EQ(shape.count(1, 3), 72);
  EXPECT_EQ(Shape{}.to_string(), "[]");
}

TEST(Tensor, CopiesShareUntilOneIsWritten) {
  Tensor a = Tensor::from<float>({2}, std::vector<float>{1, 2});
  EXPECT_TRUE(a.unique());
  Tensor b = a;
  EXPECT_EQ(a.raw(), b.raw());
  EXPECT_FALSE(a.unique());
  b.mutable_data<float>()[0] = 9;
  EXPECT_NE(a.raw(), b.raw());
  EXPECT_EQ(a.data<float>()[0], 1);
  EXPECT_EQ(b.data<float>()[0], 9);
  const void* const before = b.raw();
  b.mutable_data<float>()[1] = 8;
  EXPECT_EQ(b.raw(), before);
}

TEST(Tensor, StringsAreCopiedAsStrings) {
  Tensor a = Tensor::from<std::string>({1}, std::vector<std::string>{std::string(100, 'x')});
  Tensor b = a;
  b.mutable_data<std::string>()[0] += "y";
  EXPECT_EQ(a.data<std::string>()[0], std::string(100, 'x'));
  EXPECT_EQ(b.data<std::string>()[0].size(), 101u);
}

TEST(Tensor, BorrowedMemoryIsNeverWritten) {
  const auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
  Tensor tensor = Tensor::borrow(DType::float32, {3}, owner->data(), owner);
  EXPECT_EQ(tensor.raw(), owner->data());
  EXPECT_FALSE(tensor.unique());
  tensor.mutable_data<float>()[0] = 7;
  EXPECT_EQ(owner->at(0), 1);
  EXPECT_EQ(tensor.data<float>()[2], 3);
}

TEST(Tensor, ViewsShareAndKeepTheirSize) {
  const Tensor tensor = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(tensor.reshaped({3, 2}).raw(), tensor.raw());
  EXPECT_EQ(tensor.viewed_as(DType::int32).data<std::int32_t>()[0], 0x3f800000);
  EXPECT_THROW(tensor.reshaped({4}), Error);
  EXPECT_THROW(tensor.viewed_as(DType::int64), Error);
  EXPECT_THROW(tensor.data<double>(), Error);
  EXPECT_THROW(Tensor::from<float>({3}, std::vector<float>{1}), Error);
}

TEST(Tensor, EmptyAndScalarTensorsWork) {
  Tensor empty(DType::float32, {0, 5});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.mutable_data<float>(), empty.data<float>());
  EXPECT_EQ(Tensor::scalar<std::int64_t>(5).data<std::int64_t>()[0], 5);
  EXPECT_FALSE(Tensor().defined());
}

TEST(Memory, IsCountedAndGivenBack) {
  const std::size_t before = memory::in_use();
  {
    const Tensor tensor(DType::float64, {1000});
    EXPECT_EQ(memory::in_use(), before + 8000);
    EXPECT_GE(memory::peak(), before + 8000);
    const Tensor copy = tensor;
    EXPECT_EQ(memory::in_use(), before + 8000);
  }
  EXPECT_EQ(memory::in_use(), before);
}

TEST(Memory, BeyondTheLimitIsRefusedBeforeItIsTaken) {
  const std::size_t before = memory::in_use();
  const Limited limited(1000);
  EXPECT_NO_THROW(Tensor(DType::uint8, {1000}));
  EXPECT_EQ(error_of([] { Tensor(DType::uint8, {1001}); }).substr(0, 21), "limit: tensor memory:");
  EXPECT_EQ(error_of([] { Tensor(DType::uint8, {INT64_MAX}); }).substr(0, 5), "limit");
  EXPECT_EQ(error_of([] { Tensor(DType::float64, {INT64_MAX / 4}); }).substr(0, 5), "limit");
  EXPECT_EQ(memory::in_use(), before);
}

TEST(Value, AsksForTheRightKind) {
  EXPECT_EQ(error_of([] { Value().tensor(); }), "invalid: a tensor is needed here, but the value is nothing");
  Value value = Tensor::scalar<float>(1);
  EXPECT_EQ(error_of([&] { value.sequence(); }),
            "invalid: a sequence is needed here, but the value is tensor(float) []");
  EXPECT_TRUE(value.take_tensor().unique());
  EXPECT_TRUE(value.empty());
}

TEST(Error, OfManyContextsTheOutermostAndTheInnermostAreTold) {
  Error error(ErrorKind::limit, "too deep");
  for (int i = 7; i > 0; --i) error.add_context(fmt::format("f{}", i));
  EXPECT_STREQ(error.what(), "limit: f1: f2: f3: f4: f5: f6: f7: too deep");
  error.add_context("f0");
  EXPECT_STREQ(error.what(), "limit: f0: f1: f2: ... (2 more): f5: f6: f7: too deep");
  EXPECT_EQ(error.context().size(), 8u);
}

TEST(Error, IsOneLineWithItsContexts) {
  const std::string line = error_of([] {
    with_context([] { return "model 'a\nb'"; },
                 [] { with_context([] { return "node"; }, [] { fail_invalid("x\x1b[1m"); }); });
  });
  EXPECT_EQ(line, "invalid: model 'a\\nb': node: x\\x1b[1m");
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::invalid_model), 3);
  EXPECT_EQ(exit_code(ErrorKind::unsupported), 4);
  EXPECT_EQ(exit_code(ErrorKind::limit), 5);
  EXPECT_EQ(exit_code(ErrorKind::internal), 70);
}

}  // namespace
}  // namespace grurun
