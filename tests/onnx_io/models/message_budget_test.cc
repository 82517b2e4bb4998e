// What a file's messages may take: two bytes may ask for a node of hundreds.
#include "onnx_io/models/message_budget.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "onnx_io/models/model.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

std::string varint(std::uint64_t number) {
  std::string out;
  for (; number >= 128; number >>= 7) out += static_cast<char>(number | 128);
  return out + static_cast<char>(number);
}

std::string field(int number, const std::string& content) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}

std::string times(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string budget_model(const std::string& graph) {
  return std::string("\x08\x08", 2) + field(8, field(1, "") + "\x10\x11") + field(7, graph);
}

std::string refusal(const std::string& bytes) {
  try {
    parse_model(bytes.data(), bytes.size(), "");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MessageBudget, RefusesEveryListThatWouldTakeFarMoreThanTheFile) {
  constexpr int many = 6'000'000;
  const std::pair<const char*, std::string> rows[] = {
      {"nodes", budget_model(times(field(1, ""), many))},
      {"attributes", budget_model(field(1, times(field(5, ""), many)))},
      {"initializers", budget_model(times(field(5, ""), many))},
      {"inputs of a node", budget_model(field(1, times(field(1, ""), many)))},
      {"value_info", budget_model(times(field(13, field(2, field(1, ""))), many))},
      {"functions", budget_model("") + times(field(25, ""), many)},
      {"training_info", budget_model("") + times(field(20, ""), many)},
      {"bodies", budget_model(field(1, field(5, times(field(11, ""), many))))},
  };
  for (const auto& [what, bytes] : rows) {
    SCOPED_TRACE(what);
    EXPECT_TRUE(refusal(bytes).starts_with("limit: ")) << refusal(bytes);
    EXPECT_NE(refusal(bytes).find("what a file holds may take"), std::string::npos);
  }
}

TEST(MessageBudget, AllowsALongChain) {
  std::string nodes;
  for (int i = 0; i < 50'000; ++i)
    nodes +=
        field(1, field(1, fmt::format("v{}", i)) + field(2, fmt::format("v{}", i + 1)) + field(4, "Relu"));
  EXPECT_EQ(refusal(budget_model(nodes)), "");
}

TEST(MessageBudget, HoldsForValuesAndText) {
  const tests::Scratch scratch;
  scratch.file("many.pb", "\x08\x01" + times(field(3, ""), 8'000'000));
  EXPECT_THROW(read_values(scratch.path("many.pb")), Error);
  const std::string text = "ir_version: 8 graph { " + times("node{}", 4'000'000) + "}";
  EXPECT_TRUE(refusal(text).starts_with("limit: ")) << refusal(text);
}

}  // namespace
}  // namespace grurun::onnx_io
