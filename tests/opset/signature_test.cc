#include "opset/signature.h"

#include <gtest/gtest.h>

#include "opset/registry.h"

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
      EXPECT_TRUE(signature->inputs[i].dtypes == schema->input_dtypes(i)) << name << " input " << i;
    }
    ++seen;
  }
  EXPECT_EQ(seen, 659u);
}

TEST(Signature, OfAnUnknownOperatorIsNone) {
  EXPECT_EQ(find_signature("NoSuch", "", 13), nullptr);
  EXPECT_EQ(find_signature("GRU", "no.such", 13), nullptr);
  EXPECT_TRUE(signatures("NoSuch", "").versions.empty());
}

}  // namespace
}  // namespace grurun::opset
