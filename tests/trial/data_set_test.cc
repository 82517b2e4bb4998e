// Which file feeds which input, by every way that values are given, and what is written is read again.
#include "trial/data_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/opset/model_text.h"
#include "tests/places/scratch.h"

namespace grurun::trial {
namespace {

namespace fs = std::filesystem;
using tests::Scratch;

Value one(float value) {
  return Tensor::from(Shape{1}, std::vector<float>{value});
}

// Inputs by a letter each: upper case has an initializer, '?' behind it makes it optional.
onnx_io::Graph graph_with(const std::string& inputs) {
  std::string types, initializers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == '?') continue;
    const bool optional = i + 1 < inputs.size() && inputs[i + 1] == '?';
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", optional ? "optional(float[1])" : "float[1]",
                         inputs[i]);
    if (std::isupper(inputs[i]))
      initializers += fmt::format("{}float[1] {} = {{0}}", initializers.empty() ? "" : ", ", inputs[i]);
  }
  if (!initializers.empty()) initializers = "<" + initializers + ">";
  return model_from_text(fmt::format("<ir_version: 3, opset_import: [\"\" : 18]> g ({}) => (float[1] out) {} "
                                     "{{ out = Constant <value_floats = [1.0]> () }}",
                                     types, initializers))
      .graph;
}

/// "x=1 Y=2": inputs that have a value, and it; "x=none" for an optional one that holds nothing.
std::string shown(const onnx_io::Graph& graph, const std::vector<Value>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    const Value* value = &values[i];
    if (value->is_optional()) value = value->optional().item.get();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", graph.inputs[i].name,
                        value == nullptr ? "none" : fmt::format("{}", value->tensor().data<float>()[0]));
  }
  return text;
}

template <typename Body>
std::string result_of(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    return error.what();
  }
}

struct Folder {
  const char* inputs;
  std::vector<std::string> files;  // the K-th holds K + 1
  const char* fed;                 // or part of the error
};

// The rules of ONNX's test runner, and what a gap may mean.
const Folder folders[] = {
    {"xy", {"input_0.pb", "input_1.pb"}, "x=1 y=2"},
    {"xy", {"input_1.pb", "input_0.npy"}, "x=2 y=1"},
    {"Wx", {"input_0.pb"}, "x=1"},
    {"Wx", {"input_0.pb", "input_1.pb"}, "W=1 x=2"},
    {"xWy", {"input_0.pb", "input_1.pb"}, "x=1 y=2"},
    {"xWy", {"input_0.pb", "input_1.pb", "input_2.pb"}, "x=1 W=2 y=3"},
    {"xWyV", {"input_0.pb", "input_1.pb", "input_2.pb"}, "x=1 W=2 y=3"},
    {"xWy", {"input_0.pb", "input_2.pb"}, "x=1 y=2"},
    {"o?x", {"input_1.pb"}, "x=1"},
    {"W", {}, ""},
    {"o?", {}, ""},
    {"x", {}, "the folder holds no input_K.pb"},
    {"x", {"input_0.pb", "input_1.pb"}, "input_1.pb: no input belongs to it; the model has 1"},
    {"xy", {"input_0.pb", "input_00.pb"}, "several files for input 0: input_0.pb and input_00.pb"},
    {"xy", {"input_0.pb", "input_0.npy"}, "several files for input 0: input_0.npy and input_0.pb"},
    {"xW",
     {"input_0.pb", "input1.pb"},
     "input1.pb: files of a data set are named input_K.pb, or .npy; rename"},
    {"xW", {"input_0.pb", "W.npy"}, "rename it, or give it by name: W="},
    {"x", {"input_0.pb", "notes.npy", "inputs.txt"}, "x=1"},
};

