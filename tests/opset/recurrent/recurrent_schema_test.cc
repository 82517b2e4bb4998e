#include "opset/recurrent/recurrent_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace grurun::opset {
namespace {

TEST(RecurrentSchema, SaysWhatTheRegistrySays) {
  const std::string domain;
  for (const RecurrentForm& form : recurrent_forms()) {
    std::vector<const SchemaInfo*> versions = schema_versions(form.op_type, &domain);
    std::ranges::reverse(versions);
    const std::vector<SchemaInfo>& ours = recurrent_schemas(form);
    ASSERT_EQ(ours.size(), versions.size());
    for (std::size_t v = 0; v < ours.size(); ++v) {
      const SchemaInfo& theirs = *versions[v];
      SCOPED_TRACE(form.op_type + std::string("-") + std::to_string(theirs.since_version));
      EXPECT_EQ(ours[v].since_version, theirs.since_version);
      ASSERT_EQ(ours[v].attributes.size(), theirs.attributes.size());
      for (std::size_t i = 0; i < theirs.attributes.size(); ++i) {
        EXPECT_EQ(ours[v].attributes[i].name, theirs.attributes[i].name);
        EXPECT_EQ(ours[v].attributes[i].type, theirs.attributes[i].type) << theirs.attributes[i].name;
        EXPECT_EQ(ours[v].attributes[i].required, theirs.attributes[i].required);
      }
      const auto compare = [](const std::vector<ParameterInfo>& a, const std::vector<ParameterInfo>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_EQ(a[i].name, b[i].name);
          EXPECT_EQ(a[i].type_str, b[i].type_str);
          EXPECT_EQ(a[i].kind, b[i].kind) << b[i].name;
        }
      };
      compare(ours[v].inputs, theirs.inputs);
      compare(ours[v].outputs, theirs.outputs);
      EXPECT_EQ(ours[v].min_input, theirs.min_input);
      EXPECT_EQ(ours[v].max_input, theirs.max_input);
      EXPECT_EQ(ours[v].min_output, theirs.min_output);
      EXPECT_EQ(ours[v].max_output, theirs.max_output);
      ASSERT_EQ(ours[v].type_constraints.size(), theirs.type_constraints.size());
      for (std::size_t i = 0; i < theirs.type_constraints.size(); ++i) {
        const auto& a = ours[v].type_constraints[i].types;
        const auto& b = theirs.type_constraints[i].types;
        EXPECT_EQ(std::set<std::string>(a.begin(), a.end()), std::set<std::string>(b.begin(), b.end()));
      }
    }
  }
}

TEST(RecurrentSchema, IsFoundByOpset) {
  const RecurrentForm& gru = *find_recurrent_form("GRU", "");
  EXPECT_EQ(find_recurrent_schema(gru, 0), nullptr);
  EXPECT_EQ(find_recurrent_schema(gru, 6)->since_version, 3);
  EXPECT_EQ(find_recurrent_schema(gru, 21)->since_version, 14);
  EXPECT_EQ(find_recurrent_schema(gru, 99)->since_version, 22);
}

}  // namespace
}  // namespace grurun::opset
