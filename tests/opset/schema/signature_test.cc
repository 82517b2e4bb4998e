#include "opset/schema/signature.h"

#include <gtest/gtest.h>

#include "opset/schema/registry.h"

namespace grurun::opset {
namespace {

TEST(Signature, SaysWhatTheRegistrySays) {
  std::size_t seen = 0;
  for (const SchemaInfo* schema : all_schemas()) {
    const std::string name =
        schema->domain + ":" + schema->name + "-" + std::to_string(schema->since_version);
    const Signature* signature = find_signature(schema->name, schema->domain, schema->since_version);
    ASSERT_NE(signature, nullptr) << name;
    EXPECT_EQ(signature->since_version, schema->since_version) << name;
    EXPECT_EQ(signature->min_input, schema->min_input) << name;
    EXPECT_EQ(signature->max_input, schema->max_input) << name;
    EXPECT_EQ(signature->min_output, schema->min_output) << name;
    EXPECT_EQ(signature->max_output, schema->max_output) << name;
    EXPECT_EQ(signature->has_function_body, schema->has_function_body) << name;
    ASSERT_EQ(signature->inputs.size(), schema->inputs.size()) << name;
    for (std::size_t i = 0; i < schema->inputs.size(); ++i) {
      EXPECT_EQ(signature->inputs[i].name, schema->inputs[i].name) << name;
      EXPECT_EQ(signature->inputs[i].type, schema->inputs[i].type_str) << name;
      EXPECT_EQ(signature->inputs[i].kind, schema->inputs[i].kind) << name;
      EXPECT_TRUE(signature->inputs[i].types.tensors == schema->input_dtypes(i)) << name << " input " << i;
    }
    ASSERT_EQ(signature->outputs.size(), schema->outputs.size()) << name;
    for (std::size_t i = 0; i < schema->outputs.size(); ++i) {
      EXPECT_EQ(signature->outputs[i].name, schema->outputs[i].name) << name;
      EXPECT_TRUE(signature->outputs[i].types.tensors == schema->output_dtypes(i)) << name << " output " << i;
    }
    ++seen;
  }
  EXPECT_EQ(seen, 659u);
}

TEST(Signature, TellsWhatHoldsTensorsApart) {
  const Value tensor = Tensor::scalar(1.0F), bf16 = Tensor(DType::bfloat16, Shape{});
  const auto seq = [](DType elem) { return Value(Sequence{ValueType::tensor(elem), {}}); };
  const auto opt = [](ValueType inside) { return Value(Optional{std::move(inside), nullptr}); };
  const Value opt_tensor = opt(ValueType::tensor(DType::float32));
  const Value opt_seq = opt(ValueType::sequence(ValueType::tensor(DType::float32)));
  const Value map = Map{ValueType::tensor(DType::float32), Tensor(DType::int64, Shape{0}), {}};
  const Value seq_of_maps = Sequence{ValueType::map(DType::int64, ValueType::tensor(DType::float32)), {}};
  struct Row {
    const char *op, *domain;
    int opset;
    const Value& value;
    bool admitted;
  };
  const Value floats = seq(DType::float32), bfloats = seq(DType::bfloat16), open = seq(DType::undefined);
  const std::vector<Row> table = {
      {"Identity", "", 13, tensor, true},
      {"Identity", "", 13, floats, false},
      {"Identity", "", 14, floats, true},
      {"Identity", "", 14, opt_tensor, false},
      {"Identity", "", 16, opt_tensor, true},
      {"Identity", "", 16, opt_seq, true},
      {"Identity", "", 16, map, false},
      {"Identity", "", 16, seq_of_maps, false},
      {"SequenceLength", "", 11, floats, true},
      {"SequenceLength", "", 11, open, true},
      {"SequenceLength", "", 11, bfloats, false},
      {"SequenceLength", "", 11, tensor, false},
      {"OptionalHasElement", "", 15, tensor, false},
      {"OptionalHasElement", "", 15, opt_seq, true},
      {"OptionalHasElement", "", 18, tensor, true},
      {"OptionalHasElement", "", 18, bf16, false},
      {"DictVectorizer", "ai.onnx.ml", 1, map, true},
      {"DictVectorizer", "ai.onnx.ml", 1, tensor, false},
  };
  for (const Row& row : table) {
    const Signature* signature = find_signature(row.op, row.domain, row.opset);
    ASSERT_NE(signature, nullptr) << row.op;
    EXPECT_EQ(signature->inputs[0].types.admits(row.value), row.admitted)
        << row.op << "-" << row.opset << " " << row.value.describe();
  }
}

TEST(Signature, OfAnUnknownOperatorIsNone) {
  EXPECT_EQ(find_signature("NoSuch", "", 13), nullptr);
  EXPECT_EQ(find_signature("GRU", "no.such", 13), nullptr);
  EXPECT_TRUE(signatures("NoSuch", "").versions.empty());
}

}  // namespace
}  // namespace grurun::opset