TEST(DataSet, AFolderFeedsInputsByTheNumbersOfItsFiles) {
  for (const Folder& row : folders) {
    const Scratch scratch;
    const onnx_io::Graph graph = graph_with(row.inputs);
    const std::string folder = scratch.path("test_data_set_3");
    fs::create_directories(folder);
    onnx_io::write_pb(folder + "/output_0.pb", "", one(1));
    for (std::size_t k = 0; k < row.files.size(); ++k) {
      const std::string path = folder + "/" + row.files[k];
      const Value value = one(static_cast<float>(k + 1));
      if (path.ends_with(".npy"))
        onnx_io::write_npy(path, value.tensor());
      else if (path.ends_with(".pb"))
        onnx_io::write_pb(path, "", value);
      else
        scratch.file("test_data_set_3/" + row.files[k], "");
    }
    const auto label = fmt::format("{} of {}", fmt::join(row.files, " "), row.inputs);
    const std::string set = result_of([&] {
      const DataSet read = read_data_set(folder, graph);
      EXPECT_EQ(read.name, "test_data_set_3");
      EXPECT_EQ(read.expected.size(), 1u);
      return shown(graph, read.inputs);
    });
    const std::string argument = result_of(
        [&] { return shown(graph, read_values({folder}, input_slots(graph), Side::input, "--inputs")); });
    const bool fails = std::string_view(row.fed).find(' ') != std::string_view::npos && row.fed[1] != '=';
    if (fails) {
      EXPECT_THAT(set, ::testing::HasSubstr(row.fed)) << label;
      EXPECT_THAT(argument, ::testing::HasSubstr(row.fed)) << label;
      EXPECT_THAT(argument, ::testing::HasSubstr("--inputs " + folder)) << label;
    } else {
      EXPECT_EQ(set, row.fed) << label;
      EXPECT_EQ(argument, row.fed) << label;
    }
  }
}

TEST(DataSet, AFolderHoldsEveryOutputAndNoOther) {
  const Scratch scratch;
  const onnx_io::Graph graph = graph_with("W");
  const std::string folder = scratch.path("set");
  fs::create_directories(folder);
  const auto read = [&] { return result_of([&] { return read_data_set(folder, graph), std::string(); }); };
  EXPECT_THAT(read(), ::testing::HasSubstr("the folder holds no output_K.pb"));
  onnx_io::write_pb(folder + "/output_1.pb", "", one(1));
  EXPECT_THAT(read(), ::testing::HasSubstr("output 'out' has no file output_0.pb there"));
  onnx_io::write_pb(folder + "/output_0.pb", "", one(1));
  EXPECT_THAT(read(), ::testing::HasSubstr("output_1.pb: no output belongs to it; the model has 1"));
  fs::remove(folder + "/output_1.pb");
  EXPECT_EQ(read(), "");
}

TEST(DataSet, WhatIsWrittenIsReadAgain) {
  struct Row {
    const char* inputs;
    std::vector<std::size_t> given;  // K-th input holds K + 1
    std::vector<std::string> files;
    const char* read;
  };
  const Row rows[] = {
      {"xy", {0, 1}, {"input_0.pb", "input_1.pb"}, "x=1 y=2"},
      {"VxWy", {1, 3}, {"input_0.pb", "input_1.pb"}, "x=2 y=4"},
      {"VxWy", {1, 2, 3}, {"input_0.pb", "input_1.pb", "input_2.pb", "input_3.pb"}, "V=0 x=2 W=3 y=4"},
      {"o?x", {1}, {"input_0.pb", "input_1.pb"}, "o=none x=2"},
  };
  for (const Row& row : rows) {
    const Scratch scratch;
    const onnx_io::Graph graph = graph_with(row.inputs);
    const std::vector<Slot> slots = input_slots(graph);
    std::vector<Value> values(slots.size());
    for (const std::size_t k : row.given) values[k] = one(static_cast<float>(k + 1));
    scratch.file("set/input_9.pb", "of another model");
    EXPECT_THAT(write_values(scratch.path("set"), graph, slots, values, Side::input),
                ::testing::ElementsAre(scratch.path("set/input_9.pb")))
        << row.inputs;
    fs::remove(scratch.path("set/input_9.pb"));
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(scratch.path("set")))
      files.push_back(entry.path().filename());
    EXPECT_THAT(files, ::testing::UnorderedElementsAreArray(row.files)) << row.inputs;
    EXPECT_EQ(shown(graph, read_values({scratch.path("set")}, slots, Side::input)), row.read) << row.inputs;
  }
}

}  // namespace
}  // namespace grurun::trial
