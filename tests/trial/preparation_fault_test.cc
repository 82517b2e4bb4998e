// What of a node's attributes alone a run would refuse.
#include "trial/preparation_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/opset/check_models.h"

namespace grurun::trial {
namespace {

struct Prepared {
  const char* node;
  const char* says;  // part of the fault; empty for attributes that a run takes
};

constexpr Prepared prepared_nodes[] = {
    {"ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [1.0, 2.0]> (X)", ""},
    {"ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [1.0, 2.0, 3.0]> (X)", "offset"},
    {"ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_floats = [1.0, 2.0]> (X)", ""},
    {"ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_floats = [1.0]> (X)", "2 keys and 1 values"},
    {"TfIdfVectorizer <max_gram_length = 1, max_skip_count = 0, min_gram_length = 1, mode = \"TF\", "
     "ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [3, 4]> (X)",
     ""},
    {"TfIdfVectorizer <max_gram_length = 1, max_skip_count = 0, min_gram_length = 1, mode = \"TF\", "
     "ngram_counts = [0], ngram_indexes = [0, 1, 2], pool_int64s = [3, 4]> (X)",
     "ngram_indexes"},
    // Only a caller or a run knows the rest of these.
    {"Elu <alpha: float = @alpha> (X)", ""},
    {"Expand (X, X)", ""},
    {"ai.onnx.preview.training.Gradient <xs = [\"X\"], y = \"Y\"> (X)", ""},
};

TEST(PreparationFault, IsWhatNoInputCouldMend) {
  for (const Prepared& c : prepared_nodes) {
    SCOPED_TRACE(c.node);
    const onnx_io::Model model = model_from_text(
        "<ir_version: 8, opset_import: [\"\" : 14, \"ai.onnx.ml\" : 3, \"ai.onnx.preview.training\" : 1]> g "
        "(float[2] X) => (float[2] Y) { Y "
        "= " +
        std::string(c.node) + " }");
    const onnx_io::Node& node = model.graph.nodes.at(0);
    opset::NodeInputs inputs;
    inputs.constants.resize(node.inputs.size());
    const auto found = preparation_fault(node, model.opset_imports, inputs);
    const std::string fault = found ? found->message : "";
    EXPECT_EQ(fault.empty(), *c.says == '\0') << fault;
    EXPECT_THAT(fault, ::testing::HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace grurun::trial
