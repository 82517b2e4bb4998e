// The examples of the operator pages, as files: testdata/operator-pages.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx_io/values/tensor_files.h"
#include "tests/engine/ops/rnn/layer_case.h"
#include "tests/places/in_tree.h"

namespace grurun::engine::testing {
namespace {

namespace fs = std::filesystem;

std::string run_case(const fs::path& folder) {
  const onnx_io::Model model = onnx_io::load_model(folder / "model.onnx");
  const fs::path data = folder / "test_data_set_0";
  std::vector<Value> inputs;
  for (std::size_t k = 0; k < model.graph.inputs.size(); ++k) {
    inputs.push_back(onnx_io::read_pb(data / fmt::format("input_{}.pb", k)).value);
  }
  const std::vector<Value> outputs = run_plan(*make_plan(model), inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Value expected = onnx_io::read_pb(data / fmt::format("output_{}.pb", k)).value;
    const std::string found = difference(model.graph.outputs[k].name.c_str(), outputs[k].tensor(),
                                         doubles_of(expected.tensor()), expected.tensor().shape());
    if (!found.empty()) return found;
  }
  return outputs.empty() ? "no outputs" : "";
}

TEST(OperatorPages, ExamplesPass) {
  std::string failures;
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(tests::in_tree("testdata/operator-pages"))) {
    if (!entry.is_directory()) continue;
    ++cases;
    const std::string found = run_case(entry.path());
    if (!found.empty()) failures += entry.path().filename().string() + ": " + found + "\n";
  }
  EXPECT_EQ(failures, "");
  EXPECT_EQ(cases, 27);
}

}  // namespace
}  // namespace grurun::engine::testing
